#include <config.h>

#include "cli/options_check.h"

#include <string.h>

#define MOST_NODES 100000

void
options_check_init (CheckOptions *check)
{
  *check = (CheckOptions){ .versions = { .torch = RELEASE (2, 8),
                                         .transformers = RELEASE (4, 55),
                                         .accelerate = RELEASE (1, 10) } };
}

void
options_check_clear (CheckOptions *check)
{
  g_free (check->trainer);
  g_free (check->model);
  g_free (check->cluster);
}

static gboolean
refuse (GError **error, const char *option, const char *value, const char *wanted)
{
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s %s: takes %s", option, value,
               wanted);
  return FALSE;
}

gboolean
options_take_source (const char *option, const char *value, gpointer data, GError **error)
{
  CheckOptions *check = &((Options *)data)->check;
  char **place = strcmp (option, "--trainer") == 0 ? &check->trainer
                 : strcmp (option, "--model") == 0 ? &check->model
                                                   : &check->cluster;

  if (*value == '\0')
    return refuse (error, option, "''", "a file or a name");
  g_free (*place);
  *place = g_strdup (value);
  return TRUE;
}

gboolean
options_take_nodes (const char *option, const char *value, gpointer data, GError **error)
{
  CheckOptions *check = &((Options *)data)->check;
  guint64 nodes;

  if (!g_ascii_string_to_unsigned (value, 10, 1, MOST_NODES, &nodes, NULL))
    return refuse (error, option, value, "a whole number from 1");
  check->nodes = (guint)nodes;
  return TRUE;
}

gboolean
options_take_version (const char *option, const char *value, gpointer data, GError **error)
{
  Versions *versions = &((Options *)data)->check.versions;
  guint *place = strcmp (option, "--torch") == 0          ? &versions->torch
                 : strcmp (option, "--transformers") == 0 ? &versions->transformers
                                                          : &versions->accelerate;

  return version_parse (value, place) || refuse (error, option, value, "a version such as 2.8");
}

#include <config.h>

#include "cli/shipped.h"

#include <string.h>

#include "cli/scenarios.h"
#include "config/ini.h"

/* An empty scenario, which the overrides fill; every model has a position for one token. */
#define NO_SCENARIO "/dev/null"

static char *
first_of (DataKind kind)
{
  g_auto (GStrv) names = data_list (kind);

  return g_strdup (names[0] != NULL ? names[0] : "");
}

/* "key=value" of the kind that is asked for, else of the first shipped file. */
static char *
override (const char *key, DataKind kind, DataKind wanted, const char *name)
{
  g_autofree char *value = kind == wanted ? g_strdup (name) : first_of (kind);

  return g_strconcat (key, "=", value, NULL);
}

ScenarioFile *
shipped_load (DataKind kind, const char *name, GError **error)
{
  g_autofree char *model = override ("model.source", DATA_MODEL, kind, name);
  g_autofree char *cluster = override ("cluster.source", DATA_CLUSTER, kind, name);
  g_autofree char *gpu = override ("cluster.gpu", DATA_GPU, kind, name);
  g_autofree char *software = g_strconcat ("software.source=", name, NULL);
  const char *const overrides[] = { model,
                                    cluster,
                                    "cluster.nodes=1",
                                    "training.seq_len=1",
                                    kind == DATA_GPU        ? gpu
                                    : kind == DATA_SOFTWARE ? software
                                                            : NULL,
                                    NULL };
  const ScenarioOptions options = { .overrides = kind == DATA_SCENARIO ? NULL : overrides };
  g_autoptr (Problems) problems = problems_new ();
  ScenarioFile *file
      = scenario_file_load (kind == DATA_SCENARIO ? name : NO_SCENARIO, &options, problems);

  scenarios_are_right (problems, error);
  return file;
}

char *
shipped_note (DataKind kind, const char *name, const char *key)
{
  g_autofree char *path = data_find (kind, name);
  g_autofree char *text = NULL;
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (IniFile) ini = NULL;
  const IniSection *sections;
  gsize length;
  guint n;

  if (path == NULL || !g_file_get_contents (path, &text, &length, NULL))
    return g_strdup ("");
  ini = ini_parse (path, text, length, problems);
  sections = ini_sections (ini, &n);
  for (guint i = 0; n > 0 && i < sections[0].n_entries; i++)
    if (strcmp (ini_entry (ini, sections[0].first + i)->key, key) == 0)
      return g_strdup (ini_entry (ini, sections[0].first + i)->value);
  return g_strdup ("");
}

#include <config.h>

#include "cli/clusters.h"

#include <string.h>

#include "cli/exit_codes.h"
#include "cli/scenarios.h"
#include "config/data.h"
#include "config/suggest.h"

/* An empty scenario, which the overrides fill; the model does not matter. */
#define NO_SCENARIO "/dev/null"
#define ANY_MODEL   "model.source=llama2-7b"

static gboolean
is_path (const char *cluster)
{
  return strchr (cluster, '/') != NULL || g_str_has_suffix (cluster, ".ini");
}

/* Said here, since to the reader of scenarios the name is one of -s. */
static gboolean
exists (const char *cluster, GError **error)
{
  g_autofree char *path = is_path (cluster) ? NULL : data_find (DATA_CLUSTER, cluster);
  g_auto (GStrv) names = NULL;
  g_autofree char *clause = NULL;

  if (path != NULL || g_file_test (cluster, G_FILE_TEST_IS_REGULAR))
    return TRUE;
  if (is_path (cluster))
    {
      g_set_error (error, CLI_ERROR, EXIT_INPUT_OUTPUT, "cannot read %s: no such file", cluster);
      return FALSE;
    }
  names = data_list (DATA_CLUSTER);
  clause = suggest_clause (cluster, (const char *const *)names);
  g_set_error (error, CLI_ERROR, EXIT_BAD_INPUT, "no cluster '%s'%s", cluster,
               *clause != '\0' ? clause : "; 'fsdpsim list clusters' shows those that there are");
  return FALSE;
}

static gboolean
overrides_are_of_clusters (const char *const *overrides, GError **error)
{
  for (guint i = 0; overrides[i] != NULL; i++)
    if (!g_str_has_prefix (overrides[i], "cluster.")
        || g_str_has_prefix (overrides[i], "cluster.source="))
      {
        g_set_error (error, CLI_ERROR, EXIT_USAGE,
                     "-s %s means nothing to this command, which takes cluster.KEY=VALUE",
                     overrides[i]);
        return FALSE;
      }
  return TRUE;
}

ScenarioFile *
clusters_load (const char *cluster, const Options *options, GError **error)
{
  static const char *const none[] = { NULL };
  const char *const *overrides = options != NULL ? options_overrides (options) : none;
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (ScenarioFile) file = NULL;
  ScenarioOptions how;

  if (!overrides_are_of_clusters (overrides, error) || !exists (cluster, error))
    return NULL;
  g_ptr_array_add (all, g_strdup (ANY_MODEL));
  g_ptr_array_add (all, g_strdup ("training.seq_len=1"));
  g_ptr_array_add (all, g_strconcat ("cluster.source=", cluster, NULL));
  for (guint i = 0; overrides[i] != NULL; i++)
    g_ptr_array_add (all, g_strdup (overrides[i]));
  g_ptr_array_add (all, NULL);
  how = (ScenarioOptions){ .overrides = (const char *const *)all->pdata };
  file = scenario_file_load (NO_SCENARIO, &how, problems);
  return scenarios_are_right (problems, error) ? g_steal_pointer (&file) : NULL;
}

gboolean
clusters_is_given (const Options *options, const char *key)
{
  const char *const *overrides = options_overrides (options);
  g_autofree char *start = g_strconcat ("cluster.", key, "=", NULL);

  for (guint i = 0; overrides[i] != NULL; i++)
    if (g_str_has_prefix (overrides[i], start))
      return TRUE;
  return FALSE;
}

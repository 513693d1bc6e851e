#include "config.h"

#include "cli/shipped.h"

#include "cli/scenarios.h"

/* An empty scenario, which the overrides fill. */
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
  const char *const overrides[]
      = { model, cluster, "cluster.nodes=1", kind == DATA_GPU ? gpu : NULL, NULL };
  const ScenarioOptions options = { .overrides = kind == DATA_SCENARIO ? NULL : overrides };
  g_autoptr (Problems) problems = problems_new ();
  ScenarioFile *file
      = scenario_file_load (kind == DATA_SCENARIO ? name : NO_SCENARIO, &options, problems);

  scenarios_are_right (problems, error);
  return file;
}

char *
shipped_provenance (DataKind kind, const char *name)
{
  g_autofree char *path = data_find (kind, name);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  GString *out = g_string_new (NULL);

  if (path == NULL || !g_file_get_contents (path, &text, NULL, NULL))
    return g_string_free (out, FALSE);
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL && lines[i][0] == '#'; i++)
    g_string_append_printf (out, "%s%s", i > 0 ? " " : "", g_strstrip (lines[i] + 1));
  return g_string_free (out, FALSE);
}

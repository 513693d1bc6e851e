#include <config.h>

#include "study/check_prices.h"

#include <string.h>

#include "study/study_many.h"

/* Names that nobody gives a variant. */
#define WAY_PREFIX "check..."

/* ---- the scenario ---- */

static void
append_variant (GString *text, guint number, const GPtrArray *overrides)
{
  g_string_append_printf (text, "\n[variant " WAY_PREFIX "%u]\n", number);
  for (guint i = 0; i < overrides->len; i++)
    g_string_append_printf (text, "%s\n", (const char *)g_ptr_array_index (overrides, i));
}

static char *
scenario_text (const char *base, const GPtrArray *now, const Findings *findings)
{
  GString *text = g_string_new (base);
  guint number = 0;

  append_variant (text, number++, now);
  for (guint i = 0; i < findings_count (findings); i++)
    {
      const GArray *choices = findings_get (findings, i)->choices;

      for (guint c = 0; c < choices->len; c++)
        append_variant (text, number++, g_array_index (choices, FindingChoice, c).overrides);
    }
  return g_string_free (text, FALSE);
}

/* ---- the runs ---- */

static void
take_figures (ReportRun *run, const char *label, CheckedWay *way)
{
  *way = (CheckedWay){ .label = g_strdup (label), .figures = run->figures };
  run->figures = (Figures){ 0 }; /* moved */
}

static void
take_runs (ReportRun *runs, const Findings *findings, CheckedFile *file)
{
  guint number = 0;

  take_figures (&runs[number++], "as it is", &file->now);
  for (guint i = 0; i < findings_count (findings); i++)
    {
      const GArray *choices = findings_get (findings, i)->choices;
      GArray *ways = g_array_index (file->findings, CheckedFinding, i).ways;

      for (guint c = 0; c < choices->len; c++)
        {
          CheckedWay way;

          take_figures (&runs[number++], g_array_index (choices, FindingChoice, c).label, &way);
          g_array_append_val (ways, way);
        }
    }
}

gboolean
check_prices (const char *name, const char *base, const GPtrArray *now, const Findings *findings,
              const ScenarioOptions *how, guint n_threads, CheckedFile *file, Problems *problems)
{
  const StudyOptions options = { 0 };
  g_autofree char *text = scenario_text (base, now, findings);
  g_autoptr (ScenarioFile) scenario
      = scenario_file_load_text (name, name, text, strlen (text), how, problems);
  g_autofree ReportRun *runs = NULL;
  g_autofree StudyJob *jobs = NULL;
  guint n, first = 0;

  if (problems_count (problems) > 0 || scenario == NULL)
    return FALSE;
  while (!g_str_has_prefix (scenario_file_variant (scenario, first)->variant, WAY_PREFIX))
    first++;
  n = scenario_file_n_variants (scenario) - first;
  runs = g_new0 (ReportRun, n);
  jobs = g_new0 (StudyJob, n);
  for (guint i = 0; i < n; i++)
    jobs[i]
        = (StudyJob){ .scenario = scenario_file_variant (scenario, first + i), .run = &runs[i] };
  study_run_many (jobs, n, &options, n_threads, NULL, NULL);
  take_runs (runs, findings, file);
  for (guint i = 0; i < n; i++)
    study_run_clear (&runs[i]);
  return TRUE;
}

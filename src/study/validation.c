#include "config.h"

#include "study/validation.h"

#include <math.h>
#include <string.h>

#include "study/published_scenario.h"
#include "study/study.h"

#define BYTES_PER_GIB 1073741824.0

const char *
metric_name (Metric metric)
{
  static const char *const names[] = { "tokens_per_s_per_gpu", "peak_memory_gib" };

  g_assert (metric < N_METRICS);
  return names[metric];
}

static void
set_measured (Prediction *prediction)
{
  const RunResult *result = &prediction->run->result;
  const double measured[] = { result->tokens_per_s_per_gpu, result->peak_memory_gib };

  for (Metric metric = 0; metric < N_METRICS; metric++)
    {
      prediction->measured[metric] = measured[metric] > 0 ? measured[metric] : (double)NAN;
      prediction->predicted[metric] = NAN;
    }
}

/* Memory is published as the allocator reserved it, or as tensors took it. */
static double
peak_bytes (const Figures *figures, const char *memory_kind)
{
  return (double)(strstr (memory_kind, "allocated") != NULL ? figures->peak_allocated_bytes
                                                            : figures->peak_reserved_bytes);
}

static void
take_figures (const ReportRun *report, Prediction *prediction)
{
  const Figures *figures = &report->figures;

  if (!figures_did_run (figures))
    {
      prediction->reason = g_strdup (figures->reason);
      return;
    }
  prediction->predicted[METRIC_TOKENS_PER_S_PER_GPU] = figures->tokens_per_s_per_gpu;
  prediction->predicted[METRIC_PEAK_MEMORY_GIB]
      = peak_bytes (figures, prediction->run->result.memory_kind) / BYTES_PER_GIB;
  prediction->fits = figures->fits;
}

/* The scenario, or NULL and why there is none. */
static ScenarioFile *
load_scenario (const RunSettings *settings, const char *const *overrides, char **reason)
{
  const ScenarioOptions options = { .overrides = overrides };
  g_autoptr (GError) error = NULL;
  g_autoptr (Problems) problems = problems_new ();
  g_autofree char *text = published_scenario (settings, &error);
  ScenarioFile *file;

  if (text == NULL)
    {
      *reason = g_strdup (error->message);
      return NULL;
    }
  file = scenario_file_load_text ("run", "run", text, strlen (text), &options, problems);
  if (file == NULL)
    *reason = problems_first (problems);
  return file;
}

static void
predict (Prediction *prediction, const char *const *overrides)
{
  const StudyOptions options = { 0 };
  g_autoptr (ScenarioFile) file = NULL;
  StudyEffort effort;
  ReportRun report;

  set_measured (prediction);
  if (prediction->run->unreadable != NULL)
    prediction->reason = g_strdup (prediction->run->unreadable);
  else
    file = load_scenario (&prediction->run->settings, overrides, &prediction->reason);
  if (file == NULL)
    return;
  study_run (scenario_file_variant (file, 0), &options, &report, &effort);
  take_figures (&report, prediction);
  study_run_clear (&report);
}

static void
predict_one (guint index, gpointer data)
{
  const struct
  {
    Prediction *predictions;
    const char *const *overrides;
  } *work = data;

  predict (&work->predictions[index], work->overrides);
}

void
validation_run (const PublishedTable *table, const char *const *overrides, guint n_threads,
                StudyProgress progress, gpointer data, Validation *validation)
{
  const guint n = published_n_runs (table);
  struct
  {
    Prediction *predictions;
    const char *const *overrides;
  } work = { g_new0 (Prediction, n), overrides };

  for (guint i = 0; i < n; i++)
    work.predictions[i].run = published_run (table, i);
  study_pool_run (n, n_threads, predict_one, &work, progress, data);
  *validation = (Validation){ work.predictions, n };
}

void
validation_clear (Validation *validation)
{
  for (guint i = 0; i < validation->n; i++)
    g_free (validation->predictions[i].reason);
  g_clear_pointer (&validation->predictions, g_free);
  validation->n = 0;
}

double
prediction_error (const Prediction *prediction, Metric metric)
{
  return prediction->predicted[metric] / prediction->measured[metric] - 1;
}

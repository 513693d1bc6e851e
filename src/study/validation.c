#include <config.h>

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
peak_bytes (const Figures *figures, const PublishedRun *run)
{
  gboolean is_allocated = run != NULL && strstr (run->result.memory_kind, "allocated") != NULL;

  return (double)(is_allocated ? figures->peak_allocated_bytes : figures->peak_reserved_bytes);
}

static void
take_figures (const Figures *figures, Prediction *prediction)
{
  if (!figures_did_run (figures))
    {
      prediction->reason = g_strdup (figures->reason);
      return;
    }
  prediction->predicted[METRIC_TOKENS_PER_S_PER_GPU] = figures->tokens_per_s_per_gpu;
  prediction->predicted[METRIC_PEAK_MEMORY_GIB]
      = peak_bytes (figures, prediction->run) / BYTES_PER_GIB;
  prediction->fits = figures->fits;
  prediction->retries = figures->memory.retries;
}

void
validation_predict_scenario (const Scenario *scenario, Prediction *prediction)
{
  const StudyOptions options = { 0 };
  StudyEffort effort;
  ReportRun report;

  study_run (scenario, &options, &report, &effort);
  take_figures (&report.figures, prediction);
  study_run_clear (&report);
}

ScenarioFile *
validation_load_scenario (const PublishedRun *run, const char *const *overrides, char **reason)
{
  const ScenarioOptions options = { .overrides = overrides };
  g_autoptr (GError) error = NULL;
  g_autoptr (Problems) problems = problems_new ();
  g_autofree char *text = NULL;
  ScenarioFile *file;

  if (run->unreadable == NULL)
    text = published_scenario (&run->settings, &error);
  if (text == NULL)
    {
      *reason = g_strdup (run->unreadable != NULL ? run->unreadable : error->message);
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
  g_autoptr (ScenarioFile) file
      = validation_load_scenario (prediction->run, overrides, &prediction->reason);

  if (file != NULL)
    validation_predict_scenario (scenario_file_variant (file, 0), prediction);
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
validation_init (const PublishedTable *table, Validation *validation)
{
  const guint n = published_n_runs (table);

  *validation = (Validation){ g_new0 (Prediction, n), n };
  for (guint i = 0; i < n; i++)
    {
      validation->predictions[i].run = published_run (table, i);
      set_measured (&validation->predictions[i]);
    }
}

void
validation_run (const PublishedTable *table, const char *const *overrides, guint n_threads,
                StudyProgress progress, gpointer data, Validation *validation)
{
  struct
  {
    Prediction *predictions;
    const char *const *overrides;
  } work;

  validation_init (table, validation);
  work.predictions = validation->predictions;
  work.overrides = overrides;
  study_pool_run (validation->n, n_threads, predict_one, &work, progress, data);
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

#include <config.h>

#include "study/repeat.h"

#include "study/quantile.h"
#include "study/stage.h"

typedef struct
{
  ReportRun *run;
  gboolean is_staged; /* where there is noise */
  Stage stage;
  GArray *times_s; /* double, by seed */
} Repeated;

typedef struct
{
  Repeated *repeated;
  guint n_repeats;
} Work;

static gboolean
has_noise (const Scenario *scenario)
{
  return scenario->simulation.compute_jitter > 0 || scenario->simulation.gpu_spread > 0;
}

static void
prepare (Repeated *repeated, ReportRun *run, guint n_repeats)
{
  const StudyOptions options = { 0 };
  StepCost cost;

  *repeated = (Repeated){ .run = run };
  if (!figures_did_run (&run->figures))
    return;
  repeated->times_s = g_array_sized_new (FALSE, FALSE, sizeof (double), n_repeats);
  for (guint i = 0; i < n_repeats; i++)
    g_array_append_val (repeated->times_s, run->figures.step_time_s);
  if (!has_noise (run->scenario))
    return;
  step_cost_new (run->scenario, &cost);
  repeated->is_staged = stage_init (&repeated->stage, run->scenario, &cost, &options, NULL);
}

/* The first seed is the run's own. */
static void
simulate (guint index, gpointer data)
{
  const Work *work = data;
  const Repeated *repeated = &work->repeated[index / work->n_repeats];
  const guint repeat = index % work->n_repeats;
  EngineOptions options = repeated->stage.options;
  EngineResult result;
  const Timeline *slowest;

  if (!repeated->is_staged || repeat == 0)
    return;
  options.seed += repeat;
  engine_run (repeated->stage.program, repeated->stage.network, &options, NULL, 0, &result);
  slowest = g_ptr_array_index (result.timelines, 0);
  g_array_index (repeated->times_s, double, repeat)
      = sim_time_seconds (timeline_reported_time (slowest)) / timeline_n_reported_steps (slowest);
  engine_result_clear (&result);
}

static void
finish (Repeated *repeated)
{
  Noise *noise;
  GArray *times_s = repeated->times_s;
  double sum_s = 0;

  if (times_s == NULL)
    return;
  noise = repeated->run->noise = g_new (Noise, 1);
  for (guint i = 0; i < times_s->len; i++)
    sum_s += g_array_index (times_s, double, i);
  *noise = (Noise){ .n = times_s->len,
                    .mean_s = sum_s / times_s->len,
                    .p50_s = quantile (times_s, 0.5),
                    .p99_s = quantile (times_s, 0.99),
                    .fastest_s = quantile (times_s, 0),
                    .slowest_s = quantile (times_s, 1) };
  g_array_unref (times_s);
  if (repeated->is_staged)
    stage_clear (&repeated->stage);
}

void
repeat_study (ReportRun *const *runs, guint n_runs, guint n_repeats, guint n_threads,
              StudyProgress progress, gpointer data)
{
  g_autofree Repeated *repeated = g_new (Repeated, n_runs);
  Work work = { repeated, n_repeats };

  g_assert (n_repeats >= 1 && n_repeats <= REPEAT_MOST);
  for (guint i = 0; i < n_runs; i++)
    prepare (&repeated[i], runs[i], n_repeats);
  study_pool_run (n_runs * n_repeats, n_threads, simulate, &work, progress, data);
  for (guint i = 0; i < n_runs; i++)
    finish (&repeated[i]);
}

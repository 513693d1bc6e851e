#include <config.h>

#include "study/calibration_runs.h"

#include <math.h>
#include <string.h>

#include "study/error_figures.h"
#include "study/study_pool.h"

static const struct
{
  KeyId id;
  double deviation;
} keys[CALIBRATED_KEYS] = {
  { ID_gpu_matmul_efficiency, 0.3 },    { ID_gpu_matmul_tail_waves, 0.3 },
  { ID_gpu_attention_efficiency, 0.3 }, { ID_gpu_attention_backward_efficiency, 0.3 },
  { ID_gpu_attention_overhead, 0.5 },   { ID_gpu_flash1_triton_efficiency, 0.3 },
  { ID_gpu_flash1_efficiency, 0.3 },    { ID_gpu_memory_efficiency, 0.3 },
  { ID_gpu_fp8_efficiency, 0.3 },       { ID_gpu_fp8_rowwise_efficiency, 0.3 },
  { ID_gpu_compute_slowdown, 0.05 },    /* published: 18.9% */ { ID_gpu_speed_spread, 0.5 },
  { ID_software_step_overhead, 0.5 },
};

typedef struct
{
  guint row; /* in the table */
  ScenarioFile *file;
  double log_measured;
  guint fold;
  guint parameters[CALIBRATED_KEYS];
} Run;

struct _CalibrationRuns
{
  GArray *runs;       /* Run */
  GPtrArray *sources; /* char *, where each is a fold */
  guint n_folds;
  guint n_threads;
};

const KeyInfo *
calibrated_key (guint index)
{
  guint n;

  g_assert (index < CALIBRATED_KEYS);
  return &keys_list (&n)[keys[index].id];
}

double
calibrated_deviation (const KeyInfo *key)
{
  for (guint i = 0; i < CALIBRATED_KEYS; i++)
    if (calibrated_key (i) == key)
      return keys[i].deviation;
  g_assert_not_reached ();
}

/* ---- values in a scenario ---- */

static double
get_value (const Scenario *scenario, const KeyInfo *key)
{
  if (key->type == KEY_WHOLE)
    return (double)G_STRUCT_MEMBER (gint64, scenario, key->offset);
  return G_STRUCT_MEMBER (double, scenario, key->offset);
}

static void
set_value (Scenario *scenario, const KeyInfo *key, double value)
{
  if (key->type == KEY_WHOLE)
    G_STRUCT_MEMBER (gint64, scenario, key->offset) = (gint64)llround (value);
  else
    G_STRUCT_MEMBER (double, scenario, key->offset) = value;
}

/* The run's scenario with other values; borrows from the run's own. */
static Scenario
scenario_with (const Run *run, const double *values)
{
  Scenario scenario = *scenario_file_variant (run->file, 0);

  for (guint i = 0; i < CALIBRATED_KEYS; i++)
    if (run->parameters[i] != NO_PARAMETER)
      set_value (&scenario, calibrated_key (i), values[run->parameters[i]]);
  scenario.simulation.compute_slowdown = scenario.gpu.compute_slowdown;
  return scenario;
}

/* ---- which parameters there are ---- */

static void
parameter_clear (gpointer data)
{
  g_free (((CalibratedParameter *)data)->file);
}

static guint
find_parameter (const GArray *parameters, const KeyInfo *key, const char *file)
{
  for (guint k = 0; k < parameters->len; k++)
    {
      const CalibratedParameter *parameter = &g_array_index (parameters, CalibratedParameter, k);

      if (parameter->key == key && strcmp (parameter->file, file) == 0)
        return k;
    }
  return NO_PARAMETER;
}

/* A value of 0 switches something off, and stays. */
static guint
parameter_of (const ScenarioFile *file, const KeyInfo *key, GArray *parameters)
{
  const char *origin = scenario_file_origin (file, key->section, key->key);
  double value = get_value (scenario_file_variant (file, 0), key);
  guint known;

  if (origin == NULL || value <= 0)
    return NO_PARAMETER;
  known = find_parameter (parameters, key, origin);
  if (known == NO_PARAMETER)
    {
      CalibratedParameter parameter
          = { .key = key, .file = g_strdup (origin), .start = value, .value = value };

      known = parameters->len;
      g_array_append_val (parameters, parameter);
    }
  return known;
}

/* ---- runs ---- */

/* In the order in which sources are met. */
static guint
fold_of_source (const PublishedRun *run, GPtrArray *sources)
{
  char *source = error_source_of (run);
  guint index;

  if (g_ptr_array_find_with_equal_func (sources, source, g_str_equal, &index))
    {
      g_free (source);
      return index;
    }
  g_ptr_array_add (sources, source);
  return sources->len - 1;
}

/* By FNV-1a of what runs of a group share. */
static guint
fold_of (const RunSettings *settings, const CalibrationOptions *options)
{
  g_autofree char *group = g_strdup_printf (
      "%" G_GUINT64_FORMAT " %u %u %u %u %s %u %s", options->seed, settings->layers,
      settings->hidden, settings->gated_ffn, settings->seq_len, settings->gpu,
      settings->nodes * settings->gpus_per_node, settings->activation_checkpointing);
  guint64 hash = G_GUINT64_CONSTANT (0xcbf29ce484222325);

  for (const char *at = group; *at != '\0'; at++)
    hash = (hash ^ (guchar)*at) * G_GUINT64_CONSTANT (0x100000001b3);
  return (guint)((hash >> 20) % options->n_folds);
}

static void
add_run (CalibrationRuns *runs, const PublishedTable *table, guint row,
         const CalibrationOptions *options, GArray *parameters)
{
  const PublishedRun *published = published_run (table, row);
  g_autofree char *reason = NULL;
  Run run = { .row = row };

  if (!(published->result.tokens_per_s_per_gpu > 0))
    return;
  run.file = validation_load_scenario (published, NULL, &reason);
  if (run.file == NULL)
    return;
  run.log_measured = log (published->result.tokens_per_s_per_gpu);
  run.fold = options->n_folds > 0 ? fold_of (&published->settings, options)
                                  : fold_of_source (published, runs->sources);
  for (guint i = 0; i < CALIBRATED_KEYS; i++)
    run.parameters[i] = parameter_of (run.file, calibrated_key (i), parameters);
  g_array_append_val (runs->runs, run);
}

static void
run_clear (gpointer data)
{
  scenario_file_free (((Run *)data)->file);
}

CalibrationRuns *
calibration_runs_new (const PublishedTable *table, const CalibrationOptions *options,
                      GArray **parameters)
{
  CalibrationRuns *runs = g_new0 (CalibrationRuns, 1);

  runs->n_threads = options->n_threads;
  runs->sources = g_ptr_array_new_with_free_func (g_free);
  runs->runs = g_array_new (FALSE, FALSE, sizeof (Run));
  g_array_set_clear_func (runs->runs, run_clear);
  *parameters = g_array_new (FALSE, FALSE, sizeof (CalibratedParameter));
  g_array_set_clear_func (*parameters, parameter_clear);
  for (guint row = 0; row < published_n_runs (table); row++)
    add_run (runs, table, row, options, *parameters);
  runs->n_folds = options->n_folds > 0 ? options->n_folds : runs->sources->len;
  return runs;
}

void
calibration_runs_free (CalibrationRuns *runs)
{
  if (runs == NULL)
    return;
  g_array_unref (runs->runs);
  g_ptr_array_unref (runs->sources);
  g_free (runs);
}

guint
calibration_runs_n (const CalibrationRuns *runs)
{
  return runs->runs->len;
}

static const Run *
run_at (const CalibrationRuns *runs, guint index)
{
  return &g_array_index (runs->runs, Run, index);
}

guint
calibration_runs_n_folds (const CalibrationRuns *runs)
{
  return runs->n_folds;
}

guint
calibration_runs_fold (const CalibrationRuns *runs, guint run)
{
  return run_at (runs, run)->fold;
}

guint
calibration_runs_row (const CalibrationRuns *runs, guint run)
{
  return run_at (runs, run)->row;
}

const Scenario *
calibration_runs_scenario (const CalibrationRuns *runs, guint run)
{
  return scenario_file_variant (run_at (runs, run)->file, 0);
}

const char *
calibration_runs_origin (const CalibrationRuns *runs, guint run, const KeyInfo *key)
{
  return scenario_file_origin (run_at (runs, run)->file, key->section, key->key);
}

guint
calibration_runs_parameter (const CalibrationRuns *runs, guint run, guint key)
{
  return run_at (runs, run)->parameters[key];
}

/* ---- simulating ---- */

typedef struct
{
  const CalibrationRuns *runs;
  const double *values;
  double *logs;
  guint fold;
  Validation *validation;
} Work;

/* A run that is refused says nothing of any parameter. */
static void
evaluate_one (guint index, gpointer data)
{
  const Work *work = data;
  const Run *run = run_at (work->runs, index);
  const Scenario scenario = scenario_with (run, work->values);
  Prediction prediction = { 0 };

  validation_predict_scenario (&scenario, &prediction);
  work->logs[index] = 0;
  if (prediction.reason == NULL)
    work->logs[index] = log (prediction.predicted[METRIC_TOKENS_PER_S_PER_GPU]) - run->log_measured;
  g_free (prediction.reason);
}

void
calibration_runs_evaluate (const CalibrationRuns *runs, const double *values, double *logs)
{
  Work work = { .runs = runs, .values = values, .logs = logs };

  study_pool_run (runs->runs->len, runs->n_threads, evaluate_one, &work, NULL, NULL);
}

static void
predict_one (guint index, gpointer data)
{
  const Work *work = data;
  const Run *run = run_at (work->runs, index);
  Scenario scenario;

  if (work->fold != ALL_FOLDS && run->fold != work->fold)
    return;
  scenario = scenario_with (run, work->values);
  validation_predict_scenario (&scenario, &work->validation->predictions[run->row]);
}

void
calibration_runs_predict (const CalibrationRuns *runs, const double *values, guint fold,
                          Validation *validation)
{
  Work work = { .runs = runs, .values = values, .fold = fold, .validation = validation };

  study_pool_run (runs->runs->len, runs->n_threads, predict_one, &work, NULL, NULL);
}

#include <config.h>

#include "study/calibration_errors.h"

#include <math.h>
#include <string.h>

#include "study/step_error.h"

/* What a run has to do with its interval. */
typedef struct
{
  const KeyInfo *key; /* of its size and checkpointing */
  const char *file;   /* in which it stands; NULL: in none */
  double error;       /* of the run, held back: a logarithm's absolute value */
  double start;       /* the file's */
  guint fold;
} Judged;

static GArray *
judge (const CalibrationRuns *runs, const Calibration *calibration)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (Judged));
  guint n_keys;

  for (guint run = 0; run < calibration_runs_n (runs); run++)
    {
      const guint row = calibration_runs_row (runs, run);
      const Prediction *prediction = &calibration->crossed.predictions[row];
      const Scenario *scenario = calibration_runs_scenario (runs, run);
      const KeyInfo *key = &keys_list (&n_keys)[step_error_key (scenario)];
      const Judged judged
          = { .key = key,
              .file = calibration_runs_origin (runs, run, key),
              .error = fabs (log1p (prediction_error (prediction, METRIC_TOKENS_PER_S_PER_GPU))),
              .start = G_STRUCT_MEMBER (double, scenario, key->offset),
              .fold = calibration_runs_fold (runs, run) };

      if (judged.file != NULL && !isnan (judged.error))
        g_array_append_val (all, judged);
    }
  return all;
}

/* Of the runs of one file, and of one key or (NULL) all of them; but for one fold, or ALL_FOLDS. */
static double
quantile (const GArray *all, const char *file, const KeyInfo *key, guint left_out)
{
  g_autofree double *errors = g_new (double, all->len + 1);
  guint n = 0;

  for (guint i = 0; i < all->len; i++)
    {
      const Judged *judged = &g_array_index (all, Judged, i);

      if (strcmp (judged->file, file) == 0 && (key == NULL || judged->key == key)
          && judged->fold != left_out)
        errors[n++] = judged->error;
    }
  return step_error_quantile (errors, n);
}

/* Where a key has too few runs, all of the file count. */
static double
error_of (const GArray *all, const Judged *like, guint left_out)
{
  double error = quantile (all, like->file, like->key, left_out);

  return isnan (error) ? quantile (all, like->file, NULL, left_out) : error;
}

static void
add_parameter (const GArray *all, const Judged *like, Calibration *calibration)
{
  const double error = expm1 (error_of (all, like, ALL_FOLDS));
  CalibratedParameter parameter = { .key = like->key,
                                    .start = like->start,
                                    .value = error,
                                    .low = error,
                                    .high = error,
                                    .is_moved = TRUE };

  if (isnan (error))
    return;
  for (guint k = 0; k < calibration->parameters->len; k++)
    {
      const CalibratedParameter *known
          = &g_array_index (calibration->parameters, CalibratedParameter, k);

      if (known->key == like->key && strcmp (known->file, like->file) == 0)
        return;
    }
  for (guint i = 0; i < all->len; i++)
    {
      const Judged *judged = &g_array_index (all, Judged, i);

      parameter.n_runs += judged->key == like->key && strcmp (judged->file, like->file) == 0;
    }
  parameter.file = g_strdup (like->file);
  g_array_append_val (calibration->parameters, parameter);
}

void
calibration_add_errors (const CalibrationRuns *runs, Calibration *calibration)
{
  g_autoptr (GArray) all = judge (runs, calibration);

  for (guint i = 0; i < all->len; i++)
    {
      const Judged *judged = &g_array_index (all, Judged, i);
      const double others = error_of (all, judged, judged->fold);

      add_parameter (all, judged, calibration);
      calibration->n_judged += !isnan (others);
      calibration->n_inside += !isnan (others) && judged->error <= others;
    }
}

#include <config.h>

#include "study/calibration.h"

#include <math.h>
#include <string.h>

#include "study/calibration_errors.h"
#include "study/robust_fit.h"

#define ROUNDS     4
#define STEP       0.03  /* of a logarithm, for a slope */
#define LONGEST    0.2   /* move of a round */
#define NOISE      0.012 /* of a measured throughput: repeats differ so much in the median */
#define SMALL_MOVE 0.002

typedef struct
{
  CalibrationRuns *runs;
  Calibration *calibration;
  double *values; /* by parameter */
  double *base;   /* logarithm of predicted over measured, by run */
  double *slopes; /* by run and parameter */
  StudyProgress progress;
  gpointer data;
  guint n_done, n_all;
} Fit;

static guint
n_parameters (const Fit *fit)
{
  return fit->calibration->parameters->len;
}

static CalibratedParameter *
parameter (const Fit *fit, guint k)
{
  return &g_array_index (fit->calibration->parameters, CalibratedParameter, k);
}

static void
evaluate (Fit *fit, const double *values, double *logs)
{
  calibration_runs_evaluate (fit->runs, values, logs);
  fit->n_done++;
  if (fit->progress != NULL)
    fit->progress (fit->n_done, fit->n_all, fit->data);
}

/* A run depends on one file for each key, so that parameters of one key can all be
 * moved at once. */
static void
find_slopes (Fit *fit)
{
  const guint n_runs = calibration_runs_n (fit->runs);
  const guint n = n_parameters (fit);
  g_autofree double *values = g_new (double, n);
  g_autofree double *logs = g_new0 (double, n_runs);

  memset (fit->slopes, 0, sizeof (double) * n_runs * n);
  for (guint key = 0; key < CALIBRATED_KEYS; key++)
    {
      for (guint k = 0; k < n; k++)
        values[k]
            = fit->values[k] * (parameter (fit, k)->key == calibrated_key (key) ? exp (STEP) : 1);
      evaluate (fit, values, logs);
      for (guint i = 0; i < n_runs; i++)
        {
          guint k = calibration_runs_parameter (fit->runs, i, key);

          if (k != NO_PARAMETER)
            fit->slopes[(gsize)i * n + k] = (logs[i] - fit->base[i]) / STEP;
        }
    }
}

static void
bound_move (const Fit *fit, guint k, double *least, double *most)
{
  const KeyInfo *key = parameter (fit, k)->key;
  double now = log (fit->values[k]);

  *least = MAX (-LONGEST, log (MAX (key->minimum, 1e-9)) - now);
  *most = MIN (LONGEST, log (key->maximum) - now);
}

/* @left_out: by run. */
static void
solve (const Fit *fit, const gboolean *left_out, double *moves)
{
  const guint n = n_parameters (fit);
  g_autofree double *away = g_new (double, n);
  g_autofree double *deviation = g_new (double, n);
  g_autofree double *least = g_new (double, n);
  g_autofree double *most = g_new (double, n);
  const RobustFit linear = { .n_residuals = calibration_runs_n (fit->runs),
                             .n_parameters = n,
                             .residuals = fit->base,
                             .slopes = fit->slopes,
                             .left_out = left_out,
                             .scale = NOISE,
                             .away = away,
                             .deviation = deviation,
                             .least = least,
                             .most = most };

  for (guint k = 0; k < n; k++)
    {
      away[k] = log (fit->values[k] / parameter (fit, k)->start);
      deviation[k] = calibrated_deviation (parameter (fit, k)->key);
      bound_move (fit, k, &least[k], &most[k]);
    }
  robust_fit_solve (&linear, moves);
}

/* Until the moves are small. */
static void
fit_all (Fit *fit)
{
  const guint n = n_parameters (fit);
  g_autofree double *moves = g_new (double, n);

  for (guint round = 0; round < ROUNDS; round++)
    {
      double largest = 0;

      evaluate (fit, fit->values, fit->base);
      find_slopes (fit);
      solve (fit, NULL, moves);
      for (guint k = 0; k < n; k++)
        {
          fit->values[k] *= exp (moves[k]);
          largest = MAX (largest, fabs (moves[k]));
        }
      if (largest < SMALL_MOVE)
        break;
    }
  for (guint k = 0; k < n; k++)
    parameter (fit, k)->value = parameter (fit, k)->low = parameter (fit, k)->high = fit->values[k];
}

/* Near the fit of all runs, where slopes are known. */
static void
fit_fold (Fit *fit, guint fold)
{
  const guint n_runs = calibration_runs_n (fit->runs);
  const guint n = n_parameters (fit);
  g_autofree gboolean *left_out = g_new (gboolean, n_runs);
  g_autofree double *moves = g_new (double, n);
  g_autofree double *values = g_new (double, n);

  for (guint i = 0; i < n_runs; i++)
    left_out[i] = calibration_runs_fold (fit->runs, i) == fold;
  solve (fit, left_out, moves);
  for (guint k = 0; k < n; k++)
    {
      values[k] = fit->values[k] * exp (moves[k]);
      parameter (fit, k)->low = MIN (parameter (fit, k)->low, values[k]);
      parameter (fit, k)->high = MAX (parameter (fit, k)->high, values[k]);
    }
  calibration_runs_predict (fit->runs, values, fold, &fit->calibration->crossed);
}

static void
mark_moved (Fit *fit)
{
  for (guint i = 0; i < calibration_runs_n (fit->runs); i++)
    for (guint k = 0; k < n_parameters (fit); k++)
      if (fabs (fit->slopes[(gsize)i * n_parameters (fit) + k]) > 1e-6)
        {
          parameter (fit, k)->is_moved = TRUE;
          parameter (fit, k)->n_runs++;
        }
}

void
calibration_run (const PublishedTable *table, const CalibrationOptions *options,
                 StudyProgress progress, gpointer data, Calibration *calibration)
{
  g_autoptr (CalibrationRuns) runs = NULL;
  Fit fit = { .calibration = calibration,
              .progress = progress,
              .data = data,
              .n_all = ROUNDS * (CALIBRATED_KEYS + 1) };

  *calibration = (Calibration){ 0 };
  runs = fit.runs = calibration_runs_new (table, options, &calibration->parameters);
  calibration->n_folds = calibration_runs_n_folds (runs);
  fit.values = g_new0 (double, n_parameters (&fit) + 1);
  fit.base = g_new (double, calibration_runs_n (runs) + 1);
  fit.slopes = g_new (double, (gsize)calibration_runs_n (runs) * n_parameters (&fit) + 1);
  for (guint k = 0; k < n_parameters (&fit); k++)
    fit.values[k] = parameter (&fit, k)->start;
  validation_init (table, &calibration->start);
  validation_init (table, &calibration->fitted);
  validation_init (table, &calibration->crossed);
  calibration_runs_predict (runs, fit.values, ALL_FOLDS, &calibration->start);
  fit_all (&fit);
  calibration_runs_predict (runs, fit.values, ALL_FOLDS, &calibration->fitted);
  evaluate (&fit, fit.values, fit.base);
  find_slopes (&fit);
  mark_moved (&fit);
  for (guint fold = 0; fold < calibration->n_folds; fold++)
    fit_fold (&fit, fold);
  calibration_add_errors (runs, calibration);
  g_free (fit.values);
  g_free (fit.base);
  g_free (fit.slopes);
}

void
calibration_clear (Calibration *calibration)
{
  validation_clear (&calibration->start);
  validation_clear (&calibration->fitted);
  validation_clear (&calibration->crossed);
  g_clear_pointer (&calibration->parameters, g_array_unref);
}

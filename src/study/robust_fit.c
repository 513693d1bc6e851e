#include <config.h>

#include "study/robust_fit.h"

#include <math.h>

#include <nlopt.h>

#define MOST_EVALUATIONS 2000
#define TOLERANCE        1e-9

static double
residual_at (const RobustFit *fit, guint i, const double *moves)
{
  const double *slopes = fit->slopes + (gsize)i * fit->n_parameters;
  double residual = fit->residuals[i];

  for (guint k = 0; k < fit->n_parameters; k++)
    residual += slopes[k] * moves[k];
  return residual;
}

/* In standard deviations of the noise: x^2 / 2 for small x, |x| for large. */
static double
loss (const RobustFit *fit, guint i, const double *moves, double *gradient)
{
  const double *slopes = fit->slopes + (gsize)i * fit->n_parameters;
  double x = residual_at (fit, i, moves) / fit->scale;
  double root = sqrt (1 + x * x);

  for (guint k = 0; gradient != NULL && k < fit->n_parameters; k++)
    gradient[k] += x / root * slopes[k] / fit->scale;
  return root - 1;
}

static double
pull (const RobustFit *fit, guint k, const double *moves, double *gradient)
{
  double x = (fit->away[k] + moves[k]) / fit->deviation[k];

  if (gradient != NULL)
    gradient[k] += x / fit->deviation[k];
  return x * x / 2;
}

static double
objective (unsigned n, const double *moves, double *gradient, void *data)
{
  const RobustFit *fit = data;
  double sum = 0;

  for (guint k = 0; gradient != NULL && k < n; k++)
    gradient[k] = 0;
  for (guint i = 0; i < fit->n_residuals; i++)
    if (fit->left_out == NULL || !fit->left_out[i])
      sum += loss (fit, i, moves, gradient);
  for (guint k = 0; k < n; k++)
    sum += pull (fit, k, moves, gradient);
  return sum;
}

/* The sum is convex, so that the minimum is where the search ends, whatever it says
 * of how it got there. */
void
robust_fit_solve (const RobustFit *fit, double *moves)
{
  nlopt_opt search = nlopt_create (NLOPT_LD_SLSQP, fit->n_parameters);
  double least;

  for (guint k = 0; k < fit->n_parameters; k++)
    moves[k] = CLAMP (0, fit->least[k], fit->most[k]);
  nlopt_set_min_objective (search, objective, (void *)fit);
  nlopt_set_lower_bounds (search, fit->least);
  nlopt_set_upper_bounds (search, fit->most);
  nlopt_set_ftol_rel (search, TOLERANCE);
  nlopt_set_maxeval (search, MOST_EVALUATIONS);
  nlopt_optimize (search, moves, &least);
  nlopt_destroy (search);
}

/* Small moves of parameters that bring residuals near zero, where these change
 * linearly with those. Residuals count by their size rather than by its square
 * beyond a scale (pseudo-Huber), so that a few wrong measurements do not decide. */
#pragma once

#include <glib.h>

typedef struct
{
  guint n_residuals, n_parameters;
  const double *residuals;  /* where no parameter moves */
  const double *slopes;     /* of residual i by parameter k: slopes[i * n_parameters + k] */
  const gboolean *left_out; /* by residual; NULL: none is */
  double scale;             /* of residuals that are noise */
  /* By parameter. */
  const double *away;      /* from where it was expected to be, where it does not move */
  const double *deviation; /* standard deviation of that expectation */
  const double *least, *most;
} RobustFit;

/* Fills @moves, each within its bounds. */
void robust_fit_solve (const RobustFit *fit, double *moves);

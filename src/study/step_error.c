#include <config.h>

#include "study/step_error.h"

#include <math.h>
#include <stdlib.h>

#include "cost/params.h"

#define LARGE_PARAMETERS 10e9
#define TENTHS           9

KeyId
step_error_key (const Scenario *scenario)
{
  gboolean is_checkpointed = scenario->checkpoint.method != CHECKPOINT_NONE;

  if ((double)params_count (&scenario->model).total < LARGE_PARAMETERS)
    return is_checkpointed ? ID_gpu_error_small_checkpointed : ID_gpu_error_small;
  return is_checkpointed ? ID_gpu_error_large_checkpointed : ID_gpu_error_large;
}

double
step_error (const Scenario *scenario)
{
  const TimingConfig *timing = &scenario->timing;
  guint n;
  double error
      = G_STRUCT_MEMBER (double, scenario, keys_list (&n)[step_error_key (scenario)].offset);

  if (timing->forward != TIMING_NOT_GIVEN && timing->backward != TIMING_NOT_GIVEN)
    return NAN;
  return error > 0 ? error : (double)NAN;
}

static gint
compare_reals (gconstpointer a, gconstpointer b)
{
  const double x = *(const double *)a;
  const double y = *(const double *)b;

  return (x > y) - (x < y);
}

double
step_error_quantile (double *errors, guint n)
{
  const guint rank = ((n + 1) * TENTHS + 9) / 10;

  if (rank > n)
    return NAN;
  qsort (errors, n, sizeof *errors, compare_reals);
  return errors[rank - 1];
}

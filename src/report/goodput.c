#include <config.h>

#include "report/goodput.h"

#include <math.h>

#include "report/budget.h"

#define PS_PER_S 1e12

double
goodput_best_interval_s (double checkpoint_s, double mtbf_s)
{
  const double half = checkpoint_s / (2 * mtbf_s);

  if (half >= 1)
    return mtbf_s;
  return sqrt (2 * checkpoint_s * mtbf_s) * (1 + sqrt (half) / 3 + half / 9) - checkpoint_s;
}

double
goodput_ratio (double interval_s, double checkpoint_s, double restart_s, double mtbf_s)
{
  const double wall_s
      = mtbf_s * exp (restart_s / mtbf_s) * expm1 ((interval_s + checkpoint_s) / mtbf_s);

  return interval_s / wall_s;
}

Goodput
goodput_expect (const ReliabilityConfig *reliability, guint n_ranks, double step_time_s)
{
  const double checkpoint_s = (double)reliability->checkpoint_ps / PS_PER_S;
  const double restart_s = (double)reliability->restart_ps / PS_PER_S;
  Goodput goodput = { .ratio = 1, .mtbf_s = (double)INFINITY, .interval_s = (double)NAN };

  if (!goodput_is_asked (reliability))
    return goodput;
  goodput.mtbf_s = reliability->gpu_mtbf_ps / PS_PER_S / n_ranks;
  goodput.failures_per_day = SECONDS_PER_DAY / goodput.mtbf_s;
  goodput.interval_s = reliability->checkpoint_interval_ps < 0
                           ? goodput_best_interval_s (checkpoint_s, goodput.mtbf_s)
                           : reliability->checkpoint_interval_ps / PS_PER_S;
  goodput.interval_s = fmax (goodput.interval_s, step_time_s);
  goodput.ratio = isnan (step_time_s)
                      ? step_time_s
                      : goodput_ratio (goodput.interval_s, checkpoint_s, restart_s, goodput.mtbf_s);
  return goodput;
}

Goodput
goodput_of (const RunFacts *facts, const Figures *figures)
{
  return goodput_expect (&facts->reliability, facts->n_ranks, figures->step_time_s);
}

void
goodput_add_fields (const RunFacts *facts, const Figures *figures, Csv *csv)
{
  const Goodput goodput = goodput_of (facts, figures);

  csv_add_number (csv, 100 * goodput.ratio);
  csv_add_number (csv, goodput.ratio * figures->tokens_per_s);
  csv_add_number (csv, goodput.interval_s);
  csv_add_number (csv, goodput.failures_per_day);
}

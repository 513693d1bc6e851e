/* What failures leave of a training run's throughput: training stops to save checkpoints, and
 * after a failure of any GPU to start again from the last of them. */
#pragma once

#include "report/csv.h"
#include "report/figures.h"

typedef struct
{
  double ratio;            /* of the throughput that is left; 1 where nothing fails */
  double mtbf_s;           /* of the job: that of one GPU / GPUs; infinite where nothing fails */
  double interval_s;       /* of training between two checkpoints: that given or the best, at least
                              one step; NaN where nothing fails */
  double failures_per_day; /* of the job */
} Goodput;

static inline gboolean
goodput_is_asked (const ReliabilityConfig *reliability)
{
  return reliability->gpu_mtbf_ps > 0;
}

/* Daly 2006, "A higher order estimate of the optimum checkpoint interval for restart dumps", with
 * failures of a constant rate 1/M at any time, also while saving and restarting. Training of
 * duration t between checkpoints of cost d, restarts of cost R:
 *
 *   wall time of one interval = M e^(R/M) (e^((t + d)/M) - 1)                     equation 20
 *   best t = sqrt(2 d M) (1 + 1/3 sqrt(d / 2M) + 1/9 (d / 2M)) - d, or M where d >= 2M       37
 *
 * The leading term, sqrt(2 d M), is Young's (1974). */
double goodput_best_interval_s (double checkpoint_s, double mtbf_s);
double goodput_ratio (double interval_s, double checkpoint_s, double restart_s, double mtbf_s);

/* Of a job of @n_ranks GPUs; NaN in ratio where it has no step time and failures count. */
Goodput goodput_expect (const ReliabilityConfig *reliability, guint n_ranks, double step_time_s);
Goodput goodput_of (const RunFacts *facts, const Figures *figures);

#define GOODPUT_COLUMNS                                                                            \
  ",goodput_percent,effective_tokens_per_s,checkpoint_interval_s,failures_per_day"

void goodput_add_fields (const RunFacts *facts, const Figures *figures, Csv *csv);

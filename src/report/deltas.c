#include <config.h>

#include <math.h>

#include "report/deltas.h"

const char *
step_part_words (StepPart part)
{
  static const char *const words[N_STEP_PARTS]
      = { [PART_EXPOSED_ALL_GATHER] = "exposed all-gather",
          [PART_EXPOSED_REDUCE_SCATTER] = "exposed reduce-scatter",
          [PART_EXPOSED_ALL_REDUCE] = "exposed all-reduce",
          [PART_FORWARD] = "forward",
          [PART_RECOMPUTE] = "recompute",
          [PART_BACKWARD] = "backward",
          [PART_OPTIMIZER] = "optimizer",
          [PART_COPIES] = "copies",
          [PART_HOST_BOUND] = "host-bound" };

  g_assert (part < N_STEP_PARTS);
  return words[part];
}

void
step_parts (const Figures *figures, double parts_s[N_STEP_PARTS])
{
  const double *busy_s = figures->busy_s;

  parts_s[PART_EXPOSED_ALL_GATHER] = figures->exposed_s[TIMELINE_ALL_GATHER];
  parts_s[PART_EXPOSED_REDUCE_SCATTER] = figures->exposed_s[TIMELINE_REDUCE_SCATTER];
  parts_s[PART_EXPOSED_ALL_REDUCE] = figures->exposed_s[TIMELINE_ALL_REDUCE];
  parts_s[PART_HOST_BOUND] = figures->host_bound_s;
  parts_s[PART_COPIES] = 0;
  for (guint op = 0; op < N_TIMELINE_OPS; op++)
    if (op != TIMELINE_FORWARD && op != TIMELINE_RECOMPUTE && op != TIMELINE_BACKWARD
        && op != TIMELINE_OPTIMIZER && op != TIMELINE_GRAD_CLIP)
      parts_s[PART_COPIES] += busy_s[op];
  parts_s[PART_FORWARD] = busy_s[TIMELINE_FORWARD];
  parts_s[PART_RECOMPUTE] = busy_s[TIMELINE_RECOMPUTE];
  parts_s[PART_BACKWARD] = busy_s[TIMELINE_BACKWARD];
  parts_s[PART_OPTIMIZER] = busy_s[TIMELINE_OPTIMIZER] + busy_s[TIMELINE_GRAD_CLIP];
}

void
deltas_measure (const Figures *variant, const Figures *baseline, Deltas *deltas)
{
  const gboolean knows_memory = figures_know_memory (variant) && figures_know_memory (baseline);
  double variant_parts_s[N_STEP_PARTS], baseline_parts_s[N_STEP_PARTS];

  step_parts (variant, variant_parts_s);
  step_parts (baseline, baseline_parts_s);
  for (guint part = 0; part < N_STEP_PARTS; part++)
    deltas->parts_s[part] = variant_parts_s[part] - baseline_parts_s[part];
  deltas->step_time_s = variant->step_time_s - baseline->step_time_s;
  deltas->throughput_percent
      = 100 * (variant->tokens_per_s_per_gpu / baseline->tokens_per_s_per_gpu - 1);
  deltas->all_gathers = figures_all_gathers (&variant->all) - figures_all_gathers (&baseline->all);
  deltas->reduce_scatters = variant->all.reduce_scatters - baseline->all.reduce_scatters;
  deltas->all_reduces = variant->all.all_reduces - baseline->all.all_reduces;
  deltas->exposed_comm_s = variant->exposed_comm_s - baseline->exposed_comm_s;
  deltas->peak_allocated_bytes
      = knows_memory ? (double)(variant->peak_allocated_bytes - baseline->peak_allocated_bytes)
                     : (double)NAN;
}

#include <config.h>

#include <math.h>
#include <string.h>

#include "report/step_parts.h"
#include "timeline/exposure.h"

const char *
step_kind_name (StepKind kind)
{
  static const char *const names[N_STEP_KINDS]
      = { [STEP_COMPUTE] = "compute",       [STEP_FORWARD] = "forward",
          [STEP_RECOMPUTE] = "recompute",   [STEP_BACKWARD] = "backward",
          [STEP_OPTIMIZER] = "optimizer",   [STEP_COPY] = "copy",
          [STEP_ALL_GATHER] = "all_gather", [STEP_REDUCE_SCATTER] = "reduce_scatter",
          [STEP_ALL_REDUCE] = "all_reduce", [STEP_EXPOSED] = "exposed",
          [STEP_HOST_BOUND] = "host_bound" };

  g_assert (kind < N_STEP_KINDS);
  return names[kind];
}

static StepKind
kind_of_compute (TimelineOp op)
{
  switch (op)
    {
    case TIMELINE_FORWARD:
      return STEP_FORWARD;
    case TIMELINE_RECOMPUTE:
      return STEP_RECOMPUTE;
    case TIMELINE_BACKWARD:
      return STEP_BACKWARD;
    case TIMELINE_OPTIMIZER:
    case TIMELINE_GRAD_CLIP:
      return STEP_OPTIMIZER;
    default:
      return STEP_COPY;
    }
}

static StepKind
kind_of_idle (TimelineOp op)
{
  switch (op)
    {
    case TIMELINE_ALL_GATHER:
      return STEP_ALL_GATHER;
    case TIMELINE_REDUCE_SCATTER:
      return STEP_REDUCE_SCATTER;
    case TIMELINE_ALL_REDUCE:
      return STEP_ALL_REDUCE;
    default:
      return STEP_HOST_BOUND;
    }
}

static void
parts_of_timeline (const Timeline *timeline, double step_time_s, double parts_s[N_STEP_KINDS])
{
  const double total_s = sim_time_seconds (timeline_reported_time (timeline));
  const double n_steps = MAX (1, round (total_s / step_time_s));
  Exposure exposure;

  exposure_measure (timeline, &exposure, NULL);
  for (guint op = 0; op < N_TIMELINE_OPS; op++)
    {
      parts_s[kind_of_compute (op)] += sim_time_seconds (exposure.busy[op]) / n_steps;
      if (timeline_op_is_collective (op))
        parts_s[kind_of_idle (op)] += sim_time_seconds (exposure.exposed[op]) / n_steps;
    }
  parts_s[STEP_HOST_BOUND] += sim_time_seconds (exposure.host_bound) / n_steps;
}

void
results_step_parts (const ResultsVariant *variant, double parts_s[N_STEP_KINDS])
{
  memset (parts_s, 0, N_STEP_KINDS * sizeof *parts_s);
  if (variant->timeline != NULL && timeline_end (variant->timeline) > 0)
    {
      parts_of_timeline (variant->timeline, variant->step_time_s, parts_s);
      return;
    }
  parts_s[STEP_COMPUTE] = variant->compute_s;
  parts_s[STEP_EXPOSED] = variant->exposed_comm_s;
  parts_s[STEP_HOST_BOUND] = variant->host_bound_s;
}

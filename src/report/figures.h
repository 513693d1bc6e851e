/* From a timeline and plain facts of a run to the figures that people compare. */
#pragma once

#include "config/scenario.h"
#include "timeline/critical_path.h"
#include "timeline/exposure.h"
#include "timeline/memory.h"

typedef enum
{
  RUN_OK,
  RUN_DOES_NOT_FIT,
  RUN_REFUSED, /* PyTorch refuses these settings */
  RUN_FAILED
} RunStatus;

const char *run_status_name (RunStatus status); /* "ok", "does_not_fit", "refused", "failed" */

/* What a report needs to know of a run besides its timeline. */
typedef struct
{
  guint n_ranks;
  double peak_flops;      /* of one GPU, dense */
  double tokens_per_step; /* of all ranks */
  double model_flops_per_token;
  double hardware_flops_per_token; /* with what is recomputed */
  gint64 capacity_bytes;           /* of GPU memory that PyTorch can have */
  double step_error; /* nine of ten steps are within this share of the prediction; NaN: unknown */
  gboolean expandable_segments;  /* how its allocator was told to take it */
  ReliabilityConfig reliability; /* all 0: nothing fails */
  gint64 params, trained_params; /* of the model, and those of them that have gradients */
} RunFacts;

/* Counts and bytes of one unit, or of all, per rank and step: the mean of the
 * reported steps. */
typedef struct
{
  guint32 unit;
  double all_gathers_forward, all_gathers_backward;
  double reduce_scatters, all_reduces;
  double bytes;
  double all_gather_exposed_s, reduce_scatter_exposed_s, all_reduce_exposed_s;
} UnitFigures;

typedef struct
{
  RunStatus status;
  char *reason; /* why it is not ok; "" where it is */
  /* Of what did not run, every number is NaN (bytes: 0) and fits FALSE. */
  double step_time_low_s, step_time_high_s; /* nine of ten steps are between; NaN: unknown */
  double step_time_s, tokens_per_s, tokens_per_s_per_gpu, mfu_percent, hfu_percent;
  UnitFigures all;
  double compute_s, exposed_comm_s, host_bound_s;
  double busy_s[N_TIMELINE_OPS];    /* of the compute stream, by op, per step */
  double exposed_s[N_TIMELINE_OPS]; /* by collective, per step; all-reduce with clipping's */
  gint64 peak_allocated_bytes, peak_reserved_bytes; /* -1: a recording does not tell */
  gboolean fits;                                    /* the allocator never ran out of memory */
  MemoryUse memory;
  UnitFigures *units; /* those with any collective, in the order of their numbers */
  guint n_units;
} Figures;

/* Figures as sums over windows of the same run, as of a timeline that comes step by step. */
typedef struct
{
  Exposure exposure;
  UnitFigures all; /* sums over all steps, times in picoseconds */
  GArray *units;   /* UnitFigures, the same by unit */
} FiguresSum;

void figures_sum_init (FiguresSum *sum);
void figures_sum_clear (FiguresSum *sum);
/* One window's exposure, as exposure_measure() gives it. Carried records are not counted again,
 * what is exposed of them is. */
void figures_sum_add (FiguresSum *sum, const Timeline *timeline, const Exposure *exposure,
                      const SimTime *per_record);
/* Time and collectives, the mean of @n_steps; nothing of rates and memory. */
void figures_from_sum (const FiguresSum *sum, guint n_steps, Figures *figures);
/* Tokens and FLOPs per time, and between which times the step is: NaN where the facts do not tell
 * them. */
void figures_set_rates (const RunFacts *facts, Figures *figures);

/* MFU = model FLOPs of the step / (step time x ranks x dense peak of one GPU), as
 * torchtitan's components/metrics.py; HFU the same with hardware FLOPs. */
void figures_measure (const Timeline *timeline, const RunFacts *facts, Figures *figures);
/* Of a variant that did not run. */
void figures_refuse (Figures *figures, RunStatus status, const char *reason);
void figures_clear (Figures *figures);

static inline double
figures_all_gathers (const UnitFigures *unit)
{
  return unit->all_gathers_forward + unit->all_gathers_backward;
}

static inline gboolean
figures_did_run (const Figures *figures)
{
  return figures->status == RUN_OK || figures->status == RUN_DOES_NOT_FIT;
}

static inline gboolean
figures_know_memory (const Figures *figures)
{
  return figures_did_run (figures) && figures->peak_allocated_bytes >= 0;
}

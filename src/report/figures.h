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

/* What a report needs to know of a run beside its timeline. */
typedef struct
{
  guint n_ranks;
  double peak_flops;        /* of one GPU, dense */
  double tokens_per_step;   /* of all ranks */
  double model_flops_per_token;
  double hardware_flops_per_token; /* with what is recomputed */
  gint64 capacity_bytes;    /* of GPU memory that PyTorch can have */
} RunFacts;

/* Counts and bytes of one unit, or of all, per rank and step. */
typedef struct
{
  guint32 unit;
  guint all_gathers_forward, all_gathers_backward;
  guint reduce_scatters, all_reduces;
  gint64 bytes;
  double all_gather_exposed_s, reduce_scatter_exposed_s, all_reduce_exposed_s;
} UnitFigures;

typedef struct
{
  RunStatus status;
  char *reason; /* why it is not ok; "" where it is */
  double step_time_s, tokens_per_s, tokens_per_s_per_gpu, mfu_percent, hfu_percent;
  UnitFigures all;
  double compute_s, exposed_comm_s, host_bound_s;
  double busy_s[N_TIMELINE_OPS];    /* of the compute stream, by op, per step */
  gint64 peak_allocated_bytes, peak_reserved_bytes;
  gboolean fits;
  MemoryUse memory;
  UnitFigures *units; /* those with any collective, in the order of their numbers */
  guint n_units;
} Figures;

void figures_measure (const Timeline *timeline, const RunFacts *facts, Figures *figures);
/* Of a variant that did not run. */
void figures_refuse (Figures *figures, RunStatus status, const char *reason);
void figures_clear (Figures *figures);

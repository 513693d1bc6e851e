/* What a plan may choose from, as a grid: jobs (nodes, micro-batch, accumulation) by
 * offload by sharding by checkpointing by prefetch, and whatever else the user varies. */
#pragma once

#include "config/cells.h"

/* What the user allows; 0 where nothing was said. */
typedef struct
{
  guint max_gpus;     /* 0: as many as the scenario has */
  guint global_batch; /* sequences of a step, held by grad_accum; 0: not held */
  double tokens;      /* to train on */
  double deadline_s;  /* for all of them */
  double price_per_gpu_hour;
  double budget;   /* money */
  double headroom; /* share of the capacity that is to stay free */
} PlanLimits;

/* What may be used of a GPU's memory. */
gint64 plan_usable_bytes (gint64 capacity_bytes, double headroom);

typedef struct
{
  guint nodes, micro_batch, grad_accum;
} PlanJob;

typedef struct
{
  Grid *grid;
  GArray *jobs; /* PlanJob; the slowest axis: job j has cells j x n_rest to (j + 1) x n_rest - 1 */
  gsize n_rest; /* cells of each job */
  /* Of a job's cells the first so many keep their shards on the GPU; behind them stand the same
   * again with theirs on the host, if the plan tries that: n_rest is then twice as many. */
  gsize n_on_gpu;
} PlanSpace;

/* @vary: "section.key=list" of the user; such a list stands in place of what the plan would try
 * of its key. FALSE where @problems says what is wrong, as that no job holds the global batch. */
gboolean plan_space_init (PlanSpace *space, const ScenarioFile *file, guint variant,
                          const PlanLimits *limits, const char *const *vary, Problems *problems);
void plan_space_clear (PlanSpace *space);

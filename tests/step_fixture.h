/* A scenario of round durations, and what a step of it takes and counts. */
#pragma once

#include "fsdp/runtime.h"
#include "sim/engine.h"

#define US       G_GINT64_CONSTANT (1000000) /* picoseconds */
#define N_BLOCKS 32

/* Two nodes of eight GPUs; blocks of 4 ms forward and recompute, 8 ms backward,
 * 1.76 ms all-gather and reduce-scatter; root collectives of 0.5 ms; nothing else
 * takes any time. */
Scenario scenario_of_round_numbers (void);

/* torch.utils.checkpoint, reentrant, around each block's unit. */
void use_naive (Scenario *scenario);
/* apply_activation_checkpointing, non-reentrant, inside each block's unit. */
void use_wrapper (Scenario *scenario);
/* Shard groups of a node; all-reduces of 1 ms, the root's of 0.2 ms. */
void use_hybrid (Scenario *scenario);

/* The caller frees it. */
Timeline *run (const Scenario *scenario);
SimTime step_time (const Scenario *scenario);

typedef struct
{
  guint forward_gathers, backward_gathers, scatters, reduces;
} Counts;

/* Of one unit in the reported step. */
Counts count (const Timeline *timeline, guint32 unit);
/* Of all units. */
Counts count_all (const Timeline *timeline);
void assert_counts (const Scenario *scenario, guint32 unit, Counts want);
void assert_all_counts (const Scenario *scenario, Counts want);

/* Device copies of one unit in the reported step. */
guint count_copies (const Scenario *scenario, guint32 unit);

/* When the first such record of a block starts, from the start of the reported step. */
SimTime start_of (const Timeline *timeline, TimelineOp op, TimelinePhase phase, guint block);

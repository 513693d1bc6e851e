/* Which unit, phase and micro-batch a collective is for, where nothing but its kind,
 * its size and its place in the step tells. */
#pragma once

#include "timeline/label.h"

typedef struct
{
  TimelineOp op;       /* ALL_GATHER, REDUCE_SCATTER, ALL_REDUCE or OTHER_COLLECTIVE */
  gint64 elements;     /* all-gather output, reduce-scatter input; -1: not told */
  gboolean has_phase;  /* then label's phase and micro-batch are given */
  TimelineLabel label; /* filled in; op becomes GRAD_CLIP for the scalar of clipping */
} TraceSeen;

/* Labels the collectives of one step in the order in which they ran. FSDP gathers in
 * forward the root (or embedding), the blocks, perhaps a head, in this order; in backward
 * the blocks from the last to the first, each once or, with checkpointing around the
 * unit, twice. Gradients are reduced from the last block to the first, the root last.
 * Collectives that fit no such order become the root's. */
void trace_pattern_label (TraceSeen *seen, guint n);

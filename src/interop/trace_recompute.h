/* Tells recomputed kernels from those of the backward pass: under activation
 * checkpointing a block's backward begins with the kernels of its forward again, in
 * the same order. */
#pragma once

#include "timeline/label.h"

typedef struct _TraceRecompute TraceRecompute;

TraceRecompute *trace_recompute_new (void);
void trace_recompute_free (TraceRecompute *recompute);

/* The next forward kernel of a unit. @pass is a step's micro-batch, in any numbering. */
void trace_recompute_forward (TraceRecompute *recompute, guint32 unit, guint64 pass, guint32 name);

/* The next kernel of a unit in backward: TRUE where it continues the sequence of names of
 * this pass's forward. */
gboolean trace_recompute_backward (TraceRecompute *recompute, guint32 unit, guint64 pass,
                                   guint32 name);

/* Ends the first reading, which learns which units recompute: those that match half of
 * their forward. Kernels of the others match no more. */
void trace_recompute_learn (TraceRecompute *recompute);

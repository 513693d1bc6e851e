/* What each launch was for: the host's annotations around it, by the correlation that
 * its work on the GPU carries too. */
#pragma once

#include "interop/trace_file.h"

typedef struct
{
  gint64 id;    /* from this correlation on, up to the next context's */
  int step;     /* index of host_steps; -1: outside of all */
  guint32 unit; /* of what FSDP does there */
  guint32 part; /* the same for kernels: the root's are the embedding's or the head's */
  guint16 micro_batch;
  guint8 phase;       /* TimelinePhase */
  guint8 op;          /* TimelineOp of kernels that are no collectives */
  gboolean has_unit;  /* FSDP's annotations tell it */
  gboolean has_phase; /* the threads tell forward from backward */
  /* Of a collective, by c10d's record around the launch. */
  guint8 collective, dtype_bytes;
  guint16 group;
  gint64 elements;
} TraceContext;

/* TraceContext by id. Empty where the trace holds no launches; g_array_unref() it. */
GArray *trace_host_contexts (TraceFile *file);

/* NULL where nothing is known of @id. */
const TraceContext *trace_context_of (const GArray *contexts, gint64 id);

/* A first reading of a file's records: where steps begin and end on the GPU, which
 * streams compute, what every collective is for. For trace_recording.c alone. */
#pragma once

#include "interop/trace_host.h"
#include "interop/trace_recompute.h"
#include "interop/trace_recording.h"

typedef struct
{
  TraceTrack track;
  gboolean by_host; /* records belong to steps by their launches, else by their start */
  guint8 is_compute[G_MAXUINT8 + 1]; /* by stream */
  GArray *labels; /* TimelineLabel of each collective, in the store's order; not of fsdpsim's */
  guint16 shard_group; /* of the first all-gather; 0: not told */
  TraceRecompute *recompute;
} TraceSurvey;

/* TraceSurvey by process; NULL where nothing ran. g_ptr_array_unref() it. */
GPtrArray *trace_survey_all (const TraceFile *file, const GArray *contexts);

/* What a collective is, by its kernel, its arguments or the host's record. */
typedef struct
{
  TimelineOp op;
  gint64 elements; /* -1: not told */
  guint dtype_bytes;
  guint16 group;
} TraceCollectiveFacts;

TraceCollectiveFacts trace_survey_collective (const TraceRecord *record,
                                              const TraceContext *context);

/* Step, process group and kind of a collective, the same on every rank. */
guint64 trace_survey_peer_key (const TraceFile *file, const TraceSurvey *survey,
                               const TraceRecord *record, const TraceContext *context);

/* Of a kernel on a compute stream: its label, recomputation told from backward. */
TimelineLabel trace_survey_kernel_label (const TraceSurvey *survey, const TraceRecord *record,
                                         const TraceContext *context);

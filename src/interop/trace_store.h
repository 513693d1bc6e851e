/* Puts records into order in bounded memory: what does not fit is sorted and goes to
 * temporary files, and reading merges them. */
#pragma once

#include "timeline/timeline.h"

typedef enum
{
  TRACE_KERNEL,     /* on the GPU, a collective too */
  TRACE_COPY,       /* memcpy and memset */
  TRACE_HOST_WORK,  /* the host waited or computed: fsdpsim's */
  TRACE_LAUNCH,     /* of work, by its correlation */
  TRACE_ANNOTATION, /* of the host */
  TRACE_COMM        /* the host's record of a collective, around its launch */
} TraceRecordKind;

typedef struct
{
  SimTime start, end;
  gint64 id;           /* correlation; 0: none */
  gint64 elements;     /* of collectives: all-gather output, reduce-scatter input; -1: not told */
  SimTime peers_from;  /* of collectives; SIM_TIME_NONE: not told */
  guint32 process;     /* index; orders before all else */
  guint32 sequence;    /* in the file */
  guint32 name;        /* hash of a kernel's name; of TRACE_ANNOTATION an index of units */
  guint32 unit;        /* fsdpsim's label */
  guint16 group;       /* index of the process group, from 1; 0: not told */
  guint16 micro_batch; /* fsdpsim's label */
  guint8 kind;         /* TraceRecordKind */
  guint8 collective;   /* TraceCollective */
  guint8 stream;       /* index in the process; of the host's records the thread's */
  guint8 annotation;   /* TraceAnnotation */
  guint8 lane, op, phase; /* fsdpsim's labels */
  guint8 dtype_bytes;
  guint8 is_labelled; /* by fsdpsim */
} TraceRecord;

typedef struct _TraceStore TraceStore;

TraceStore *trace_store_new (void);
void trace_store_free (TraceStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TraceStore, trace_store_free)

void trace_store_add (TraceStore *store, const TraceRecord *record);

/* Ends the adding. @keep: what fits may stay in memory; else all goes to files, so that many
 * stores can wait at a time. FALSE and a G_FILE_ERROR where they could not be written. */
gboolean trace_store_finish (TraceStore *store, gboolean keep, GError **error);

/* Back to the first record. */
void trace_store_rewind (TraceStore *store);

/* The next by process, start and place in the file; NULL at the end. Lent until the next call. */
const TraceRecord *trace_store_next (TraceStore *store);

/* FALSE and a G_FILE_ERROR where something could not be read back: the records ended early. */
gboolean trace_store_is_sound (const TraceStore *store, GError **error);

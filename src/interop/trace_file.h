/* One trace file, read and put into order: who ran on which stream, what the host did,
 * and which steps were marked. */
#pragma once

#include "interop/trace_parser.h"
#include "interop/trace_store.h"

typedef struct
{
  gint64 tid;
  SimTime kernel_time; /* of kernels that are no collectives */
} TraceStream;

/* What the profiler shows as a process: a GPU, of fsdpsim's traces a rank. */
typedef struct
{
  gint64 pid;
  GArray *streams;   /* TraceStream */
  guint64 n_kernels; /* collectives included */
  guint64 n_copies;
  guint64 n_by_collective[N_NCCL_KINDS]; /* NCCL's kernels */
} TraceProcess;

typedef struct
{
  gint64 tid;
  gboolean is_autograd; /* ran operators of the backward pass */
} TraceThread;

/* One "ProfilerStep#N". */
typedef struct
{
  guint32 process; /* of the GPU's own mark; of the host's 0 */
  guint number;
  SimTime start, end;
} TraceStep;

typedef struct
{
  guint32 hash;
  guint size; /* ranks; 0: not told */
} TraceGroup;

typedef struct
{
  char *path;
  char *fault; /* why its data ended early, or NULL */
  TraceHeader header;
  TraceFaults faults;
  gboolean is_ours;              /* written by fsdpsim: labelled, and exact */
  gint64 base_us;                /* time 0 of all records */
  GArray *processes;             /* TraceProcess */
  GArray *gpu_steps;             /* TraceStep by the GPU's annotations, by process and start */
  GArray *host_steps;            /* TraceStep by the host's annotations, by start */
  GArray *optimizer_steps;       /* TraceStep, where the optimizer ran on the host */
  gboolean steps_are_optimizers; /* host_steps were made of those, as no others are marked */
  GArray *groups;                /* TraceGroup; index 0 is none */
  GPtrArray *unit_names;         /* char *, what FSDP2 calls its units, by index; "" is the root */
  GArray *threads;               /* TraceThread of the host */
  TraceStore *gpu;               /* kernels, copies, waits of fsdpsim's host */
  TraceStore *host;              /* launches, annotations, c10d's records; process is 0 */
  guint64 n_kernels, n_copies, n_by_collective[N_NCCL_KINDS];
  guint64 n_recorded; /* collectives in the host's own records */
  guint64 n_unplaced; /* events of the GPU without a time that can be placed */
  guint32 n_records;
} TraceFile;

typedef struct
{
  gboolean keep;                                     /* as of trace_store_finish() */
  void (*progress) (guint64 n_bytes, gpointer data); /* or NULL */
  gpointer progress_data;
} TraceReadOptions;

/* NULL where it is no trace (TRACE_ERROR) or cannot be read (G_FILE_ERROR); the message
 * names the file. */
TraceFile *trace_file_read (const char *path, const TraceReadOptions *options, GError **error);
void trace_file_free (TraceFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TraceFile, trace_file_free)

static inline TraceProcess *
trace_file_process (const TraceFile *file, guint32 index)
{
  return &g_array_index (file->processes, TraceProcess, index);
}

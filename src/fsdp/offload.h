/* What a process makes the host do where shards or checkpointed inputs are in host memory: copies
 * on its streams, and work of the CPU itself, which is a stream that the host waits for. */
#pragma once

#include "fsdp/writer.h"

/* The stream of the CPU's own work; where nothing is offloaded, none. */
void offload_init (Writer *writer);

/* Between host memory and GPU, on @stream. */
void offload_copy (Writer *writer, StreamId stream, gint64 bytes, gboolean pinned, guint32 unit);

/* The host works on @run, and nothing else. */
void offload_run_on_cpu (Writer *writer, const KernelRun *run, TimelineOp op, guint32 unit);

/* cudaStreamSynchronize: the host waits for all that is enqueued on @stream. */
void offload_synchronize (Writer *writer, StreamId stream, guint32 unit);

/* The compute stream does not go on before the CPU has done its work: so a step ends with the
 * optimizer on the CPU. */
void offload_compute_waits_for_cpu (Writer *writer);

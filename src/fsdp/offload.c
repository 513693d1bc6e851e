#include <config.h>

#include "fsdp/offload.h"

#include "cost/offload.h"

void
offload_init (Writer *writer)
{
  writer->synchronized = program_add_event (writer->program);
  if (scenario_offloads_params (writer->scenario))
    writer->cpu = program_add_stream (writer->program, "cpu", LANE_HOST);
}

void
offload_copy (Writer *writer, StreamId stream, gint64 bytes, gboolean pinned, guint32 unit)
{
  KernelRun run = cost_host_copy (writer->scenario, bytes, pinned);

  writer_launch (writer, stream, &run, TIMELINE_COPY, unit);
}

void
offload_synchronize (Writer *writer, StreamId stream, guint32 unit)
{
  program_record (writer->program, writer->synchronized, stream);
  program_host_wait (writer->program, writer->synchronized, 0,
                     writer_label (writer, TIMELINE_WAIT, unit));
}

void
offload_run_on_cpu (Writer *writer, const KernelRun *run, TimelineOp op, guint32 unit)
{
  if (run->n_kernels == 0)
    return;
  writer_launch (writer, writer->cpu, run, op, unit);
  offload_synchronize (writer, writer->cpu, unit);
}

void
offload_compute_waits_for_cpu (Writer *writer)
{
  program_stream_wait_stream (writer->program, writer->compute, writer->cpu);
}

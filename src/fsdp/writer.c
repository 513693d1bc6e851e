#include <config.h>

#include "fsdp/writer.h"

TimelineLabel
writer_label (const Writer *writer, TimelineOp op, guint32 unit)
{
  return (TimelineLabel){ .op = (guint8)op,
                          .phase = (guint8)writer->phase,
                          .micro_batch = (guint16)writer->micro_batch,
                          .unit = unit };
}

/* A rank's jitter is drawn for each pass of a block. */
static gboolean
is_block_pass (TimelineOp op, guint32 unit)
{
  return unit >= UNIT_FIRST_BLOCK
         && (op == TIMELINE_FORWARD || op == TIMELINE_RECOMPUTE || op == TIMELINE_BACKWARD);
}

void
writer_launch (Writer *writer, StreamId stream, const KernelRun *run, TimelineOp op, guint32 unit)
{
  if (run->n_kernels == 0)
    return;
  program_launch (writer->program, &(KernelLaunch){ .stream = stream,
                                                    .time = run->time_ps,
                                                    .host = run->host_ps,
                                                    .n_kernels = run->n_kernels,
                                                    .fixed = run->fixed,
                                                    .jitter = is_block_pass (op, unit),
                                                    .label = writer_label (writer, op, unit) });
}

/* Most copies of a program are alike, so each size is priced once. */
static const KernelRun *
cost_of_copy (Writer *writer, gint64 bytes)
{
  WriterCopy *copy;

  for (guint i = 0; i < MIN (writer->n_copies, WRITER_KNOWN_COPIES); i++)
    if (writer->copies[i].bytes == bytes)
      return &writer->copies[i].run;
  copy = &writer->copies[writer->n_copies++ % WRITER_KNOWN_COPIES];
  *copy = (WriterCopy){ bytes, cost_fsdp_copy (writer->scenario, bytes) };
  return &copy->run;
}

void
writer_copy (Writer *writer, StreamId stream, gint64 bytes, guint32 unit)
{
  writer_launch (writer, stream, cost_of_copy (writer, bytes), TIMELINE_COPY, unit);
}

static TimelineOp
op_of (CollectiveKind kind)
{
  switch (kind)
    {
    case COLLECTIVE_ALL_GATHER:
      return TIMELINE_ALL_GATHER;
    case COLLECTIVE_REDUCE_SCATTER:
      return TIMELINE_REDUCE_SCATTER;
    case COLLECTIVE_ALL_REDUCE:
      return TIMELINE_ALL_REDUCE;
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_SEND_RECV:
    case COLLECTIVE_ALL_TO_ALL:
      break; /* FSDP has none */
    }
  g_assert_not_reached ();
}

void
writer_collective (Writer *writer, const WriterCollective *collective, guint32 unit)
{
  if (collective->given == 0)
    return;
  /* The scalar all-reduce of gradient clipping is part of clipping, not one of
   * the gradients' own. */
  TimelineOp op = writer->phase == PHASE_OPTIMIZER ? TIMELINE_GRAD_CLIP : op_of (collective->kind);
  program_collective (writer->program,
                      &(CollectiveLaunch){ .communicator = collective->communicator,
                                           .stream = collective->stream,
                                           .kind = collective->kind,
                                           .bytes = collective->bytes,
                                           .in_place = collective->in_place,
                                           .fixed_time = collective->given,
                                           .host = cost_collective_host_ps (writer->scenario),
                                           .label = writer_label (writer, op, unit) });
}

void
writer_hook (Writer *writer)
{
  program_host_busy (writer->program, cost_hook_host_ps (writer->scenario));
}

void
writer_load_shard (Writer *writer, const Unit *unit)
{
  BufferId whole = program_alloc (
      writer->program, writer->compute, MEMORY_OTHER,
      unit->elements * dtype_bytes (cost_master_dtype (writer->scenario)), unit->label);

  if (!scenario_offloads_params (writer->scenario))
    program_alloc (writer->program, writer->compute, MEMORY_PARAMS,
                   unit->shard * dtype_bytes (cost_master_dtype (writer->scenario)), unit->label);
  program_free_buffer (writer->program, whole, 0);
}

double
writer_predivide_factor (guint ranks)
{
  guint factor = 1;

  while (ranks % factor == 0 && ranks / factor > factor)
    factor *= 2;
  return factor;
}

#include <config.h>

#include "fsdp/fsdp1.h"
#include "fsdp/offload.h"

static const Unit *
unit_of (const Fsdp1 *fsdp, guint unit)
{
  return &fsdp->runtime.writer->units.list[unit];
}

/* Adds a new gradient to one that is there. The kernel is autograd's or the
 * optimizer's business rather than FSDP's: a given backward time holds it. */
static void
accumulate (Fsdp1 *fsdp, StreamId stream, gint64 bytes, guint32 label)
{
  Writer *writer = fsdp->runtime.writer;

  if (!writer->cost->kinds[0].backward.fixed)
    writer_copy (writer, stream, 3 * bytes, label); /* reads two, writes one */
}

void
fsdp1_concatenate_grads (Fsdp1 *fsdp, guint unit)
{
  Writer *writer = fsdp->runtime.writer;
  const Unit *of = unit_of (fsdp, unit);
  Handle *handle = &fsdp->handles[unit];
  gint64 bytes = of->elements * fsdp->param_bytes;

  BufferId flat
      = program_alloc (writer->program, writer->compute, MEMORY_UNSHARDED_GRADS, bytes, of->label);
  writer_copy (writer, writer->compute, 2 * bytes, of->label);
  program_free_buffer (writer->program, handle->parameter_grads, 0);
  if (handle->flat_grad == BUFFER_NONE)
    {
      handle->flat_grad = flat;
      return;
    }
  accumulate (fsdp, writer->compute, bytes, of->label);
  program_free_buffer (writer->program, flat, 0);
}

/* The gradient in the dtype that is communicated: itself, or a whole cast copy. */
static BufferId
cast_to_reduce_dtype (Fsdp1 *fsdp, guint unit)
{
  Writer *writer = fsdp->runtime.writer;
  const Unit *of = unit_of (fsdp, unit);

  if (writer->scenario->fsdp.param_dtype == writer->scenario->fsdp.reduce_dtype)
    return BUFFER_NONE;
  BufferId copy = program_alloc (writer->program, fsdp->post_backward, MEMORY_UNSHARDED_GRADS,
                                 of->elements * fsdp->reduce_bytes, of->label);
  writer_copy (writer, fsdp->post_backward, of->elements * (fsdp->param_bytes + fsdp->reduce_bytes),
               of->label);
  return copy;
}

/* In place: reads and writes. A factor of 1 is no kernel. */
static void
divide (Fsdp1 *fsdp, StreamId stream, gint64 elements, double factor, guint32 label)
{
  if (factor > 1)
    writer_copy (fsdp->runtime.writer, stream, 2 * elements * fsdp->reduce_bytes, label);
}

static void
all_reduce (Fsdp1 *fsdp, StreamId stream, gint64 elements, const Unit *of)
{
  writer_collective (fsdp->runtime.writer,
                     &(WriterCollective){ .communicator = fsdp->replicate,
                                          .stream = stream,
                                          .kind = COLLECTIVE_ALL_REDUCE,
                                          .bytes = elements * fsdp->reduce_bytes,
                                          .in_place = TRUE,
                                          .given = of->all_reduce },
                     of->label);
}

/* _offload_grad: into the pinned gradient of the CPU's shard. NO_SHARD waits for it. */
static void
copy_to_host (Fsdp1 *fsdp, StreamId stream, BufferId grad, gint64 bytes, guint32 label)
{
  Writer *writer = fsdp->runtime.writer;

  offload_copy (writer, stream, bytes, TRUE, label);
  program_free_buffer (writer->program, grad, 1u << stream);
  if (!fsdp->sharded)
    offload_synchronize (writer, stream, label);
}

/* From the reduced gradient to the optimizer's: cast, and added to what earlier
 * micro-batches left. */
static void
keep_reduced (Fsdp1 *fsdp, guint unit, StreamId stream, BufferId reduced, gint64 elements)
{
  Writer *writer = fsdp->runtime.writer;
  const Unit *of = unit_of (fsdp, unit);
  Handle *handle = &fsdp->handles[unit];
  gint64 bytes = elements * fsdp->original_bytes;
  BufferId grad = reduced;

  if (fsdp->low_reduction)
    {
      grad = program_alloc (writer->program, stream, MEMORY_GRADS, bytes, of->label);
      writer_copy (writer, stream, elements * (fsdp->reduce_bytes + fsdp->original_bytes),
                   of->label);
      program_free_buffer (writer->program, reduced, 1u << stream);
    }
  if (scenario_offloads_params (writer->scenario))
    {
      copy_to_host (fsdp, stream, grad, bytes, of->label);
      return;
    }
  if (handle->sharded_grad == BUFFER_NONE)
    {
      handle->sharded_grad = grad;
      return;
    }
  accumulate (fsdp, stream, bytes, of->label);
  program_free_buffer (writer->program, grad, 1u << stream);
}

static void
reduce_scatter (Fsdp1 *fsdp, guint unit)
{
  Writer *writer = fsdp->runtime.writer;
  const Unit *of = unit_of (fsdp, unit);
  StreamId last = fsdp->hybrid ? fsdp->all_reduce : fsdp->post_backward;

  BufferId reduced = program_alloc (writer->program, fsdp->post_backward,
                                    fsdp->low_reduction ? MEMORY_COMM_BUFFERS : MEMORY_GRADS,
                                    of->shard * fsdp->reduce_bytes, of->label);
  divide (fsdp, fsdp->post_backward, of->elements, fsdp->predivide, of->label);
  writer_collective (writer,
                     &(WriterCollective){ .communicator = fsdp->shard,
                                          .stream = fsdp->post_backward,
                                          .kind = COLLECTIVE_REDUCE_SCATTER,
                                          .bytes = of->shard * units_shard_ranks (writer->scenario)
                                                   * fsdp->reduce_bytes,
                                          .given = of->reduce_scatter },
                     of->label);
  if (fsdp->hybrid)
    {
      if (last != fsdp->post_backward)
        program_stream_wait_stream (writer->program, last, fsdp->post_backward);
      all_reduce (fsdp, last, of->shard, of);
    }
  divide (fsdp, last, of->shard, fsdp->postdivide, of->label);
  keep_reduced (fsdp, unit, last, reduced, of->shard);
}

/* NO_SHARD: the whole gradient is reduced in place and stays. */
static void
reduce_whole (Fsdp1 *fsdp, guint unit, BufferId gradient)
{
  const Unit *of = unit_of (fsdp, unit);

  divide (fsdp, fsdp->post_backward, of->elements, fsdp->predivide, of->label);
  all_reduce (fsdp, fsdp->post_backward, of->elements, of);
  divide (fsdp, fsdp->post_backward, of->elements, fsdp->postdivide, of->label);
  keep_reduced (fsdp, unit, fsdp->post_backward, gradient, of->elements);
}

void
fsdp1_reduce_grad (Fsdp1 *fsdp, guint unit)
{
  Writer *writer = fsdp->runtime.writer;
  Handle *handle = &fsdp->handles[unit];
  guint32 used_by = 1u << fsdp->post_backward;

  program_stream_wait_stream (writer->program, fsdp->post_backward, writer->compute);
  BufferId cast = cast_to_reduce_dtype (fsdp, unit);
  if (!fsdp->sharded)
    {
      reduce_whole (fsdp, unit, cast == BUFFER_NONE ? handle->flat_grad : cast);
      if (cast != BUFFER_NONE)
        program_free_buffer (writer->program, handle->flat_grad, used_by);
    }
  else
    {
      reduce_scatter (fsdp, unit);
      if (cast != BUFFER_NONE)
        program_free_buffer (writer->program, cast, used_by);
      program_free_buffer (writer->program, handle->flat_grad, used_by);
    }
  handle->flat_grad = BUFFER_NONE;
}

#include <config.h>

#include "fsdp/fsdp2.h"
#include "fsdp/offload.h"

#include "cost/offload.h"

void
fsdp2_wait_for_scatters (Fsdp2 *fsdp, guint n)
{
  Writer *writer = fsdp->runtime.writer;

  while (fsdp->scatters->len > 0 && fsdp->scatters->len >= n)
    {
      Group *group = &fsdp->groups[g_array_index (fsdp->scatters, guint, 0)];

      program_stream_wait (writer->program, writer->compute, group->scattered);
      program_free_buffer (writer->program, group->scatter_input, 0);
      g_array_remove_index (fsdp->scatters, 0);
    }
}

/* In fp16 before and after the reduction; a factor of 1 is no kernel. */
static void
divide (Fsdp2 *fsdp, StreamId stream, gint64 elements, double factor, guint32 label)
{
  if (factor > 1)
    writer_copy (fsdp->runtime.writer, stream, 2 * elements * fsdp->reduce_bytes, label);
}

/* All unsharded gradients, cast and laid out by rank, on the compute stream. */
static void
copy_in (Fsdp2 *fsdp, guint unit)
{
  Writer *writer = fsdp->runtime.writer;
  const Unit *of = fsdp2_unit (fsdp, unit);
  Group *group = &fsdp->groups[unit];
  gint64 elements = of->trained_shard * units_shard_ranks (writer->scenario);
  gboolean accumulated = group->accumulated_grads != BUFFER_NONE;
  guint from = accumulated ? fsdp->reduce_bytes : fsdp->param_bytes;
  BufferId *grads = accumulated ? &group->accumulated_grads : &group->parameter_grads;

  group->scatter_input = program_alloc (writer->program, writer->compute, MEMORY_COMM_BUFFERS,
                                        elements * fsdp->reduce_bytes, of->label);
  writer_copy (writer, writer->compute, elements * (from + fsdp->reduce_bytes), of->label);
  program_free_buffer (writer->program, *grads, 0);
  *grads = BUFFER_NONE;
}

/* Adds to the gradients that earlier micro-batches left; autograd's or the
 * optimizer's work rather than FSDP's: a given backward time holds it. */
static void
accumulate (Fsdp2 *fsdp, StreamId stream, gint64 bytes, guint32 label)
{
  Writer *writer = fsdp->runtime.writer;

  if (!writer->cost->kinds[0].backward.fixed)
    writer_copy (writer, stream, bytes, label);
}

/* The gradient becomes the CPU's. Into pageable memory, and where the CPU is to add it to an
 * earlier one, the host waits for the copy; else at the end of backward. */
static void
copy_to_host (Fsdp2 *fsdp, guint unit, StreamId stream, BufferId grad)
{
  Writer *writer = fsdp->runtime.writer;
  const Unit *of = fsdp2_unit (fsdp, unit);
  Group *group = &fsdp->groups[unit];
  gboolean pinned = writer->scenario->fsdp.pin_memory;

  offload_copy (writer, stream, of->trained_shard * fsdp->original_bytes, pinned, of->label);
  program_free_buffer (writer->program, grad, 0);
  if (pinned && !group->has_host_grad)
    {
      program_record (writer->program, group->offloaded, stream);
      group->offload_pending = TRUE;
    }
  else
    offload_synchronize (writer, stream, of->label);
  if (group->has_host_grad)
    {
      KernelRun sum = cost_cpu_accumulate (writer->scenario, of->trained_shard);
      offload_run_on_cpu (writer, &sum, TIMELINE_BACKWARD, of->label);
    }
  group->has_host_grad = TRUE;
}

void
fsdp2_wait_for_offload (Fsdp2 *fsdp, guint unit)
{
  Writer *writer = fsdp->runtime.writer;
  Group *group = &fsdp->groups[unit];

  if (group->offload_pending)
    program_host_wait (writer->program, group->offloaded, 0,
                       writer_label (writer, TIMELINE_WAIT, fsdp2_unit (fsdp, unit)->label));
  group->offload_pending = FALSE;
}

static void
keep_reduced (Fsdp2 *fsdp, guint unit, StreamId stream, BufferId reduced)
{
  Writer *writer = fsdp->runtime.writer;
  const Unit *of = fsdp2_unit (fsdp, unit);
  Group *group = &fsdp->groups[unit];
  gint64 bytes = of->trained_shard * fsdp->original_bytes;
  BufferId grad = reduced;

  if (fsdp->low_reduction)
    {
      grad = program_alloc (writer->program, stream, MEMORY_GRADS, bytes, of->label);
      writer_copy (writer, stream, of->trained_shard * (fsdp->reduce_bytes + fsdp->original_bytes),
                   of->label);
      program_free_buffer (writer->program, reduced, 0);
    }
  if (scenario_offloads_params (writer->scenario))
    {
      copy_to_host (fsdp, unit, stream, grad);
      return;
    }
  if (group->sharded_grad == BUFFER_NONE)
    {
      group->sharded_grad = grad;
      return;
    }
  accumulate (fsdp, stream, 3 * bytes, of->label);
  program_free_buffer (writer->program, grad, 0);
}

static void
all_reduce (Fsdp2 *fsdp, const Unit *of)
{
  Writer *writer = fsdp->runtime.writer;

  program_stream_wait_stream (writer->program, fsdp->all_reduce, fsdp->reduce_scatter);
  writer_collective (writer,
                     &(WriterCollective){ .communicator = fsdp->replicate,
                                          .stream = fsdp->all_reduce,
                                          .kind = COLLECTIVE_ALL_REDUCE,
                                          .bytes = of->trained_shard * fsdp->reduce_bytes,
                                          .in_place = TRUE,
                                          .given = of->all_reduce },
                     of->label);
}

static BufferId
reduce_scatter (Fsdp2 *fsdp, guint unit)
{
  Writer *writer = fsdp->runtime.writer;
  const Unit *of = fsdp2_unit (fsdp, unit);
  gint64 elements = of->trained_shard * units_shard_ranks (writer->scenario);
  BufferId reduced = program_alloc (writer->program, fsdp->reduce_scatter,
                                    fsdp->low_reduction ? MEMORY_COMM_BUFFERS : MEMORY_GRADS,
                                    of->trained_shard * fsdp->reduce_bytes, of->label);

  divide (fsdp, fsdp->reduce_scatter, elements, fsdp->predivide, of->label);
  if (units_shard_ranks (writer->scenario) > 1) /* else the input is the output */
    writer_collective (writer,
                       &(WriterCollective){ .communicator = fsdp->scatter,
                                            .stream = fsdp->reduce_scatter,
                                            .kind = COLLECTIVE_REDUCE_SCATTER,
                                            .bytes = elements * fsdp->reduce_bytes,
                                            .given = of->reduce_scatter },
                       of->label);
  program_record (writer->program, fsdp->groups[unit].scattered, fsdp->reduce_scatter);
  g_array_append_val (fsdp->scatters, unit);
  return reduced;
}

/* partial_reduce_output: what earlier micro-batches scattered and none has all-reduced yet. */
static void
add_partial (Fsdp2 *fsdp, const Unit *of, BufferId partial)
{
  if (partial == BUFFER_NONE)
    return;
  accumulate (fsdp, fsdp->reduce_scatter, 3 * of->trained_shard * fsdp->reduce_bytes, of->label);
  program_free_buffer (fsdp->runtime.writer->program, partial, 0);
}

/* set_requires_all_reduce (False) is for micro-batches that others follow. */
gboolean
fsdp2_all_reduces (const Fsdp2 *fsdp)
{
  const Writer *writer = fsdp->runtime.writer;

  return fsdp->hybrid
         && (!writer->scenario->fsdp.defer_all_reduce
             || writer->micro_batch + 1 == writer->scenario->training.grad_accum);
}

void
fsdp2_reduce_grads (Fsdp2 *fsdp, guint unit)
{
  const Unit *of = fsdp2_unit (fsdp, unit);
  Group *group = &fsdp->groups[unit];
  StreamId last = fsdp->hybrid ? fsdp->all_reduce : fsdp->reduce_scatter;

  copy_in (fsdp, unit);
  program_stream_wait_stream (fsdp->runtime.writer->program, fsdp->reduce_scatter,
                              fsdp->runtime.writer->compute);
  BufferId reduced = reduce_scatter (fsdp, unit);
  add_partial (fsdp, of, group->partial_grad);
  group->partial_grad = BUFFER_NONE;
  if (fsdp->hybrid && !fsdp2_all_reduces (fsdp))
    {
      group->partial_grad = reduced;
      return;
    }
  if (fsdp->hybrid)
    all_reduce (fsdp, of);
  divide (fsdp, last, of->trained_shard, fsdp->postdivide, of->label);
  keep_reduced (fsdp, unit, last, reduced);
}

/* Gradients that are kept unsharded are kept in the reduce dtype. */
static gboolean
upcasts (const Fsdp2 *fsdp)
{
  const FsdpConfig *settings = &fsdp->runtime.writer->scenario->fsdp;

  return settings->param_dtype != settings->reduce_dtype;
}

/* An addition that upcasts is FSDP's own copy: there is one in each micro-batch
 * whose gradients are kept, a plain cast in the first. */
void
fsdp2_add_to_accumulated (Fsdp2 *fsdp, guint unit)
{
  Writer *writer = fsdp->runtime.writer;
  const Unit *of = fsdp2_unit (fsdp, unit);
  Group *group = &fsdp->groups[unit];
  gint64 bytes = of->trained * (2 * fsdp->reduce_bytes + fsdp->param_bytes);

  if (group->accumulated_grads == BUFFER_NONE)
    return;
  if (upcasts (fsdp) && !fsdp->runtime.sync_gradients)
    writer_copy (writer, writer->compute, bytes, of->label);
  else
    accumulate (fsdp, writer->compute, bytes, of->label);
  program_free_buffer (writer->program, group->parameter_grads, 0);
  group->parameter_grads = BUFFER_NONE;
}

void
fsdp2_keep_unsharded_grads (Fsdp2 *fsdp, guint unit)
{
  Writer *writer = fsdp->runtime.writer;
  const Unit *of = fsdp2_unit (fsdp, unit);
  Group *group = &fsdp->groups[unit];

  if (group->accumulated_grads != BUFFER_NONE)
    return; /* added to already */
  group->accumulated_grads
      = program_alloc (writer->program, writer->compute, MEMORY_UNSHARDED_GRADS,
                       of->trained * fsdp->reduce_bytes, of->label);
  if (upcasts (fsdp))
    writer_copy (writer, writer->compute, of->trained * (fsdp->reduce_bytes + fsdp->param_bytes),
                 of->label);
  program_free_buffer (writer->program, group->parameter_grads, 0);
  group->parameter_grads = BUFFER_NONE;
}

#include <config.h>

#include <math.h>

#include "cost/adapters.h"
#include "cost/tensors.h"
#include "fsdp/ddp.h"

#define FIRST_BUCKET_BYTES (1 << 20)  /* kDefaultFirstBucketBytes */
#define BUCKET_BYTES       (25 << 20) /* bucket_cap_mb */

/* ---- which tensors there are ---- */

static void
list_unit (Ddp *ddp, guint unit, const GArray *tensors)
{
  DdpPart *part = &ddp->parts[unit];

  *part = (DdpPart){ .first = ddp->tensors->len,
                     .n = tensors->len,
                     .low = BUFFER_NONE,
                     .grads = BUFFER_NONE,
                     .temporary = BUFFER_NONE };
  for (guint i = tensors->len; i-- > 0;)
    {
      const ParamTensor *from = &g_array_index (tensors, ParamTensor, i);
      DdpTensor tensor = { .elements = from->elements, .is_linear = from->is_linear };

      part->largest = MAX (part->largest, tensor.elements);
      part->cast_elements += tensor.is_linear ? tensor.elements : 0;
      g_array_append_val (ddp->tensors, tensor);
    }
}

static GArray *
tensors_of_unit (const Scenario *scenario, const Units *units, guint unit)
{
  const ModelConfig *model = &scenario->model;
  GArray *tensors = tensors_new ();

  if (unit == units->embed)
    tensors_add_embedding (tensors, model);
  else if (unit == units->head)
    tensors_add_head (tensors, model);
  else if (unit >= units->first_block)
    tensors_add_block (tensors,
                       model_kind (model, model_kind_of_block (model, unit - units->first_block)));
  return tensors;
}

/* Of a unit all but its adapters. */
static void
list_frozen (Ddp *ddp, guint unit, const GArray *tensors)
{
  DdpPart *part = &ddp->parts[unit];

  part->first_frozen = ddp->frozen->len;
  for (guint i = 0; i < tensors->len; i++)
    {
      const ParamTensor *from = &g_array_index (tensors, ParamTensor, i);

      if (!from->is_linear)
        continue;
      g_array_append_val (ddp->frozen, from->elements);
      part->n_frozen++;
      part->cast_elements += from->elements;
    }
}

static void
list_adapters (Ddp *ddp, guint unit, const GArray *frozen)
{
  const Scenario *scenario = ddp->runtime.writer->scenario;
  const Units *units = &ddp->runtime.writer->units;
  const ModelConfig *model = &scenario->model;
  g_autoptr (GArray) adapters = tensors_new ();

  if (unit >= units->first_block && unit != units->head)
    adapters_add_tensors (
        adapters, scenario,
        model_kind (model, model_kind_of_block (model, unit - units->first_block)));
  list_unit (ddp, unit, adapters);
  list_frozen (ddp, unit, frozen);
}

void
ddp_list_tensors (Ddp *ddp)
{
  const Scenario *scenario = ddp->runtime.writer->scenario;
  const Units *units = &ddp->runtime.writer->units;

  for (guint unit = units->n; unit-- > 0;)
    {
      g_autoptr (GArray) tensors = tensors_of_unit (scenario, units, unit);

      if (scenario_trains_adapters (scenario))
        list_adapters (ddp, unit, tensors);
      else
        list_unit (ddp, unit, tensors);
    }
  if (scenario->model.tied_embeddings)
    ddp->parts[units->head].cast_elements += ddp->runtime.writer->cost->params.embedding
                                             - (gint64)scenario->model.positions
                                                   * scenario->model.hidden
                                                   * model_stacks (&scenario->model);
}

/* ---- buckets ---- */

static const Unit *
unit_of_tensor (const Ddp *ddp, guint tensor)
{
  const Units *units = &ddp->runtime.writer->units;

  for (guint unit = 0; unit < units->n; unit++)
    if (tensor >= ddp->parts[unit].first && tensor < ddp->parts[unit].first + ddp->parts[unit].n)
      return &units->list[unit];
  g_assert_not_reached ();
}

static gboolean
is_trained (const Ddp *ddp, guint tensor)
{
  return unit_of_tensor (ddp, tensor)->trained > 0;
}

static void
close_bucket (Ddp *ddp, DdpBucket *bucket)
{
  bucket->label = unit_of_tensor (ddp, bucket->first + bucket->n - 1)->label;
  bucket->reduced = program_add_event (ddp->runtime.writer->program);
  g_array_append_val (ddp->buckets, *bucket);
  *bucket = (DdpBucket){ .first = bucket->first + bucket->n };
}

void
ddp_fill_buckets (Ddp *ddp)
{
  DdpBucket bucket = { 0 };

  /* Frozen ones come last. */
  for (guint i = 0; i < ddp->tensors->len && is_trained (ddp, i); i++)
    {
      gint64 cap = ddp->buckets->len == 0 ? FIRST_BUCKET_BYTES : BUCKET_BYTES;

      ddp_tensor (ddp, i)->bucket = ddp->buckets->len;
      bucket.n++;
      bucket.elements += ddp_tensor (ddp, i)->elements;
      if (bucket.elements * ddp->original_bytes >= cap)
        close_bucket (ddp, &bucket);
    }
  if (bucket.n > 0)
    close_bucket (ddp, &bucket);
}

/* ---- reduction ---- */

/* A given time is a block's; a bucket takes its share of it by elements. */
static SimTime
given_time (const Ddp *ddp, const DdpBucket *bucket)
{
  const Writer *writer = ddp->runtime.writer;
  gint64 block = writer->scenario->timing.all_reduce;

  if (block == TIMING_NOT_GIVEN)
    return SIM_TIME_NONE;
  return (SimTime)llroundl ((long double)block * bucket->elements / writer->cost->params.block);
}

static void
all_reduce (Ddp *ddp, const DdpBucket *bucket)
{
  Writer *writer = ddp->runtime.writer;

  program_stream_wait_stream (writer->program, ddp->nccl, writer->compute);
  writer_collective (writer,
                     &(WriterCollective){ .communicator = ddp->whole,
                                          .stream = ddp->nccl,
                                          .kind = COLLECTIVE_ALL_REDUCE,
                                          .bytes = bucket->elements * ddp->reduce_bytes,
                                          .in_place = TRUE,
                                          .given = given_time (ddp, bucket) },
                     bucket->label);
}

/* bf16_compress_hook and fp16_compress_hook: a cast copy, divided by the ranks, is
 * reduced; the future's callback copies it back on a stream of its own. */
static void
reduce_compressed (Ddp *ddp, const DdpBucket *bucket)
{
  Writer *writer = ddp->runtime.writer;
  gint64 cast = bucket->elements * (ddp->original_bytes + ddp->reduce_bytes);
  BufferId low = program_alloc (writer->program, writer->compute, MEMORY_COMM_BUFFERS,
                                bucket->elements * ddp->reduce_bytes, bucket->label);

  writer_copy (writer, writer->compute, cast, bucket->label);
  writer_copy (writer, writer->compute, 2 * bucket->elements * ddp->reduce_bytes, bucket->label);
  all_reduce (ddp, bucket);
  program_stream_wait_stream (writer->program, ddp->hook, ddp->nccl);
  writer_copy (writer, ddp->hook, cast, bucket->label);
  program_free_buffer (writer->program, low, 1u << ddp->nccl | 1u << ddp->hook);
  program_record (writer->program, bucket->reduced, ddp->hook);
}

static void
reduce (Ddp *ddp, const DdpBucket *bucket)
{
  if (ddp->compresses)
    {
      reduce_compressed (ddp, bucket);
      return;
    }
  all_reduce (ddp, bucket);
  program_record (ddp->runtime.writer->program, bucket->reduced, ddp->nccl);
}

/* Between .grad and bucket; the division by the ranks is part of the way there. */
static void
copy_gradient (Ddp *ddp, guint tensor, guint32 label)
{
  Writer *writer = ddp->runtime.writer;

  writer_copy (writer, writer->compute,
               2 * ddp_tensor (ddp, tensor)->elements * ddp->original_bytes, label);
}

void
ddp_gradients_ready (Ddp *ddp, guint unit)
{
  const DdpPart *part = &ddp->parts[unit];
  guint32 label = ddp->runtime.writer->units.list[unit].label;

  for (guint i = part->first; i < part->first + part->n; i++)
    {
      const DdpBucket *bucket
          = &g_array_index (ddp->buckets, DdpBucket, ddp_tensor (ddp, i)->bucket);

      copy_gradient (ddp, i, label);
      if (i + 1 == bucket->first + bucket->n)
        reduce (ddp, bucket);
    }
}

void
ddp_finalize_backward (Ddp *ddp)
{
  Writer *writer = ddp->runtime.writer;

  for (guint i = 0; i < ddp->buckets->len; i++)
    {
      const DdpBucket *bucket = &g_array_index (ddp->buckets, DdpBucket, i);

      program_stream_wait (writer->program, writer->compute, bucket->reduced);
      for (guint tensor = bucket->first; tensor < bucket->first + bucket->n; tensor++)
        copy_gradient (ddp, tensor, bucket->label);
    }
}

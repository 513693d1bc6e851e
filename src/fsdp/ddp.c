#include <config.h>

#include "fsdp/ddp.h"
#include "fsdp/runtime.h"

#define ROOT 0

/* All of these belong to the compute stream's pool, and no other stream uses them. */
static void
release (Ddp *ddp, BufferId *buffer)
{
  if (*buffer != BUFFER_NONE)
    program_free_buffer (ddp->runtime.writer->program, *buffer, 0);
  *buffer = BUFFER_NONE;
}

/* ---- autocast ---- */

static void
cast_weight (Ddp *ddp, gint64 elements, guint32 label)
{
  Writer *writer = ddp->runtime.writer;

  writer_copy (writer, writer->compute, elements * (ddp->original_bytes + ddp->param_bytes), label);
}

/* A kernel a weight. A given forward or recompute time holds them. */
static void
cast_weights (Ddp *ddp, guint unit, gboolean given)
{
  Writer *writer = ddp->runtime.writer;
  DdpPart *part = &ddp->parts[unit];
  guint32 label = writer->units.list[unit].label;
  gint64 left = part->cast_elements;

  if (!ddp->autocasts || left == 0 || part->low != BUFFER_NONE)
    return;
  part->low = program_alloc (writer->program, writer->compute, MEMORY_UNSHARDED_PARAMS,
                             left * ddp->param_bytes, label);
  if (given)
    return;
  for (guint i = part->first + part->n; i-- > part->first;)
    if (ddp_tensor (ddp, i)->is_linear)
      {
        cast_weight (ddp, ddp_tensor (ddp, i)->elements, label);
        left -= ddp_tensor (ddp, i)->elements;
      }
  for (guint i = part->first_frozen; i < part->first_frozen + part->n_frozen; i++)
    {
      cast_weight (ddp, g_array_index (ddp->frozen, gint64, i), label);
      left -= g_array_index (ddp->frozen, gint64, i);
    }
  if (left > 0) /* the tied head's weight, which is the embedding's */
    cast_weight (ddp, left, label);
}

static gboolean
is_checkpointed (const Ddp *ddp, guint unit)
{
  const Writer *writer = ddp->runtime.writer;
  guint32 label = writer->units.list[unit].label;

  return label >= UNIT_FIRST_BLOCK
         && checkpoint_has_block (&writer->scenario->checkpoint, label - UNIT_FIRST_BLOCK);
}

/* ---- forward ---- */

static void
ddp_pre_forward (Runtime *runtime, guint unit, gboolean grad_enabled)
{
  Writer *writer = runtime->writer;
  gboolean block = writer->units.list[unit].label >= UNIT_FIRST_BLOCK;

  (void)grad_enabled;
  if (unit == ROOT)
    writer_hook (writer);
  cast_weights (ddp_of (runtime), unit,
                block ? writer->cost->kinds[0].forward.fixed : writer->cost->head_forward.fixed);
}

/* Is none of its casts needed behind its forward? Weights that need no gradient are not cached
 * (cached_cast); where gradients go back through them, their matmul keeps the cast. */
static gboolean
drops_casts (const Ddp *ddp, guint unit)
{
  const Writer *writer = ddp->runtime.writer;

  if (scenario_trains_adapters (writer->scenario))
    return is_checkpointed (ddp, unit);
  return writer->units.list[unit].trained == 0;
}

/* Autocast's cache of casts ends with the forward; those that a backward needs stay. */
static void
ddp_post_forward (Runtime *runtime, guint unit, gboolean grad_enabled)
{
  Ddp *ddp = ddp_of (runtime);

  (void)grad_enabled;
  if (drops_casts (ddp, unit))
    release (ddp, &ddp->parts[unit].low);
  for (guint i = 0; unit == ROOT && i < runtime->writer->units.n; i++)
    if (is_checkpointed (ddp, i))
      release (ddp, &ddp->parts[i].low);
}

/* ---- backward ---- */

/* The recompute casts again. */
static void
ddp_pre_backward (Runtime *runtime, guint unit)
{
  if (is_checkpointed (ddp_of (runtime), unit))
    cast_weights (ddp_of (runtime), unit, runtime->writer->cost->kinds[0].recompute.fixed);
}

/* .grad of the unit's parameters, unless an earlier micro-batch left them. */
static gboolean
make_grads (Ddp *ddp, guint unit)
{
  Writer *writer = ddp->runtime.writer;
  const Unit *of = &writer->units.list[unit];

  if (of->trained == 0 || ddp->parts[unit].grads != BUFFER_NONE)
    return FALSE;
  ddp->parts[unit].grads = program_alloc (writer->program, writer->compute, MEMORY_GRADS,
                                          of->trained * ddp->original_bytes, of->label);
  return TRUE;
}

/* A tied weight's gradient begins at the head. One gradient at a time exists twice:
 * in the low dtype before its cast, or beside the sum that it is added to. */
static void
ddp_gradients_begin (Runtime *runtime, guint unit)
{
  Ddp *ddp = ddp_of (runtime);
  Writer *writer = runtime->writer;
  DdpPart *part = &ddp->parts[unit];
  gboolean adds = !make_grads (ddp, unit);
  guint bytes = adds ? ddp->original_bytes : 0;

  if (unit == writer->units.head && writer->scenario->model.tied_embeddings)
    make_grads (ddp, writer->units.embed);
  if (ddp->autocasts && part->cast_elements > 0)
    bytes += ddp->param_bytes;
  if (bytes > 0 && part->largest > 0)
    part->temporary = program_alloc (writer->program, writer->compute, MEMORY_UNSHARDED_GRADS,
                                     part->largest * bytes, writer->units.list[unit].label);
}

/* What autograd does to each gradient before DDP sees it: the cast's backward, and
 * the sum over micro-batches. A given backward time holds both. */
static void
cast_and_add_gradients (Ddp *ddp, guint unit)
{
  Writer *writer = ddp->runtime.writer;
  const DdpPart *part = &ddp->parts[unit];
  const Unit *of = &writer->units.list[unit];

  for (guint i = part->first; i < part->first + part->n; i++)
    {
      gint64 elements = ddp_tensor (ddp, i)->elements;

      if (ddp->autocasts && ddp_tensor (ddp, i)->is_linear)
        writer_copy (writer, writer->compute, elements * (ddp->param_bytes + ddp->original_bytes),
                     of->label);
      if (writer->micro_batch > 0)
        writer_copy (writer, writer->compute, 3 * elements * ddp->original_bytes, of->label);
    }
}

static gboolean
backward_is_given (const Writer *writer, guint unit)
{
  if (unit == writer->units.embed)
    return writer->cost->embed_backward.fixed;
  if (unit == writer->units.head)
    return writer->cost->head_backward.fixed;
  return writer->cost->kinds[0].backward.fixed;
}

static void
ddp_post_backward (Runtime *runtime, guint unit)
{
  Ddp *ddp = ddp_of (runtime);
  Writer *writer = runtime->writer;

  if (ddp->parts[unit].n == 0)
    {
      release (ddp, &ddp->parts[unit].low);
      return;
    }
  if (!backward_is_given (writer, unit))
    cast_and_add_gradients (ddp, unit);
  release (ddp, &ddp->parts[unit].temporary);
  release (ddp, &ddp->parts[unit].low);
  if (!runtime->sync_gradients)
    return;
  writer_hook (writer);
  ddp_gradients_ready (ddp, unit);
}

static void
ddp_end_of_backward (Runtime *runtime)
{
  if (runtime->sync_gradients)
    ddp_finalize_backward (ddp_of (runtime));
}

static void
ddp_zero_grad (Runtime *runtime)
{
  Ddp *ddp = ddp_of (runtime);

  for (guint i = 0; i < runtime->writer->units.n; i++)
    release (ddp, &ddp->parts[i].grads);
}

/* ---- set-up ---- */

static void
ddp_load (Runtime *runtime)
{
  Ddp *ddp = ddp_of (runtime);
  Writer *writer = runtime->writer;
  Program *program = writer->program;

  writer->compute = program_add_stream (program, "compute", LANE_COMPUTE);
  ddp->nccl = program_add_stream (program, "nccl", LANE_COPY);
  if (ddp->compresses)
    ddp->hook = program_add_stream (program, "compress_hook", LANE_COPY);
  ddp->whole = program_add_communicator (program, "comm.replicate", LANE_COMM_REPLICATE,
                                         scenario_ranks (writer->scenario), 1);
  ddp_list_tensors (ddp);
  ddp_fill_buckets (ddp);
  for (guint i = 0; i < writer->units.n; i++)
    program_alloc (program, writer->compute, MEMORY_PARAMS,
                   writer->units.list[i].elements * ddp->original_bytes,
                   writer->units.list[i].label);
  for (guint i = 0; i < ddp->buckets->len; i++)
    {
      const DdpBucket *bucket = &g_array_index (ddp->buckets, DdpBucket, i);

      program_alloc (program, writer->compute, MEMORY_COMM_BUFFERS,
                     bucket->elements * ddp->original_bytes, bucket->label);
    }
}

static void
ddp_free (Runtime *runtime)
{
  Ddp *ddp = ddp_of (runtime);

  g_array_unref (ddp->tensors);
  g_array_unref (ddp->frozen);
  g_array_unref (ddp->buckets);
  g_free (ddp->parts);
  g_free (ddp);
}

static const RuntimeHooks ddp_hooks = {
  .load = ddp_load,
  .pre_forward = ddp_pre_forward,
  .post_forward = ddp_post_forward,
  .pre_backward = ddp_pre_backward,
  .gradients_begin = ddp_gradients_begin,
  .post_backward = ddp_post_backward,
  .end_of_backward = ddp_end_of_backward,
  .zero_grad = ddp_zero_grad,
  .free = ddp_free,
};

Runtime *
ddp_new (Writer *writer)
{
  const FsdpConfig *fsdp = &writer->scenario->fsdp;
  Ddp *ddp = g_new0 (Ddp, 1);

  ddp->runtime = (Runtime){ .hooks = &ddp_hooks, .writer = writer, .sync_gradients = TRUE };
  ddp->param_bytes = dtype_bytes (fsdp->param_dtype);
  ddp->original_bytes = dtype_bytes (cost_master_dtype (writer->scenario));
  ddp->reduce_bytes = dtype_bytes (fsdp->reduce_dtype);
  ddp->autocasts = ddp->param_bytes < ddp->original_bytes;
  ddp->compresses = ddp->reduce_bytes < ddp->original_bytes;
  ddp->tensors = g_array_new (FALSE, FALSE, sizeof (DdpTensor));
  ddp->frozen = g_array_new (FALSE, FALSE, sizeof (gint64));
  ddp->buckets = g_array_new (FALSE, FALSE, sizeof (DdpBucket));
  ddp->parts = g_new0 (DdpPart, writer->units.n);
  return &ddp->runtime;
}

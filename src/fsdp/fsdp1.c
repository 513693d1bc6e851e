#include <config.h>

#include "fsdp/fsdp1.h"
#include "fsdp/offload.h"
#include "fsdp/runtime.h"

#define ROOT 0

static Fsdp1 *
fsdp1_of (Runtime *runtime)
{
  return (Fsdp1 *)runtime;
}

/* All of a flat parameter has gradients, or nothing. */
static gboolean
is_trained (const Fsdp1 *fsdp, guint unit)
{
  return fsdp->runtime.writer->units.list[unit].trained > 0;
}

/* So that the unit has a pre-backward hook: it is trained, or stands above what is. */
static gboolean
output_needs_gradient (const Fsdp1 *fsdp, guint unit)
{
  const Writer *writer = fsdp->runtime.writer;

  if (is_trained (fsdp, unit) || unit == ROOT)
    return TRUE;
  if (!scenario_trains_adapters (writer->scenario))
    return FALSE;
  return unit == writer->units.head
         || (unit == writer->units.embed && scenario_embedding_needs_gradient (writer->scenario));
}

/* ---- unshard, reshard, prefetch ---- */

/* An offloaded shard comes to the GPU as it is. */
static void
copy_from_host (Fsdp1 *fsdp, gint64 elements, guint32 label)
{
  offload_copy (fsdp->runtime.writer, fsdp->pre_unshard, elements * fsdp->original_bytes, TRUE,
                label);
}

/* _use_low_precision_shard. An offloaded shard is whole on the GPU until it is cast. */
static void
cast (Fsdp1 *fsdp, gint64 elements, guint32 label)
{
  Writer *writer = fsdp->runtime.writer;
  gboolean offloads = scenario_offloads_params (writer->scenario);
  BufferId whole = BUFFER_NONE;

  if (offloads)
    {
      whole = program_alloc (writer->program, fsdp->pre_unshard, MEMORY_COMM_BUFFERS,
                             elements * fsdp->original_bytes, label);
      copy_from_host (fsdp, elements, label);
    }
  writer_copy (writer, fsdp->pre_unshard, elements * (fsdp->original_bytes + fsdp->param_bytes),
               label);
  if (offloads)
    program_free_buffer (writer->program, whole, 0);
}

/* pre_unshard: the shard, or under NO_SHARD the whole, on the GPU in the param dtype. */
static BufferId
make_local_shard (Fsdp1 *fsdp, const Unit *of)
{
  Writer *writer = fsdp->runtime.writer;
  gint64 elements = fsdp->sharded ? of->shard : of->elements;

  BufferId low = program_alloc (writer->program, fsdp->pre_unshard,
                                fsdp->sharded ? MEMORY_COMM_BUFFERS : MEMORY_UNSHARDED_PARAMS,
                                elements * fsdp->param_bytes, of->label);
  if (fsdp->low_precision)
    cast (fsdp, elements, of->label);
  else
    copy_from_host (fsdp, elements, of->label);
  program_stream_wait_stream (writer->program, fsdp->unshard, fsdp->pre_unshard);
  return low;
}

static void
all_gather (Fsdp1 *fsdp, guint unit, BufferId low)
{
  Writer *writer = fsdp->runtime.writer;
  const Unit *of = &writer->units.list[unit];
  gint64 bytes = of->shard * units_shard_ranks (writer->scenario) * fsdp->param_bytes;

  fsdp->handles[unit].unsharded
      = program_alloc (writer->program, fsdp->unshard, MEMORY_UNSHARDED_PARAMS, bytes, of->label);
  fsdp->handles[unit].gathered = TRUE;
  writer_collective (writer,
                     &(WriterCollective){ .communicator = fsdp->shard,
                                          .stream = fsdp->unshard,
                                          .kind = COLLECTIVE_ALL_GATHER,
                                          .bytes = bytes,
                                          .given = of->all_gather },
                     of->label);
  if (low != BUFFER_NONE)
    program_free_buffer (writer->program, low, 1u << fsdp->unshard);
}

/* pre_unshard's conditions: what is offloaded comes to the GPU even where it is gathered already.
 */
static gboolean
needs_local_shard (const Fsdp1 *fsdp, gboolean needs_unshard)
{
  if (scenario_offloads_params (fsdp->runtime.writer->scenario))
    return TRUE;
  return fsdp->low_precision && (needs_unshard || !fsdp->sharded);
}

/* _unshard. The limiter is asked even where nothing is gathered. */
static void
unshard (Fsdp1 *fsdp, guint unit)
{
  const Unit *of = &fsdp->runtime.writer->units.list[unit];
  Handle *handle = &fsdp->handles[unit];
  gboolean needs_unshard = fsdp->sharded && !handle->gathered;
  BufferId low = BUFFER_NONE;

  if (needs_local_shard (fsdp, needs_unshard))
    low = make_local_shard (fsdp, of);
  fsdp1_limiter_pop (fsdp, of->label);
  if (needs_unshard)
    all_gather (fsdp, unit, low);
  else if (!fsdp->sharded)
    handle->unsharded = low;
  else if (low != BUFFER_NONE) /* offloaded, and gathered already */
    program_free_buffer (fsdp->runtime.writer->program, low, 1u << fsdp->unshard);
}

/* _reshard. */
static void
reshard (Fsdp1 *fsdp, guint unit, gboolean free_unsharded)
{
  Writer *writer = fsdp->runtime.writer;
  Handle *handle = &fsdp->handles[unit];
  gboolean no_shard_copy = !fsdp->sharded && handle->unsharded != BUFFER_NONE;

  if (free_unsharded || no_shard_copy)
    {
      program_free_buffer (writer->program, handle->unsharded, 1u << writer->compute);
      handle->unsharded = BUFFER_NONE;
      handle->gathered = FALSE;
    }
  if (free_unsharded)
    fsdp1_limiter_push (fsdp);
  handle->prefetched = FALSE;
}

static void
prefetch (Fsdp1 *fsdp, guint target)
{
  unshard (fsdp, target);
  fsdp->handles[target].prefetched = TRUE;
}

/* _prefetch_handle in forward: the next unit of the first iteration's order. */
static void
forward_prefetch (Fsdp1 *fsdp, const Handle *handle)
{
  /* pre_forward_index counts from 1, so it is the successor's place from 0. */
  if (!fsdp->runtime.writer->scenario->fsdp.forward_prefetch
      || handle->pre_forward_index >= fsdp->pre_forward_order->len)
    return;
  guint target = g_array_index (fsdp->pre_forward_order, guint, handle->pre_forward_index);
  if (fsdp->handles[target].needs_pre_forward_unshard && !fsdp->handles[target].prefetched)
    prefetch (fsdp, target);
}

/* _prefetch_handle in backward: the unit before this one in post-forward order. */
static void
backward_prefetch (Fsdp1 *fsdp, const Handle *handle, BackwardPrefetch here)
{
  if (fsdp->runtime.writer->scenario->fsdp.backward_prefetch != here
      || handle->post_forward_index == 0)
    return;
  guint target = g_array_index (fsdp->post_forward_order, guint, handle->post_forward_index - 1);
  if (fsdp->handles[target].needs_pre_backward_unshard && !fsdp->handles[target].prefetched)
    prefetch (fsdp, target);
}

/* ---- forward ---- */

static void
root_pre_forward (Fsdp1 *fsdp)
{
  Writer *writer = fsdp->runtime.writer;

  if (writer->scenario->fsdp.forward_prefetch)
    for (guint i = 0; i < writer->units.n; i++)
      {
        fsdp->handles[i].needs_pre_forward_unshard = TRUE;
        fsdp->handles[i].prefetched = FALSE;
      }
  /* The only edge from compute to the gathers: they see the optimizer's writes. */
  program_stream_wait_stream (writer->program, fsdp->unshard, writer->compute);
  program_stream_wait_stream (writer->program, fsdp->pre_unshard, writer->compute);
}

/* record_pre_forward: the order of the first iteration. */
static void
record_pre_forward (Fsdp1 *fsdp, guint unit)
{
  Handle *handle = &fsdp->handles[unit];

  if (fsdp->iteration > 0 || handle->pre_forward_index != 0)
    return;
  g_array_append_val (fsdp->pre_forward_order, unit);
  handle->pre_forward_index = fsdp->pre_forward_order->len;
}

static void
fsdp1_pre_forward (Runtime *runtime, guint unit, gboolean grad_enabled)
{
  Fsdp1 *fsdp = fsdp1_of (runtime);
  Handle *handle = &fsdp->handles[unit];
  Writer *writer = runtime->writer;

  (void)grad_enabled;
  if (handle->state == TRAINING_BACKWARD_PRE) /* a recompute inside the unit's backward */
    return;
  writer_hook (writer);
  if (unit == ROOT)
    root_pre_forward (fsdp);
  if (!fsdp1_has_handle (fsdp, unit))
    return;
  handle->state = TRAINING_FORWARD;
  record_pre_forward (fsdp, unit);
  if (!handle->prefetched)
    unshard (fsdp, unit);
  handle->needs_pre_forward_unshard = FALSE;
  program_stream_wait_stream (writer->program, writer->compute, fsdp->unshard);
  forward_prefetch (fsdp, handle);
}

/* record_post_forward; an index of 0 counts as none, as in PyTorch. */
static void
record_post_forward (Fsdp1 *fsdp, guint unit)
{
  Handle *handle = &fsdp->handles[unit];

  if (handle->post_forward_index == 0)
    handle->post_forward_index = fsdp->post_forward_order->len;
  g_array_append_val (fsdp->post_forward_order, unit);
}

static void
fsdp1_post_forward (Runtime *runtime, guint unit, gboolean grad_enabled)
{
  Fsdp1 *fsdp = fsdp1_of (runtime);
  Handle *handle = &fsdp->handles[unit];

  if (handle->state == TRAINING_BACKWARD_PRE)
    return;
  writer_hook (runtime->writer);
  if (!fsdp1_has_handle (fsdp, unit))
    return;
  record_post_forward (fsdp, unit);
  reshard (fsdp, unit, fsdp->reshard_after_forward && unit != ROOT);
  if (grad_enabled && output_needs_gradient (fsdp, unit))
    {
      handle->ran_pre_backward_hook = FALSE;
      handle->needs_pre_backward_unshard = TRUE;
    }
  handle->state = TRAINING_IDLE;
}

/* ---- backward ---- */

static void
fsdp1_pre_backward (Runtime *runtime, guint unit)
{
  Fsdp1 *fsdp = fsdp1_of (runtime);
  Handle *handle = &fsdp->handles[unit];
  Writer *writer = runtime->writer;

  if (handle->ran_pre_backward_hook)
    return;
  writer_hook (writer);
  if (!fsdp1_has_handle (fsdp, unit))
    return;
  handle->state = TRAINING_BACKWARD_PRE;
  if (handle->needs_pre_backward_unshard)
    {
      if (!handle->prefetched)
        unshard (fsdp, unit);
      program_stream_wait_stream (writer->program, writer->compute, fsdp->unshard);
    }
  handle->needs_pre_backward_unshard = FALSE;
  backward_prefetch (fsdp, handle, PREFETCH_BACKWARD_PRE);
  handle->ran_pre_backward_hook = TRUE;
}

static void
fsdp1_gradients_begin (Runtime *runtime, guint unit)
{
  Fsdp1 *fsdp = fsdp1_of (runtime);
  Writer *writer = runtime->writer;
  const Unit *of = &writer->units.list[unit];

  if (!is_trained (fsdp, unit))
    return;
  fsdp->handles[unit].parameter_grads
      = program_alloc (writer->program, writer->compute, MEMORY_UNSHARDED_GRADS,
                       of->elements * fsdp->param_bytes, of->label);
}

/* _should_free_in_backward: without synchronisation, what stays after forward
 * stays after backward too. */
static gboolean
frees_in_backward (const Fsdp1 *fsdp)
{
  return fsdp->sharded && (fsdp->runtime.sync_gradients || fsdp->reshard_after_forward);
}

static void
fsdp1_post_backward (Runtime *runtime, guint unit)
{
  Fsdp1 *fsdp = fsdp1_of (runtime);
  Handle *handle = &fsdp->handles[unit];

  /* Of frozen units only those that stand above others have a hook, which reshards
   * (_register_post_backward_reshard_only_hook): the head. */
  if (!is_trained (fsdp, unit) && unit != runtime->writer->units.head)
    return;
  if (is_trained (fsdp, unit))
    fsdp1_concatenate_grads (fsdp, unit);
  writer_hook (runtime->writer);
  handle->state = TRAINING_BACKWARD_POST;
  reshard (fsdp, unit, frees_in_backward (fsdp));
  backward_prefetch (fsdp, handle, PREFETCH_BACKWARD_POST);
  if (runtime->sync_gradients && is_trained (fsdp, unit))
    fsdp1_reduce_grad (fsdp, unit);
}

/* _catch_all_reshard: what is gathered still, since no backward came to it. */
static void
reshard_frozen (Fsdp1 *fsdp)
{
  for (guint i = 0; i < fsdp->runtime.writer->units.n; i++)
    if (fsdp1_has_handle (fsdp, i) && !is_trained (fsdp, i) && fsdp->handles[i].gathered)
      reshard (fsdp, i, frees_in_backward (fsdp));
}

/* _post_backward_final_callback. */
static void
fsdp1_end_of_backward (Runtime *runtime)
{
  Fsdp1 *fsdp = fsdp1_of (runtime);
  Writer *writer = runtime->writer;

  if (runtime->sync_gradients)
    {
      program_stream_wait_stream (writer->program, writer->compute, fsdp->post_backward);
      if (fsdp->hybrid && fsdp->all_reduce != fsdp->post_backward)
        program_stream_wait_stream (writer->program, writer->compute, fsdp->all_reduce);
      if (scenario_offloads_params (writer->scenario)) /* for the copies to the host */
        offload_synchronize (writer, writer->compute, UNIT_ROOT);
    }
  reshard_frozen (fsdp);
  fsdp->iteration++;
  g_array_set_size (fsdp->post_forward_order, 0);
  for (guint i = 0; i < writer->units.n; i++)
    {
      Handle *handle = &fsdp->handles[i];

      handle->state = TRAINING_IDLE;
      handle->prefetched = FALSE;
      handle->needs_pre_backward_unshard = FALSE;
      handle->ran_pre_backward_hook = FALSE;
      handle->post_forward_index = 0;
    }
}

/* Under NO_SHARD clip_grad_norm_ is that of torch.nn.utils: every rank has all gradients. */
static gboolean
fsdp1_norm_communicator (Runtime *runtime, CommunicatorId *communicator)
{
  Fsdp1 *fsdp = fsdp1_of (runtime);

  *communicator = fsdp->shard;
  return fsdp->sharded;
}

static void
fsdp1_zero_grad (Runtime *runtime)
{
  Fsdp1 *fsdp = fsdp1_of (runtime);
  Writer *writer = runtime->writer;

  for (guint i = 0; i < writer->units.n; i++)
    {
      if (fsdp->handles[i].sharded_grad != BUFFER_NONE)
        program_free_buffer (writer->program, fsdp->handles[i].sharded_grad, 1u << writer->compute);
      fsdp->handles[i].sharded_grad = BUFFER_NONE;
    }
}

/* ---- set-up ---- */

static void
add_streams (Fsdp1 *fsdp)
{
  Writer *writer = fsdp->runtime.writer;
  Program *program = writer->program;

  writer->compute = program_add_stream (program, "compute", LANE_COMPUTE);
  fsdp->pre_unshard = program_add_stream (program, "pre_unshard", LANE_COPY);
  fsdp->unshard = program_add_stream (program, "unshard", LANE_COPY);
  fsdp->post_backward = program_add_stream (program, "post_backward", LANE_COPY);
  fsdp->all_reduce = fsdp->post_backward;
  if (fsdp->hybrid && writer->scenario->fsdp.torch_minor >= 1)
    fsdp->all_reduce = program_add_stream (program, "all_reduce", LANE_COPY);
}

static void
add_communicators (Fsdp1 *fsdp)
{
  const Scenario *scenario = fsdp->runtime.writer->scenario;
  Program *program = fsdp->runtime.writer->program;
  guint shard_ranks = units_shard_ranks (scenario);

  if (fsdp->sharded)
    fsdp->shard = program_add_communicator (program, "comm.shard", LANE_COMM_SHARD, shard_ranks, 1);
  if (fsdp->hybrid || !fsdp->sharded)
    fsdp->replicate = program_add_communicator (program, "comm.replicate", LANE_COMM_REPLICATE,
                                                units_replicas (scenario), shard_ranks);
}

static void
fsdp1_load (Runtime *runtime)
{
  Fsdp1 *fsdp = fsdp1_of (runtime);
  Writer *writer = runtime->writer;

  add_streams (fsdp);
  add_communicators (fsdp);
  for (guint i = 0; i < writer->units.n; i++)
    if (fsdp1_has_handle (fsdp, i))
      writer_load_shard (writer, &writer->units.list[i]);
}

static void
fsdp1_free (Runtime *runtime)
{
  Fsdp1 *fsdp = fsdp1_of (runtime);

  g_free (fsdp->handles);
  g_array_unref (fsdp->post_forward_order);
  g_array_unref (fsdp->pre_forward_order);
  g_array_unref (fsdp->free_events);
  g_array_unref (fsdp->spare_events);
  g_free (fsdp);
}

static const RuntimeHooks fsdp1_hooks = {
  .load = fsdp1_load,
  .pre_forward = fsdp1_pre_forward,
  .post_forward = fsdp1_post_forward,
  .pre_backward = fsdp1_pre_backward,
  .gradients_begin = fsdp1_gradients_begin,
  .post_backward = fsdp1_post_backward,
  .end_of_backward = fsdp1_end_of_backward,
  .norm_communicator = fsdp1_norm_communicator,
  .zero_grad = fsdp1_zero_grad,
  .free = fsdp1_free,
};

Runtime *
fsdp1_new (Writer *writer)
{
  const Scenario *scenario = writer->scenario;
  ShardingStrategy strategy = scenario->fsdp.strategy;
  guint ranks = scenario_ranks (scenario);
  Fsdp1 *fsdp = g_new0 (Fsdp1, 1);

  fsdp->runtime = (Runtime){ .hooks = &fsdp1_hooks, .writer = writer, .sync_gradients = TRUE };
  fsdp->sharded = units_shard_ranks (scenario) > 1; /* a world of one becomes NO_SHARD */
  fsdp->hybrid = fsdp->sharded
                 && (strategy == STRATEGY_HYBRID_SHARD || strategy == STRATEGY_HYBRID_SHARD_ZERO2);
  fsdp->reshard_after_forward
      = fsdp->sharded && (strategy == STRATEGY_FULL_SHARD || strategy == STRATEGY_HYBRID_SHARD);
  fsdp->param_bytes = dtype_bytes (scenario->fsdp.param_dtype);
  fsdp->reduce_bytes = dtype_bytes (scenario->fsdp.reduce_dtype);
  fsdp->low_precision = scenario->fsdp.param_dtype != cost_master_dtype (scenario);
  fsdp->low_reduction = scenario->fsdp.reduce_dtype != cost_master_dtype (scenario);
  fsdp->original_bytes = dtype_bytes (cost_master_dtype (scenario));
  fsdp->predivide = writer_predivide_factor (ranks);
  fsdp->postdivide = ranks / fsdp->predivide;
  fsdp->handles = g_new0 (Handle, writer->units.n);
  for (guint i = 0; i < writer->units.n; i++)
    fsdp->handles[i].unsharded = fsdp->handles[i].parameter_grads = fsdp->handles[i].flat_grad
        = fsdp->handles[i].sharded_grad = BUFFER_NONE;
  fsdp->post_forward_order = g_array_new (FALSE, FALSE, sizeof (guint));
  fsdp->pre_forward_order = g_array_new (FALSE, FALSE, sizeof (guint));
  fsdp->free_events = g_array_new (FALSE, FALSE, sizeof (EventId));
  fsdp->spare_events = g_array_new (FALSE, FALSE, sizeof (EventId));
  return &fsdp->runtime;
}

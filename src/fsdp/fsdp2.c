#include <config.h>

#include "fsdp/fsdp2.h"

#define ROOT 0

static gboolean
has_group (const Fsdp2 *fsdp, guint unit)
{
  return fsdp2_unit (fsdp, unit)->elements > 0;
}

/* ---- forward ---- */

/* _root_pre_forward: whichever forward is the outermost just now makes the gathers
 * wait for compute, and so see the optimizer's writes. A block that is run again
 * in backward becomes that, too. */
static void
root_pre_forward (Fsdp2 *fsdp, guint unit)
{
  Writer *writer = fsdp->runtime.writer;

  if (fsdp->iteration_root != UNIT_INDEX_NONE)
    return;
  fsdp->iteration_root = unit;
  program_stream_wait_stream (writer->program, fsdp->copy_in, writer->compute);
  program_stream_wait_stream (writer->program, fsdp->all_gather, writer->compute);
}

/* A block and the parts of it that are units. */
static void
prefetch_block (Fsdp2 *fsdp, guint block)
{
  const Units *units = &fsdp->runtime.writer->units;

  fsdp2_prefetch (fsdp, units_of_block (units, block));
  for (guint part = 0; part < N_BLOCK_PARTS; part++)
    if (units_of_part (units, block, (BlockPart)part) != UNIT_INDEX_NONE)
      fsdp2_prefetch (fsdp, units_of_part (units, block, (BlockPart)part));
}

static gboolean
is_whole_block (guint32 label)
{
  return label >= UNIT_FIRST_BLOCK && label < UNIT_FIRST_PART;
}

/* Lists set by set_modules_to_forward_prefetch or …_backward_prefetch: the next @depth blocks in
 * that direction. FALSE where the list is empty. */
static gboolean
prefetch_explicitly (Fsdp2 *fsdp, guint unit, guint depth, int direction)
{
  guint32 label = fsdp2_unit (fsdp, unit)->label;
  gint64 layers = fsdp->runtime.writer->scenario->model.layers;
  gint64 target;

  if (depth == 0 || !is_whole_block (label))
    return FALSE;
  target = (gint64)timeline_block_of_unit (label) + direction;
  if (target < 0 || target >= layers)
    return FALSE;
  for (guint i = 0; i < depth && target >= 0 && target < layers; i++, target += direction)
    prefetch_block (fsdp, (guint)target);
  return TRUE;
}

static void
fsdp2_pre_forward (Runtime *runtime, guint unit, gboolean grad_enabled)
{
  Fsdp2 *fsdp = fsdp2_of (runtime);
  Group *group = &fsdp->groups[unit];

  (void)grad_enabled;
  if (group->module_state == GROUP_PRE_BACKWARD)
    return;
  writer_hook (runtime->writer);
  group->module_state = GROUP_FORWARD;
  root_pre_forward (fsdp, unit);
  if (has_group (fsdp, unit))
    {
      group->state = GROUP_FORWARD;
      fsdp2_unshard (fsdp, unit);
      fsdp2_wait_for_unshard (fsdp, unit);
    }
  prefetch_explicitly (fsdp, unit, runtime->writer->scenario->fsdp.forward_prefetch_depth, 1);
}

static void
record_post_forward (Fsdp2 *fsdp, guint unit)
{
  guint index = fsdp->post_forward_order->len;

  g_array_append_val (fsdp->post_forward_order, unit);
  g_array_append_val (fsdp->groups[unit].post_forward_indices, index);
}

static void
fsdp2_post_forward (Runtime *runtime, guint unit, gboolean grad_enabled)
{
  Fsdp2 *fsdp = fsdp2_of (runtime);
  Group *group = &fsdp->groups[unit];

  (void)grad_enabled;
  if (group->module_state == GROUP_PRE_BACKWARD)
    return;
  writer_hook (runtime->writer);
  if (has_group (fsdp, unit))
    {
      if (!fsdp->in_backward || fsdp->post_forward_records_in_backward)
        {
          fsdp2_reshard (fsdp, unit);
          record_post_forward (fsdp, unit);
        }
      group->state = GROUP_IDLE;
    }
  group->module_state = GROUP_IDLE;
  if (fsdp->iteration_root == unit)
    {
      fsdp2_release_parked (fsdp);
      fsdp->iteration_root = UNIT_INDEX_NONE;
    }
}

/* ---- backward ---- */

/* _backward_prefetch: by the newest place of this group in post-forward order. */
static void
backward_prefetch (Fsdp2 *fsdp, Group *group)
{
  GArray *stack = group->post_forward_indices;

  if (stack->len == 0)
    return;
  guint index = g_array_index (stack, guint, stack->len - 1);
  g_array_set_size (stack, stack->len - 1);
  if (index > 0)
    fsdp2_prefetch (fsdp, g_array_index (fsdp->post_forward_order, guint, index - 1));
}

static void
fsdp2_pre_backward (Runtime *runtime, guint unit)
{
  Fsdp2 *fsdp = fsdp2_of (runtime);
  Group *group = &fsdp->groups[unit];
  guint depth = runtime->writer->scenario->fsdp.backward_prefetch_depth;

  writer_hook (runtime->writer);
  fsdp->in_backward = TRUE;
  group->module_state = GROUP_PRE_BACKWARD;
  if (fsdp->iteration_root == unit) /* a recompute that stopped early in it */
    fsdp->iteration_root = UNIT_INDEX_NONE;
  if (!has_group (fsdp, unit))
    return;
  group->state = GROUP_PRE_BACKWARD;
  fsdp2_unshard (fsdp, unit);
  fsdp2_wait_for_unshard (fsdp, unit);
  if (!prefetch_explicitly (fsdp, unit, depth, -1))
    backward_prefetch (fsdp, group);
}

static void
fsdp2_gradients_begin (Runtime *runtime, guint unit)
{
  Fsdp2 *fsdp = fsdp2_of (runtime);
  Writer *writer = runtime->writer;
  const Unit *of = fsdp2_unit (fsdp, unit);

  if (of->trained > 0)
    fsdp->groups[unit].parameter_grads
        = program_alloc (writer->program, writer->compute, MEMORY_UNSHARDED_GRADS,
                         of->trained * fsdp->param_bytes, of->label);
}

/* set_reshard_after_backward (False) is for micro-batches that others follow. */
static gboolean
reshards_after_backward (const Writer *writer)
{
  return writer->scenario->fsdp.reshard_after_backward
         || writer->micro_batch + 1 == writer->scenario->training.grad_accum;
}

static void
post_backward (Fsdp2 *fsdp, guint unit)
{
  Runtime *runtime = &fsdp->runtime;
  Group *group = &fsdp->groups[unit];

  writer_hook (runtime->writer);
  group->state = GROUP_POST_BACKWARD;
  fsdp2_add_to_accumulated (fsdp, unit);
  if (reshards_after_backward (runtime->writer))
    fsdp2_reshard (fsdp, unit);
  if (fsdp2_unit (fsdp, unit)->trained == 0)
    return;
  if (!runtime->sync_gradients)
    {
      fsdp2_keep_unsharded_grads (fsdp, unit);
      return;
    }
  fsdp2_wait_for_scatters (fsdp, runtime->writer->scenario->fsdp.reduce_scatter_input_buffers);
  fsdp2_reduce_grads (fsdp, unit);
}

/* Of units whose inputs need a gradient. The others come to theirs in the final callback: the
 * root's comes there last of all anyway. */
static void
fsdp2_post_backward (Runtime *runtime, guint unit)
{
  Fsdp2 *fsdp = fsdp2_of (runtime);

  if (has_group (fsdp, unit) && unit != runtime->writer->units.lowest_trained)
    post_backward (fsdp, unit);
}

static void
wait_for_reductions (Fsdp2 *fsdp)
{
  Writer *writer = fsdp->runtime.writer;

  if (fsdp->runtime.sync_gradients)
    program_stream_wait_stream (writer->program, writer->compute,
                                fsdp2_all_reduces (fsdp) ? fsdp->all_reduce : fsdp->reduce_scatter);
}

/* What the final callback does with frozen units and with the lowest that is trained, which has
 * frozen ones or token ids alone below: in the order of modules, with the waits of those before it.
 */
static void
post_backward_in_callback (Fsdp2 *fsdp)
{
  const Writer *writer = fsdp->runtime.writer;
  guint lowest = writer->units.lowest_trained;

  if (scenario_trains_all (writer->scenario) && lowest == UNIT_INDEX_NONE)
    return;
  if (fsdp2_unit (fsdp, ROOT)->trained > 0)
    wait_for_reductions (fsdp);
  for (guint i = 0; i < writer->units.n; i++)
    {
      if (!has_group (fsdp, i))
        continue;
      if (i < lowest)
        fsdp2_drop_mistargeted (fsdp, i);
      if (i == lowest)
        post_backward (fsdp, i);
      else if (fsdp2_unit (fsdp, i)->trained == 0 && reshards_after_backward (writer))
        fsdp2_reshard (fsdp, i);
    }
}

/* _root_post_backward_final_callback: compute waits for all that was reduced. */
static void
fsdp2_end_of_backward (Runtime *runtime)
{
  Fsdp2 *fsdp = fsdp2_of (runtime);
  Writer *writer = runtime->writer;

  post_backward_in_callback (fsdp);
  wait_for_reductions (fsdp);
  fsdp2_wait_for_scatters (fsdp, 0);
  for (guint i = 0; i < writer->units.n; i++)
    {
      Group *group = &fsdp->groups[i];

      fsdp2_drop_mistargeted (fsdp, i);
      fsdp2_wait_for_offload (fsdp, i);
      g_array_set_size (group->post_forward_indices, 0);
      group->state = group->module_state = GROUP_IDLE;
    }
  g_array_set_size (fsdp->post_forward_order, 0);
  fsdp->in_backward = FALSE;
}

static gboolean
fsdp2_norm_communicator (Runtime *runtime, CommunicatorId *communicator)
{
  *communicator = fsdp2_of (runtime)->shard;
  return TRUE;
}

static void
fsdp2_zero_grad (Runtime *runtime)
{
  Fsdp2 *fsdp = fsdp2_of (runtime);

  for (guint i = 0; i < runtime->writer->units.n; i++)
    {
      Group *group = &fsdp->groups[i];

      group->has_host_grad = FALSE;
      if (group->sharded_grad != BUFFER_NONE)
        program_free_buffer (runtime->writer->program, group->sharded_grad, 0);
      group->sharded_grad = BUFFER_NONE;
    }
}

/* ---- set-up ---- */

static void
add_streams (Fsdp2 *fsdp)
{
  Writer *writer = fsdp->runtime.writer;
  Program *program = writer->program;

  writer->compute = program_add_stream (program, "compute", LANE_COMPUTE);
  fsdp->copy_in = program_add_stream (program, "all_gather_copy_in", LANE_COPY);
  fsdp->all_gather = program_add_stream (program, "all_gather", LANE_COPY);
  fsdp->reduce_scatter = program_add_stream (program, "reduce_scatter", LANE_COPY);
  if (fsdp->hybrid)
    fsdp->all_reduce = program_add_stream (program, "all_reduce", LANE_COPY);
}

static void
add_communicators (Fsdp2 *fsdp)
{
  const Scenario *scenario = fsdp->runtime.writer->scenario;
  Program *program = fsdp->runtime.writer->program;
  guint ranks = units_shard_ranks (scenario);
  guint small = fsdp2_reshard_ranks (scenario);

  fsdp->shard = fsdp->scatter
      = program_add_communicator (program, "comm.shard", LANE_COMM_SHARD, ranks, 1);
  if (scenario->fsdp.separate_reduce_scatter_group)
    fsdp->scatter = program_add_communicator (program, "comm.scatter", LANE_COMM_SCATTER, ranks, 1);
  if (fsdp->hybrid)
    fsdp->replicate = program_add_communicator (program, "comm.replicate", LANE_COMM_REPLICATE,
                                                units_replicas (scenario), ranks);
  /* Every unit builds a communicator of its own for this, but the one stream of
   * the gathers keeps them in order all the same. */
  if (small > 0)
    fsdp->post_forward
        = program_add_communicator (program, "comm.reshard", LANE_COMM_RESHARD, small, 1);
}

/* fully_shard shards what is on the device, one parameter after the other. */
static void
fsdp2_load (Runtime *runtime)
{
  Fsdp2 *fsdp = fsdp2_of (runtime);
  Writer *writer = runtime->writer;

  add_streams (fsdp);
  add_communicators (fsdp);
  for (guint i = 0; i < writer->units.n; i++)
    {
      const Unit *of = fsdp2_unit (fsdp, i);
      Group *group = &fsdp->groups[i];

      group->gathered = program_add_event (writer->program);
      group->copied_out = program_add_event (writer->program);
      group->resharded = program_add_event (writer->program);
      group->scattered = program_add_event (writer->program);
      group->offloaded = program_add_event (writer->program);
      if (has_group (fsdp, i))
        writer_load_shard (writer, of);
    }
}

static void
fsdp2_free (Runtime *runtime)
{
  Fsdp2 *fsdp = fsdp2_of (runtime);

  for (guint i = 0; i < runtime->writer->units.n; i++)
    g_array_unref (fsdp->groups[i].post_forward_indices);
  g_free (fsdp->groups);
  g_array_unref (fsdp->post_forward_order);
  g_array_unref (fsdp->scatters);
  g_free (fsdp);
}

static const RuntimeHooks fsdp2_hooks = {
  .load = fsdp2_load,
  .pre_forward = fsdp2_pre_forward,
  .post_forward = fsdp2_post_forward,
  .pre_backward = fsdp2_pre_backward,
  .gradients_begin = fsdp2_gradients_begin,
  .post_backward = fsdp2_post_backward,
  .waits_for_inputs = TRUE,
  .end_of_backward = fsdp2_end_of_backward,
  .norm_communicator = fsdp2_norm_communicator,
  .zero_grad = fsdp2_zero_grad,
  .free = fsdp2_free,
};

static void
group_init (Fsdp2 *fsdp, guint unit)
{
  const Scenario *scenario = fsdp->runtime.writer->scenario;
  Group *group = &fsdp->groups[unit];

  group->reshard_after_forward = fsdp2_reshards (scenario, fsdp2_unit (fsdp, unit)->label);
  group->reshard_ranks = fsdp2_reshard_ranks (scenario);
  group->post_forward_indices = g_array_new (FALSE, FALSE, sizeof (guint));
  group->gather_output = group->unsharded = group->post_forward_shard = BUFFER_NONE;
  group->parameter_grads = group->accumulated_grads = group->sharded_grad = BUFFER_NONE;
  group->partial_grad = BUFFER_NONE;
}

/* For fp16, as FSDP1 does for all: a power of two near the square root. Else NCCL
 * averages and there is no kernel (_get_gradient_divide_factors). */
static void
set_division (Fsdp2 *fsdp)
{
  guint ranks = scenario_ranks (fsdp->runtime.writer->scenario);

  fsdp->predivide = fsdp->postdivide = 1;
  if (fsdp->runtime.writer->scenario->fsdp.reduce_dtype != DTYPE_FP16)
    return;
  fsdp->predivide = writer_predivide_factor (ranks);
  fsdp->postdivide = ranks / fsdp->predivide;
}

Runtime *
fsdp2_new (Writer *writer)
{
  const Scenario *scenario = writer->scenario;
  ShardingStrategy strategy = scenario->fsdp.strategy;
  Fsdp2 *fsdp = g_new0 (Fsdp2, 1);

  fsdp->runtime = (Runtime){ .hooks = &fsdp2_hooks, .writer = writer, .sync_gradients = TRUE };
  fsdp->hybrid = strategy == STRATEGY_HYBRID_SHARD || strategy == STRATEGY_HYBRID_SHARD_ZERO2;
  fsdp->post_forward_records_in_backward = scenario->fsdp.torch_minor < 10;
  fsdp->param_bytes = dtype_bytes (scenario->fsdp.param_dtype);
  fsdp->reduce_bytes = dtype_bytes (scenario->fsdp.reduce_dtype);
  fsdp->low_reduction = scenario->fsdp.reduce_dtype != cost_master_dtype (scenario);
  fsdp->original_bytes = dtype_bytes (cost_master_dtype (scenario));
  fsdp->iteration_root = UNIT_INDEX_NONE;
  fsdp->parked = BUFFER_NONE;
  fsdp->post_forward_order = g_array_new (FALSE, FALSE, sizeof (guint));
  fsdp->scatters = g_array_new (FALSE, FALSE, sizeof (guint));
  fsdp->groups = g_new0 (Group, writer->units.n);
  for (guint i = 0; i < writer->units.n; i++)
    group_init (fsdp, i);
  set_division (fsdp);
  return &fsdp->runtime;
}

#include <config.h>

#include "fsdp/checkpointing_parts.h"
#include "fsdp/offload.h"

static Nesting
nesting_of (const Scenario *scenario)
{
  const CheckpointConfig *checkpoint = &scenario->checkpoint;

  /* DDP stands outside of all checkpoints and hears nothing of a recompute. */
  if (checkpoint->method == CHECKPOINT_INSIDE || scenario->fsdp.api == API_DDP)
    return NESTING_INSIDE;
  return checkpoint->use_reentrant ? NESTING_OUTSIDE_REENTRANT : NESTING_OUTSIDE_NON_REENTRANT;
}

Checkpointing *
checkpointing_new (Runtime *runtime)
{
  Checkpointing *checkpointing = g_new0 (Checkpointing, 1);
  const Scenario *scenario = runtime->writer->scenario;

  checkpointing->runtime = runtime;
  checkpointing->nesting = nesting_of (scenario);
  checkpointing->in_pieces = cost_is_in_pieces (scenario);
  checkpointing->kept = g_new0 (BufferId, scenario->model.layers);
  checkpointing->recomputed = g_new0 (BufferId, scenario->model.layers);
  checkpointing->back = g_new0 (BufferId, scenario->model.layers);
  return checkpointing;
}

void
checkpointing_free (Checkpointing *checkpointing)
{
  if (checkpointing == NULL)
    return;
  g_free (checkpointing->kept);
  g_free (checkpointing->recomputed);
  g_free (checkpointing->back);
  g_free (checkpointing);
}

Nesting
checkpointing_nesting (const Checkpointing *checkpointing, guint block)
{
  const Scenario *scenario = checkpointing->runtime->writer->scenario;

  return scenario_trains_block (scenario, block)
                 && checkpoint_has_block (&scenario->checkpoint, block)
             ? checkpointing->nesting
             : NESTING_NONE;
}

/* Of the block's own checkpoint: none where its children have theirs. */
static Nesting
nesting_of_block (const Checkpointing *checkpointing, guint block)
{
  if (checkpointing->runtime->writer->scenario->checkpoint.select_children)
    return NESTING_NONE;
  return checkpointing_nesting (checkpointing, block);
}

/* ---- kernels and activations ---- */

BufferId
checkpointing_keep (Checkpointing *checkpointing, gint64 bytes, guint block)
{
  Writer *writer = checkpointing->runtime->writer;

  return program_alloc (writer->program, writer->compute, MEMORY_ACTIVATIONS, bytes,
                        UNIT_FIRST_BLOCK + block);
}

const BlockCost *
checkpointing_cost (const Checkpointing *checkpointing, guint block)
{
  const Writer *writer = checkpointing->runtime->writer;

  return &writer->cost->kinds[model_kind_of_block (&writer->scenario->model, block)];
}

/* ---- inputs that wait on the host: offload_wrapper, save_on_cpu with pinned memory ---- */

static gboolean
offloads (const Checkpointing *checkpointing, guint block)
{
  return checkpointing->runtime->writer->scenario->checkpoint.offload
         && nesting_of_block (checkpointing, block) != NESTING_NONE;
}

/* pack: a copy that the host waits for, on the compute stream. The non-reentrant checkpoint saves
 * its inputs before it calls its function, the reentrant one after that. */
static void
pack_input (Checkpointing *checkpointing, guint block, gboolean before)
{
  Writer *writer = checkpointing->runtime->writer;
  guint32 label = UNIT_FIRST_BLOCK + block;

  if (!offloads (checkpointing, block) || before == writer->scenario->checkpoint.use_reentrant)
    return;
  offload_copy (writer, writer->compute, checkpointing_cost (checkpointing, block)->input_bytes,
                TRUE, label);
  offload_synchronize (writer, writer->compute, label);
}

/* unpack: before the recompute, without waiting. */
static void
unpack_input (Checkpointing *checkpointing, guint block)
{
  Writer *writer = checkpointing->runtime->writer;
  gint64 bytes = checkpointing_cost (checkpointing, block)->input_bytes;

  if (!offloads (checkpointing, block))
    return;
  checkpointing->back[block] = checkpointing_keep (checkpointing, bytes, block);
  offload_copy (writer, writer->compute, bytes, TRUE, UNIT_FIRST_BLOCK + block);
}

/* What a block keeps on the GPU from its forward to its backward. */
static gint64
kept_bytes (const Checkpointing *checkpointing, guint block)
{
  const BlockCost *cost = checkpointing_cost (checkpointing, block);
  const CheckpointConfig *checkpoint = &checkpointing->runtime->writer->scenario->checkpoint;

  if (checkpointing_nesting (checkpointing, block) == NESTING_NONE)
    return cost->saved_bytes;
  if (checkpoint->select_children)
    return cost->children_input_bytes;
  return (offloads (checkpointing, block) ? 0 : cost->input_bytes)
         + (checkpoint->select_op ? cost->selected_bytes : 0);
}

static void
forward_kernels (Checkpointing *checkpointing, guint block, gboolean grad_enabled)
{
  Writer *writer = checkpointing->runtime->writer;

  if (scenario_trains_block (writer->scenario, block))
    checkpointing->kept[block]
        = checkpointing_keep (checkpointing, kept_bytes (checkpointing, block), block);
  BufferId passing = BUFFER_NONE; /* an offloaded input is on the GPU as long as the block runs */
  if (offloads (checkpointing, block))
    passing = checkpointing_keep (checkpointing,
                                  checkpointing_cost (checkpointing, block)->input_bytes, block);
  if (checkpointing->in_pieces)
    pieces_forward (checkpointing, block, grad_enabled);
  else
    writer_launch (writer, writer->compute, &checkpointing_cost (checkpointing, block)->forward,
                   TIMELINE_FORWARD, UNIT_FIRST_BLOCK + block);
  if (passing != BUFFER_NONE)
    program_free_buffer (writer->program, passing, 0);
}

static void
recompute_kernels (Checkpointing *checkpointing, guint block, guint unused)
{
  Writer *writer = checkpointing->runtime->writer;
  const BlockCost *cost = checkpointing_cost (checkpointing, block);
  gint64 selected = writer->scenario->checkpoint.select_op ? cost->selected_bytes : 0;

  checkpointing->recomputed[block]
      = checkpointing_keep (checkpointing, cost->saved_bytes - selected, block);
  if (checkpointing->in_pieces)
    pieces_recompute (checkpointing, block, unused);
  else
    writer_launch (writer, writer->compute, cost_recompute (writer->scenario, cost),
                   TIMELINE_RECOMPUTE, UNIT_FIRST_BLOCK + block);
}

static void
backward_kernels (Checkpointing *checkpointing, guint block)
{
  Writer *writer = checkpointing->runtime->writer;
  const BlockCost *cost = checkpointing_cost (checkpointing, block);
  BufferId workspace = checkpointing_keep (checkpointing, cost->workspace_bytes, block);

  writer_launch (writer, writer->compute, &cost->backward, TIMELINE_BACKWARD,
                 UNIT_FIRST_BLOCK + block);
  program_free_buffer (writer->program, workspace, 0);
}

/* ---- hooks around them ---- */

void
checkpointing_forward (Checkpointing *checkpointing, guint block)
{
  guint unit = units_of_block (&checkpointing->runtime->writer->units, block);
  /* The reentrant checkpoint runs its function under no_grad: FSDP's forward sees
   * that when it stands inside. */
  gboolean grad_enabled = nesting_of_block (checkpointing, block) != NESTING_OUTSIDE_REENTRANT;
  gboolean outside = nesting_of_block (checkpointing, block) != NESTING_INSIDE;

  if (outside)
    pack_input (checkpointing, block, TRUE);
  runtime_pre_forward (checkpointing->runtime, unit, grad_enabled);
  if (!outside)
    pack_input (checkpointing, block, TRUE);
  forward_kernels (checkpointing, block, grad_enabled);
  if (!outside)
    pack_input (checkpointing, block, FALSE);
  runtime_post_forward (checkpointing->runtime, unit, grad_enabled);
  if (outside)
    pack_input (checkpointing, block, FALSE);
}

void
checkpointing_prepare_backward (Checkpointing *checkpointing, guint unit, Nesting nesting,
                                gboolean stops_early, Recompute recompute, guint block, guint piece)
{
  switch (nesting)
    {
    case NESTING_NONE:
      runtime_pre_backward (checkpointing->runtime, unit);
      break;
    case NESTING_OUTSIDE_REENTRANT:
      unpack_input (checkpointing, block);
      runtime_pre_forward (checkpointing->runtime, unit, TRUE);
      recompute (checkpointing, block, piece);
      runtime_post_forward (checkpointing->runtime, unit, TRUE);
      /* Of the recomputed output, in the nested backward. */
      runtime_pre_backward (checkpointing->runtime, unit);
      break;
    case NESTING_OUTSIDE_NON_REENTRANT:
      runtime_pre_backward (checkpointing->runtime, unit); /* of the original output */
      unpack_input (checkpointing, block);
      runtime_pre_forward (checkpointing->runtime, unit, TRUE);
      recompute (checkpointing, block, piece);
      if (!stops_early)
        runtime_post_forward (checkpointing->runtime, unit, TRUE);
      break;
    case NESTING_INSIDE:
      runtime_pre_backward (checkpointing->runtime, unit);
      unpack_input (checkpointing, block);
      recompute (checkpointing, block, piece);
      break;
    }
}

void
checkpointing_backward (Checkpointing *checkpointing, guint block)
{
  Runtime *runtime = checkpointing->runtime;
  Program *program = runtime->writer->program;
  guint unit = units_of_block (&runtime->writer->units, block);
  Nesting nesting = nesting_of_block (checkpointing, block);
  gboolean by_child = runtime->writer->scenario->checkpoint.select_children;
  Nesting children = by_child ? checkpointing_nesting (checkpointing, block) : NESTING_NONE;

  checkpointing_prepare_backward (checkpointing, unit, nesting,
                                  cost_stops_early (runtime->writer->scenario), recompute_kernels,
                                  block, 0);
  runtime_gradients_begin (runtime, unit);
  if (checkpointing->in_pieces)
    pieces_backward (checkpointing, block, children);
  else
    backward_kernels (checkpointing, block);
  if (nesting != NESTING_NONE)
    program_free_buffer (program, checkpointing->recomputed[block], 0);
  program_free_buffer (program, checkpointing->kept[block], 0);
  if (offloads (checkpointing, block))
    program_free_buffer (program, checkpointing->back[block], 0);
  runtime_post_backward (checkpointing->runtime, unit);
}

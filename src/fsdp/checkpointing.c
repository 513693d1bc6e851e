#include <config.h>

#include "fsdp/checkpointing.h"

typedef enum
{
  NESTING_NONE,
  NESTING_OUTSIDE_REENTRANT,     /* checkpoint (FSDP (block)), the naive case */
  NESTING_OUTSIDE_NON_REENTRANT, /* the same, hooks of saved tensors instead of a nested backward */
  NESTING_INSIDE                 /* FSDP (checkpoint (block)) */
} Nesting;

struct _Checkpointing
{
  Runtime *runtime;
  Nesting nesting; /* of the blocks that are checkpointed */
  BufferId *saved; /* by block: what its forward or recompute keeps for the backward */
  BufferId *input; /* by block: what the checkpoint keeps */
};

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
  checkpointing->saved = g_new0 (BufferId, scenario->model.layers);
  checkpointing->input = g_new0 (BufferId, scenario->model.layers);
  return checkpointing;
}

void
checkpointing_free (Checkpointing *checkpointing)
{
  if (checkpointing == NULL)
    return;
  g_free (checkpointing->saved);
  g_free (checkpointing->input);
  g_free (checkpointing);
}

static Nesting
nesting_of_block (const Checkpointing *checkpointing, guint block)
{
  const CheckpointConfig *checkpoint = &checkpointing->runtime->writer->scenario->checkpoint;

  return checkpoint_has_block (checkpoint, block) ? checkpointing->nesting : NESTING_NONE;
}

/* ---- kernels and activations ---- */

static BufferId
keep_activations (Checkpointing *checkpointing, gint64 bytes, guint block)
{
  Writer *writer = checkpointing->runtime->writer;

  return program_alloc (writer->program, writer->compute, MEMORY_ACTIVATIONS, bytes,
                        UNIT_FIRST_BLOCK + block);
}

static const BlockCost *
cost_of_block (const Writer *writer, guint block)
{
  return &writer->cost->kinds[model_kind_of_block (&writer->scenario->model, block)];
}

static void
forward_kernels (Checkpointing *checkpointing, guint block, gboolean keep_all)
{
  Writer *writer = checkpointing->runtime->writer;
  const BlockCost *cost = cost_of_block (writer, block);

  if (keep_all)
    checkpointing->saved[block] = keep_activations (checkpointing, cost->saved_bytes, block);
  else
    checkpointing->input[block] = keep_activations (
        checkpointing,
        cost->input_bytes + (writer->scenario->checkpoint.select_op ? cost->selected_bytes : 0),
        block);
  writer_launch (writer, writer->compute, &cost->forward, TIMELINE_FORWARD,
                 UNIT_FIRST_BLOCK + block);
}

static void
recompute_kernels (Checkpointing *checkpointing, guint block)
{
  Writer *writer = checkpointing->runtime->writer;
  const BlockCost *cost = cost_of_block (writer, block);

  checkpointing->saved[block] = keep_activations (
      checkpointing,
      cost->saved_bytes - (writer->scenario->checkpoint.select_op ? cost->selected_bytes : 0),
      block);
  writer_launch (writer, writer->compute, cost_recompute (writer->scenario, cost),
                 TIMELINE_RECOMPUTE, UNIT_FIRST_BLOCK + block);
}

static void
backward_kernels (Checkpointing *checkpointing, guint block, gboolean checkpointed)
{
  Runtime *runtime = checkpointing->runtime;
  Writer *writer = runtime->writer;
  const BlockCost *cost = cost_of_block (writer, block);
  guint unit = units_of_block (&writer->units, block);

  if (unit != UNIT_INDEX_NONE)
    runtime->hooks->gradients_begin (runtime, unit);
  BufferId workspace = keep_activations (checkpointing, cost->workspace_bytes, block);
  writer_launch (writer, writer->compute, &cost->backward, TIMELINE_BACKWARD,
                 UNIT_FIRST_BLOCK + block);
  program_free_buffer (writer->program, workspace, 0);
  program_free_buffer (writer->program, checkpointing->saved[block], 0);
  if (checkpointed)
    program_free_buffer (writer->program, checkpointing->input[block], 0);
}

/* ---- hooks around them ---- */

static void
pre_forward (Checkpointing *checkpointing, guint unit, gboolean grad_enabled)
{
  if (unit != UNIT_INDEX_NONE)
    checkpointing->runtime->hooks->pre_forward (checkpointing->runtime, unit, grad_enabled);
}

static void
post_forward (Checkpointing *checkpointing, guint unit, gboolean grad_enabled)
{
  if (unit != UNIT_INDEX_NONE)
    checkpointing->runtime->hooks->post_forward (checkpointing->runtime, unit, grad_enabled);
}

static void
pre_backward (Checkpointing *checkpointing, guint unit)
{
  if (unit != UNIT_INDEX_NONE)
    checkpointing->runtime->hooks->pre_backward (checkpointing->runtime, unit);
}

void
checkpointing_forward (Checkpointing *checkpointing, guint block)
{
  guint unit = units_of_block (&checkpointing->runtime->writer->units, block);
  Nesting nesting = nesting_of_block (checkpointing, block);
  /* The reentrant checkpoint runs its function under no_grad: FSDP's forward sees
   * that when it stands inside. */
  gboolean grad_enabled = nesting != NESTING_OUTSIDE_REENTRANT;

  pre_forward (checkpointing, unit, grad_enabled);
  forward_kernels (checkpointing, block, nesting == NESTING_NONE);
  post_forward (checkpointing, unit, grad_enabled);
}

/* What precedes the backward kernels. */
static void
prepare_backward (Checkpointing *checkpointing, guint unit, guint block, Nesting nesting)
{
  switch (nesting)
    {
    case NESTING_NONE:
      pre_backward (checkpointing, unit);
      break;
    case NESTING_OUTSIDE_REENTRANT:
      pre_forward (checkpointing, unit, TRUE);
      recompute_kernels (checkpointing, block);
      post_forward (checkpointing, unit, TRUE);
      pre_backward (checkpointing, unit); /* of the recomputed output, in the nested backward */
      break;
    case NESTING_OUTSIDE_NON_REENTRANT:
      pre_backward (checkpointing, unit); /* of the original output */
      pre_forward (checkpointing, unit, TRUE);
      recompute_kernels (checkpointing, block);
      if (!cost_stops_early (checkpointing->runtime->writer
                                 ->scenario)) /* else the recompute never comes to its end */
        post_forward (checkpointing, unit, TRUE);
      break;
    case NESTING_INSIDE:
      pre_backward (checkpointing, unit);
      recompute_kernels (checkpointing, block);
      break;
    }
}

void
checkpointing_backward (Checkpointing *checkpointing, guint block)
{
  Runtime *runtime = checkpointing->runtime;
  guint unit = units_of_block (&runtime->writer->units, block);
  Nesting nesting = nesting_of_block (checkpointing, block);

  prepare_backward (checkpointing, unit, block, nesting);
  backward_kernels (checkpointing, block, nesting != NESTING_NONE);
  if (unit != UNIT_INDEX_NONE)
    runtime->hooks->post_backward (runtime, unit);
}

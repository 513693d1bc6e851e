#include <config.h>

#include "fsdp/checkpointing_parts.h"

static BlockPart
part_of_piece (guint piece)
{
  return piece < PIECE_SECOND_HALF ? PART_ATTENTION : PART_MLP;
}

/* The unit inside the block's that wraps a piece. */
static guint
unit_of_piece (const Checkpointing *checkpointing, guint block, guint piece)
{
  if (piece % PIECE_SECOND_HALF != PIECE_INSIDE)
    return UNIT_INDEX_NONE;
  return units_of_part (&checkpointing->runtime->writer->units, block, part_of_piece (piece));
}

static void
launch (Checkpointing *checkpointing, const KernelRun *run, TimelineOp op, guint block, guint piece)
{
  Writer *writer = checkpointing->runtime->writer;
  guint unit = unit_of_piece (checkpointing, block, piece);
  guint32 label
      = unit == UNIT_INDEX_NONE ? UNIT_FIRST_BLOCK + block : writer->units.list[unit].label;

  writer_launch (writer, writer->compute, run, op, label);
}

/* ---- forward ---- */

void
pieces_forward (Checkpointing *checkpointing, guint block, gboolean grad_enabled)
{
  const BlockCost *cost = checkpointing_cost (checkpointing, block);
  const CheckpointConfig *checkpoint = &checkpointing->runtime->writer->scenario->checkpoint;
  /* A reentrant checkpoint of a child runs its unit under no_grad. */
  gboolean grad_in_child
      = grad_enabled
        && !(checkpoint->select_children
             && checkpointing_nesting (checkpointing, block) == NESTING_OUTSIDE_REENTRANT);

  for (guint piece = 0; piece < N_BLOCK_PIECES; piece++)
    {
      guint unit = unit_of_piece (checkpointing, block, piece);

      runtime_pre_forward (checkpointing->runtime, unit, grad_in_child);
      launch (checkpointing, &cost->pieces[piece].forward, TIMELINE_FORWARD, block, piece);
      runtime_post_forward (checkpointing->runtime, unit, grad_in_child);
    }
}

/* ---- recompute ---- */

/* Of a whole block: the units inside run forward again, but that in which it stops early never
 * comes to its post-forward hook. */
void
pieces_recompute (Checkpointing *checkpointing, guint block, guint unused)
{
  const BlockCost *cost = checkpointing_cost (checkpointing, block);

  (void)unused;
  for (guint piece = 0; piece < N_BLOCK_PIECES; piece++)
    {
      guint unit = unit_of_piece (checkpointing, block, piece);

      runtime_pre_forward (checkpointing->runtime, unit, TRUE);
      launch (checkpointing, &cost->pieces[piece].recompute, TIMELINE_RECOMPUTE, block, piece);
      if (piece != cost->unfinished_piece)
        runtime_post_forward (checkpointing->runtime, unit, TRUE);
    }
}

static void
recompute_child (Checkpointing *checkpointing, guint block, guint piece)
{
  const BlockPiece *child = &checkpointing_cost (checkpointing, block)->pieces[piece];

  checkpointing->of_child = checkpointing_keep (checkpointing, child->saved_bytes, block);
  launch (checkpointing, &child->recompute, TIMELINE_RECOMPUTE, block, piece);
}

/* ---- backward ---- */

static gint64
workspace_of_piece (const Checkpointing *checkpointing, guint block, guint piece)
{
  const Writer *writer = checkpointing->runtime->writer;
  const ModelConfig *model = &writer->scenario->model;
  const ModelConfig *kind = model_kind (model, model_kind_of_block (model, block));
  guint half = model_has_feed_forward (kind) ? PIECE_SECOND_HALF : 0;

  return piece == half + PIECE_INSIDE ? checkpointing_cost (checkpointing, block)->workspace_bytes
                                      : 0;
}

static void
piece_backward (Checkpointing *checkpointing, guint block, guint piece, Nesting nesting)
{
  Runtime *runtime = checkpointing->runtime;
  Program *program = runtime->writer->program;
  guint unit = unit_of_piece (checkpointing, block, piece);
  Nesting child = piece % PIECE_SECOND_HALF == PIECE_SUM ? NESTING_NONE : nesting;

  checkpointing_prepare_backward (checkpointing, unit, child,
                                  cost_stops_early (runtime->writer->scenario), recompute_child,
                                  block, piece);
  runtime_gradients_begin (runtime, unit);
  BufferId workspace
      = checkpointing_keep (checkpointing, workspace_of_piece (checkpointing, block, piece), block);
  launch (checkpointing, &checkpointing_cost (checkpointing, block)->pieces[piece].backward,
          TIMELINE_BACKWARD, block, piece);
  program_free_buffer (program, workspace, 0);
  if (child != NESTING_NONE)
    program_free_buffer (program, checkpointing->of_child, 0);
  runtime_post_backward (checkpointing->runtime, unit);
}

void
pieces_backward (Checkpointing *checkpointing, guint block, Nesting children)
{
  static const guint order[] = PIECES_BACKWARD;

  for (guint half = 2; half-- > 0;)
    for (guint i = 0; i < G_N_ELEMENTS (order); i++)
      piece_backward (checkpointing, block, half * PIECE_SECOND_HALF + order[i], children);
}

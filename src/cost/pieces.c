#include <config.h>

#include "cost/pieces.h"

#include "cost/activations.h"
#include "cost/adapters.h"
#include "cost/block.h"
#include "cost/run.h"
#include "cost/selective.h"

/* ---- runs of pieces ---- */

static gint64
share_of_given (const ModelConfig *model, gint64 given, guint piece)
{
  gint64 half = given / 2;

  if (given == TIMING_NOT_GIVEN)
    return TIMING_NOT_GIVEN;
  if (piece % PIECE_SECOND_HALF != PIECE_INSIDE)
    return 0;
  if (!model_has_mixer (model) || !model_has_feed_forward (model))
    return piece == block_last_inside (model) ? given : 0;
  return piece == PIECE_INSIDE ? half : given - half;
}

static KernelRun
run_of_piece (const Scenario *scenario, const GArray *kernels, guint piece, gint64 given)
{
  g_autoptr (GArray) of_piece = kernels_new ();

  for (guint i = 0; i < kernels->len; i++)
    if (g_array_index (kernels, Kernel, i).piece == piece)
      g_array_append_val (of_piece, g_array_index (kernels, Kernel, i));
  return run_of_kernels (scenario, of_piece, share_of_given (&scenario->model, given, piece));
}

/* ---- recomputes ---- */

/* By child each stops by itself. RMSNorm's last kernel multiplies by the weight, and packs what the
 * backward needs before; LayerNorm's only one makes it. */
static guint
left_out_of_child (const Workload *work, guint piece)
{
  const ModelConfig *model = work->model;
  gboolean is_norm = piece % PIECE_SECOND_HALF != PIECE_INSIDE;

  if (is_norm)
    return model->norm == NORM_RMSNORM && !work->software->compile ? 1 : 0;
  if (piece == PIECE_SECOND_HALF + PIECE_INSIDE && model->experts > 0
      && model->shared_ffn_hidden > 0)
    return 2; /* down, and the sum with the routed experts */
  return 1
         + adapters_kernels_after_last_saved (work,
                                              piece == PIECE_INSIDE ? LORA_OUTPUT : LORA_DOWN);
}

static void
drop_tail_of_child (GArray *kernels, const Workload *work, guint piece)
{
  guint n_left_out = left_out_of_child (work, piece);

  for (guint i = kernels->len; i-- > 0 && n_left_out > 0;)
    if (g_array_index (kernels, Kernel, i).piece == piece)
      {
        g_array_remove_index (kernels, i);
        n_left_out--;
      }
}

static void
drop_sums (GArray *kernels)
{
  for (guint i = kernels->len; i-- > 0;)
    if (g_array_index (kernels, Kernel, i).piece % PIECE_SECOND_HALF == PIECE_SUM)
      g_array_remove_index (kernels, i);
}

/* What is computed again of the kernels of a forward. */
static void
leave_recomputed (const Scenario *scenario, const Workload *work, GArray *kernels)
{
  gboolean stops_early = cost_stops_early (scenario);

  if (scenario->checkpoint.select_children)
    {
      drop_sums (kernels);
      for (guint piece = 0; stops_early && piece < N_BLOCK_PIECES; piece++)
        drop_tail_of_child (kernels, work, piece);
      return;
    }
  if (stops_early)
    g_array_set_size (kernels, kernels->len - block_kernels_after_last_saved (work));
  if (scenario->checkpoint.select_op)
    selective_drop_kept (kernels);
}

/* The piece whose last kernels are those that are left out. */
static guint
unfinished_piece (const Scenario *scenario, const Workload *work)
{
  const ModelConfig *model = &scenario->model;

  if (!cost_stops_early (scenario) || scenario->checkpoint.select_children
      || block_kernels_after_last_saved (work) <= block_sums_at_end (model))
    return N_BLOCK_PIECES;
  return block_last_inside (model);
}

static KernelRun
sum_of_recomputes (const BlockCost *cost)
{
  KernelRun sum = { 0 };

  for (guint i = 0; i < N_BLOCK_PIECES; i++)
    {
      const KernelRun *run = &cost->pieces[i].recompute;

      sum.time_ps += run->time_ps;
      sum.host_ps += run->host_ps;
      sum.n_kernels += run->n_kernels;
      sum.fixed |= run->fixed;
      sum.flops += run->flops;
      sum.bytes += run->bytes;
    }
  return sum;
}

void
pieces_measure (const Scenario *scenario, const Workload *work, BlockCost *cost)
{
  const TimingConfig *timing = &scenario->timing;
  g_autoptr (GArray) forward = kernels_new ();
  g_autoptr (GArray) recompute = kernels_new ();
  g_autoptr (GArray) backward = kernels_new ();

  block_add_forward (forward, work);
  block_add_forward (recompute, work);
  block_add_backward (backward, work);
  leave_recomputed (scenario, work, recompute);
  for (guint i = 0; i < N_BLOCK_PIECES; i++)
    cost->pieces[i]
        = (BlockPiece){ .forward = run_of_piece (scenario, forward, i, timing->forward),
                        .recompute = run_of_piece (scenario, recompute, i, timing->recompute),
                        .backward = run_of_piece (scenario, backward, i, timing->backward) };
  cost->unfinished_piece = unfinished_piece (scenario, work);
  cost->recompute_children = sum_of_recomputes (cost);
  activations_measure_pieces (work, cost);
}

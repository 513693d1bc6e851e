#include <config.h>

#include "cost/block.h"

#include "cost/adapters.h"
#include "cost/attention.h"
#include "cost/feed_forward.h"
#include "cost/linear.h"
#include "cost/moe.h"
#include "cost/passes.h"
#include "cost/step_cost.h"

/* Attention or feed-forward, without norms and residual. */
typedef void (*AddHalf) (GArray *kernels, const Workload *work);

static gboolean
has_norm_before (const ModelConfig *model)
{
  return model->norm_placement != NORMS_POST;
}

static gboolean
has_norm_behind (const ModelConfig *model)
{
  return model->norm_placement == NORMS_POST || model->norm_placement == NORMS_SANDWICH;
}

static gboolean
is_parallel (const ModelConfig *model)
{
  return (model->parallel_block || model->norm_placement == NORMS_SHARED) && model_has_mixer (model)
         && model_has_feed_forward (model);
}

static void
add_sum (GArray *kernels, const Workload *work)
{
  passes_add (kernels, work, CHAIN_ADD, work->tokens * work->hidden);
}

/* Matrices that have no other place: all their columns at once. */
static double
extra_width (const Workload *work)
{
  return (double)work->model->extra_matmul_parameters / work->hidden;
}

/* ---- the two halves ---- */

static void
add_mixer_forward (GArray *kernels, const Workload *work)
{
  if (work->model->extra_matmul_parameters > 0)
    linear_add_forward (kernels, work, "extra", work->hidden, extra_width (work));
  if (work->model->heads > 0)
    attention_add_forward (kernels, work);
}

static void
add_mixer_backward (GArray *kernels, const Workload *work)
{
  if (work->model->heads > 0)
    attention_add_backward (kernels, work);
  if (work->model->extra_matmul_parameters > 0)
    linear_add_backward (kernels, work, "extra", work->hidden, extra_width (work), FALSE);
}

static void
add_feed_forward_forward (GArray *kernels, const Workload *work)
{
  if (work->model->experts > 0)
    moe_add_forward (kernels, work);
  else
    feed_forward_add_forward (kernels, work, work->ffn);
}

static void
add_feed_forward_backward (GArray *kernels, const Workload *work)
{
  if (work->model->experts > 0)
    moe_add_backward (kernels, work);
  else
    feed_forward_add_backward (kernels, work, work->ffn);
}

/* Appends the kernels of one piece. */
static void
add_piece (GArray *kernels, const Workload *work, AddHalf add, guint piece)
{
  guint first = kernels->len;

  add (kernels, work);
  for (guint i = first; i < kernels->len; i++)
    g_array_index (kernels, Kernel, i).piece = piece;
}

/* @half: 0 or PIECE_SECOND_HALF. */
static void
add_half_forward (GArray *kernels, const Workload *work, AddHalf add, guint half)
{
  if (has_norm_before (work->model))
    add_piece (kernels, work, passes_add_norm_forward, half + PIECE_NORM_BEFORE);
  add_piece (kernels, work, add, half + PIECE_INSIDE);
  if (has_norm_behind (work->model))
    add_piece (kernels, work, passes_add_norm_forward, half + PIECE_NORM_BEHIND);
  add_piece (kernels, work, add_sum, half + PIECE_SUM);
}

static void
add_half_backward (GArray *kernels, const Workload *work, AddHalf add, guint half)
{
  if (has_norm_behind (work->model))
    add_piece (kernels, work, passes_add_norm_backward, half + PIECE_NORM_BEHIND);
  add_piece (kernels, work, add, half + PIECE_INSIDE);
  if (has_norm_before (work->model))
    add_piece (kernels, work, passes_add_norm_backward, half + PIECE_NORM_BEFORE);
  add_piece (kernels, work, add_sum, half + PIECE_SUM);
}

/* ---- both halves side by side ---- */

static gboolean
has_two_norms (const ModelConfig *model)
{
  return model->norm_placement != NORMS_SHARED;
}

static void
add_parallel_forward (GArray *kernels, const Workload *work)
{
  const guint second = PIECE_SECOND_HALF;

  add_piece (kernels, work, passes_add_norm_forward, PIECE_NORM_BEFORE);
  add_piece (kernels, work, add_mixer_forward, PIECE_INSIDE);
  if (has_two_norms (work->model))
    add_piece (kernels, work, passes_add_norm_forward, second + PIECE_NORM_BEFORE);
  add_piece (kernels, work, add_feed_forward_forward, second + PIECE_INSIDE);
  add_piece (kernels, work, add_sum, second + PIECE_SUM);
  add_piece (kernels, work, add_sum, second + PIECE_SUM);
}

/* Three gradients meet: the residual's and those of both halves, whose sum comes before the norm.
 */
static void
add_parallel_backward (GArray *kernels, const Workload *work)
{
  const guint second = PIECE_SECOND_HALF;

  add_piece (kernels, work, add_feed_forward_backward, second + PIECE_INSIDE);
  if (has_two_norms (work->model))
    add_piece (kernels, work, passes_add_norm_backward, second + PIECE_NORM_BEFORE);
  add_piece (kernels, work, add_mixer_backward, PIECE_INSIDE);
  add_piece (kernels, work, add_sum, PIECE_NORM_BEFORE);
  add_piece (kernels, work, passes_add_norm_backward, PIECE_NORM_BEFORE);
  add_piece (kernels, work, add_sum, PIECE_SUM);
}

/* ---- the block ---- */

void
block_add_forward (GArray *kernels, const Workload *work)
{
  if (is_parallel (work->model))
    {
      add_parallel_forward (kernels, work);
      return;
    }
  if (model_has_mixer (work->model))
    add_half_forward (kernels, work, add_mixer_forward, 0);
  if (work->stack == STACK_DECODER)
    add_half_forward (kernels, work, attention_add_cross_forward, 0);
  if (model_has_feed_forward (work->model))
    add_half_forward (kernels, work, add_feed_forward_forward, PIECE_SECOND_HALF);
}

void
block_add_backward (GArray *kernels, const Workload *work)
{
  if (is_parallel (work->model))
    {
      add_parallel_backward (kernels, work);
      return;
    }
  if (model_has_feed_forward (work->model))
    add_half_backward (kernels, work, add_feed_forward_backward, PIECE_SECOND_HALF);
  if (work->stack == STACK_DECODER)
    add_half_backward (kernels, work, attention_add_cross_backward, 0);
  if (model_has_mixer (work->model))
    add_half_backward (kernels, work, add_mixer_backward, 0);
}

guint
block_last_inside (const ModelConfig *model)
{
  return model_has_feed_forward (model) ? PIECE_SECOND_HALF + PIECE_INSIDE : PIECE_INSIDE;
}

guint
block_sums_at_end (const ModelConfig *model)
{
  return is_parallel (model) ? 2 : 1;
}

/* The last matmul and the sums behind it. A norm behind it saves its input, and
 * experts' outputs are saved for the gradients of their weights. */
guint
block_kernels_after_last_saved (const Workload *work)
{
  const ModelConfig *model = work->model;
  const guint last = model_has_feed_forward (model) ? LORA_DOWN : LORA_OUTPUT;
  guint n_sums = block_sums_at_end (model);

  if (!model_has_mixer (model) && !model_has_feed_forward (model))
    return 0;
  if (has_norm_behind (model))
    return n_sums;
  if (model->experts > 0 && model->shared_ffn_hidden > 0)
    return n_sums + 2; /* down, and the sum with the routed experts */
  /* down, or the weighted sum */
  return n_sums + 1 + adapters_kernels_after_last_saved (work, last);
}

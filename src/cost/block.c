#include <config.h>

#include "cost/block.h"

#include "cost/attention.h"
#include "cost/feed_forward.h"
#include "cost/linear.h"
#include "cost/moe.h"
#include "cost/passes.h"

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

static void
add_half_forward (GArray *kernels, const Workload *work, AddHalf add)
{
  if (has_norm_before (work->model))
    passes_add_norm_forward (kernels, work);
  add (kernels, work);
  if (has_norm_behind (work->model))
    passes_add_norm_forward (kernels, work);
  add_sum (kernels, work);
}

static void
add_half_backward (GArray *kernels, const Workload *work, AddHalf add)
{
  if (has_norm_behind (work->model))
    passes_add_norm_backward (kernels, work);
  add (kernels, work);
  if (has_norm_before (work->model))
    passes_add_norm_backward (kernels, work);
  add_sum (kernels, work);
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
  passes_add_norm_forward (kernels, work);
  add_mixer_forward (kernels, work);
  if (has_two_norms (work->model))
    passes_add_norm_forward (kernels, work);
  add_feed_forward_forward (kernels, work);
  add_sum (kernels, work);
  add_sum (kernels, work);
}

/* Three gradients meet: the residual's and those of both halves. */
static void
add_parallel_backward (GArray *kernels, const Workload *work)
{
  add_feed_forward_backward (kernels, work);
  if (has_two_norms (work->model))
    passes_add_norm_backward (kernels, work);
  add_mixer_backward (kernels, work);
  add_sum (kernels, work);
  passes_add_norm_backward (kernels, work);
  add_sum (kernels, work);
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
    add_half_forward (kernels, work, add_mixer_forward);
  if (model_has_feed_forward (work->model))
    add_half_forward (kernels, work, add_feed_forward_forward);
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
    add_half_backward (kernels, work, add_feed_forward_backward);
  if (model_has_mixer (work->model))
    add_half_backward (kernels, work, add_mixer_backward);
}

/* The last matmul and the sums behind it. A norm behind it saves its input, and
 * experts' outputs are saved for the gradients of their weights. */
guint
block_kernels_after_last_saved (const ModelConfig *model)
{
  guint n_sums = is_parallel (model) ? 2 : 1;

  if (!model_has_mixer (model) && !model_has_feed_forward (model))
    return 0;
  if (has_norm_behind (model))
    return n_sums;
  if (model->experts > 0 && model->shared_ffn_hidden > 0)
    return n_sums + 2; /* down, and the sum with the routed experts */
  return n_sums + 1;   /* down, or the weighted sum */
}

#include "config.h"

#include "cost/block.h"

#include "cost/attention.h"
#include "cost/linear.h"
#include "cost/passes.h"

static void
add_activation_forward (GArray *kernels, const Workload *work)
{
  passes_add (kernels, work, work->model->gated_ffn ? CHAIN_SWIGLU_FORWARD : CHAIN_GELU_FORWARD,
              work->tokens * work->ffn);
}

static void
add_activation_backward (GArray *kernels, const Workload *work)
{
  passes_add (kernels, work, work->model->gated_ffn ? CHAIN_SWIGLU_BACKWARD : CHAIN_GELU_BACKWARD,
              work->tokens * work->ffn);
}

static void
add_sum (GArray *kernels, const Workload *work)
{
  passes_add (kernels, work, CHAIN_ADD, work->tokens * work->hidden);
}

static void
feed_forward_add_forward (GArray *kernels, const Workload *work)
{
  passes_add_norm_forward (kernels, work);
  linear_add_quantization (kernels, work, work->tokens * work->hidden);
  if (work->model->gated_ffn)
    linear_add_forward (kernels, work, "ffn.gate", work->hidden, work->ffn);
  linear_add_forward (kernels, work, "ffn.up", work->hidden, work->ffn);
  add_activation_forward (kernels, work);
  linear_add_quantization (kernels, work, work->tokens * work->ffn);
  linear_add_forward (kernels, work, "ffn.down", work->ffn, work->hidden);
  add_sum (kernels, work);
}

static void
feed_forward_add_backward (GArray *kernels, const Workload *work)
{
  gboolean bias = work->model->mlp_bias;

  linear_add_quantization (kernels, work, work->tokens * work->ffn);
  linear_add_backward (kernels, work, "ffn.down", work->ffn, work->hidden, bias);
  add_activation_backward (kernels, work);
  linear_add_quantization (kernels, work, work->tokens * work->hidden);
  linear_add_backward (kernels, work, "ffn.up", work->hidden, work->ffn, bias);
  if (work->model->gated_ffn)
    {
      linear_add_backward (kernels, work, "ffn.gate", work->hidden, work->ffn, bias);
      add_sum (kernels, work); /* both lead back to the norm */
    }
  passes_add_norm_backward (kernels, work);
  add_sum (kernels, work);
}

void
block_add_forward (GArray *kernels, const Workload *work)
{
  passes_add_norm_forward (kernels, work);
  attention_add_forward (kernels, work);
  add_sum (kernels, work);
  feed_forward_add_forward (kernels, work);
}

void
block_add_backward (GArray *kernels, const Workload *work)
{
  feed_forward_add_backward (kernels, work);
  attention_add_backward (kernels, work);
  passes_add_norm_backward (kernels, work);
  add_sum (kernels, work);
}

#include <config.h>

#include "cost/feed_forward.h"

#include "cost/adapters.h"
#include "cost/linear.h"
#include "cost/passes.h"

void
feed_forward_add_activation_forward (GArray *kernels, const Workload *work, double elements)
{
  passes_add (kernels, work, work->model->gated_ffn ? CHAIN_SWIGLU_FORWARD : CHAIN_GELU_FORWARD,
              elements);
}

void
feed_forward_add_activation_backward (GArray *kernels, const Workload *work, double elements)
{
  passes_add (kernels, work, work->model->gated_ffn ? CHAIN_SWIGLU_BACKWARD : CHAIN_GELU_BACKWARD,
              elements);
}

void
feed_forward_add_forward (GArray *kernels, const Workload *work, double inner)
{
  linear_add_quantization (kernels, work, work->tokens * work->hidden);
  if (work->model->gated_ffn)
    {
      linear_add_forward (kernels, work, "ffn.gate", work->hidden, inner);
      adapters_add_forward (kernels, work, LORA_GATE, work->hidden, inner);
    }
  linear_add_forward (kernels, work, "ffn.up", work->hidden, inner);
  adapters_add_forward (kernels, work, LORA_UP, work->hidden, inner);
  feed_forward_add_activation_forward (kernels, work, work->tokens * inner);
  linear_add_quantization (kernels, work, work->tokens * inner);
  linear_add_forward (kernels, work, "ffn.down", inner, work->hidden);
  adapters_add_forward (kernels, work, LORA_DOWN, inner, work->hidden);
}

void
feed_forward_add_backward (GArray *kernels, const Workload *work, double inner)
{
  gboolean bias = work->model->mlp_bias;

  linear_add_quantization (kernels, work, work->tokens * inner);
  linear_add_backward (kernels, work, "ffn.down", inner, work->hidden, bias);
  adapters_add_backward (kernels, work, LORA_DOWN, inner, work->hidden);
  feed_forward_add_activation_backward (kernels, work, work->tokens * inner);
  linear_add_quantization (kernels, work, work->tokens * work->hidden);
  linear_add_backward (kernels, work, "ffn.up", work->hidden, inner, bias);
  adapters_add_backward (kernels, work, LORA_UP, work->hidden, inner);
  if (!work->model->gated_ffn)
    return;
  linear_add_backward (kernels, work, "ffn.gate", work->hidden, inner, bias);
  adapters_add_backward (kernels, work, LORA_GATE, work->hidden, inner);
  passes_add (kernels, work, CHAIN_ADD,
              work->tokens * work->hidden); /* both lead back to the norm */
}

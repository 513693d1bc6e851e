#include "config.h"

#include "cost/activations.h"

#define LARGEST_BYTES 4e18 /* just under what 64 bits hold */
#define FP32          4

static gint64
round_to_bytes (double bytes)
{
  return (gint64)MIN (bytes, LARGEST_BYTES);
}

/* A token's. RMSNorm: the input in fp32, the reciprocal root, the scaled input
 * (for the weight's gradient), the output (for the next matmul's). LayerNorm:
 * input, mean, reciprocal deviation, output. */
static double
norm_saved (const Workload *work)
{
  if (work->model->norm == NORM_RMSNORM)
    return work->hidden * (FP32 + 2 * work->element) + FP32;
  return work->hidden * 2 * work->element + 2 * FP32;
}

/* Queries, keys and values as attention takes them, its output, and the
 * logarithm of the softmax's denominator for each head. */
static double
attention_saved (const Workload *work)
{
  double keys = work->repeats_kv ? work->queries : work->keys;

  return work->element * (2 * work->queries + 2 * keys) + FP32 * work->model->heads;
}

/* Gated: gate, its SiLU, up, their product. Else: GELU's input and output. */
static double
feed_forward_saved (const Workload *work)
{
  return work->element * work->ffn * (work->model->gated_ffn ? 4 : 2);
}

/* At the activation function's backward. Gated: the gradients of the product and
 * of both its factors, when the product itself is gone. Else: the gradients of
 * GELU's output and input, when the output is gone. And the residual's gradient. */
static double
block_workspace (const Workload *work)
{
  return work->element * (work->hidden + work->ffn * (work->model->gated_ffn ? 2 : 1));
}

void
activations_measure (const Workload *work, StepCost *cost)
{
  double block = 2 * norm_saved (work) + attention_saved (work) + feed_forward_saved (work);
  double logits = FP32 * (double)work->model->vocab;

  cost->block_saved_bytes = round_to_bytes (work->tokens * block);
  cost->block_input_bytes = round_to_bytes (work->tokens * work->hidden * work->element);
  cost->block_workspace_bytes = round_to_bytes (work->tokens * block_workspace (work));
  /* The logarithms of the probabilities; their gradient and the logits' come on top. */
  cost->head_saved_bytes = round_to_bytes (work->tokens * (norm_saved (work) + logits));
  cost->head_workspace_bytes = round_to_bytes (work->tokens * 2 * logits);
}

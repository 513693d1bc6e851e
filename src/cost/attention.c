#include "config.h"

#include "cost/attention.h"

#include <math.h>

#include "cost/linear.h"
#include "cost/passes.h"

/* Keys that a query costs beyond those that it attends to: blocks on the diagonal
 * that the mask leaves half of, and what goes before and after the products. Fitted
 * (docs/cost.md): much with heads as wide as FlashAttention's registers, little below. */
double
attention_overhead (const Scenario *scenario)
{
  double width = scenario->model.head_dim / 128.0;

  return scenario->gpu.attention_overhead * pow (MIN (width, 1), 2.8);
}

static gboolean
is_llama_like (const Workload *work)
{
  return work->model->norm == NORM_RMSNORM;
}

static void
add_rotary (GArray *kernels, const Workload *work)
{
  if (!is_llama_like (work))
    return;
  passes_add (kernels, work, CHAIN_ROTARY, work->tokens * work->queries);
  passes_add (kernels, work, CHAIN_ROTARY, work->tokens * work->keys);
}

/* Copies keys and values out to the width of the queries or, backwards, sums them up again. */
static void
add_repeat (GArray *kernels, const Workload *work)
{
  double bytes = work->tokens * (work->keys + work->queries) * work->element;

  if (!work->repeats_kv)
    return;
  kernels_add_pass (kernels, "attention.repeat_keys", bytes);
  kernels_add_pass (kernels, "attention.repeat_values", bytes);
}

/* FLOPs over the whole square of queries and keys, and what fused kernels do of
 * it: half, for the causal mask, and what each query costs besides. */
static double
whole_flops (const Workload *work)
{
  return 4 * work->tokens * work->seq_len * work->queries;
}

static double
causal_flops (const Workload *work)
{
  return 4 * work->tokens * (work->seq_len + work->attention_overhead) / 2 * work->queries;
}

static void
add_flash_forward (GArray *kernels, const Workload *work)
{
  Kernel kernel = { .name = "attention",
                    .kind = KERNEL_ATTENTION,
                    .flops = causal_flops (work),
                    .model_flops = whole_flops (work),
                    .bytes = 4 * work->tokens * work->queries * work->element };

  g_array_append_val (kernels, kernel);
}

/* Five products instead of two, since the scores are computed again. Reads the
 * three inputs, the output and its gradient, writes keys' and values' gradients,
 * and sums up the queries' in fp32. MFU counts four products. */
static void
add_flash_backward (GArray *kernels, const Workload *work)
{
  double operand = work->tokens * work->queries;
  Kernel kernel = { .name = "attention",
                    .kind = KERNEL_ATTENTION_BACKWARD,
                    .flops = 2.5 * causal_flops (work),
                    .model_flops = 2 * whole_flops (work),
                    .bytes = operand * (7 * work->element + 8) };

  kernels_add_pass (kernels, "attention.row_sums", 2 * operand * work->element);
  g_array_append_val (kernels, kernel);
  kernels_add_pass (kernels, "attention.cast_queries", operand * (4 + work->element));
}

/* One of the products of a score matrix for each head, over the whole square. */
static void
add_score_product (GArray *kernels, const Workload *work)
{
  double flops = whole_flops (work) / 2;
  double scores = work->tokens * work->seq_len * work->model->heads;
  Kernel kernel = { .name = "attention.product",
                    .kind = KERNEL_MATMUL,
                    .m = work->tokens,
                    .n = work->seq_len,
                    .k = work->queries,
                    .flops = flops,
                    .model_flops = flops,
                    .bytes = work->element * (scores + 2 * work->tokens * work->queries) };

  g_array_append_val (kernels, kernel);
}

/* Scores in memory: a product, scaling, the mask, softmax through fp32, a product. */
static void
add_eager_forward (GArray *kernels, const Workload *work)
{
  double scores = work->tokens * work->seq_len * work->model->heads;

  add_score_product (kernels, work);
  passes_add (kernels, work, CHAIN_SCORES_FORWARD, scores);
  add_score_product (kernels, work);
}

static void
add_eager_backward (GArray *kernels, const Workload *work)
{
  double scores = work->tokens * work->seq_len * work->model->heads;

  add_score_product (kernels, work);
  add_score_product (kernels, work);
  passes_add (kernels, work, CHAIN_SCORES_BACKWARD, scores);
  add_score_product (kernels, work);
  add_score_product (kernels, work);
}

void
attention_add_forward (GArray *kernels, const Workload *work)
{
  linear_add_quantization (kernels, work, work->tokens * work->hidden);
  if (is_llama_like (work))
    {
      linear_add_forward (kernels, work, "attention.query", work->hidden, work->queries);
      linear_add_forward (kernels, work, "attention.key", work->hidden, work->keys);
      linear_add_forward (kernels, work, "attention.value", work->hidden, work->keys);
    }
  else
    linear_add_forward (kernels, work, "attention.qkv", work->hidden,
                        work->queries + 2 * work->keys);
  add_rotary (kernels, work);
  add_repeat (kernels, work);
  if (work->software->attention == ATTENTION_EAGER)
    add_eager_forward (kernels, work);
  else
    add_flash_forward (kernels, work);
  linear_add_quantization (kernels, work, work->tokens * work->queries);
  linear_add_forward (kernels, work, "attention.output", work->queries, work->hidden);
}

static void
add_projections_backward (GArray *kernels, const Workload *work)
{
  gboolean bias = work->model->attention_bias;

  if (!is_llama_like (work))
    {
      linear_add_backward (kernels, work, "attention.qkv", work->hidden,
                           work->queries + 2 * work->keys, bias);
      return;
    }
  linear_add_backward (kernels, work, "attention.value", work->hidden, work->keys, bias);
  linear_add_backward (kernels, work, "attention.key", work->hidden, work->keys, bias);
  linear_add_backward (kernels, work, "attention.query", work->hidden, work->queries, bias);
  /* all three lead back to the norm */
  passes_add (kernels, work, CHAIN_ADD, work->tokens * work->hidden);
  passes_add (kernels, work, CHAIN_ADD, work->tokens * work->hidden);
}

void
attention_add_backward (GArray *kernels, const Workload *work)
{
  linear_add_backward (kernels, work, "attention.output", work->queries, work->hidden,
                       work->model->attention_bias);
  linear_add_quantization (kernels, work, work->tokens * work->queries);
  if (work->software->attention == ATTENTION_EAGER)
    add_eager_backward (kernels, work);
  else
    add_flash_backward (kernels, work);
  add_repeat (kernels, work);
  add_rotary (kernels, work);
  linear_add_quantization (kernels, work, work->tokens * work->hidden);
  add_projections_backward (kernels, work);
}

#include <config.h>

#include "cost/attention.h"

#include <math.h>

#include "cost/adapters.h"
#include "cost/latent.h"
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
  return !model_has_one_qkv (work->model);
}

static void
add_rotary (GArray *kernels, const Workload *work)
{
  if (!is_llama_like (work) || work->model->relative_positions > 0)
    return;
  passes_add (kernels, work, CHAIN_ROTARY, work->tokens * work->queries);
  passes_add (kernels, work, CHAIN_ROTARY, work->tokens * work->keys);
}

/* Copies keys and values out to the width of the queries or, backwards, sums them up again. */
static void
add_repeat (GArray *kernels, const Workload *work)
{
  if (!work->repeats_kv)
    return;
  kernels_add_pass (kernels, "attention.repeat_keys",
                    work->key_tokens * (work->keys + work->queries) * work->element);
  kernels_add_pass (kernels, "attention.repeat_values",
                    work->key_tokens * (work->values + work->outputs) * work->element);
}

/* FLOPs over the whole square of queries and keys, and what fused kernels do of
 * it: half, for the causal mask, or what a window leaves; and what each query costs besides. */
static double
whole_flops (const Workload *work)
{
  return 2 * work->tokens * work->seq_len * (work->queries + work->outputs);
}

static double
attended_flops (const Workload *work)
{
  return 2 * work->tokens * (work->attended + work->attention_overhead / 2)
         * (work->queries + work->outputs);
}

static void
add_flash_forward (GArray *kernels, const Workload *work)
{
  Kernel kernel = { .name = "attention",
                    .kind = KERNEL_ATTENTION,
                    .is_cudnn = work->software->attention == ATTENTION_CUDNN,
                    .m = work->tokens,
                    .n = work->outputs,
                    .flops = attended_flops (work),
                    .model_flops = whole_flops (work),
                    .bytes = (work->tokens + work->key_tokens) * (work->queries + work->outputs)
                             * work->element };

  g_array_append_val (kernels, kernel);
}

/* Five products instead of two, since the scores are computed again. Reads the
 * three inputs, the output and its gradient, writes keys' and values' gradients,
 * and sums up the queries' in fp32. MFU counts four products. */
static void
add_flash_backward (GArray *kernels, const Workload *work)
{
  double queries = work->tokens * work->queries;
  double outputs = work->tokens * work->outputs;
  double keys = work->key_tokens * work->queries;
  double values = work->key_tokens * work->outputs;
  Kernel kernel
      = { .name = "attention",
          .kind = KERNEL_ATTENTION_BACKWARD,
          .flops = 2.5 * attended_flops (work),
          .model_flops = 2 * whole_flops (work),
          .bytes = (queries + 2 * outputs + 2 * keys + 2 * values) * work->element + 8 * queries };

  kernels_add_pass (kernels, "attention.row_sums", 2 * outputs * work->element);
  g_array_append_val (kernels, kernel);
  kernels_add_pass (kernels, "attention.cast_queries", queries * (4 + work->element));
}

/* One of the products of a score matrix for each head, over the whole square. */
static void
add_score_product (GArray *kernels, const Workload *work)
{
  double width = (work->queries + work->outputs) / 2; /* of a query's head and of a value's */
  double flops = 2 * work->tokens * work->seq_len * width;
  double scores = work->tokens * work->seq_len * work->model->heads;
  Kernel kernel = { .name = "attention.product",
                    .kind = KERNEL_MATMUL,
                    .m = work->tokens,
                    .n = work->seq_len,
                    .k = width,
                    .flops = flops,
                    .model_flops = flops,
                    .bytes = work->element * (scores + (work->tokens + work->key_tokens) * width) };

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

static void
add_core_forward (GArray *kernels, const Workload *work)
{
  if (work->scores_in_memory)
    add_eager_forward (kernels, work);
  else
    add_flash_forward (kernels, work);
}

static void
add_core_backward (GArray *kernels, const Workload *work)
{
  if (work->scores_in_memory)
    add_eager_backward (kernels, work);
  else
    add_flash_backward (kernels, work);
}

/* ---- projections ---- */

static void
add_qk_norm_forward (GArray *kernels, const Workload *work)
{
  if (work->model->qk_norm == QK_NORM_NONE)
    return;
  passes_add_norm_forward_over (kernels, work, work->tokens * work->queries);
  passes_add_norm_forward_over (kernels, work, work->tokens * work->keys);
}

static void
add_qk_norm_backward (GArray *kernels, const Workload *work)
{
  if (work->model->qk_norm == QK_NORM_NONE)
    return;
  passes_add_norm_backward_over (kernels, work, work->tokens * work->keys);
  passes_add_norm_backward_over (kernels, work, work->tokens * work->queries);
}

static double
projected_values (const Workload *work)
{
  return work->model->keys_as_values ? 0 : work->values;
}

static void
add_projection_forward (GArray *kernels, const Workload *work, const char *name, guint target,
                        double in, double out)
{
  linear_add_forward (kernels, work, name, in, out);
  adapters_add_forward (kernels, work, target, in, out);
}

static void
add_projection_backward (GArray *kernels, const Workload *work, const char *name, guint target,
                         double in, double out)
{
  linear_add_backward (kernels, work, name, in, out,
                       work->model->attention_bias != ATTENTION_BIAS_NONE);
  adapters_add_backward (kernels, work, target, in, out);
}

static void
add_projections_forward (GArray *kernels, const Workload *work)
{
  if (!is_llama_like (work))
    add_projection_forward (kernels, work, "attention.qkv", LORA_QKV, work->hidden,
                            work->queries + work->keys + projected_values (work));
  else
    {
      add_projection_forward (kernels, work, "attention.query", LORA_QUERY, work->hidden,
                              work->queries);
      add_projection_forward (kernels, work, "attention.key", LORA_KEY, work->hidden, work->keys);
      if (!work->model->keys_as_values)
        add_projection_forward (kernels, work, "attention.value", LORA_VALUE, work->hidden,
                                work->values);
    }
  add_qk_norm_forward (kernels, work);
  add_rotary (kernels, work);
}

void
attention_add_forward (GArray *kernels, const Workload *work)
{
  linear_add_quantization (kernels, work, work->tokens * work->hidden);
  if (work->model->kv_lora_rank > 0)
    latent_add_forward (kernels, work);
  else
    add_projections_forward (kernels, work);
  add_repeat (kernels, work);
  add_core_forward (kernels, work);
  linear_add_quantization (kernels, work, work->tokens * work->outputs);
  add_projection_forward (kernels, work, "attention.output", LORA_OUTPUT, work->outputs,
                          work->hidden);
}

static void
add_projections_backward (GArray *kernels, const Workload *work)
{
  add_rotary (kernels, work);
  add_qk_norm_backward (kernels, work);
  linear_add_quantization (kernels, work, work->tokens * work->hidden);
  if (!is_llama_like (work))
    {
      add_projection_backward (kernels, work, "attention.qkv", LORA_QKV, work->hidden,
                               work->queries + work->keys + projected_values (work));
      return;
    }
  if (!work->model->keys_as_values)
    add_projection_backward (kernels, work, "attention.value", LORA_VALUE, work->hidden,
                             work->values);
  add_projection_backward (kernels, work, "attention.key", LORA_KEY, work->hidden, work->keys);
  add_projection_backward (kernels, work, "attention.query", LORA_QUERY, work->hidden,
                           work->queries);
  /* all three lead back to the norm */
  passes_add (kernels, work, CHAIN_ADD, work->tokens * work->hidden);
  passes_add (kernels, work, CHAIN_ADD, work->tokens * work->hidden);
}

void
attention_add_backward (GArray *kernels, const Workload *work)
{
  linear_add_backward (kernels, work, "attention.output", work->outputs, work->hidden,
                       work->model->attention_bias == ATTENTION_BIAS_ALL);
  adapters_add_backward (kernels, work, LORA_OUTPUT, work->outputs, work->hidden);
  linear_add_quantization (kernels, work, work->tokens * work->outputs);
  add_core_backward (kernels, work);
  add_repeat (kernels, work);
  if (work->model->kv_lora_rank > 0)
    latent_add_backward (kernels, work);
  else
    add_projections_backward (kernels, work);
}

/* ---- cross-attention ---- */

/* Queries of the decoder to keys of the encoder, whose tokens all are seen. */
static Workload
of_cross (const Workload *work)
{
  Workload cross = *work;

  cross.seq_len = cross.attended = work->memory_len;
  cross.key_tokens = work->memory_tokens;
  return cross;
}

/* What is projected is the encoder's. */
static Workload
of_memory (const Workload *work)
{
  Workload memory = *work;

  memory.tokens = work->memory_tokens;
  return memory;
}

void
attention_add_cross_forward (GArray *kernels, const Workload *work)
{
  const Workload cross = of_cross (work), memory = of_memory (work);

  linear_add_quantization (kernels, work, (work->tokens + work->memory_tokens) * work->hidden);
  linear_add_forward (kernels, work, "cross_attention.query", work->hidden, work->queries);
  linear_add_forward (kernels, &memory, "cross_attention.key", work->hidden, work->keys);
  linear_add_forward (kernels, &memory, "cross_attention.value", work->hidden, work->values);
  add_repeat (kernels, &cross);
  add_core_forward (kernels, &cross);
  linear_add_quantization (kernels, work, work->tokens * work->outputs);
  linear_add_forward (kernels, work, "cross_attention.output", work->outputs, work->hidden);
}

void
attention_add_cross_backward (GArray *kernels, const Workload *work)
{
  const Workload cross = of_cross (work), memory = of_memory (work);
  const gboolean bias = work->model->attention_bias != ATTENTION_BIAS_NONE;

  linear_add_backward (kernels, work, "cross_attention.output", work->outputs, work->hidden,
                       work->model->attention_bias == ATTENTION_BIAS_ALL);
  linear_add_quantization (kernels, work, work->tokens * work->outputs);
  add_core_backward (kernels, &cross);
  add_repeat (kernels, &cross);
  linear_add_quantization (kernels, work, (work->tokens + work->memory_tokens) * work->hidden);
  linear_add_backward (kernels, &memory, "cross_attention.value", work->hidden, work->values, bias);
  linear_add_backward (kernels, &memory, "cross_attention.key", work->hidden, work->keys, bias);
  linear_add_backward (kernels, work, "cross_attention.query", work->hidden, work->queries, bias);
  /* both lead back to the encoder, where the blocks above have left their gradients */
  passes_add (kernels, work, CHAIN_ADD, work->memory_tokens * work->hidden);
  passes_add (kernels, work, CHAIN_ADD, work->memory_tokens * work->hidden);
}

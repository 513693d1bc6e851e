#include "config.h"

#include "cost/attention.h"

#include "cost/kernels.h"
#include "cost/linear.h"
#include "cost/passes.h"

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

/* Two products of seq_len x seq_len x head_dim a head, of which the causal mask
 * leaves half. */
static void
add_flash_forward (GArray *kernels, const Workload *work)
{
  double whole = 4 * work->tokens * work->seq_len * work->queries;
  Kernel kernel = { .name = "attention",
                    .kind = KERNEL_ATTENTION,
                    .flops = whole / 2,
                    .model_flops = whole,
                    .bytes = 4 * work->tokens * work->queries * work->element };

  g_array_append_val (kernels, kernel);
}

/* Five products instead of two, since the scores are computed again. Reads the
 * three inputs, the output and its gradient, writes keys' and values' gradients,
 * and sums up the queries' in fp32. MFU counts four products. */
static void
add_flash_backward (GArray *kernels, const Workload *work)
{
  double whole = 4 * work->tokens * work->seq_len * work->queries;
  double operand = work->tokens * work->queries;
  Kernel kernel = { .name = "attention",
                    .kind = KERNEL_ATTENTION_BACKWARD,
                    .flops = 2.5 * whole / 2,
                    .model_flops = 2 * whole,
                    .bytes = operand * (7 * work->element + 8) };

  kernels_add_pass (kernels, "attention.row_sums", 2 * operand * work->element);
  g_array_append_val (kernels, kernel);
  kernels_add_pass (kernels, "attention.cast_queries", operand * (4 + work->element));
}

void
attention_add_forward (GArray *kernels, const Workload *work)
{
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
  add_flash_forward (kernels, work);
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
  add_flash_backward (kernels, work);
  add_repeat (kernels, work);
  add_rotary (kernels, work);
  add_projections_backward (kernels, work);
}

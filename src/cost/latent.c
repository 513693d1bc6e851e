#include <config.h>

#include "cost/latent.h"

#include "cost/kernels.h"
#include "cost/linear.h"
#include "cost/passes.h"

/* The parts of the keys that are not rotated, and the values, of all heads. */
static double
up_width (const Workload *work)
{
  return work->keys - (double)work->model->heads * work->model->rope_head_dim + work->values;
}

static double
down_width (const Workload *work)
{
  return (double)work->model->kv_lora_rank + work->model->rope_head_dim;
}

/* The rotated parts: of every head's query, and of the one key. */
static void
add_rotary (GArray *kernels, const Workload *work)
{
  double rope = work->model->rope_head_dim;

  passes_add (kernels, work, CHAIN_ROTARY, work->tokens * work->model->heads * rope);
  passes_add (kernels, work, CHAIN_ROTARY, work->tokens * rope);
}

/* Queries and keys are put together of both parts. */
static void
add_concatenation (GArray *kernels, const Workload *work)
{
  kernels_add_pass (kernels, "attention.join_queries",
                    2 * work->tokens * work->queries * work->element);
  kernels_add_pass (kernels, "attention.join_keys", 2 * work->tokens * work->keys * work->element);
}

void
latent_add_forward (GArray *kernels, const Workload *work)
{
  const ModelConfig *model = work->model;

  if (model->q_lora_rank > 0)
    {
      linear_add_forward (kernels, work, "attention.query_down", work->hidden, model->q_lora_rank);
      passes_add_norm_forward_over (kernels, work, work->tokens * model->q_lora_rank);
      linear_add_forward (kernels, work, "attention.query", model->q_lora_rank, work->queries);
    }
  else
    linear_add_forward (kernels, work, "attention.query", work->hidden, work->queries);
  linear_add_forward (kernels, work, "attention.kv_down", work->hidden, down_width (work));
  passes_add_norm_forward_over (kernels, work, work->tokens * model->kv_lora_rank);
  linear_add_forward (kernels, work, "attention.kv_up", model->kv_lora_rank, up_width (work));
  add_rotary (kernels, work);
  add_concatenation (kernels, work);
}

void
latent_add_backward (GArray *kernels, const Workload *work)
{
  const ModelConfig *model = work->model;
  gboolean bias = model->attention_bias != ATTENTION_BIAS_NONE;

  add_concatenation (kernels, work);
  add_rotary (kernels, work);
  linear_add_backward (kernels, work, "attention.kv_up", model->kv_lora_rank, up_width (work),
                       FALSE);
  passes_add_norm_backward_over (kernels, work, work->tokens * model->kv_lora_rank);
  linear_add_backward (kernels, work, "attention.kv_down", work->hidden, down_width (work), bias);
  if (model->q_lora_rank > 0)
    {
      linear_add_backward (kernels, work, "attention.query", model->q_lora_rank, work->queries,
                           FALSE);
      passes_add_norm_backward_over (kernels, work, work->tokens * model->q_lora_rank);
      linear_add_backward (kernels, work, "attention.query_down", work->hidden, model->q_lora_rank,
                           bias);
    }
  else
    linear_add_backward (kernels, work, "attention.query", work->hidden, work->queries, FALSE);
  passes_add (kernels, work, CHAIN_ADD,
              work->tokens * work->hidden); /* both lead back to the norm */
}

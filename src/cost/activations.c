#include <config.h>

#include "cost/activations.h"

#include "cost/moe.h"

#define LARGEST_BYTES 4e18 /* just under what 64 bits hold */
#define FP32          4
#define LOSS_CHUNKS   8 /* torchtitan, chunked cross-entropy */

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
  /* Compiled, the backward makes all else again from input and reciprocal root. */
  if (work->software->compile)
    return work->hidden * work->element + FP32;
  if (work->model->norm == NORM_RMSNORM)
    return work->hidden * (FP32 + 2 * work->element) + FP32;
  return work->hidden * 2 * work->element + 2 * FP32;
}

/* Queries, keys and values as attention takes them, its output, the logarithm of
 * the softmax's denominator for each head; what normalised queries and keys were;
 * both latents. */
static double
attention_saved (const Workload *work)
{
  const ModelConfig *model = work->model;
  double keys = work->repeats_kv ? work->queries : work->keys;
  double values = work->repeats_kv ? work->outputs : work->values;
  double saved = work->element * (work->queries + work->outputs + keys + values);

  if (model->qk_norm != QK_NORM_NONE)
    saved += work->element * (work->queries + work->keys);
  saved += 2 * work->element * (double)(model->q_lora_rank + model->kv_lora_rank);
  return saved + FP32 * model->heads;
}

/* Gated: gate, its SiLU, up, their product. Else: GELU's input and output. Compiled, what the
 * activation function makes is made again. */
static double
feed_forward_saved (const Workload *work)
{
  if (work->model->experts > 0)
    return moe_saved (work);
  if (work->software->compile)
    return work->element * work->ffn * (work->model->gated_ffn ? 2 : 1);
  return work->element * work->ffn * (work->model->gated_ffn ? 4 : 2);
}

/* At the activation function's backward. Gated: the gradients of the product and
 * of both its factors, when the product itself is gone. Else: the gradients of
 * GELU's output and input, when the output is gone. And the residual's gradient. */
static double
block_workspace (const Workload *work)
{
  if (work->model->experts > 0)
    return moe_workspace (work);
  return work->element * (work->hidden + work->ffn * (work->model->gated_ffn ? 2 : 1));
}

/* The extra matrices' input is what the first norm saves already; their outputs
 * are not. */
static double
extra_saved (const Workload *work)
{
  return work->element * (double)work->model->extra_matmul_parameters / work->hidden;
}

void
activations_measure_block (const Workload *work, BlockCost *cost)
{
  double block = model_norms_of_block (work->model) * norm_saved (work) + attention_saved (work)
                 + feed_forward_saved (work) + extra_saved (work);

  cost->saved_bytes = round_to_bytes (work->tokens * block);
  cost->input_bytes = round_to_bytes (work->tokens * work->hidden * work->element);
  cost->workspace_bytes = round_to_bytes (work->tokens * block_workspace (work));
}

/* Of a logit: what the loss keeps for its backward, and what more its backward
 * needs. In PyTorch's kernels the logarithms of the probabilities in fp32, then
 * their gradient and the logits', in fp32 as well. Else the logits themselves and
 * their gradient, in chunks of which one at a time goes through fp32. */
static void
loss_bytes (const Workload *work, double *saved, double *workspace)
{
  switch (work->software->loss)
    {
    case LOSS_EAGER:
      *saved = FP32;
      *workspace = 2 * FP32;
      break;
    case LOSS_FUSED:
      *saved = *workspace = work->element;
      break;
    case LOSS_CHUNKED:
      *saved = work->element;
      *workspace = work->element + 3.0 * FP32 / LOSS_CHUNKS;
      break;
    }
}

/* A metric casts the logits to fp32 and takes the logarithms of the probabilities. */
static gboolean
has_norm_piece (const ModelConfig *model, guint piece)
{
  gboolean second = piece >= PIECE_SECOND_HALF;
  NormPlacement placement = model->norm_placement;

  if (second ? !model_has_feed_forward (model) : !model_has_mixer (model))
    return FALSE;
  if (piece % PIECE_SECOND_HALF == PIECE_NORM_BEFORE)
    return placement != NORMS_POST
           && !(placement == NORMS_SHARED && second && model_has_mixer (model));
  return piece % PIECE_SECOND_HALF == PIECE_NORM_BEHIND
         && (placement == NORMS_POST || placement == NORMS_SANDWICH);
}

/* A child keeps its input, which is what the one before it made. */
void
activations_measure_pieces (const Workload *work, BlockCost *cost)
{
  const ModelConfig *model = work->model;
  double tensor = work->tokens * work->hidden * work->element;
  double norm = work->tokens * norm_saved (work) - tensor;
  guint n_children = model_norms_of_block (model) + (guint)model_has_mixer (model)
                     + (guint)model_has_feed_forward (model);

  cost->children_input_bytes = round_to_bytes (n_children * tensor);
  for (guint i = 0; i < N_BLOCK_PIECES; i++)
    if (has_norm_piece (model, i))
      cost->pieces[i].saved_bytes = round_to_bytes (norm);
  cost->pieces[PIECE_INSIDE].saved_bytes
      = round_to_bytes (work->tokens * (attention_saved (work) + extra_saved (work)));
  cost->pieces[PIECE_SECOND_HALF + PIECE_INSIDE].saved_bytes
      = round_to_bytes (work->tokens * feed_forward_saved (work));
}

void
activations_measure_head (const Workload *work, StepCost *cost)
{
  double logits = work->tokens * work->model->vocab;
  double metric = work->software->train_metrics > 0 ? 2 * FP32 : 0;
  double saved = 0, workspace = 0;

  loss_bytes (work, &saved, &workspace);
  cost->head_saved_bytes = round_to_bytes (work->tokens * norm_saved (work) + logits * saved);
  cost->head_forward_workspace_bytes = round_to_bytes (logits * metric);
  cost->head_workspace_bytes = round_to_bytes (logits * workspace);
}

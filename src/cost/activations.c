#include <config.h>

#include "cost/activations.h"

#include "cost/adapters.h"
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
 * input, mean, reciprocal deviation, output. What is for weights' gradients alone goes where
 * the weights are frozen: the scaled input, and without @feeds_gradient the output, as no matrix
 * behind it has a gradient. */
static double
norm_saved (const Workload *work, gboolean feeds_gradient)
{
  guint n_outputs = feeds_gradient ? 1 : 0;
  guint n_scaled = work->frozen ? 0 : 1;

  /* Compiled, the backward makes all else again from input and reciprocal root. */
  if (work->software->compile)
    return work->hidden * work->element + FP32;
  if (work->model->norm == NORM_RMSNORM)
    return work->hidden * (FP32 + (n_scaled + n_outputs) * work->element) + FP32;
  return work->hidden * (1 + n_outputs) * work->element + 2 * FP32;
}

/* Of all norms of a block. Of frozen ones an output is kept that queries, keys and values, or gate
 * and up, have adapters for. */
static double
norms_saved (const Workload *work)
{
  guint n = model_norms_of_block (work->model);
  guint n_fed = (guint)adapters_beside (work, LORA_QKV)
                + (guint)adapters_beside (work, LORA_GATE | LORA_UP);
  guint n_outputs = work->frozen ? MIN (n_fed, n) : n;

  return n_outputs * norm_saved (work, TRUE) + (n - n_outputs) * norm_saved (work, FALSE);
}

/* Of a token's softmax over @keys: fused, the logarithm of its denominator for each head. In memory
 * the probabilities, in fp32 and as the product with the values takes them. */
static double
softmax_saved (const Workload *work, double keys)
{
  if (!work->scores_in_memory)
    return FP32 * work->model->heads;
  return work->model->heads * keys * (FP32 + (work->casts ? work->element : 0));
}

/* Queries, keys and values as attention takes them, its output, its softmax; what normalised
 * queries and keys were; both latents. */
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
  return saved + softmax_saved (work, work->seq_len);
}

/* The same of cross-attention, whose keys and values have the encoder's length. */
static double
cross_saved (const Workload *work)
{
  double memory = work->memory_tokens / work->tokens;
  double keys = memory * (work->repeats_kv ? work->queries : work->keys);
  double values = memory * (work->repeats_kv ? work->outputs : work->values);

  if (work->stack != STACK_DECODER)
    return 0;
  return work->element * (work->queries + work->outputs + keys + values)
         + softmax_saved (work, work->memory_len);
}

/* Gated: gate, its SiLU, up, their product. Else: GELU's input and output. The last of them is for
 * the gradient of down. Compiled, what the activation function makes is made again. */
static double
feed_forward_saved (const Workload *work)
{
  if (work->model->experts > 0)
    return moe_saved (work);
  if (work->software->compile)
    return work->element * work->ffn * (work->model->gated_ffn ? 2 : 1);
  if (work->frozen && !adapters_beside (work, LORA_DOWN))
    return work->element * work->ffn * (work->model->gated_ffn ? 3 : 1);
  return work->element * work->ffn * (work->model->gated_ffn ? 4 : 2);
}

/* At the activation function's backward. Gated: the gradients of the product and
 * of both its factors, when the product itself is gone. Else: the gradients of
 * GELU's output and input, when the output is gone. And the residual's gradient.
 * Compiled, the product or output is made again beside them. */
static double
feed_forward_workspace (const Workload *work)
{
  if (work->model->experts > 0)
    return moe_workspace (work);
  return work->element
         * (work->hidden
            + work->ffn * ((work->model->gated_ffn ? 2 : 1) + work->software->compile));
}

/* Or, with scores in memory, at softmax's: two gradients of them in fp32, when what the
 * feed-forward saved is gone. */
static double
block_workspace (const Workload *work)
{
  double of_feed_forward = feed_forward_workspace (work);
  double keys = MAX (work->seq_len, work->memory_len);
  double of_scores = work->element * work->hidden + 2 * FP32 * work->model->heads * keys
                     - feed_forward_saved (work);

  return work->scores_in_memory ? MAX (of_feed_forward, of_scores) : of_feed_forward;
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
  double block = norms_saved (work) + attention_saved (work) + feed_forward_saved (work)
                 + extra_saved (work) + adapters_saved (work, ~0u) + cross_saved (work);

  cost->saved_bytes = round_to_bytes (work->tokens * block);
  cost->input_bytes = round_to_bytes (work->tokens * work->hidden * work->element);
  cost->workspace_bytes = round_to_bytes (work->tokens * block_workspace (work));
}

/* ---- its children ---- */

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
  double norm = work->tokens * norm_saved (work, TRUE) - tensor;
  guint n_children = model_norms_of_block (model) + (guint)model_has_mixer (model)
                     + (guint)model_has_feed_forward (model);

  cost->children_input_bytes = round_to_bytes (n_children * tensor);
  for (guint i = 0; i < N_BLOCK_PIECES; i++)
    if (has_norm_piece (model, i))
      cost->pieces[i].saved_bytes = round_to_bytes (norm);
  cost->pieces[PIECE_INSIDE].saved_bytes
      = round_to_bytes (work->tokens
                        * (attention_saved (work) + extra_saved (work)
                           + adapters_saved (work, LORA_QKV | LORA_OUTPUT)));
  cost->pieces[PIECE_SECOND_HALF + PIECE_INSIDE].saved_bytes = round_to_bytes (
      work->tokens
      * (feed_forward_saved (work) + adapters_saved (work, LORA_GATE | LORA_UP | LORA_DOWN)));
}

/* ---- final norm, head and loss ---- */

/* What lives around the loss, each as wide as the logits but for the first and last. */
enum
{
  NORM,
  LOGITS,
  LOGITS_FP32,
  LOG_PROBABILITIES,
  LOSS_GRADIENT,
  FP32_GRADIENT,
  LOGITS_GRADIENT,
  INPUT_GRADIENT
};

/* A metric, like PyTorch's own loss, casts the logits to fp32 and takes the logarithms of the
 * probabilities. */
static void
add_log_softmax (Tape *tape, gint64 fp32, gboolean casts)
{
  tape_take (tape, LOGITS_FP32, casts ? fp32 : 0);
  tape_take (tape, LOG_PROBABILITIES, fp32);
  if (casts)
    tape_give (tape, LOGITS_FP32);
}

/* Metrics of the batch are computed from the logits behind its backward, as
 * Composer's trainer does (composer/trainer/trainer.py, _eval_train_metrics). */
static gboolean
keeps_outputs (const Workload *work)
{
  return work->software->train_metrics > 0;
}

static void
measure_metrics (const Workload *work, gint64 fp32, Tape *tape)
{
  if (!keeps_outputs (work))
    return;
  add_log_softmax (tape, fp32, TRUE);
  tape_give (tape, LOG_PROBABILITIES);
  tape_give (tape, LOGITS);
}

/* PyTorch's kernels keep the logarithms of the probabilities, and nothing else keeps
 * the logits; a fused loss keeps the logits themselves. */
static void
measure_head_forward (const Workload *work, gint64 norm, gint64 logits, gint64 fp32, Tape *tape)
{
  tape_take (tape, NORM, norm);
  tape_take (tape, LOGITS, logits);
  if (work->loss_keeps != LOSS_KEEPS_LOG_PROBABILITIES)
    return;
  add_log_softmax (tape, fp32, work->casts);
  if (!keeps_outputs (work))
    tape_give (tape, LOGITS);
}

/* Back to the logits' gradient: in PyTorch's kernels the gradient of the logarithms and
 * that of the fp32 logits, then the cast; fused at once, in chunks of which one at a time
 * goes through fp32. */
static void
measure_loss_backward (const Workload *work, gint64 logits, gint64 fp32, Tape *tape)
{
  if (work->loss_keeps == LOSS_KEEPS_LOG_PROBABILITIES)
    {
      tape_take (tape, LOSS_GRADIENT, fp32);
      tape_take (tape, FP32_GRADIENT, fp32);
      tape_give (tape, LOSS_GRADIENT);
      tape_give (tape, LOG_PROBABILITIES);
      tape_take (tape, LOGITS_GRADIENT, logits);
      tape_give (tape, FP32_GRADIENT);
      return;
    }
  tape_take (tape, LOGITS_GRADIENT, logits);
  if (work->software->loss == LOSS_CHUNKED)
    {
      tape_take (tape, FP32_GRADIENT, 3 * (fp32 / LOSS_CHUNKS));
      tape_give (tape, FP32_GRADIENT);
    }
  if (!keeps_outputs (work))
    tape_give (tape, LOGITS);
}

/* From there to the gradient of the blocks' output. */
static void
measure_head_backward (gint64 input, Tape *tape)
{
  tape_take (tape, INPUT_GRADIENT, input);
  tape_give (tape, LOGITS_GRADIENT);
  tape_give (tape, INPUT_GRADIENT);
  tape_give (tape, NORM);
}

/* All of the decoder's keys and values come from what the encoder made. */
void
activations_measure_encoder (const Workload *work, StepCost *cost)
{
  double output = work->hidden * work->element;
  double norm = model_has_final_norm (work->model) ? norm_saved (work, FALSE) : 0;

  cost->encoder_output_bytes = round_to_bytes (work->tokens * output);
  cost->encoder_saved_bytes = round_to_bytes (work->tokens * (norm + output));
}

void
activations_measure_head (const Workload *work, StepCost *cost)
{
  double logits = work->tokens * work->model->vocab;
  gint64 norm = round_to_bytes (work->tokens * norm_saved (work, !work->frozen));
  gint64 logits_bytes = round_to_bytes (logits * work->element);
  gint64 fp32_bytes = round_to_bytes (logits * FP32);

  measure_head_forward (work, norm, logits_bytes, fp32_bytes, &cost->head_forward_memory);
  measure_loss_backward (work, logits_bytes, fp32_bytes, &cost->loss_backward_memory);
  measure_head_backward (round_to_bytes (work->tokens * work->hidden * work->element),
                         &cost->head_backward_memory);
  measure_metrics (work, fp32_bytes, &cost->metrics_memory);
  cost->head_saved_bytes = norm;
  if (work->loss_keeps == LOSS_KEEPS_LOG_PROBABILITIES)
    cost->head_saved_bytes += fp32_bytes;
  if (work->loss_keeps == LOSS_KEEPS_LOGITS || keeps_outputs (work))
    cost->head_saved_bytes += logits_bytes;
}

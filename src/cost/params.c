#include <config.h>

#include "cost/params.h"

/* A matrix, with one bias an output where there are biases. */
static gint64
linear (gint64 in, gint64 out, gboolean bias)
{
  return in * out + (bias ? out : 0);
}

/* Weights of a norm over @width. */
static gint64
norm (const ModelConfig *model, gint64 width)
{
  if (model->norm == NORM_LAYERNORM_PLAIN)
    return 0;
  return width * (model->norm_bias ? 2 : 1);
}

static gint64
value_head_dim (const ModelConfig *model)
{
  return model->value_head_dim > 0 ? model->value_head_dim : model->head_dim;
}

/* ---- attention ---- */

/* Projections into the latents and out of them, each latent with its norm
 * (DeepSeek-V2, arXiv:2405.04434, section 2.1). The rotated part of the keys
 * comes straight from the input. Biases are those of the first matrices. */
static gint64
latent_projections (const ModelConfig *model)
{
  gint64 hidden = model->hidden;
  gint64 queries = (gint64)model->heads * model->head_dim;
  gint64 keys_and_values
      = model->heads * (model->head_dim - (gint64)model->rope_head_dim + value_head_dim (model));
  gboolean bias = model->attention_bias != ATTENTION_BIAS_NONE;
  gint64 count = linear (hidden, (gint64)model->kv_lora_rank + model->rope_head_dim, bias)
                 + model->kv_lora_rank + linear (model->kv_lora_rank, keys_and_values, FALSE);

  if (model->q_lora_rank == 0)
    return count + linear (hidden, queries, FALSE);
  return count + linear (hidden, model->q_lora_rank, bias) + model->q_lora_rank
         + linear (model->q_lora_rank, queries, FALSE);
}

static gint64
plain_projections (const ModelConfig *model)
{
  gint64 hidden = model->hidden;
  gint64 queries = (gint64)model->heads * model->head_dim;
  gint64 keys = (gint64)model->kv_heads * model->head_dim;
  gint64 values = model->kv_heads * value_head_dim (model);
  gboolean bias = model->attention_bias != ATTENTION_BIAS_NONE;
  gint64 count = linear (hidden, queries, bias) + linear (hidden, keys, bias);

  if (!model->keys_as_values)
    count += linear (hidden, values, bias);
  if (model->qk_norm == QK_NORM_HEAD)
    count += 2 * norm (model, model->head_dim);
  else if (model->qk_norm == QK_NORM_WIDTH)
    count += norm (model, queries) + norm (model, keys);
  return count;
}

static gint64
attention (const ModelConfig *model)
{
  gint64 out = model->heads * value_head_dim (model);

  if (model->heads == 0)
    return 0;
  return (model->kv_lora_rank > 0 ? latent_projections (model) : plain_projections (model))
         + linear (out, model->hidden, model->attention_bias == ATTENTION_BIAS_ALL);
}

/* ---- feed-forward ---- */

static gint64
feed_forward (const ModelConfig *model, gint64 width, gint64 inner)
{
  if (inner == 0)
    return 0;
  return (model->gated_ffn ? 2 : 1) * linear (width, inner, model->mlp_bias)
         + linear (inner, width, model->mlp_bias);
}

/* What every token passes, with the projections to the experts' width and back,
 * and of the experts @n. */
static gint64
experts (const ModelConfig *model, guint n)
{
  gint64 width = model->expert_hidden > 0 ? model->expert_hidden : model->hidden;

  return linear (model->hidden, model->experts, FALSE) + (model->router_bias ? model->experts : 0)
         + (width != model->hidden ? 2 * width * model->hidden : 0)
         + n * feed_forward (model, width, model->ffn_hidden)
         + feed_forward (model, model->hidden, model->shared_ffn_hidden);
}

/* ---- the block ---- */

/* Keys and values of cross-attention, whose dimensions are those of the other. */
static gint64
memory_projections (const ModelConfig *kind)
{
  gboolean bias = kind->attention_bias != ATTENTION_BIAS_NONE;

  if (kind->stack != STACK_DECODER)
    return 0;
  return linear (kind->hidden, (gint64)kind->kv_heads * kind->head_dim, bias)
         + linear (kind->hidden, kind->kv_heads * value_head_dim (kind), bias);
}

BlockParams
params_of_block (const ModelConfig *kind)
{
  gint64 mixer
      = attention (kind) * (kind->stack == STACK_DECODER ? 2 : 1) + kind->extra_matmul_parameters;
  gint64 common
      = mixer + model_norms_of_block (kind) * norm (kind, kind->hidden) + kind->extra_parameters;
  gint64 mlp = kind->experts == 0 ? feed_forward (kind, kind->hidden, kind->ffn_hidden)
                                  : experts (kind, kind->experts);
  gint64 active = kind->experts == 0 ? mlp : experts (kind, kind->experts_per_token);

  return (BlockParams){ .total = common + mlp,
                        .active = common + active,
                        .attention = mixer,
                        .mlp = mlp,
                        .memory = memory_projections (kind) };
}

/* ---- the model ---- */

/* Of kinds that are equally many the one that comes first. */
static guint
most_common_kind (const ModelConfig *model)
{
  guint count[MOST_BLOCK_KINDS] = { 0 };
  guint most = model_kind_of_block (model, 0);

  for (guint block = 0; block < model->layers; block++)
    count[model_kind_of_block (model, block)]++;
  for (guint block = 0; block < model->layers; block++)
    if (count[model_kind_of_block (model, block)] > count[most])
      most = model_kind_of_block (model, block);
  return most;
}

static void
count_outside (const ModelConfig *model, ParamCount *count)
{
  gint64 hidden = model->hidden;
  gint64 width = model->embedding_hidden > 0 ? model->embedding_hidden : hidden;
  gint64 rows = model->embedding_rows > 0 ? model->embedding_rows : model->vocab;
  gint64 stacks = model_stacks (model);
  gint64 final_norm = model_has_final_norm (model) ? norm (model, hidden) : 0;
  gint64 embedding_norm = model_has_embedding_norm (model) ? norm (model, hidden) : 0;
  gint64 positions = model->positions * hidden;

  count->embedding = rows * width + stacks * positions;
  count->head
      = (model->tied_embeddings ? 0 : model->vocab * width) + (model->head_bias ? model->vocab : 0);
  count->final_norm = final_norm;
  count->outer = stacks * embedding_norm + (stacks - 1) * final_norm
                 + (width != hidden ? 2 * width * hidden : 0) + model->outer_parameters;
  if (!model_has_encoder (model))
    return;
  count->stack_begin = positions + embedding_norm;
  count->stack_end = final_norm;
}

ParamCount
params_count (const ModelConfig *model)
{
  ParamCount count = { 0 };
  gint64 outside;

  count_outside (model, &count);
  outside = count.embedding + count.head + count.final_norm + count.outer;
  count.block = params_of_block (model_kind (model, most_common_kind (model))).total;
  count.total = count.active = outside;
  for (guint block = 0; block < model->layers; block++)
    {
      BlockParams params = params_of_block (model_kind (model, model_kind_of_block (model, block)));

      count.total += params.total;
      count.active += params.active;
    }
  return count;
}

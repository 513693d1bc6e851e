#include <config.h>

#include "cost/tensors.h"

GArray *
tensors_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (ParamTensor));
}

static void
add (GArray *tensors, gint64 elements, gboolean is_linear)
{
  ParamTensor tensor = { elements, is_linear };

  if (elements > 0)
    g_array_append_val (tensors, tensor);
}

static void
add_linear (GArray *tensors, gint64 in, gint64 out, gboolean bias)
{
  add (tensors, in * out, TRUE);
  add (tensors, bias ? out : 0, TRUE);
}

static void
add_norm (GArray *tensors, const ModelConfig *model, gint64 width)
{
  if (model->norm == NORM_LAYERNORM_PLAIN)
    return;
  add (tensors, width, FALSE);
  add (tensors, model->norm_bias ? width : 0, FALSE);
}

static gint64
value_head_dim (const ModelConfig *model)
{
  return model->value_head_dim > 0 ? model->value_head_dim : model->head_dim;
}

/* ---- attention ---- */

/* Latents come out of a matrix and a norm (DeepSeek-V2, arXiv:2405.04434, 2.1). */
static void
add_latent_projections (GArray *tensors, const ModelConfig *model)
{
  gint64 hidden = model->hidden;
  gint64 queries = (gint64)model->heads * model->head_dim;
  gint64 keys_and_values
      = model->heads * (model->head_dim - (gint64)model->rope_head_dim + value_head_dim (model));
  gboolean bias = model->attention_bias != ATTENTION_BIAS_NONE;

  if (model->q_lora_rank > 0)
    {
      add_linear (tensors, hidden, model->q_lora_rank, bias);
      add (tensors, model->q_lora_rank, FALSE);
      add_linear (tensors, model->q_lora_rank, queries, FALSE);
    }
  else
    add_linear (tensors, hidden, queries, FALSE);
  add_linear (tensors, hidden, (gint64)model->kv_lora_rank + model->rope_head_dim, bias);
  add (tensors, model->kv_lora_rank, FALSE);
  add_linear (tensors, model->kv_lora_rank, keys_and_values, FALSE);
}

static void
add_plain_projections (GArray *tensors, const ModelConfig *model)
{
  gint64 hidden = model->hidden;
  gboolean bias = model->attention_bias != ATTENTION_BIAS_NONE;

  add_linear (tensors, hidden, (gint64)model->heads * model->head_dim, bias);
  add_linear (tensors, hidden, (gint64)model->kv_heads * model->head_dim, bias);
  add_linear (tensors, hidden, model->kv_heads * value_head_dim (model), bias);
}

static void
add_query_and_key_norms (GArray *tensors, const ModelConfig *model)
{
  gboolean whole = model->qk_norm == QK_NORM_WIDTH;

  if (model->kv_lora_rank > 0 || (model->qk_norm != QK_NORM_HEAD && !whole))
    return;
  add_norm (tensors, model, (gint64)model->head_dim * (whole ? model->heads : 1));
  add_norm (tensors, model, (gint64)model->head_dim * (whole ? model->kv_heads : 1));
}

static void
add_attention (GArray *tensors, const ModelConfig *model)
{
  if (model->heads == 0)
    return;
  if (model->kv_lora_rank > 0)
    add_latent_projections (tensors, model);
  else
    add_plain_projections (tensors, model);
  add_linear (tensors, model->heads * value_head_dim (model), model->hidden,
              model->attention_bias == ATTENTION_BIAS_ALL);
  add_query_and_key_norms (tensors, model);
}

/* ---- feed-forward ---- */

static void
add_feed_forward (GArray *tensors, const ModelConfig *model, gint64 width, gint64 inner)
{
  if (inner == 0)
    return;
  for (guint i = 0; i < (model->gated_ffn ? 2u : 1u); i++)
    add_linear (tensors, width, inner, model->mlp_bias);
  add_linear (tensors, inner, width, model->mlp_bias);
}

static void
add_experts (GArray *tensors, const ModelConfig *model)
{
  gint64 width = model->expert_hidden > 0 ? model->expert_hidden : model->hidden;

  add (tensors, (gint64)model->hidden * model->experts, TRUE);
  add (tensors, model->router_bias ? model->experts : 0, TRUE);
  for (guint i = 0; i < model->experts; i++)
    add_feed_forward (tensors, model, width, model->ffn_hidden);
  add_feed_forward (tensors, model, model->hidden, model->shared_ffn_hidden);
}

/* ---- the pieces of a model ---- */

static guint
n_norms (const ModelConfig *model)
{
  guint halves = (model->heads > 0 ? 1 : 0) + (model->ffn_hidden > 0 ? 1 : 0)
                 + (model->stack == STACK_DECODER ? 1 : 0);

  if (model->norm_placement == NORMS_SHARED)
    return MIN (halves, 1);
  return model->norm_placement == NORMS_SANDWICH ? 2 * halves : halves;
}

void
tensors_add_block (GArray *tensors, const ModelConfig *kind)
{
  add_attention (tensors, kind);
  if (kind->stack == STACK_DECODER) /* cross-attention, of the same dimensions */
    add_attention (tensors, kind);
  if (kind->experts > 0)
    add_experts (tensors, kind);
  else
    add_feed_forward (tensors, kind, kind->hidden, kind->ffn_hidden);
  add (tensors, kind->extra_matmul_parameters, TRUE);
  add (tensors, kind->extra_parameters, FALSE);
  for (guint i = 0; i < n_norms (kind); i++)
    add_norm (tensors, kind, kind->hidden);
}

static gint64
embedding_width (const ModelConfig *model)
{
  return model->embedding_hidden > 0 ? model->embedding_hidden : model->hidden;
}

void
tensors_add_embedding (GArray *tensors, const ModelConfig *model)
{
  gint64 width = embedding_width (model);
  const guint n_stacks = model_stacks (model);
  gint64 rows = model->embedding_rows > 0 ? model->embedding_rows : model->vocab;

  add (tensors, rows * width, FALSE);
  for (guint stack = 0; stack < n_stacks; stack++)
    add (tensors, (gint64)model->positions * model->hidden, FALSE);
  for (guint i = 0; width != model->hidden && i < 2; i++)
    add (tensors, width * model->hidden, TRUE);
  for (guint stack = 0; model_has_embedding_norm (model) && stack < n_stacks; stack++)
    add_norm (tensors, model, model->hidden);
  if (model_has_encoder (model) && model_has_final_norm (model))
    add_norm (tensors, model, model->hidden);
  add (tensors, model->outer_parameters, FALSE);
}

void
tensors_add_head (GArray *tensors, const ModelConfig *model)
{
  if (model_has_final_norm (model))
    add_norm (tensors, model, model->hidden);
  add (tensors, model->tied_embeddings ? 0 : model->vocab * embedding_width (model), TRUE);
  add (tensors, model->head_bias ? model->vocab : 0, TRUE);
}

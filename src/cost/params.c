#include "config.h"

#include "cost/params.h"

/* A matrix, with one bias an output where there are biases. */
static gint64
linear (gint64 in, gint64 out, gboolean bias)
{
  return in * out + (bias ? out : 0);
}

static gint64
norm (const ModelConfig *model)
{
  return (gint64)model->hidden * (model->norm_bias ? 2 : 1);
}

static gint64
attention (const ModelConfig *model)
{
  gint64 hidden = model->hidden;
  gint64 queries = (gint64)model->heads * model->head_dim;
  gint64 keys = (gint64)model->kv_heads * model->head_dim;
  gboolean bias = model->attention_bias;

  return linear (hidden, queries, bias) + 2 * linear (hidden, keys, bias)
         + linear (queries, hidden, bias);
}

static gint64
feed_forward (const ModelConfig *model)
{
  gint64 inward = linear (model->hidden, model->ffn_hidden, model->mlp_bias);

  return (model->gated_ffn ? 2 : 1) * inward
         + linear (model->ffn_hidden, model->hidden, model->mlp_bias);
}

ParamCount
params_count (const ModelConfig *model)
{
  gint64 matrix = (gint64)model->vocab * model->hidden;
  ParamCount count = { .block = attention (model) + feed_forward (model) + 2 * norm (model),
                       .embedding = matrix + (gint64)model->positions * model->hidden,
                       .head = model->tied_embeddings ? 0 : matrix,
                       .final_norm = norm (model) };

  count.total = model->layers * count.block + count.embedding + count.head + count.final_norm;
  return count;
}

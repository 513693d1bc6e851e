#include <config.h>

#include "interop/hf_family.h"

#include <string.h>

static void
read_outside (const HfFamily *family, HfReader *reader, ModelConfig *model)
{
  if (family->encoder_names != NULL)
    hf_read_stacks (family, reader, model);
  else if (family->layers != NULL)
    model->layers = family->layers (reader);
  else
    model->layers = hf_size (reader, HF_LAYERS, MOST_LAYERS);
  model->hidden = hf_size (reader, HF_HIDDEN, MOST_WIDTH);
  if (!hf_has (reader, "vocab_size|padded_vocab_size") && reader->outer != NULL
      && json_object_has_member (reader->outer, "vocab_size"))
    {
      HfReader outer = *reader;

      outer.object = reader->outer;
      model->vocab = hf_size (&outer, "vocab_size", MOST_VOCAB);
    }
  else
    model->vocab = hf_size_or (reader, "vocab_size|padded_vocab_size", MOST_VOCAB, family->vocab);
  model->norm = family->norm;
  model->norm_bias = family->norm_bias;
}

/* A composite model says it outside its text_config. */
static gboolean
read_tied (const HfFamily *family, HfReader *reader)
{
  HfReader outer = *reader;

  outer.object = reader->outer;
  if (!hf_has (reader, "tie_word_embeddings") && outer.object != NULL
      && hf_has (&outer, "tie_word_embeddings"))
    return hf_flag (&outer, "tie_word_embeddings", family->tied);
  return hf_flag_or (reader, "tie_word_embeddings", family->tied);
}

/* null is as many as heads, in every family. */
static guint
read_kv_heads (const HfFamily *family, HfReader *reader, guint heads)
{
  gboolean is_null = json_object_has_member (reader->object, HF_KV);
  guint kv_heads;

  if (family->latent)
    return heads;
  if (hf_has (reader, HF_KV))
    kv_heads = hf_size (reader, HF_KV, MOST_HEADS);
  else if (is_null || family->kv_heads == 0)
    return heads;
  else
    kv_heads = hf_size_or (reader, HF_KV, MOST_HEADS, family->kv_heads);
  if (heads % kv_heads == 0)
    return kv_heads;
  hf_refuse (reader, HF_KV, "%u does not divide the %u heads", kv_heads, heads);
  return heads;
}

static guint
read_head_dim (const HfFamily *family, HfReader *reader, guint hidden, guint heads)
{
  if (family->latent)
    return 1;
  if (hf_has (reader, "head_dim"))
    return hf_size (reader, "head_dim", MOST_HEADS);
  if (family->head_dim > 0)
    return hf_size_or (reader, "head_dim", MOST_HEADS, family->head_dim);
  if (hidden % heads == 0)
    return hidden / heads;
  if (problems_count (reader->problems) > 0) /* hidden may be what is wrong */
    return 1;
  hf_refuse (reader, "num_attention_heads",
             "%u heads do not divide a hidden size of %u, and head_dim is not given", heads,
             hidden);
  return 1;
}

static AttentionBias
read_bias (const HfFamily *family, HfReader *reader)
{
  if (family->bias_key == NULL || hf_flag_or (reader, family->bias_key, family->bias_standard))
    return family->bias;
  return ATTENTION_BIAS_NONE;
}

static guint
read_ffn (const HfFamily *family, HfReader *reader, guint hidden)
{
  const char *names = family->ffn_names != NULL ? family->ffn_names : "intermediate_size";

  if (family->ffn_times > 0 && !hf_has (reader, names))
    return hf_product (family->ffn_times, hidden, MOST_INNER);
  return hf_size (reader, names, MOST_INNER);
}

static void
read_block (const HfFamily *family, HfReader *reader, const ModelConfig *model, ModelConfig *block)
{
  block->heads = hf_size_or (reader, HF_HEADS, MOST_HEADS, family->heads);
  block->kv_heads = read_kv_heads (family, reader, block->heads);
  block->head_dim = read_head_dim (family, reader, model->hidden, block->heads);
  block->attention_bias = read_bias (family, reader);
  block->qk_norm = family->qk_norm;
  block->norm_placement = family->placement;
  block->ffn_hidden = read_ffn (family, reader, model->hidden);
  block->gated_ffn = family->gated;
  block->mlp_bias = family->mlp_bias_key != NULL
                        ? hf_flag_or (reader, family->mlp_bias_key, family->mlp_bias)
                        : family->mlp_bias;
}

/* ---- windows ---- */

/* Newer files list what each layer attends to, older ones follow a rule. */
static gboolean
attends_to_all (const HfFamily *family, HfReader *reader, const ModelFile *file, guint layer)
{
  guint first
      = family->window_flag != NULL ? hf_count (reader, "max_window_layers", MOST_LAYERS, 28) : 0;
  guint every = hf_count (reader, "sliding_window_pattern", MOST_LAYERS, family->full_every);

  if (hf_has (reader, "layer_types"))
    return json_array_get_length (hf_list (reader, "layer_types")) != file->model.layers
           || hf_list_word_is (reader, "layer_types", layer, "full_attention");
  return layer < first || (every > 0 && (layer + 1) % every == 0);
}

static guint
read_window (const HfFamily *family, HfReader *reader)
{
  if (!family->windows
      || (family->window_flag != NULL && !hf_flag (reader, family->window_flag, FALSE)))
    return 0;
  if (json_object_has_member (reader->object, "sliding_window") || family->window == 0)
    return hf_count (reader, "sliding_window|attention_chunk_size", MOST_TOKENS, 0);
  return hf_size_or (reader, "sliding_window|attention_chunk_size", MOST_TOKENS, family->window);
}

static void
add_blocks (const HfFamily *family, HfReader *reader, ModelFile *file, const ModelConfig *common)
{
  guint window = read_window (family, reader);

  if (window > 0 && hf_has (reader, "layer_types"))
    hf_list_fits (reader, "layer_types", file->model.layers);
  for (guint layer = 0; layer < file->model.layers; layer++)
    {
      ModelConfig block = *common;
      const char *label = "block";

      if (window > 0 && !attends_to_all (family, reader, file, layer))
        block.sliding_window = window;
      if (window > 0)
        label = block.sliding_window > 0 ? "sliding" : "full";
      if (family->vary != NULL)
        label = family->vary (reader, file, layer, &block);
      model_file_add_blocks (file, label, &block, 1);
    }
}

void
hf_family_read (const HfFamily *family, HfReader *reader, ModelFile *file)
{
  ModelConfig block = { 0 };

  reader->class_name = family->class_name;
  read_outside (family, reader, &file->model);
  read_block (family, reader, &file->model, &block);
  file->model.tied_embeddings = read_tied (family, reader);
  if (family->read != NULL)
    family->read (reader, file, &block);
  /* Whatever is wrong already would only be told once more for each layer. */
  if (problems_count (reader->problems) == 0)
    add_blocks (family, reader, file, &block);
}

/* ---- experts ---- */

guint
hf_product (guint n, guint width, guint most)
{
  return (guint)MIN ((guint64)n * width, most);
}

void
hf_read_experts (HfReader *reader, ModelConfig *block, const char *names, guint experts,
                 const char *per_token_names, guint per_token)
{
  g_auto (GStrv) keys = g_strsplit (per_token_names, "|", 2);

  block->experts = hf_size_or (reader, names, MOST_EXPERTS, experts);
  block->experts_per_token = hf_size_or (reader, per_token_names, MOST_EXPERTS, per_token);
  if (block->experts_per_token > block->experts)
    hf_refuse (reader, keys[0], "%u experts a token, but there are only %u",
               block->experts_per_token, block->experts);
}

void
hf_read_routed (HfReader *reader, ModelConfig *block, guint experts, guint per_token)
{
  guint n_shared = hf_count (reader, "n_shared_experts", MOST_EXPERTS, 0);

  hf_read_experts (reader, block, "n_routed_experts", experts, "num_experts_per_tok", per_token);
  block->ffn_hidden = hf_size (reader, "moe_intermediate_size", MOST_INNER);
  block->shared_ffn_hidden = hf_product (n_shared, block->ffn_hidden, MOST_INNER);
}

void
hf_make_dense (ModelConfig *block, guint ffn_hidden)
{
  block->ffn_hidden = ffn_hidden;
  block->experts = 0;
  block->experts_per_token = 0;
  block->shared_ffn_hidden = 0;
  block->expert_hidden = 0;
  block->router_bias = FALSE;
}

/* ---- all of them ---- */

static const struct
{
  const HfFamily *(*families) (guint *n);
} groups[] = {
  { hf_llama_families },   { hf_gpt_families },
  { hf_qwen_families },    { hf_gemma_families },
  { hf_experts_families }, { hf_latent_families },
  { hf_hybrid_families },  { hf_encoder_decoder_families },
};

const HfFamily *
hf_families_find (const char *model_type)
{
  for (guint group = 0; group < G_N_ELEMENTS (groups); group++)
    {
      guint n;
      const HfFamily *families = groups[group].families (&n);

      for (guint i = 0; i < n; i++)
        {
          g_auto (GStrv) types = g_strsplit (families[i].types, "|", -1);

          if (g_strv_contains ((const char *const *)types, model_type))
            return &families[i]; /* cppcheck-suppress returnDanglingLifetime */
        }
    }
  return NULL;
}

char **
hf_families_types (void)
{
  g_autoptr (GString) all = g_string_new (NULL);

  for (guint group = 0; group < G_N_ELEMENTS (groups); group++)
    {
      guint n;
      const HfFamily *families = groups[group].families (&n);

      for (guint i = 0; i < n; i++)
        g_string_append_printf (all, "%s%s", all->len > 0 ? "|" : "", families[i].types);
    }
  return g_strsplit (all->str, "|", -1);
}

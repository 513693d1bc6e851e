#include <config.h>

/* GPT-2 and its kin: two matrices in the feed-forward, LayerNorm with biases, and
 * mostly biases everywhere; learned positions, ALiBi or rotary embeddings. */

#include "interop/hf_family.h"

static void
refuse_cross_attention (HfReader *reader)
{
  if (hf_flag (reader, "add_cross_attention", FALSE))
    hf_refuse (reader, "add_cross_attention", "true: the decoder of an encoder-decoder");
}

static void
read_gpt2 (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)block;
  refuse_cross_attention (reader);
  file->model.positions
      = hf_size_or (reader, "n_positions|n_ctx|max_position_embeddings", MOST_TOKENS, 1024);
}

/* Norms behind both halves, and so none at the end. */
static void
read_gpt1 (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  read_gpt2 (reader, file, block);
  file->model.outer_norms = OUTER_NORMS_NONE;
}

/* Sines for positions; the tied head has a bias. */
static void
read_ctrl (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)reader;
  (void)block;
  file->model.head_bias = TRUE;
}

/* As OPT's, two positions more than are used. */
static void
read_biogpt (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)block;
  file->model.positions = hf_size_or (reader, "max_position_embeddings", MOST_TOKENS, 1024) + 2;
}

/* One head of keys and values for all. */
static void
read_bigcode (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  read_gpt2 (reader, file, block);
  if (hf_flag_or (reader, "multi_query", TRUE))
    block->kv_heads = 1;
}

/* A bias on the output projection alone. */
static void
read_gpt_neo (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  file->model.positions = hf_size_or (reader, "max_position_embeddings", MOST_TOKENS, 2048);
  block->extra_parameters += file->model.hidden;
}

/* Side by side, but each half with a norm of its own. */
static void
read_neox (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  block->parallel_block = hf_flag_or (reader, "use_parallel_residual", TRUE);
}

static void
read_gptj (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)reader;
  (void)block;
  file->model.head_bias = !file->model.tied_embeddings;
}

/* Two positions more than are used; the smallest model but one has narrower
 * embeddings, and norms behind its halves but none at the end. */
static void
read_opt (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  ModelConfig *model = &file->model;
  gboolean before = hf_flag (reader, "do_layer_norm_before", TRUE);

  model->positions = hf_size_or (reader, "max_position_embeddings", MOST_TOKENS, 2048) + 2;
  model->embedding_hidden = hf_count (reader, "word_embed_proj_dim", MOST_WIDTH, model->hidden);
  if (!before)
    block->norm_placement = NORMS_POST;
  if (!before || hf_flag (reader, "_remove_final_layer_norm", FALSE))
    model->outer_norms = OUTER_NORMS_NONE;
  if (!hf_flag (reader, "layer_norm_elementwise_affine", TRUE))
    model->norm = NORM_LAYERNORM_PLAIN;
}

static void
read_bloom (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)reader;
  (void)block;
  file->model.outer_norms = OUTER_NORMS_BOTH;
}

/* Key heads of the two architectures, and the norms that they have: the new one
 * two side by side, Falcon-7B one, Falcon-RW two one after the other. */
static void
read_falcon (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  gboolean is_new = hf_flag (reader, "new_decoder_architecture", hf_has (reader, "n_head_kv"));
  gboolean is_parallel = is_new || hf_flag (reader, "parallel_attn", TRUE);
  guint n_norms = hf_count (reader, "num_ln_in_parallel_attn", 2, is_new ? 2 : 1);

  (void)file;
  if (is_new)
    block->kv_heads = hf_size_or (reader, "num_kv_heads|n_head_kv", MOST_HEADS, block->heads);
  else if (hf_flag_or (reader, "multi_query", TRUE))
    block->kv_heads = 1;
  if (block->heads % block->kv_heads != 0)
    hf_refuse (reader, "num_kv_heads", "%u does not divide the %u heads", block->kv_heads,
               block->heads);
  block->parallel_block = is_parallel;
  if (is_parallel && n_norms < 2)
    block->norm_placement = NORMS_SHARED;
}

/* attn_config holds what the attention differs in; no_bias takes all biases away. */
static void
read_mpt (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  HfReader attention = *reader;
  double times = hf_number (reader, "expansion_ratio", 4);
  gboolean bias = !hf_flag_or (reader, "no_bias", TRUE);

  block->ffn_hidden = (guint)CLAMP (times * file->model.hidden, 1, MOST_INNER);
  block->mlp_bias = file->model.norm_bias = bias;
  block->attention_bias = bias ? ATTENTION_BIAS_ALL : ATTENTION_BIAS_NONE;
  attention.object = hf_object (reader, "attn_config");
  if (attention.object == NULL)
    return;
  if (g_strcmp0 (hf_text (&attention, "attn_type", ""), "multiquery_attention") == 0)
    block->kv_heads = 1;
  else
    block->kv_heads = hf_count (&attention, "kv_n_heads", MOST_HEADS, block->heads);
  if (block->kv_heads == 0 || block->heads % block->kv_heads != 0)
    hf_refuse (&attention, "kv_n_heads", "%u does not divide the %u heads", block->kv_heads,
               block->heads);
  if (hf_flag (&attention, "qk_ln", FALSE))
    block->qk_norm = QK_NORM_WIDTH;
  if (!hf_flag (&attention, "alibi", TRUE) && hf_flag (reader, "learned_pos_emb", TRUE)
      && !hf_flag (&attention, "rope", FALSE))
    file->model.positions = hf_size_or (reader, "max_seq_len", MOST_TOKENS, 2048);
}

#define GPT(type, class, rows, n_heads, attention, feed_forward, ...)                              \
  {                                                                                                \
    .types = type, .class_name = class, .vocab = rows, .heads = n_heads, .bias = attention,        \
    .mlp_bias = feed_forward, .norm = NORM_LAYERNORM, .norm_bias = TRUE, __VA_ARGS__               \
  }

static const HfFamily gpt_families[] = {
  GPT ("gpt2", "GPT2Config", 50257, 12, ATTENTION_BIAS_ALL, TRUE, .tied = TRUE,
       .ffn_names = "n_inner", .ffn_times = 4, .read = read_gpt2),
  GPT ("openai-gpt", "OpenAIGPTConfig", 40478, 12, ATTENTION_BIAS_ALL, TRUE, .tied = TRUE,
       .ffn_names = "n_inner", .ffn_times = 4, .placement = NORMS_POST, .read = read_gpt1),
  GPT ("ctrl", "CTRLConfig", 246534, 16, ATTENTION_BIAS_ALL, TRUE, .tied = TRUE, .ffn_names = "dff",
       .read = read_ctrl),
  GPT ("biogpt", "BioGptConfig", 42384, 16, ATTENTION_BIAS_ALL, TRUE, .tied = TRUE,
       .read = read_biogpt),
  GPT ("gpt_bigcode", "GPTBigCodeConfig", 50257, 12, ATTENTION_BIAS_ALL, TRUE, .tied = TRUE,
       .ffn_names = "n_inner", .ffn_times = 4, .read = read_bigcode),
  GPT ("gpt_neo", "GPTNeoConfig", 50257, 16, ATTENTION_BIAS_NONE, TRUE, .tied = TRUE,
       .ffn_times = 4, .read = read_gpt_neo),
  GPT ("gpt_neox", "GPTNeoXConfig", 50432, 64, ATTENTION_BIAS_ALL, TRUE,
       .bias_key = "attention_bias", .bias_standard = TRUE, .read = read_neox),
  GPT ("gptj", "GPTJConfig", 50400, 16, ATTENTION_BIAS_NONE, TRUE, .ffn_names = "n_inner",
       .ffn_times = 4, .placement = NORMS_SHARED, .read = read_gptj),
  GPT ("codegen", "CodeGenConfig", 50400, 16, ATTENTION_BIAS_NONE, TRUE, .ffn_names = "n_inner",
       .ffn_times = 4, .placement = NORMS_SHARED, .read = read_gptj),
  GPT ("opt", "OPTConfig", 50272, 12, ATTENTION_BIAS_ALL, TRUE, .tied = TRUE,
       .ffn_names = "ffn_dim", .bias_key = "enable_bias", .bias_standard = TRUE,
       .mlp_bias_key = "enable_bias", .read = read_opt),
  GPT ("xglm", "XGLMConfig", 256008, 16, ATTENTION_BIAS_ALL, TRUE, .tied = TRUE,
       .ffn_names = "ffn_dim"),
  GPT ("bloom", "BloomConfig", 250880, 8, ATTENTION_BIAS_ALL, TRUE, .tied = TRUE,
       .ffn_names = "n_inner", .ffn_times = 4, .read = read_bloom),
  GPT ("falcon|RefinedWeb|RefinedWebModel", "FalconConfig", 65024, 71, ATTENTION_BIAS_ALL, FALSE,
       .tied = TRUE, .ffn_names = "ffn_hidden_size", .ffn_times = 4, .bias_key = "bias",
       .mlp_bias_key = "bias", .read = read_falcon),
  GPT ("mpt", "MptConfig", 50368, 16, ATTENTION_BIAS_ALL, TRUE, .tied = TRUE,
       .ffn_names = "ffn_hidden_size", .ffn_times = 4, .read = read_mpt),
};

HF_FAMILIES_END (gpt)

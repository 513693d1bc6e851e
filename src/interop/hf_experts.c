#include <config.h>

/* Mixtures of experts over ordinary attention. */

#include "interop/hf_family.h"

static void
read_mixtral (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  hf_read_experts (reader, block, "num_local_experts", 8, "num_experts_per_tok", 2);
  if (block->kv_heads == block->heads && block->heads > 8)
    hf_note (reader, "every head has its own keys and values here; Mistral AI's Mixtrals have 8");
}

static void
read_phimoe (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  hf_read_experts (reader, block, "num_local_experts", 16, "num_experts_per_tok", 2);
  file->model.head_bias = hf_flag_or (reader, "lm_head_bias", FALSE);
}

static void
read_olmoe (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  hf_read_experts (reader, block, "num_experts", 64, "num_experts_per_tok", 8);
}

/* A number, or one for each layer that is the same in all. */
static guint
same_of_all_layers (HfReader *reader, const ModelFile *file, const char *key, guint standard)
{
  guint first;

  if (!hf_is_list (reader, key))
    return hf_size_or (reader, key, MOST_INNER, standard);
  if (!hf_list_fits (reader, key, file->model.layers))
    return standard;
  first = hf_list_count (reader, key, 0);
  for (guint layer = 1; layer < file->model.layers; layer++)
    if (hf_list_count (reader, key, layer) != first)
      hf_refuse (reader, key, "layers that differ cannot be represented");
  return MAX (first, 1);
}

/* Hunyuan-A13B: beside the chosen experts one of the same width that all tokens pass. */
static void
read_hunyuan_moe (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  block->experts = same_of_all_layers (reader, file, "num_experts", 1);
  block->experts_per_token = same_of_all_layers (reader, file, "moe_topk", 1);
  if (block->experts_per_token > block->experts)
    hf_refuse (reader, "moe_topk", "%u experts a token, but there are only %u",
               block->experts_per_token, block->experts);
  if (hf_has (reader, "moe_intermediate_size"))
    block->ffn_hidden = same_of_all_layers (reader, file, "moe_intermediate_size", 1);
  block->shared_ffn_hidden
      = hf_product (hf_has (reader, "num_shared_expert")
                        ? same_of_all_layers (reader, file, "num_shared_expert", 1)
                        : 1,
                    block->ffn_hidden, MOST_INNER);
}

static void
read_flex_olmo (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  hf_read_experts (reader, block, "num_experts", 7, "num_experts_per_tok", 5);
}

static void
read_granitemoe (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  hf_read_experts (reader, block, "num_local_experts", 8, "num_experts_per_tok", 2);
  block->shared_ffn_hidden = hf_count (reader, "shared_intermediate_size", MOST_INNER, 0);
}

/* Biases in router and experts; a sink of one number a head. */
static void
read_gpt_oss (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  hf_read_experts (reader, block, "num_local_experts", 128, "num_experts_per_tok|experts_per_token",
                   4);
  block->router_bias = TRUE;
  block->extra_parameters += block->heads;
}

/* What differs from others stands in two objects of its own. */
static void
read_dbrx (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  HfReader attention = *reader, ffn = *reader;

  (void)file;
  attention.object = hf_object (reader, "attn_config");
  ffn.object = hf_object (reader, "ffn_config");
  if (attention.object == NULL || ffn.object == NULL)
    {
      hf_refuse (reader, attention.object == NULL ? "attn_config" : "ffn_config", "missing");
      return;
    }
  block->kv_heads = hf_size_or (&attention, "kv_n_heads", MOST_HEADS, 1);
  if (block->heads % block->kv_heads != 0)
    hf_refuse (&attention, "kv_n_heads", "%u does not divide the %u heads", block->kv_heads,
               block->heads);
  block->ffn_hidden = hf_size (&ffn, "ffn_hidden_size", MOST_INNER);
  hf_read_experts (&ffn, block, "moe_num_experts", 4, "moe_top_k", 1);
}

/* Norms over the width of all heads; the correction of the router counts. */
static void
read_minimax_m2 (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  hf_read_experts (reader, block, "num_local_experts", 256, "num_experts_per_tok", 8);
  block->router_bias = hf_flag (reader, "use_routing_bias", TRUE);
  block->shared_ffn_hidden = hf_count (reader, "shared_intermediate_size", MOST_INNER, 0);
  if (!hf_flag (reader, "use_qk_norm", TRUE))
    block->qk_norm = QK_NORM_NONE;
  if (hf_has (reader, "sparse_attention_config"))
    hf_refuse (reader, "sparse_attention_config", "sparse attention cannot be represented");
}

/* ---- a few dense layers first, experts of moe_intermediate_size after them ---- */

static guint
n_dense (HfReader *reader)
{
  return hf_count (reader, "first_k_dense_replace", MOST_LAYERS, 1);
}

static const char *
vary_first_dense (HfReader *reader, const ModelFile *file, guint layer, ModelConfig *block)
{
  guint every = MAX (hf_count (reader, "moe_layer_freq", MOST_LAYERS, 1), 1);

  (void)file;
  if (layer >= n_dense (reader) && layer % every == 0)
    return "experts";
  hf_make_dense (block, hf_size (reader, "intermediate_size", MOST_INNER));
  return "dense";
}

static void
read_glm4_moe (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  hf_read_routed (reader, block, 128, 8);
  block->router_bias = TRUE;
  if (hf_flag_or (reader, "use_qk_norm", FALSE))
    block->qk_norm = QK_NORM_HEAD;
}

static void
read_dots1 (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  hf_read_routed (reader, block, 128, 8);
  block->router_bias = TRUE;
}

static void
read_deepseek1 (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  hf_read_routed (reader, block, 64, 6);
}

/* Ling and Ring: DeepSeek's layout under Qwen's names. */
static void
read_bailing (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  const guint n_shared = hf_count (reader, "num_shared_experts", MOST_EXPERTS, 0);

  (void)file;
  hf_read_experts (reader, block, "num_experts", 16, "num_experts_per_tok", 2);
  block->ffn_hidden = hf_size (reader, "moe_intermediate_size", MOST_INNER);
  block->shared_ffn_hidden = hf_product (n_shared, block->ffn_hidden, MOST_INNER);
  block->attention_bias = hf_flag (reader, "use_bias", FALSE)       ? ATTENTION_BIAS_ALL
                          : hf_flag (reader, "use_qkv_bias", FALSE) ? ATTENTION_BIAS_QKV
                                                                    : ATTENTION_BIAS_NONE;
  if (hf_flag (reader, "use_qk_norm", FALSE))
    block->qk_norm = QK_NORM_HEAD;
}

static const char *
vary_bailing (HfReader *reader, const ModelFile *file, guint layer, ModelConfig *block)
{
  (void)file;
  if (layer >= hf_count (reader, "first_k_dense_replace", MOST_LAYERS, 0))
    return "experts";
  hf_make_dense (block, hf_size (reader, "intermediate_size", MOST_INNER));
  return "dense";
}

/* ---- Ernie ---- */

static void
read_ernie_moe (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  guint n_shared = hf_count (reader, "moe_num_shared_experts", MOST_EXPERTS, 0);

  (void)file;
  hf_read_experts (reader, block, "moe_num_experts", 64, "moe_k", 6);
  block->ffn_hidden = hf_size (reader, "moe_intermediate_size", MOST_INNER);
  block->shared_ffn_hidden = hf_product (n_shared, block->ffn_hidden, MOST_INNER);
  block->router_bias = TRUE;
}

static const char *
vary_ernie_moe (HfReader *reader, const ModelFile *file, guint layer, ModelConfig *block)
{
  guint first = hf_count (reader, "moe_layer_start_index", MOST_LAYERS, 1);
  double last = hf_number (reader, "moe_layer_end_index", -1);
  guint every = MAX (hf_count (reader, "moe_layer_interval", MOST_LAYERS, 1), 1);

  if (last < 0)
    last = file->model.layers - 1;
  if ((layer + 1) % every == 0 && layer >= first && layer <= last)
    return "experts";
  hf_make_dense (block, hf_size (reader, "intermediate_size", MOST_INNER));
  return "dense";
}

/* ---- Llama 4 ---- */

/* One expert that every token passes, as wide as the others. */
static void
read_llama4 (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  hf_read_experts (reader, block, "num_local_experts", 16, "num_experts_per_tok", 1);
  block->shared_ffn_hidden = block->ffn_hidden;
}

static const char *
vary_llama4 (HfReader *reader, const ModelFile *file, guint layer, ModelConfig *block)
{
  guint step = MAX (hf_count (reader, "interleave_moe_layer_step", MOST_LAYERS, 1), 1);
  gboolean listed = hf_has (reader, "moe_layers");

  (void)file;
  if (listed ? hf_list_has (reader, "moe_layers", layer) : (layer + 1) % step == 0)
    return "experts";
  hf_make_dense (block, hf_size (reader, "intermediate_size_mlp", MOST_INNER));
  return "dense";
}

/* ---- MiMo-V2 ---- */

static guint
first_count (HfReader *reader, const char *names, guint standard)
{
  return hf_count (reader, names, MOST_HEADS, standard);
}

static void
read_mimo2 (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  guint layers = file->model.layers;

  hf_read_routed (reader, block, 256, 8);
  block->router_bias = TRUE;
  block->value_head_dim = first_count (reader, "v_head_dim", block->head_dim);
  if (!hf_list_fits (reader, "hybrid_layer_pattern", layers))
    hf_refuse (reader, "hybrid_layer_pattern", "one number for each layer is expected");
  if (!hf_list_fits (reader, "moe_layer_freq", layers))
    hf_refuse (reader, "moe_layer_freq", "one number for each layer is expected");
}

/* Blocks with a window have heads of their own, and a sink of one number a head. */
static void
vary_mimo2_attention (HfReader *reader, gboolean sliding, ModelConfig *block)
{
  const char *sink = sliding ? "add_swa_attention_sink_bias" : "add_full_attention_sink_bias";

  block->sliding_window = sliding ? hf_size (reader, "sliding_window", MOST_TOKENS) : 0;
  if (sliding)
    {
      block->heads = first_count (reader, "swa_num_attention_heads", block->heads);
      block->kv_heads = first_count (reader, "swa_num_key_value_heads", block->kv_heads);
      block->head_dim = first_count (reader, "swa_head_dim", block->head_dim);
      block->value_head_dim = first_count (reader, "swa_v_head_dim", block->value_head_dim);
    }
  if (hf_flag (reader, sink, FALSE))
    block->extra_parameters += block->heads;
}

static const char *
vary_mimo2 (HfReader *reader, const ModelFile *file, guint layer, ModelConfig *block)
{
  gboolean sliding = hf_list_count (reader, "hybrid_layer_pattern", layer) != 0;
  gboolean dense = hf_list_count (reader, "moe_layer_freq", layer) == 0;

  (void)file;
  vary_mimo2_attention (reader, sliding, block);
  if (!dense)
    return sliding ? "sliding" : "full";
  hf_make_dense (block, hf_size (reader, "intermediate_size", MOST_INNER));
  return "dense";
}

#define EXPERTS(type, class, rows, n_heads, reads, ...)                                            \
  {                                                                                                \
    .types = type, .class_name = class, .vocab = rows, .heads = n_heads, .gated = TRUE,            \
    .read = reads, __VA_ARGS__                                                                     \
  }
#define BIAS(which, key) .bias = ATTENTION_BIAS_##which, .bias_key = key

static const HfFamily experts_families[] = {
  EXPERTS ("mixtral", "MixtralConfig", 32000, 32, read_mixtral, .kv_heads = 8, .windows = TRUE),
  EXPERTS ("phimoe", "PhimoeConfig", 32064, 32, read_phimoe, .kv_heads = 8,
           BIAS (ALL, "attention_bias"), .norm = NORM_LAYERNORM, .norm_bias = TRUE,
           .windows = TRUE),
  EXPERTS ("olmoe", "OlmoeConfig", 50304, 16, read_olmoe, .qk_norm = QK_NORM_WIDTH,
           BIAS (ALL, "attention_bias")),
  EXPERTS ("flex_olmo", "FlexOlmoConfig", 100352, 32, read_flex_olmo, .qk_norm = QK_NORM_WIDTH,
           .placement = NORMS_POST, BIAS (ALL, "attention_bias")),
  EXPERTS ("hunyuan_v1_moe", "HunYuanMoEV1Config", 290943, 32, read_hunyuan_moe,
           .qk_norm = QK_NORM_HEAD, BIAS (ALL, "attention_bias")),
  EXPERTS ("bailing_moe", "BailingMoeConfig", 30592, 16, read_bailing, .vary = vary_bailing),
  EXPERTS ("granitemoe|granitemoeshared", "GraniteMoeConfig", 32000, 32, read_granitemoe,
           BIAS (ALL, "attention_bias")),
  EXPERTS ("gpt_oss", "GptOssConfig", 201088, 64, read_gpt_oss, .kv_heads = 8, .head_dim = 64,
           BIAS (ALL, "attention_bias"), .bias_standard = TRUE, .mlp_bias = TRUE, .windows = TRUE,
           .window = 128, .full_every = 2),
  EXPERTS ("dbrx", "DbrxConfig", 32000, 16, read_dbrx, .ffn_times = 4, .norm = NORM_LAYERNORM),
  EXPERTS ("minimax_m2", "MiniMaxM2Config", 200064, 48, read_minimax_m2, .kv_heads = 8,
           .head_dim = 128, .qk_norm = QK_NORM_WIDTH),
  EXPERTS ("glm4_moe|glm4v_moe_text", "Glm4MoeConfig", 151552, 96, read_glm4_moe, .kv_heads = 8,
           BIAS (QKV, "attention_bias"), .vary = vary_first_dense),
  EXPERTS ("dots1", "Dots1Config", 152064, 32, read_dots1, .kv_heads = 32, .qk_norm = QK_NORM_HEAD,
           BIAS (ALL, "attention_bias"), .vary = vary_first_dense),
  EXPERTS ("deepseek", "DeepseekConfig", 102400, 32, read_deepseek1, BIAS (ALL, "attention_bias"),
           .vary = vary_first_dense),
  EXPERTS ("ernie4_5_moe", "Ernie4_5_MoeConfig", 103424, 20, read_ernie_moe, .tied = TRUE,
           .kv_heads = 4, BIAS (ALL, "use_bias"), .mlp_bias_key = "use_bias",
           .vary = vary_ernie_moe),
  EXPERTS ("llama4_text|llama4", "Llama4TextConfig", 202048, 40, read_llama4, .kv_heads = 8,
           .head_dim = 128, BIAS (ALL, "attention_bias"), .windows = TRUE, .window = 8192,
           .full_every = 4, .vary = vary_llama4),
  EXPERTS ("mimo_v2_flash", "MiMoV2FlashConfig", 152576, 64, read_mimo2, .kv_heads = 4,
           .head_dim = 192, BIAS (QKV, "attention_bias"), .vary = vary_mimo2),
};

HF_FAMILIES_END (experts)

#include <config.h>

/* Qwen 1 to 3, dense and with experts, and the language models inside Qwen-VL. */

#include "interop/hf_family.h"

/* Its intermediate_size is that of both gated matrices together. */
static void
read_qwen1 (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  block->head_dim = hf_size_or (reader, "kv_channels", MOST_HEADS, 128);
  if (block->ffn_hidden % 2 != 0)
    hf_refuse (reader, "intermediate_size", "%u is odd; it is halved between two matrices",
               block->ffn_hidden);
  block->ffn_hidden /= 2;
  if (hf_flag_or (reader, "no_bias", TRUE))
    return;
  block->attention_bias = ATTENTION_BIAS_ALL;
  block->mlp_bias = TRUE;
}

/* Experts in every decoder_sparse_step-th layer but those of mlp_only_layers. */
static const char *
vary_experts (HfReader *reader, const ModelFile *file, guint layer, ModelConfig *block)
{
  guint step = hf_count (reader, "decoder_sparse_step", MOST_LAYERS, 1);

  (void)file;
  if (step > 0 && (layer + 1) % step == 0 && !hf_list_has (reader, "mlp_only_layers", layer))
    return "experts";
  hf_make_dense (block, hf_size (reader, "intermediate_size", MOST_INNER));
  return "dense";
}

/* The experts that all tokens pass have a gate of one number a token. */
static void
read_qwen2_moe (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  hf_read_experts (reader, block, "num_experts", 60, "num_experts_per_tok", 4);
  block->ffn_hidden = hf_size_or (reader, "moe_intermediate_size", MOST_INNER, 1408);
  block->shared_ffn_hidden
      = hf_size_or (reader, "shared_expert_intermediate_size", MOST_INNER, 5632);
  block->extra_parameters += file->model.hidden;
}

static void
read_qwen3_moe (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  hf_read_experts (reader, block, "num_experts", 128, "num_experts_per_tok", 8);
  block->ffn_hidden = hf_size_or (reader, "moe_intermediate_size", MOST_INNER, 768);
}

#define WINDOWS .windows = TRUE, .window_flag = "use_sliding_window"

#define QWEN(type, class, n_heads, ...)                                                            \
  {                                                                                                \
    .types = type, .class_name = class, .vocab = 151936, .heads = n_heads, .gated = TRUE,          \
    __VA_ARGS__                                                                                    \
  }

static const HfFamily qwen_families[] = {
  QWEN ("qwen", "QWenConfig", 32, .bias = ATTENTION_BIAS_QKV, .read = read_qwen1),
  QWEN ("qwen2|qwen2_vl|qwen2_vl_text|qwen2_5_vl|qwen2_5_vl_text|mimo", "Qwen2Config", 32,
        .kv_heads = 32, .bias = ATTENTION_BIAS_QKV, WINDOWS),
  QWEN ("qwen3", "Qwen3Config", 32, .kv_heads = 32, .head_dim = 128, .qk_norm = QK_NORM_HEAD,
        .bias = ATTENTION_BIAS_ALL, .bias_key = "attention_bias", WINDOWS),
  QWEN ("qwen3_vl_text", "Qwen3VLTextConfig", 32, .kv_heads = 32, .head_dim = 128,
        .qk_norm = QK_NORM_HEAD, .bias = ATTENTION_BIAS_ALL, .bias_key = "attention_bias"),
  QWEN ("qwen2_moe", "Qwen2MoeConfig", 16, .kv_heads = 16, .bias = ATTENTION_BIAS_QKV,
        .bias_key = "qkv_bias", .bias_standard = TRUE, .read = read_qwen2_moe, .vary = vary_experts,
        WINDOWS),
  QWEN ("qwen3_moe", "Qwen3MoeConfig", 32, .kv_heads = 4, .qk_norm = QK_NORM_HEAD,
        .bias = ATTENTION_BIAS_ALL, .bias_key = "attention_bias", .read = read_qwen3_moe,
        .vary = vary_experts, WINDOWS),
  QWEN ("qwen3_vl_moe_text|qwen3_omni_moe_text", "Qwen3VLMoeTextConfig", 16, .kv_heads = 16,
        .head_dim = 128, .qk_norm = QK_NORM_HEAD, .bias = ATTENTION_BIAS_ALL,
        .bias_key = "attention_bias", .read = read_qwen3_moe, .vary = vary_experts),
};

HF_FAMILIES_END (qwen)

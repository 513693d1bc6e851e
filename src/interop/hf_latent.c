#include <config.h>

/* Multi-head latent attention: DeepSeek V2 and V3, what is built on them, and
 * MiniCPM3. The multi-token-prediction module of their checkpoints is not counted. */

#include "interop/hf_family.h"

static void
read_latent (HfReader *reader, ModelConfig *block)
{
  guint nope = hf_size_or (reader, "qk_nope_head_dim", MOST_HEADS, 128);

  block->kv_heads = block->heads;
  block->q_lora_rank = hf_count (reader, "q_lora_rank", MOST_WIDTH, 0);
  block->kv_lora_rank = hf_size_or (reader, "kv_lora_rank", MOST_WIDTH, 512);
  block->rope_head_dim = hf_size_or (reader, "qk_rope_head_dim", MOST_HEADS, 64);
  block->head_dim = MIN (nope + block->rope_head_dim, MOST_HEADS);
  block->value_head_dim = hf_size_or (reader, "v_head_dim", MOST_HEADS, 128);
}

static void
read_deepseek2 (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  read_latent (reader, block);
  if (hf_has (reader, "n_routed_experts"))
    hf_read_routed (reader, block, 64, 6);
}

/* The router corrects its scores by a number an expert, which checkpoints hold. */
static void
read_deepseek3 (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  read_latent (reader, block);
  hf_read_routed (reader, block, 256, 8);
  block->router_bias = TRUE;
}

static guint
n_dense (HfReader *reader, const ModelFile *file)
{
  guint first = hf_count (reader, "first_k_dense_replace", MOST_LAYERS, 1);

  return hf_has (reader, "n_routed_experts") ? first : file->model.layers;
}

static gboolean
has_experts (HfReader *reader, const ModelFile *file, guint layer)
{
  guint every;

  if (hf_has (reader, "mlp_layer_types"))
    return hf_list_fits (reader, "mlp_layer_types", file->model.layers)
           && hf_list_word_is (reader, "mlp_layer_types", layer, "sparse");
  every = MAX (hf_count (reader, "moe_layer_freq", MOST_LAYERS, 1), 1);
  return layer >= n_dense (reader, file) && layer % every == 0;
}

static const char *
vary_deepseek (HfReader *reader, const ModelFile *file, guint layer, ModelConfig *block)
{
  if (has_experts (reader, file, layer))
    return "experts";
  hf_make_dense (block, hf_size (reader, "intermediate_size", MOST_INNER));
  return "dense";
}

/* The indexer that chooses what sparse attention attends to: queries out of the
 * queries' latent, one key with a norm that has a bias, a weight a head. Some
 * layers use that of another. */
static void
add_indexer (HfReader *reader, const ModelFile *file, ModelConfig *block)
{
  gint64 heads = hf_size (reader, "index_n_heads", MOST_HEADS);
  gint64 head_dim = hf_size (reader, "index_head_dim", MOST_HEADS);
  gint64 hidden = file->model.hidden;

  block->extra_matmul_parameters
      += block->q_lora_rank * heads * head_dim + hidden * head_dim + hidden * heads;
  block->extra_parameters += 2 * head_dim;
}

static const char *
vary_sparse (HfReader *reader, const ModelFile *file, guint layer, ModelConfig *block)
{
  const char *label = vary_deepseek (reader, file, layer, block);

  if (hf_has (reader, "indexer_types") && hf_list_fits (reader, "indexer_types", file->model.layers)
      && hf_list_word_is (reader, "indexer_types", layer, "shared"))
    return "shared_indexer";
  add_indexer (reader, file, block);
  return label;
}

static void
read_sparse (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  read_deepseek3 (reader, file, block);
  hf_note (reader, "attention is costed as if it were dense: what the indexer leaves out is not "
                   "taken off");
}

static void
read_minicpm3 (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  read_latent (reader, block);
  block->value_head_dim = MAX (file->model.hidden / block->heads, 1);
}

#define LATENT(type, class, rows, n_heads, reads, ...)                                             \
  {                                                                                                \
    .types = type, .class_name = class, .vocab = rows, .heads = n_heads, .latent = TRUE,           \
    .gated = TRUE, .bias = ATTENTION_BIAS_ALL, .bias_key = "attention_bias", .read = reads,        \
    __VA_ARGS__                                                                                    \
  }

static const HfFamily latent_families[] = {
  LATENT ("deepseek_v2", "DeepseekV2Config", 102400, 32, read_deepseek2, .vary = vary_deepseek),
  LATENT ("deepseek_v3|kimi_k2", "DeepseekV3Config", 129280, 128, read_deepseek3,
          .vary = vary_deepseek),
  LATENT ("glm4_moe_lite", "Glm4MoeLiteConfig", 154880, 20, read_deepseek3, .vary = vary_deepseek),
  LATENT ("deepseek_v32", "DeepseekV32Config", 129280, 128, read_sparse, .vary = vary_sparse),
  LATENT ("glm_moe_dsa", "GlmMoeDsaConfig", 154880, 64, read_sparse, .vary = vary_sparse),
  LATENT ("minicpm3", "MiniCPM3Config", 73448, 40, read_minicpm3, .tied = TRUE),
};

HF_FAMILIES_END (latent)

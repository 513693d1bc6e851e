#include <config.h>

/* Gemma 1 to 4: wide heads, tied embeddings, from the second on norms before and
 * behind both halves, windows in most blocks. */

#include "interop/hf_family.h"

/* Per-layer embeddings and shared keys are those of the small models for phones. */
static void
refuse_small_gemma4 (HfReader *reader)
{
  if (hf_count (reader, "hidden_size_per_layer_input", MOST_WIDTH, 256) > 0)
    hf_refuse (reader, "hidden_size_per_layer_input",
               "embeddings of every layer cannot be represented (0 or another model would do)");
  if (hf_count (reader, "num_kv_shared_layers", MOST_LAYERS, 0) > 0)
    hf_refuse (reader, "num_kv_shared_layers",
               "layers that use another's keys and values cannot be represented");
}

/* Experts stand beside a dense feed-forward, which keeps intermediate_size, with
 * three norms more; the router has a scale a channel and one an expert. */
static void
read_gemma4 (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  gint64 hidden = file->model.hidden;

  refuse_small_gemma4 (reader);
  if (!hf_flag (reader, "enable_moe_block", FALSE))
    return;
  hf_read_experts (reader, block, "num_experts", 128, "top_k_experts|num_experts_per_tok", 8);
  block->shared_ffn_hidden = block->ffn_hidden;
  block->ffn_hidden
      = hf_size (reader, "moe_intermediate_size|expert_intermediate_size", MOST_INNER);
  block->extra_parameters += 3 * hidden + hidden + block->experts;
}

/* Blocks without a window have wider and fewer heads, whose keys are the values too. */
static const char *
vary_gemma4 (HfReader *reader, const ModelFile *file, guint layer, ModelConfig *block)
{
  (void)file;
  (void)layer;
  if (block->sliding_window > 0)
    return "sliding";
  block->head_dim = hf_size_or (reader, "global_head_dim", MOST_HEADS, 512);
  if (!hf_flag (reader, "attention_k_eq_v", FALSE))
    return "full";
  block->keys_as_values = TRUE;
  block->kv_heads = hf_count (reader, "num_global_key_value_heads", MOST_HEADS, block->kv_heads);
  if (block->kv_heads == 0 || block->heads % block->kv_heads != 0)
    {
      hf_refuse (reader, "num_global_key_value_heads", "%u does not divide the %u heads",
                 block->kv_heads, block->heads);
      block->kv_heads = block->heads;
    }
  return "full";
}

#define GEMMA(type, class, rows, n_heads, kv, ...)                                                 \
  {                                                                                                \
    .types = type, .class_name = class, .vocab = rows, .heads = n_heads, .kv_heads = kv,           \
    .head_dim = 256, .tied = TRUE, .gated = TRUE, .bias = ATTENTION_BIAS_ALL,                      \
    .bias_key = "attention_bias", __VA_ARGS__                                                      \
  }

static const HfFamily gemma_families[] = {
  GEMMA ("gemma", "GemmaConfig", 256000, 16, 16, .windows = FALSE),
  GEMMA ("gemma2", "Gemma2Config", 256000, 8, 4, .placement = NORMS_SANDWICH, .windows = TRUE,
         .window = 4096, .full_every = 2),
  GEMMA ("vaultgemma", "VaultGemmaConfig", 256000, 8, 4, .windows = TRUE, .window = 4096,
         .full_every = 2),
  GEMMA ("gemma3_text|gemma3", "Gemma3TextConfig", 262208, 8, 4, .placement = NORMS_SANDWICH,
         .qk_norm = QK_NORM_HEAD, .windows = TRUE, .window = 4096, .full_every = 6),
  GEMMA ("gemma4_text", "Gemma4TextConfig", 262144, 8, 4, .placement = NORMS_SANDWICH,
         .qk_norm = QK_NORM_HEAD, .windows = TRUE, .window = 512, .full_every = 6,
         .read = read_gemma4, .vary = vary_gemma4),
};

HF_FAMILIES_END (gemma)

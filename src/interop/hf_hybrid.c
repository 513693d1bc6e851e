#include <config.h>

/* Models whose blocks differ in what mixes the tokens: attention, state spaces
 * (Mamba), linear attention (Gated DeltaNet), or nothing. A mixer that is no
 * attention is its matrices; its recurrence is not timed. */

#include "interop/hf_family.h"

#include <string.h>

/* Turns the attention of @block into a mixer of so many parameters. */
static void
set_mixer (ModelConfig *block, gint64 matrices, gint64 small)
{
  block->heads = block->kv_heads = 0;
  block->head_dim = block->value_head_dim = 0;
  block->qk_norm = QK_NORM_NONE;
  block->attention_bias = ATTENTION_BIAS_NONE;
  block->extra_matmul_parameters = matrices;
  block->extra_parameters += small;
}

static void
remove_feed_forward (ModelConfig *block)
{
  hf_make_dense (block, 0);
}

static void
note_recurrence (HfReader *reader)
{
  hf_note (reader, "blocks without attention are costed by their matrices; the recurrence itself "
                   "is not timed");
}

/* ---- Mamba 2 ---- */

typedef struct
{
  gint64 heads, head_dim, groups, state, kernel;
  gboolean conv_bias, proj_bias;
} Mamba2;

/* One matrix in, for gate, values, the states' inputs and outputs and the time
 * steps; a convolution over all but the gate and the steps; three numbers a head
 * and a norm; one matrix out (Mamba-2, arXiv:2405.21060). */
static void
set_mamba2 (ModelConfig *block, gint64 hidden, const Mamba2 *mamba)
{
  gint64 inner = mamba->heads * mamba->head_dim;
  gint64 convolved = inner + 2 * mamba->groups * mamba->state;
  gint64 in = inner + convolved + mamba->heads;

  set_mixer (block, hidden * in + inner * hidden,
             convolved * (mamba->kernel + (mamba->conv_bias ? 1 : 0))
                 + (mamba->proj_bias ? in + hidden : 0) + 3 * mamba->heads + inner);
}

/* ---- Nemotron-H: one mixer or feed-forward a block ---- */

static guint
nemotron_layers (HfReader *reader)
{
  JsonArray *list = hf_list (reader, "layers_block_type");
  const char *pattern = hf_text (reader, "hybrid_override_pattern", NULL);
  guint n = list != NULL      ? json_array_get_length (list)
            : pattern != NULL ? (guint)strlen (pattern)
                              : 0;

  if (list == NULL && pattern == NULL)
    hf_refuse (reader, "hybrid_override_pattern", "missing (or layers_block_type)");
  else if (n == 0 || n > MOST_LAYERS)
    hf_refuse (reader, list != NULL ? "layers_block_type" : "hybrid_override_pattern",
               "%u blocks; 1 to %u would do", n, MOST_LAYERS);
  else if (hf_has (reader, "num_hidden_layers")
           && hf_size (reader, "num_hidden_layers", MOST_LAYERS) != n)
    hf_refuse (reader, "num_hidden_layers", "the blocks' pattern has %u", n);
  return MAX (n, 1);
}

static void
read_nemotron_h (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  if (hf_has (reader, "attention_head_dim"))
    block->head_dim = hf_size (reader, "attention_head_dim", MOST_HEADS);
  note_recurrence (reader);
}

static void
set_nemotron_mamba (HfReader *reader, const ModelFile *file, ModelConfig *block)
{
  Mamba2 mamba = { .heads = hf_size (reader, "mamba_num_heads", MOST_HEADS),
                   .head_dim = hf_size (reader, "mamba_head_dim", MOST_HEADS),
                   .groups = hf_size (reader, "n_groups", MOST_HEADS),
                   .state = hf_size (reader, "ssm_state_size", MOST_HEADS),
                   .kernel = hf_size_or (reader, "conv_kernel", MOST_HEADS, 4),
                   .conv_bias = hf_flag (reader, "use_conv_bias", TRUE),
                   .proj_bias = hf_flag (reader, "mamba_proj_bias|use_bias", FALSE) };

  remove_feed_forward (block);
  set_mamba2 (block, file->model.hidden, &mamba);
}

/* Some have experts of a narrower width, projected to and back. */
static void
set_nemotron_experts (HfReader *reader, ModelConfig *block)
{
  set_mixer (block, 0, 0);
  hf_read_experts (reader, block, "n_routed_experts", 8, "num_experts_per_tok", 2);
  block->ffn_hidden = hf_size (reader, "moe_intermediate_size", MOST_INNER);
  block->expert_hidden = hf_count (reader, "moe_latent_size", MOST_WIDTH, 0);
  block->shared_ffn_hidden
      = hf_count (reader, "moe_shared_expert_intermediate_size", MOST_INNER, 0);
}

/* "mamba", "attention", "mlp" or "moe"; or the pattern's letter for it. */
static char
nemotron_letter (HfReader *reader, guint layer)
{
  static const char *const words[] = { "mamba", "attention", "mlp", "moe" };
  static const char letters[] = "M*-E";

  if (!hf_has (reader, "layers_block_type"))
    return hf_text (reader, "hybrid_override_pattern", "")[layer];
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (hf_list_word_is (reader, "layers_block_type", layer, words[i]))
      return letters[i];
  return '?';
}

static const char *
vary_nemotron_h (HfReader *reader, const ModelFile *file, guint layer, ModelConfig *block)
{
  switch (nemotron_letter (reader, layer))
    {
    case 'M':
      set_nemotron_mamba (reader, file, block);
      return "mamba";
    case '*':
      remove_feed_forward (block);
      return "attention";
    case '-':
      set_mixer (block, 0, 0);
      return "mlp";
    case 'E':
      set_nemotron_experts (reader, block);
      return "experts";
    default:
      hf_refuse (reader,
                 hf_has (reader, "layers_block_type") ? "layers_block_type"
                                                      : "hybrid_override_pattern",
                 "block %u is none of mamba (M), attention (*), mlp (-) and moe (E)", layer);
      return "unknown";
    }
}

/* ---- Jamba: Mamba 1 ---- */

/* Two matrices in one, a convolution, what steps and states depend on, steps,
 * states and a skip, and a norm for each of the three; one matrix out. */
static void
set_mamba1 (HfReader *reader, const ModelFile *file, ModelConfig *block)
{
  gint64 hidden = file->model.hidden;
  gint64 inner = hidden * hf_size_or (reader, "mamba_expand", 64, 2);
  gint64 state = hf_size_or (reader, "mamba_d_state", MOST_HEADS, 16);
  gint64 kernel = hf_size_or (reader, "mamba_d_conv", MOST_HEADS, 4);
  gboolean is_auto = !hf_has (reader, "mamba_dt_rank");
  gint64 rank = is_auto ? (hidden + 15) / 16 : hf_size (reader, "mamba_dt_rank", MOST_WIDTH);
  gboolean conv_bias = hf_flag (reader, "mamba_conv_bias", TRUE);
  gboolean proj_bias = hf_flag (reader, "mamba_proj_bias", FALSE);

  set_mixer (block, 3 * hidden * inner + inner * (rank + 2 * state) + rank * inner,
             inner * (kernel + (conv_bias ? 1 : 0)) + inner + inner * state + inner + rank
                 + 2 * state + (proj_bias ? 2 * inner + hidden : 0));
}

static void
read_jamba (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  hf_read_experts (reader, block, "num_experts", 16, "num_experts_per_tok", 2);
  note_recurrence (reader);
}

static gboolean
is_in_period (HfReader *reader, guint layer, const char *period, guint standard_period,
              const char *offset, guint standard_offset)
{
  guint every = hf_size_or (reader, period, MOST_LAYERS, standard_period);
  guint first = hf_count (reader, offset, MOST_LAYERS, standard_offset);

  return layer >= first && (layer - first) % every == 0;
}

static const char *
vary_jamba (HfReader *reader, const ModelFile *file, guint layer, ModelConfig *block)
{
  gboolean attention = is_in_period (reader, layer, "attn_layer_period", 8, "attn_layer_offset", 4);
  gboolean experts
      = is_in_period (reader, layer, "expert_layer_period", 2, "expert_layer_offset", 1);

  if (!attention)
    set_mamba1 (reader, file, block);
  if (!experts || block->experts == 1)
    hf_make_dense (block, block->ffn_hidden);
  return attention ? "attention" : experts ? "mamba_experts" : "mamba";
}

/* ---- Bamba and Granite 4: Mamba 2 or attention, and a feed-forward in each ---- */

static void
set_granite_mamba (HfReader *reader, const ModelFile *file, ModelConfig *block)
{
  gint64 hidden = file->model.hidden;
  gint64 inner = hidden * hf_size_or (reader, "mamba_expand", 64, 2);
  gint64 heads = hf_size_or (reader, "mamba_n_heads", MOST_HEADS, 128);
  Mamba2 mamba = { .heads = heads,
                   .head_dim = inner / heads,
                   .groups = hf_size_or (reader, "mamba_n_groups", MOST_HEADS, 1),
                   .state = hf_size_or (reader, "mamba_d_state", MOST_HEADS, 256),
                   .kernel = hf_size_or (reader, "mamba_d_conv", MOST_HEADS, 4),
                   .conv_bias = hf_flag (reader, "mamba_conv_bias", TRUE),
                   .proj_bias = hf_flag (reader, "mamba_proj_bias", FALSE) };

  if (inner % heads != 0)
    hf_refuse (reader, "mamba_n_heads", "%d does not divide the inner width", (int)heads);
  set_mamba2 (block, hidden, &mamba);
}

static void
read_bamba (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  (void)block;
  note_recurrence (reader);
}

static const char *
vary_bamba (HfReader *reader, const ModelFile *file, guint layer, ModelConfig *block)
{
  if (hf_list_has (reader, "attn_layer_indices", layer))
    return "attention";
  set_granite_mamba (reader, file, block);
  return "mamba";
}

/* The shared feed-forward is always there, experts in some. */
static void
read_granite_hybrid (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  guint shared = hf_size_or (reader, "shared_intermediate_size", MOST_INNER, 1024);

  note_recurrence (reader);
  if (!hf_list_fits (reader, "layer_types|layers_block_type", file->model.layers))
    hf_refuse (reader, "layer_types", "a word for each layer is expected");
  if (hf_count (reader, "num_local_experts", MOST_EXPERTS, 8) == 0)
    {
      hf_make_dense (block, shared);
      return;
    }
  hf_read_experts (reader, block, "num_local_experts", 8, "num_experts_per_tok", 2);
  block->shared_ffn_hidden = shared;
}

static const char *
vary_granite_hybrid (HfReader *reader, const ModelFile *file, guint layer, ModelConfig *block)
{
  if (hf_list_word_is (reader, "layer_types|layers_block_type", layer, "attention"))
    return "attention";
  set_granite_mamba (reader, file, block);
  return "mamba";
}

/* ---- Qwen3-Next and Qwen3.5: Gated DeltaNet ---- */

/* Queries, keys, values and gates in one, two numbers a head in another; a
 * convolution over the first three; steps and decays a head, a norm as wide as a
 * head; one matrix out (Gated DeltaNet, arXiv:2412.06464). */
static void
set_deltanet (HfReader *reader, const ModelFile *file, ModelConfig *block)
{
  gint64 hidden = file->model.hidden;
  gint64 value_heads = hf_size_or (reader, "linear_num_value_heads", MOST_HEADS, 32);
  gint64 value_dim = hf_size_or (reader, "linear_value_head_dim", MOST_HEADS, 128);
  gint64 keys = (gint64)hf_size_or (reader, "linear_num_key_heads", MOST_HEADS, 16)
                * hf_size_or (reader, "linear_key_head_dim", MOST_HEADS, 128);
  gint64 values = value_heads * value_dim;
  gint64 kernel = hf_size_or (reader, "linear_conv_kernel_dim", MOST_HEADS, 4);

  set_mixer (block, hidden * (2 * keys + 2 * values + 2 * value_heads) + values * hidden,
             (2 * keys + values) * kernel + 2 * value_heads + value_dim);
}

static void
read_qwen3_next (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  note_recurrence (reader);
  if (!hf_has (reader, "num_experts"))
    return;
  hf_read_experts (reader, block, "num_experts", 512, "num_experts_per_tok", 10);
  block->ffn_hidden = hf_size (reader, "moe_intermediate_size", MOST_INNER);
  block->shared_ffn_hidden
      = hf_size_or (reader, "shared_expert_intermediate_size", MOST_INNER, 512);
  block->extra_parameters += file->model.hidden; /* the shared expert's gate */
}

static gboolean
is_full_attention (HfReader *reader, const ModelFile *file, guint layer)
{
  if (hf_has (reader, "layer_types"))
    return hf_list_fits (reader, "layer_types", file->model.layers)
           && hf_list_word_is (reader, "layer_types", layer, "full_attention");
  return (layer + 1) % hf_size_or (reader, "full_attention_interval", MOST_LAYERS, 4) == 0;
}

/* Full attention has a gate as wide as its queries. */
static const char *
vary_qwen3_next (HfReader *reader, const ModelFile *file, guint layer, ModelConfig *block)
{
  guint step = MAX (hf_count (reader, "decoder_sparse_step", MOST_LAYERS, 1), 1);
  gboolean full = is_full_attention (reader, file, layer);

  if (block->experts > 0
      && ((layer + 1) % step != 0 || hf_list_has (reader, "mlp_only_layers", layer)))
    {
      hf_make_dense (block, hf_size (reader, "intermediate_size", MOST_INNER));
      block->extra_parameters -= file->model.hidden;
    }
  if (!full)
    set_deltanet (reader, file, block);
  else if (hf_flag (reader, "attn_output_gate", TRUE))
    block->extra_matmul_parameters = (gint64)file->model.hidden * block->heads * block->head_dim;
  return full ? "full" : "linear";
}

/* ---- Nemotron-NAS: Llama with halves thinned out or taken away ---- */

static guint
nas_layers (HfReader *reader)
{
  JsonArray *list = hf_list (reader, "block_configs");
  guint n = list != NULL ? json_array_get_length (list) : 0;

  if (list == NULL)
    hf_refuse (reader, "block_configs", "missing");
  else if (n == 0 || n > MOST_LAYERS)
    hf_refuse (reader, "block_configs", "%u blocks; 1 to %u would do", n, MOST_LAYERS);
  return MAX (n, 1);
}

/* A half of a block's description, with the keys of its own. */
static gboolean
enter_half (HfReader *reader, guint layer, const char *half, HfReader *inner)
{
  JsonNode *node = json_array_get_element (hf_list (reader, "block_configs"), layer);
  HfReader config = *reader;

  *inner = *reader;
  inner->object = NULL;
  if (JSON_NODE_HOLDS_OBJECT (node))
    {
      config.object = json_node_get_object (node);
      inner->object = hf_object (&config, half);
    }
  if (inner->object == NULL)
    hf_refuse (reader, "block_configs", "block %u has no object '%s'", layer, half);
  return inner->object != NULL;
}

static void
set_nas_attention (HfReader *attention, const ModelFile *file, ModelConfig *block)
{
  guint group;

  if (hf_flag (attention, "no_op", FALSE))
    set_mixer (block, 0, 0);
  else if (hf_flag (attention, "replace_with_linear", FALSE))
    set_mixer (block, (gint64)file->model.hidden * file->model.hidden, 0);
  else
    {
      group = hf_size (attention, "n_heads_in_group", MOST_HEADS);
      if (block->heads % group != 0)
        hf_refuse (attention, "n_heads_in_group", "%u does not divide the %u heads", group,
                   block->heads);
      block->kv_heads = MAX (block->heads / group, 1);
    }
}

/* ffn_mult times two thirds of hidden, rounded up to 256 (modeling_decilm.py). */
static void
set_nas_feed_forward (HfReader *ffn, const ModelFile *file, ModelConfig *block)
{
  double width;

  if (hf_flag (ffn, "no_op", FALSE))
    {
      remove_feed_forward (block);
      return;
    }
  if (hf_flag (ffn, "replace_with_linear", FALSE))
    hf_refuse (ffn, "replace_with_linear", "a single matrix for a feed-forward is not known");
  width = 2 * hf_number (ffn, "ffn_mult", 0) * file->model.hidden / 3;
  if (width < 1 || width > MOST_INNER)
    hf_refuse (ffn, "ffn_mult", "missing or out of range");
  else
    block->ffn_hidden = ((guint)width + 255) / 256 * 256;
}

static const char *
vary_nas (HfReader *reader, const ModelFile *file, guint layer, ModelConfig *block)
{
  HfReader attention, ffn;

  if (!enter_half (reader, layer, "attention", &attention)
      || !enter_half (reader, layer, "ffn", &ffn))
    return "unknown";
  set_nas_attention (&attention, file, block);
  set_nas_feed_forward (&ffn, file, block);
  return block->heads > 0 ? "block" : "no_attention";
}

#define HYBRID(type, class, rows, n_heads, reads, varies, ...)                                     \
  {                                                                                                \
    .types = type, .class_name = class, .vocab = rows, .heads = n_heads, .read = reads,            \
    .vary = varies, __VA_ARGS__                                                                    \
  }
#define BIAS .bias = ATTENTION_BIAS_ALL, .bias_key = "attention_bias"

static const HfFamily hybrid_families[] = {
  HYBRID ("nemotron_h", "NemotronHConfig", 131072, 32, read_nemotron_h, vary_nemotron_h,
          .kv_heads = 8, .layers = nemotron_layers, BIAS, .mlp_bias_key = "mlp_bias"),
  HYBRID ("jamba", "JambaConfig", 65536, 32, read_jamba, vary_jamba, .kv_heads = 8, .gated = TRUE),
  HYBRID ("bamba", "BambaConfig", 128000, 32, read_bamba, vary_bamba, .kv_heads = 8, .gated = TRUE,
          BIAS, .mlp_bias_key = "mlp_bias"),
  HYBRID ("granitemoehybrid", "GraniteMoeHybridConfig", 32000, 32, read_granite_hybrid,
          vary_granite_hybrid, .gated = TRUE, BIAS),
  HYBRID ("qwen3_next|qwen3_5_text|qwen3_5_moe_text", "Qwen3NextConfig", 151936, 16,
          read_qwen3_next, vary_qwen3_next, .kv_heads = 2, .head_dim = 256, .gated = TRUE,
          .qk_norm = QK_NORM_HEAD, .ffn_names = "intermediate_size|moe_intermediate_size", BIAS),
  HYBRID ("nemotron-nas", "DeciLMConfig", 128256, 32, NULL, vary_nas, .layers = nas_layers,
          .gated = TRUE, .ffn_times = 4, BIAS, .mlp_bias_key = "mlp_bias"),
};

HF_FAMILIES_END (hybrid)

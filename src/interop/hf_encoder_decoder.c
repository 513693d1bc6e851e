#include <config.h>

/* Encoder-decoders: T5, whose positions are relative, and BART and what is built like it.
 * Embeddings are shared by both stacks, and layers counts the blocks of both, which are alike but
 * for the decoder's cross-attention. */

#include "interop/hf_family.h"

#define MOST_BUCKETS (1 << 16)

void
hf_read_stacks (const HfFamily *family, HfReader *reader, ModelConfig *model)
{
  g_auto (GStrv) names = g_strsplit (family->decoder_names, "|", 2);
  guint decoder_layers;

  model->layers = model->encoder_layers = hf_size (reader, family->encoder_names, MOST_LAYERS);
  if (problems_count (reader->problems) > 0) /* else told once more where the decoder has as many */
    return;
  decoder_layers = hf_size (reader, family->decoder_names, MOST_LAYERS);
  model->layers += decoder_layers;
  if (model->layers <= MOST_LAYERS)
    hf_note (reader, "an encoder-decoder: layers counts the blocks of both stacks, and beside "
                     "training.seq_len, the decoder's, encoder_seq_len is the encoder's length");
  else
    hf_refuse (reader, names[0],
               "%u blocks of the decoder beside %u of the encoder; at most %u in all would do",
               decoder_layers, model->encoder_layers, MOST_LAYERS);
}

/* ---- what is not the whole of a model ---- */

typedef struct
{
  const char *suffix;
  const char *message;
} Half;

/* Classes that leave one of the stacks out, whatever is_encoder_decoder says. */
static const Half halves[] = {
  { "EncoderModel", "the encoder alone" },
  { "ForTokenClassification", "the encoder alone" },
  { "ForCausalLM", "the decoder alone, without cross-attention" },
};

static const char *
first_architecture (HfReader *reader)
{
  JsonArray *list = hf_list (reader, "architectures");
  JsonNode *node
      = list != NULL && json_array_get_length (list) > 0 ? json_array_get_element (list, 0) : NULL;

  if (node == NULL || !JSON_NODE_HOLDS_VALUE (node)
      || json_node_get_value_type (node) != G_TYPE_STRING)
    return "";
  return json_node_get_string (node);
}

static void
refuse_halves (HfReader *reader)
{
  const char *architecture = first_architecture (reader);

  for (guint i = 0; i < G_N_ELEMENTS (halves); i++)
    if (g_str_has_suffix (architecture, halves[i].suffix))
      {
        hf_refuse (reader, "architectures", "%.60s: %s; only both stacks together are simulated",
                   architecture, halves[i].message);
        return;
      }
  if (!hf_flag (reader, "is_encoder_decoder", TRUE))
    hf_refuse (reader, "is_encoder_decoder",
               "false: one of the two stacks alone; only both together are simulated");
  if (hf_flag (reader, "tie_encoder_decoder", FALSE))
    hf_refuse (reader, "tie_encoder_decoder",
               "true: encoder and decoder share their weights, which cannot be represented");
}

/* ---- T5 ---- */

/* "relu", or "gated-gelu" of three matrices; older files say nothing. */
static gboolean
read_gate (HfReader *reader, gboolean standard)
{
  const char *projection = hf_text (reader, "feed_forward_proj", NULL);
  gboolean is_gated = projection != NULL && g_str_has_prefix (projection, "gated-");

  if (projection == NULL)
    return hf_flag_or (reader, "is_gated_act", standard);
  if (hf_flag (reader, "is_gated_act", is_gated) != is_gated)
    hf_refuse (reader, "is_gated_act", "%s, and feed_forward_proj says '%.60s'",
               is_gated ? "false" : "true", projection);
  return is_gated;
}

static void
read_t5 (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  refuse_halves (reader);
  block->head_dim = hf_size_or (reader, "d_kv|head_dim", MOST_HEADS, 64);
  block->gated_ffn = read_gate (reader, block->gated_ffn);
  file->model.relative_positions
      = hf_size_or (reader, "relative_attention_num_buckets", MOST_BUCKETS, 32);
}

/* ---- BART and its kin ---- */

static void
refuse_unlike (HfReader *reader, const char *key, guint decoders, guint encoders)
{
  if (decoders != encoders)
    hf_refuse (reader, key,
               "%u, and the encoder has %u; stacks whose blocks differ cannot be represented",
               decoders, encoders);
}

static void
read_blocks (HfReader *reader, const ModelConfig *model, ModelConfig *block)
{
  guint heads = hf_size (reader, "decoder_attention_heads", MOST_HEADS);
  guint ffn_hidden = hf_size (reader, "decoder_ffn_dim", MOST_INNER);

  refuse_halves (reader);
  if (problems_count (reader->problems) > 0)
    return;
  refuse_unlike (reader, "decoder_attention_heads", heads, block->heads);
  refuse_unlike (reader, "decoder_ffn_dim", ffn_hidden, block->ffn_hidden);
  block->head_dim = MAX (model->hidden / block->heads, 1);
  if (model->hidden % block->heads != 0)
    hf_refuse (reader, "encoder_attention_heads", "%u heads do not divide a d_model of %u",
               block->heads, model->hidden);
}

static guint
read_positions (HfReader *reader, guint standard)
{
  return hf_size_or (reader, "max_position_embeddings", MOST_TOKENS, standard);
}

/* As OPT's, two positions more than are used. */
static void
read_bart (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  read_blocks (reader, &file->model, block);
  file->model.positions = read_positions (reader, 1024) + 2;
  file->model.outer_norms = OUTER_NORMS_EMBEDDING;
}

static void
read_mbart (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  read_bart (reader, file, block);
  file->model.outer_norms = OUTER_NORMS_BOTH;
}

/* Sines in a buffer, which is no parameter. */
static void
read_m2m_100 (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  read_blocks (reader, &file->model, block);
}

/* Sines in a weight of each stack that is not trained. */
static void
read_pegasus (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  guint positions = read_positions (reader, 1024);

  read_blocks (reader, &file->model, block);
  hf_note (reader,
           "positions are sines in weights that are not trained; these 2 x %u x %u are not in, "
           "though transformers counts them",
           positions, file->model.hidden);
}

static void
read_marian (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  guint vocab = hf_count (reader, "decoder_vocab_size", MOST_VOCAB, file->model.vocab);

  read_pegasus (reader, file, block);
  file->model.outer_norms = OUTER_NORMS_NONE;
  if (!hf_flag (reader, "share_encoder_decoder_embeddings", TRUE))
    hf_refuse (reader, "share_encoder_decoder_embeddings",
               "false: an embedding for each stack, which cannot be represented");
  else if (vocab != file->model.vocab)
    hf_refuse (reader, "decoder_vocab_size",
               "%u, and vocab_size is %u, which cannot be represented", vocab, file->model.vocab);
}

static void
read_blenderbot (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  read_blocks (reader, &file->model, block);
  file->model.positions = read_positions (reader, 128);
}

static void
read_blenderbot_small (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  read_blocks (reader, &file->model, block);
  file->model.positions = read_positions (reader, 512);
  file->model.outer_norms = OUTER_NORMS_EMBEDDING;
}

/* RMSNorm, no biases; d_kv says the width of a head. Where the decoder's blocks are not counted,
 * there are as many as the encoder's. */
#define T5(type, class, rows, n_heads, ...)                                                        \
  {                                                                                                \
    .types = (type), .class_name = (class), .encoder_names = "num_hidden_layers|num_layers",       \
    .decoder_names = "num_decoder_layers|num_hidden_layers|num_layers", .vocab = (rows),           \
    .heads = (n_heads), .latent = TRUE, .ffn_names = "d_ff", .read = read_t5, __VA_ARGS__          \
  }

#define BART(type, class, rows, n_heads, place, reads)                                             \
  {                                                                                                \
    .types = (type), .class_name = (class), .encoder_names = "encoder_layers",                     \
    .decoder_names = "decoder_layers", .vocab = (rows), .tied = TRUE, .heads = (n_heads),          \
    .latent = TRUE, .ffn_names = "encoder_ffn_dim", .bias = ATTENTION_BIAS_ALL, .mlp_bias = TRUE,  \
    .norm = NORM_LAYERNORM, .norm_bias = TRUE, .placement = (place), .read = (reads)               \
  }

static const HfFamily encoder_decoder_families[] = {
  T5 ("t5", "T5Config", 32128, 8, .tied = TRUE),
  T5 ("mt5", "MT5Config", 250112, 6, .gated = TRUE),
  BART ("bart", "BartConfig", 50265, 16, NORMS_POST, read_bart),
  BART ("plbart", "PLBartConfig", 50005, 12, NORMS_POST, read_bart),
  BART ("mbart", "MBartConfig", 50265, 16, NORMS_PRE, read_mbart),
  BART ("m2m_100", "M2M100Config", 128112, 16, NORMS_PRE, read_m2m_100),
  BART ("pegasus", "PegasusConfig", 50265, 16, NORMS_PRE, read_pegasus),
  BART ("marian", "MarianConfig", 58101, 16, NORMS_POST, read_marian),
  BART ("blenderbot", "BlenderbotConfig", 8008, 32, NORMS_PRE, read_blenderbot),
  BART ("blenderbot-small", "BlenderbotSmallConfig", 50265, 16, NORMS_POST, read_blenderbot_small),
};

HF_FAMILIES_END (encoder_decoder)

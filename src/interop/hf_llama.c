#include <config.h>

/* Llama and what is built like it: rotary embeddings, gated feed-forward, RMSNorm
 * (some LayerNorm), no experts. Defaults and tensors as in transformers' models of
 * the same names, modeling_*.py and configuration_*.py. */

#include "interop/hf_family.h"

/* Llama-2's files and Code Llama's differ in this alone. */
static void
read_llama (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  if (file->model.vocab == 32016 && block->heads == 40)
    hf_note (reader, "vocab_size 32016 is CodeLlama-13B's; Llama-2-13B has 32000");
}

static void
read_granite (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  (void)block;
  if (!hf_has (reader, "tie_word_embeddings"))
    hf_note (reader,
             "IBM's Granite 3 checkpoints share embedding and head, which counts the matrix "
             "once; tie_word_embeddings, which would say so, is not given");
}

/* InternLM2 and older Baichuan fuse the three projections, with the same sum. */
static void
read_internlm3 (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  gboolean bias = hf_flag_or (reader, "bias", FALSE);
  gboolean qkv_bias = hf_flag_or (reader, "qkv_bias", FALSE);

  (void)file;
  block->mlp_bias = bias;
  if (qkv_bias)
    block->attention_bias = bias ? ATTENTION_BIAS_ALL : ATTENTION_BIAS_QKV;
  else if (bias)
    hf_refuse (reader, "bias", "a bias on the output projection but not on the other three");
}

/* Blocks of post_attention_layernorm only where the halves follow each other;
 * norms of queries and keys without bias, one row a head. */
static void
read_stablelm (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  if (hf_flag (reader, "use_parallel_residual", FALSE))
    block->norm_placement = NORMS_SHARED;
  if (hf_flag (reader, "qk_layernorm", FALSE))
    block->extra_parameters += (gint64)(block->heads + block->kv_heads) * block->head_dim;
}

static void
read_cohere (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  if (hf_flag (reader, "use_qk_norm", FALSE))
    block->qk_norm = QK_NORM_WIDTH;
}

static void
read_phi (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  file->model.head_bias = TRUE;
  if (hf_flag (reader, "qk_layernorm", FALSE))
    block->qk_norm = QK_NORM_HEAD;
}

static void
read_persimmon (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  if (hf_flag_or (reader, "qk_layernorm", TRUE))
    block->qk_norm = QK_NORM_HEAD;
}

static void
read_seed_oss (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)file;
  if (hf_flag_or (reader, "attention_out_bias", FALSE))
    block->attention_bias = ATTENTION_BIAS_ALL;
}

/* xIELU has two parameters a layer. */
static void
read_apertus (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)reader;
  (void)file;
  block->extra_parameters += 2;
}

/* A norm before the output projection and one before the last matrix. */
static void
read_bitnet (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)reader;
  block->extra_parameters += (gint64)file->model.hidden + block->ffn_hidden;
}

/* Heads of the keys come as multi_query_group_num, widths under Megatron's names. */
static void
read_chatglm (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  gboolean all = hf_flag_or (reader, "add_bias_linear", FALSE);

  block->head_dim = hf_size_or (reader, "kv_channels", MOST_HEADS, 128);
  if (hf_flag_or (reader, "multi_query_attention", FALSE))
    block->kv_heads = hf_size (reader, "multi_query_group_num", MOST_HEADS);
  if (block->heads % block->kv_heads != 0)
    hf_refuse (reader, "multi_query_group_num", "%u does not divide the %u heads", block->kv_heads,
               block->heads);
  block->mlp_bias = all;
  block->attention_bias = all                                          ? ATTENTION_BIAS_ALL
                          : hf_flag_or (reader, "add_qkv_bias", FALSE) ? ATTENTION_BIAS_QKV
                                                                       : ATTENTION_BIAS_NONE;
  if (!hf_flag (reader, "rmsnorm", TRUE))
    {
      file->model.norm = NORM_LAYERNORM;
      file->model.norm_bias = TRUE;
    }
  if (!hf_flag (reader, "post_layer_norm", TRUE))
    file->model.outer_norms = OUTER_NORMS_NONE;
}

/* Vocabulary padded by eight rows for images; cross-attention blocks have the same
 * matrices as others, norms of a head's queries and keys, and two gates. */
static void
read_mllama (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)reader;
  (void)block;
  file->model.embedding_rows = file->model.vocab + 8;
}

static const char *
vary_mllama (HfReader *reader, const ModelFile *file, guint layer, ModelConfig *block)
{
  (void)file;
  if (!hf_list_has (reader, "cross_attention_layers", layer))
    return "self";
  block->qk_norm = QK_NORM_HEAD;
  block->extra_parameters += 2;
  return "cross";
}

/* What its layers attend to is in no other key than layer_types. */
static void
read_cwm (HfReader *reader, ModelFile *file, ModelConfig *block)
{
  (void)block;
  if (!hf_has (reader, "layer_types"))
    hf_refuse (reader, "layer_types", "missing; a word for each of the %u layers is expected",
               file->model.layers);
}

/* Gated, and with two matrices. */
#define LLAMA(type, class, rows, n_heads, ...)                                                     \
  {                                                                                                \
    .types = type, .class_name = class, .vocab = rows, .heads = n_heads, .gated = TRUE,            \
    __VA_ARGS__                                                                                    \
  }
#define PLAIN(type, class, rows, n_heads, ...)                                                     \
  {                                                                                                \
    .types = type, .class_name = class, .vocab = rows, .heads = n_heads, __VA_ARGS__               \
  }
#define BIAS(key, standard)                                                                        \
  .bias = ATTENTION_BIAS_ALL, .bias_key = (key), .bias_standard = (standard)
#define MLP_BIAS(key) .mlp_bias_key = (key)

static const HfFamily llama_families[] = {
  LLAMA ("llama|yi|Yi|llava|llava_llama|xverse|aquila", "LlamaConfig", 32000, 32,
         BIAS ("attention_bias", FALSE), MLP_BIAS ("mlp_bias"), .read = read_llama),
  LLAMA ("mistral|ministral|mistral3", "MistralConfig", 32000, 32, .kv_heads = 8, .windows = TRUE,
         .window = 4096),
  LLAMA ("ministral3", "Ministral3Config", 131072, 32, .kv_heads = 8, .head_dim = 128,
         .windows = TRUE),
  LLAMA ("cwm", "CwmConfig", 128256, 48, .kv_heads = 8, .head_dim = 128, .windows = TRUE,
         .window = 8192, .read = read_cwm),
  LLAMA ("orion", "OrionConfig", 84608, 40, .kv_heads = 40, .norm = NORM_LAYERNORM,
         .norm_bias = TRUE, BIAS ("attention_bias", FALSE)),
  PLAIN ("arcee", "ArceeConfig", 32000, 32, BIAS ("attention_bias", FALSE), MLP_BIAS ("mlp_bias")),
  LLAMA ("baichuan", "BaichuanConfig", 125696, 32, .tied = FALSE),
  LLAMA ("internlm", "InternLMConfig", 103168, 32, BIAS ("bias", TRUE)),
  LLAMA ("internlm2", "InternLM2Config", 103168, 32, BIAS ("bias", TRUE)),
  LLAMA ("internlm3", "InternLM3Config", 128512, 32, .read = read_internlm3),
  LLAMA ("granite", "GraniteConfig", 32000, 32, .read = read_granite,
         BIAS ("attention_bias", FALSE), MLP_BIAS ("mlp_bias")),
  LLAMA ("smollm3", "SmolLM3Config", 128256, 16, .tied = TRUE, .kv_heads = 4,
         BIAS ("attention_bias", FALSE), MLP_BIAS ("mlp_bias")),
  LLAMA ("helium", "HeliumConfig", 48000, 20, .kv_heads = 20, .head_dim = 128,
         BIAS ("attention_bias", FALSE), MLP_BIAS ("mlp_bias")),
  LLAMA ("minicpm", "MiniCPMConfig", 32000, 32, .tied = TRUE, BIAS ("attention_bias", FALSE)),
  LLAMA ("ernie4_5", "Ernie4_5Config", 103424, 16, .tied = TRUE, .kv_heads = 2, .head_dim = 128,
         BIAS ("use_bias", FALSE), MLP_BIAS ("use_bias")),
  LLAMA ("seed_oss", "SeedOssConfig", 155136, 80, .kv_heads = 8, .head_dim = 128,
         .bias = ATTENTION_BIAS_QKV, .bias_key = "attention_bias", .bias_standard = TRUE,
         MLP_BIAS ("mlp_bias"), .read = read_seed_oss),
  LLAMA ("hunyuan_v1_dense", "HunYuanDenseV1Config", 290943, 32, .qk_norm = QK_NORM_HEAD,
         BIAS ("attention_bias", FALSE)),
  LLAMA ("exaone", "ExaoneConfig", 102400, 32, .tied = FALSE),
  LLAMA ("exaone4", "Exaone4Config", 102400, 32, .kv_heads = 32, .qk_norm = QK_NORM_HEAD,
         .placement = NORMS_POST, .windows = TRUE, .window = 4096, .full_every = 4),
  LLAMA ("bitnet", "BitNetConfig", 128256, 20, .kv_heads = 5, BIAS ("attention_bias", FALSE),
         .read = read_bitnet),
  LLAMA ("olmo", "OlmoConfig", 50304, 32, .norm = NORM_LAYERNORM_PLAIN,
         BIAS ("attention_bias", FALSE)),
  LLAMA ("olmo2", "Olmo2Config", 50304, 32, .placement = NORMS_POST, .qk_norm = QK_NORM_WIDTH,
         BIAS ("attention_bias", FALSE)),
  LLAMA ("olmo3", "Olmo3Config", 50304, 32, .placement = NORMS_POST, .qk_norm = QK_NORM_WIDTH,
         BIAS ("attention_bias", FALSE), .windows = TRUE, .window = 4096, .full_every = 4),
  LLAMA ("phi3", "Phi3Config", 32064, 32, .windows = TRUE),
  PLAIN ("phi", "PhiConfig", 51200, 32, .bias = ATTENTION_BIAS_ALL, .mlp_bias = TRUE,
         .norm = NORM_LAYERNORM, .norm_bias = TRUE, .placement = NORMS_SHARED, .read = read_phi),
  PLAIN ("persimmon", "PersimmonConfig", 262144, 64, .bias = ATTENTION_BIAS_ALL, .mlp_bias = TRUE,
         .norm = NORM_LAYERNORM, .norm_bias = TRUE, .read = read_persimmon),
  LLAMA ("stablelm", "StableLmConfig", 50304, 32, .kv_heads = 32, .norm = NORM_LAYERNORM,
         .norm_bias = TRUE, .bias = ATTENTION_BIAS_QKV, .bias_key = "use_qkv_bias",
         .read = read_stablelm),
  PLAIN ("starcoder2", "Starcoder2Config", 49152, 24, .tied = TRUE, .kv_heads = 2,
         BIAS ("use_bias", TRUE), .mlp_bias = TRUE, MLP_BIAS ("use_bias"), .norm = NORM_LAYERNORM,
         .norm_bias = TRUE, .windows = TRUE),
  PLAIN ("nemotron", "NemotronConfig", 256000, 48, BIAS ("attention_bias", FALSE),
         MLP_BIAS ("mlp_bias"), .norm = NORM_LAYERNORM, .norm_bias = TRUE),
  PLAIN ("apertus", "ApertusConfig", 131072, 32, .qk_norm = QK_NORM_HEAD,
         BIAS ("attention_bias", FALSE), .read = read_apertus),
  LLAMA ("cohere", "CohereConfig", 256000, 64, .tied = TRUE, BIAS ("attention_bias", FALSE),
         .norm = NORM_LAYERNORM, .placement = NORMS_SHARED, .read = read_cohere),
  LLAMA ("cohere2", "Cohere2Config", 256000, 64, .tied = TRUE, BIAS ("attention_bias", FALSE),
         .norm = NORM_LAYERNORM, .placement = NORMS_SHARED, .windows = TRUE, .window = 4096,
         .full_every = 4),
  LLAMA ("glm", "GlmConfig", 151552, 32, .kv_heads = 2, .head_dim = 128, .bias = ATTENTION_BIAS_QKV,
         .bias_key = "attention_bias", .bias_standard = TRUE),
  LLAMA ("glm4|glm4v_text", "Glm4Config", 151552, 32, .kv_heads = 2, .head_dim = 128,
         .bias = ATTENTION_BIAS_QKV, .bias_key = "attention_bias", .bias_standard = TRUE,
         .placement = NORMS_SANDWICH),
  LLAMA ("chatglm", "ChatGLMConfig", 65024, 32, .ffn_names = "ffn_hidden_size",
         .read = read_chatglm),
  LLAMA ("mllama_text_model", "MllamaTextConfig", 128256, 32, .kv_heads = 8, .read = read_mllama,
         .vary = vary_mllama),
};

HF_FAMILIES_END (llama)

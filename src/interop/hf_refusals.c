#include <config.h>

#include "interop/hf_refusals.h"

#include <string.h>

#include "config/suggest.h"
#include "interop/hf_family.h"

/* ---- other files ---- */

typedef struct
{
  const char *key;
  const char *message;
} Telltale;

static const Telltale other_kinds[] = {
  { "_class_name", "a diffusers component, not a language model" },
  { "peft_type",
    "a PEFT adapter; base_model_name_or_path names the model whose config.json counts" },
  { "zero_optimization", "a DeepSpeed configuration, not a model" },
  { "weight_map", "an index of weight files; config.json beside it describes the model" },
  { "compute_environment", "accelerate settings, not a model; 'fsdpsim check' is for these" },
  { "fsdp_config", "Trainer arguments, not a model; 'fsdpsim check' is for these" },
  { "traceEvents", "a profiler trace, not a model" },
  { "added_tokens_decoder", "a tokenizer's configuration; config.json describes the model" },
};

gboolean
hf_refuse_other_kinds (HfReader *reader)
{
  for (guint i = 0; i < G_N_ELEMENTS (other_kinds); i++)
    if (json_object_has_member (reader->object, other_kinds[i].key)
        && !json_object_has_member (reader->object, "model_type"))
      {
        hf_refuse (reader, other_kinds[i].key, "%s", other_kinds[i].message);
        return TRUE;
      }
  return FALSE;
}

/* ---- models of other kinds ---- */

typedef struct
{
  const char *types;
  const char *message;
} OtherModels;

static const OtherModels other_models[] = {
  { "bert|roberta|xlm-roberta|distilbert|electra|deberta|deberta-v2|camembert|mpnet|modernbert|"
    "longformer|big_bird|nomic_bert|esm|layoutlm|layoutlmv3|ernie|megatron-bert|xlnet|funnel|"
    "roformer|xlm|flaubert|luke|ibert|mobilebert|squeezebert|nystromformer|canine|rembert|reformer|"
    "data2vec-text|xlm-roberta-xl|roberta-prelayernorm|convbert|fnet|mega|yoso|mra|bert-generation|"
    "eurobert|new",
    "an encoder alone, which is not simulated: its attention has no causal mask, and its head sees "
    "but some of the tokens" },
  { "albert", "an encoder alone, whose layers share one block; it is not simulated" },
  { "umt5", "an encoder-decoder with relative positions in every block, which cannot be "
            "represented: T5 has them in the first of each stack" },
  { "led|longt5|bigbird_pegasus|pegasus_x",
    "an encoder-decoder with local attention, which cannot be represented" },
  { "switch_transformers|nllb-moe",
    "an encoder-decoder with experts, which cannot be represented" },
  { "prophetnet|t5gemma|fsmt|mvp|udop|florence2|encoder-decoder|xlm-prophetnet|moonshine",
    "an encoder-decoder whose blocks are not known here" },
  { "whisper|speech_to_text|wav2vec2|hubert|speecht5|musicgen|encodec|seamless_m4t",
    "an audio model; only models of text are simulated" },
  { "clip|siglip|siglip2|clip_text_model|siglip_text_model|altclip|chinese_clip|vit|dinov2|swin|"
    "convnext|beit|deit|resnet|sam|detr",
    "a vision model; only models of text are simulated" },
  { "git|blip|blip-2|instructblip|vision-encoder-decoder|kosmos-2",
    "a captioner whose text model is no decoder of its own" },
  { "mamba|mamba2|falcon_mamba|rwkv|recurrent_gemma|xlstm|hgrn2",
    "a recurrent model without attention blocks; these are not simulated" },
  { "gemma3n|gemma3n_text",
    "embeddings of every layer and keys shared between layers cannot be represented" },
  { "yuan", "a convolution in every block, which cannot be represented" },
  { "phi4mm|phi4_multimodal",
    "adapters for pictures and speech inside its blocks, which cannot be represented" },
  { "deepseek_v4|deepseek_ref",
    "hyper-connections and compressed attention, which cannot be represented" },
  { "minimax|minimax_text_01", "lightning attention, which cannot be represented" },
  { "minimax_m3", "sparse attention with an index a head, which cannot be represented" },
  { "kimi_linear|kimi_k3", "Kimi Delta Attention, which cannot be represented" },
  { "step3|step3_text|step3p5|step3p7", "blocks whose heads its config does not give" },
  { "lfm2|lfm2_moe|lfm2_vl", "short convolutions for attention, which cannot be represented" },
  { "falcon_h1|zamba|zamba2|hymba", "state spaces beside attention, which cannot be represented" },
  { "longcat_flash", "experts that compute nothing, which cannot be represented" },
  { "arctic|jetmoe|nemotron5|openelm|phi-msft|mixformer-sequential|chatglm1",
    "its blocks' layout is not known here" },
};

static gboolean
is_among (const char *types, const char *model_type)
{
  g_auto (GStrv) words = g_strsplit (types, "|", -1);

  return g_strv_contains ((const char *const *)words, model_type);
}

gboolean
hf_refuse_encoders (HfReader *reader, const char *model_type)
{
  const HfFamily *family = hf_families_find (model_type);

  for (guint i = 0; i < G_N_ELEMENTS (other_models); i++)
    if (is_among (other_models[i].types, model_type))
      {
        hf_refuse (reader, "model_type", "'%.60s': %s", model_type, other_models[i].message);
        return TRUE;
      }
  if ((family != NULL && family->encoder_names != NULL)
      || !hf_flag (reader, "is_encoder_decoder", FALSE))
    return FALSE;
  hf_refuse (reader, "is_encoder_decoder",
             "true: an encoder-decoder whose blocks are not known here");
  return TRUE;
}

/* ---- decoders that are not known ---- */

/* Keys that say that a block is not Llama's. */
static const Telltale unusual[] = {
  { "o_lora_rank", "a low-rank output projection" },
  { "hc_mult", "hyper-connections" },
  { "compress_ratios", "compressed attention" },
  { "linear_attn_config", "linear attention" },
  { "sparse_attention_config", "sparse attention with indexers" },
  { "vision_lora", "adapters inside its blocks" },
  { "speech_lora", "adapters inside its blocks" },
  { "mamba_d_ssm", "state spaces beside attention" },
  { "mamba_d_state", "state spaces" },
  { "ssm_state_size", "state spaces" },
  { "linear_num_key_heads", "linear attention" },
  { "kv_lora_rank", "latent attention" },
  { "n_routed_experts", "experts" },
  { "num_experts", "experts" },
  { "num_local_experts", "experts" },
  { "moe_intermediate_size", "experts" },
  { "layer_types", "blocks that differ" },
  { "parallel_attn", "attention and feed-forward side by side" },
};

void
hf_refuse_unknown (HfReader *reader, const char *model_type)
{
  g_auto (GStrv) types = hf_families_types ();
  const char *nearest = suggest_nearest (model_type, (const char *const *)types);
  const Telltale *telltale = NULL;
  g_autofree char *clause = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (unusual) && telltale == NULL; i++)
    if (json_object_has_member (reader->object, unusual[i].key))
      telltale = &unusual[i];
  clause = nearest != NULL ? g_strdup_printf ("; did you mean '%s'?", nearest) : g_strdup ("");
  if (telltale != NULL)
    hf_refuse (reader, "model_type",
               "'%.60s' is not known, and counting it like Llama would be wrong: %s (%s)",
               model_type, telltale->message, telltale->key);
  else
    hf_refuse (reader, "model_type", "'%.60s' is not known%s", model_type, clause);
}

/* ---- names of other programs ---- */

static const Telltale foreign_names[] = {
  { "hidden_dim", "hidden_size or n_embd" },  { "ffn_embed_dim", "intermediate_size" },
  { "ffn_hidden_size", "intermediate_size" }, { "inter_size", "intermediate_size" },
  { "layer_num", "num_hidden_layers" },       { "head_num_kv", "num_key_value_heads" },
  { "head_num", "num_attention_heads" },      { "dim", "hidden_size" },
  { "n_kv_heads", "num_key_value_heads" },    { "multiple_of", "intermediate_size" },
  { "num_layers", "num_hidden_layers" },
};

static const Telltale *
find_foreign_name (const HfReader *reader)
{
  for (guint i = 0; i < G_N_ELEMENTS (foreign_names); i++)
    if (json_object_has_member (reader->object, foreign_names[i].key))
      return &foreign_names[i];
  return NULL;
}

void
hf_refuse_foreign_names (HfReader *reader)
{
  const Telltale *name = find_foreign_name (reader);

  if (name != NULL)
    hf_refuse (reader, name->key,
               "not a name of Hugging Face's, which has %s: another program's "
               "description of a model",
               name->message);
}

void
hf_refuse_untyped (HfReader *reader)
{
  JsonArray *list = hf_list (reader, "architectures");
  JsonNode *node
      = list != NULL && json_array_get_length (list) > 0 ? json_array_get_element (list, 0) : NULL;
  gboolean is_text = node != NULL && JSON_NODE_HOLDS_VALUE (node)
                     && json_node_get_value_type (node) == G_TYPE_STRING;

  if (is_text)
    hf_refuse (reader, "model_type", "missing; architectures says %.60s",
               json_node_get_string (node));
  else
    hf_refuse (reader, "model_type", "missing: without it the blocks' layout is not known");
  hf_refuse_foreign_names (reader);
}

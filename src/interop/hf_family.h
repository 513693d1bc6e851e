/* Families of models on Hugging Face as tables: what their configuration classes
 * take where a key is not given, and the tensors of their blocks. One file a group
 * of families; hf_families_find() knows them all. */
#pragma once

#include "interop/hf_reader.h"
#include "interop/model_file.h"

#define HF_HIDDEN "hidden_size|n_embd|d_model|n_embed"
#define HF_LAYERS "num_hidden_layers|n_layer|n_layers|num_layers"
#define HF_HEADS                                                                                   \
  "num_attention_heads|n_head|n_heads|attention_heads|num_heads|encoder_attention_heads"
#define HF_KV "num_key_value_heads"

/* What is 0 or NULL is the usual: as many key as query heads, a head's width of
 * hidden over heads, untied, two norms before both halves, no biases. */
typedef struct
{
  const char *types;      /* values of model_type: "llama|yi" */
  const char *class_name; /* of the defaults below */
  guint vocab;
  gboolean tied;
  guint heads;
  guint kv_heads;        /* 0: as many as heads */
  guint head_dim;        /* 0: hidden over heads */
  gboolean latent;       /* what read() says of the heads holds; head_dim means something else */
  const char *ffn_names; /* NULL: "intermediate_size" */
  guint ffn_times;       /* of hidden, where the width is not given; 0: it must be */
  gboolean gated;
  AttentionBias bias;   /* where there is one */
  const char *bias_key; /* the flag that says so; NULL: always */
  gboolean bias_standard;
  const char *mlp_bias_key; /* the same of the feed-forward */
  gboolean mlp_bias;        /* its default, or without a key always so */
  Normalization norm;
  gboolean norm_bias;
  NormPlacement placement;
  QkNorm qk_norm;
  guint window;            /* sliding_window where it is not given; 0: none */
  gboolean windows;        /* sliding_window means something */
  const char *window_flag; /* the key that must be true for it, false by default; NULL: none */
  guint full_every; /* every so-many-th block attends to all tokens nevertheless; 0: none does */
  /* Of an encoder-decoder: how many blocks each stack has. NULL: there is no encoder. */
  const char *encoder_names;
  const char *decoder_names;
  /* How many blocks; NULL: HF_LAYERS. */
  guint (*layers) (HfReader *reader);
  /* What the table cannot say; of all blocks and of what is outside them. May be NULL. */
  void (*read) (HfReader *reader, ModelFile *file, ModelConfig *block);
  /* What is different in one block, and a word for its kind; NULL: none is. */
  const char *(*vary) (HfReader *reader, const ModelFile *file, guint layer, ModelConfig *block);
} HfFamily;

/* Reads all of a model; mistakes are in the reader's problems. */
void hf_family_read (const HfFamily *family, HfReader *reader, ModelFile *file);

/* Reads how many blocks encoder and decoder have. */
void hf_read_stacks (const HfFamily *family, HfReader *reader, ModelConfig *model);

/* n x width, at most @most. */
guint hf_product (guint n, guint width, guint most);

/* Reads the experts of a block, whose inner width is read already: how many, how
 * many a token passes. The keys' defaults are the class's. */
void hf_read_experts (HfReader *reader, ModelConfig *block, const char *names, guint experts,
                      const char *per_token_names, guint per_token);

/* The same as DeepSeek names them, with their width and that of the shared ones. */
void hf_read_routed (HfReader *reader, ModelConfig *block, guint experts, guint per_token);

/* The dense block of a model whose blocks have experts. */
void hf_make_dense (ModelConfig *block, guint ffn_hidden);

#define HF_FAMILIES(group) const HfFamily *hf_##group##_families (guint *n)
HF_FAMILIES (llama);
HF_FAMILIES (gpt);
HF_FAMILIES (qwen);
HF_FAMILIES (gemma);
HF_FAMILIES (experts);
HF_FAMILIES (latent);
HF_FAMILIES (hybrid);
HF_FAMILIES (encoder_decoder);

/* The end of a group's file. */
#define HF_FAMILIES_END(group)                                                                     \
  HF_FAMILIES (group)                                                                              \
  {                                                                                                \
    *n = G_N_ELEMENTS (group##_families);                                                          \
    return group##_families;                                                                       \
  }

/* The family of a model_type, or NULL. */
const HfFamily *hf_families_find (const char *model_type);
/* Every model_type that is known, NULL-terminated. The caller frees it with g_strfreev(). */
char **hf_families_types (void);

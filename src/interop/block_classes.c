#include <config.h>

#include "interop/block_classes.h"

#include <string.h>

static const struct
{
  const char *model_type, *class_name;
} classes[] = {
#define BLOCK_CLASS(model_type, class_name) { model_type, class_name },
#include "interop/block_classes.def"
#undef BLOCK_CLASS
};

const char *
block_class_of (const char *model_type)
{
  for (guint i = 0; model_type != NULL && i < G_N_ELEMENTS (classes); i++)
    if (strcmp (classes[i].model_type, model_type) == 0)
      return classes[i].class_name;
  return NULL;
}

const char *
block_class_family (const char *class_name)
{
  for (guint i = 0; i < G_N_ELEMENTS (classes); i++)
    if (strcmp (classes[i].class_name, class_name) == 0)
      return classes[i].model_type;
  return NULL;
}

gboolean
block_class_belongs (const char *class_name, const char *model_type)
{
  for (guint i = 0; i < G_N_ELEMENTS (classes); i++)
    if (strcmp (classes[i].class_name, class_name) == 0
        && strcmp (classes[i].model_type, model_type) == 0)
      return TRUE;
  return FALSE;
}

ClassKind
block_class_kind (const char *class_name)
{
  static const char *const parts[] = { "Attention", "MLP",     "SparseMoeBlock", "SparseMoE",
                                       "MoE",       "Experts", "FeedForward",    NULL };
  static const char *const models[]
      = { "ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "PreTrainedModel", NULL };

  if (block_class_family (class_name) != NULL)
    return CLASS_BLOCK;
  for (guint i = 0; parts[i] != NULL; i++)
    if (g_str_has_suffix (class_name, parts[i]))
      return CLASS_PART;
  for (guint i = 0; models[i] != NULL; i++)
    if (g_str_has_suffix (class_name, models[i]))
      return CLASS_MODEL;
  return CLASS_UNKNOWN;
}

/* ---- names ---- */

/* Of "a/Llama-3.1-8B" or "torchtune.models.llama3.lora_llama3_8b": lower case, letters and digits
 * alone, without who published it. */
static char *
squeeze (const char *name)
{
  const char *slash = strrchr (name, '/');
  const char *dot = strstr (name, "torchtune.models.") != NULL ? strrchr (name, '.') : NULL;
  GString *squeezed = g_string_new (NULL);

  for (const char *at = slash != NULL ? slash + 1 : dot != NULL ? dot + 1 : name; *at != '\0'; at++)
    if (g_ascii_isalnum (*at))
      g_string_append_c (squeezed, g_ascii_tolower (*at));
  return g_string_free (squeezed, FALSE);
}

typedef struct
{
  const char *part, *what;
} NameRow;

static const char *
look_up (const char *name, const NameRow *rows, guint n)
{
  g_autofree char *squeezed = squeeze (name);

  for (guint i = 0; i < n; i++)
    if (strstr (squeezed, rows[i].part) != NULL)
      return rows[i].what;
  return NULL;
}

const char *
model_name_family (const char *name)
{
  /* The first that fits: what is more special stands before. */
  static const NameRow rows[] = { { "mixtral", "mixtral" },
                                  { "mistral7b", "mistral" },
                                  { "llama4", "llama4" },
                                  { "codellama", "llama" },
                                  { "llama2", "llama" },
                                  { "llama3", "llama" },
                                  { "tinyllama", "llama" },
                                  { "gemma3", "gemma3" },
                                  { "gemma2", "gemma2" },
                                  { "gemma7b", "gemma" },
                                  { "phi3", "phi3" },
                                  { "gptoss", "gpt_oss" },
                                  { "gpt2", "gpt2" },
                                  { "mpt7b", "mpt" },
                                  { "mpt30b", "mpt" },
                                  { "mpt70b", "mpt" },
                                  { "deepseekv3", "deepseek_v3" },
                                  { "deepseekv2", "deepseek_v2" },
                                  { "deepseekllm", "llama" },
                                  { "yi34b", "llama" },
                                  { "qwen330ba3b", "qwen3_moe" },
                                  { "qwen3235ba22b", "qwen3_moe" },
                                  { "qwen3next", "qwen3_next" },
                                  { "qwen38b", "qwen3" },
                                  { "qwen34b", "qwen3" },
                                  { "qwen332b", "qwen3" },
                                  { "qwen25", "qwen2" },
                                  { "olmo2", "olmo2" },
                                  { "flant5", "t5" },
                                  { "t5v11", "t5" },
                                  { "plbart", "plbart" },
                                  { "mbartlarge", "mbart" },
                                  { "bartlarge", "bart" },
                                  { "bartbase", "bart" },
                                  { "m2m100", "m2m_100" },
                                  { "nllb200", "m2m_100" } };

  return look_up (name, rows, G_N_ELEMENTS (rows));
}

const char *
model_name_shipped (const char *name)
{
  static const NameRow rows[] = { { "codellama34b", "codellama-34b" },
                                  { "llama27b", "llama2-7b" },
                                  { "llama213b", "llama2-13b" },
                                  { "llama270b", "llama2-70b" },
                                  { "llama38b", "llama3-8b" },
                                  { "llama318b", "llama3-8b" },
                                  { "llama370b", "llama3-70b" },
                                  { "llama3170b", "llama3-70b" },
                                  { "llama3370b", "llama3-70b" },
                                  { "llama3405b", "llama3-405b" },
                                  { "llama31405b", "llama3-405b" },
                                  { "llama321b", "llama3.2-1b" },
                                  { "llama323b", "llama3.2-3b" },
                                  { "mistral7b", "mistral-7b" },
                                  { "gpt2xl", "gpt2-xl" },
                                  { "gpt2large", "gpt2-large" },
                                  { "gpt2medium", "gpt2-medium" },
                                  { "mpt7b", "mpt-7b" },
                                  { "mpt30b", "mpt-30b" },
                                  { "yi34b", "yi-34b" },
                                  { "deepseekllm7b", "deepseek-llm-7b" } };

  return look_up (name, rows, G_N_ELEMENTS (rows));
}

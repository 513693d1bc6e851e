#include <config.h>

#include "interop/settings_kind.h"

#include <string.h>

#include "config/ini.h"

/* Settings take a few KiB. Brackets within brackets take libyaml a time that grows with the square
 * of their number. */
#define MOST_BYTES (32 * 1024)

const char *
settings_kind_words (SettingsKind kind)
{
  static const char *const words[] = { "accelerate's launcher",
                                       "the Hugging Face Trainer's arguments",
                                       "the Hugging Face Trainer's fsdp_config",
                                       "axolotl",
                                       "torchtitan",
                                       "torchtune",
                                       "llm-foundry",
                                       "nobody that is known" };

  return words[kind];
}

/* ---- the syntax ---- */

static gboolean
looks_like_ini (const char *text)
{
  const char *at = text;

  if (g_str_has_prefix (at, "\xEF\xBB\xBF"))
    at += 3;
  for (at += strspn (at, " \t\r\n"); *at == '#' || *at == ';'; at += strspn (at, " \t\r\n"))
    at += strcspn (at, "\n");
  return *at == '[' && (g_ascii_isalpha (at[1]) || at[1] == '[');
}

gboolean
settings_is_scenario (const char *name, const char *text, gsize length)
{
  static const char *const titan[]
      = { "job", "parallelism", "activation_checkpoint", "optimizer", "metrics", NULL };
  g_autoptr (Problems) unused = problems_new ();
  g_autoptr (IniFile) ini = NULL;
  const IniSection *sections;
  guint n;

  if (g_str_has_suffix (name, ".toml") || !looks_like_ini (text))
    return FALSE;
  ini = ini_parse (name, text, length, unused);
  sections = ini_sections (ini, &n);
  for (guint i = 0; i < n; i++)
    if (g_strv_contains (titan, sections[i].name))
      return FALSE;
  return TRUE;
}

SettingsTree *
settings_read (const char *name, const char *text, gsize length, Problems *problems)
{
  const char first = text[strspn (text, " \t\r\n")];
  const Place place = { .file = name };

  if (length > MOST_BYTES)
    {
      problems_add (problems, &place, NULL, NULL, "over %d KiB: this is no settings file",
                    MOST_BYTES / 1024);
      return NULL;
    }
  if (g_str_has_suffix (name, ".json") || first == '{')
    return settings_read_json (name, text, length, problems);
  if (g_str_has_suffix (name, ".toml") || looks_like_ini (text))
    return settings_read_toml (name, text, length, problems);
  return settings_read_yaml (name, text, length, problems);
}

/* ---- what is refused ---- */

static gboolean
has (const SettingsNode *root, const char *key)
{
  return settings_find (root, key) != NULL;
}

static SettingsKind G_GNUC_PRINTF (4, 5)
    refuse (const SettingsTree *tree, const char *key, Problems *problems, const char *format, ...)
{
  const SettingsMember *member = settings_find (settings_root (tree), key);
  const Place place = settings_place (tree, member != NULL ? member->line : 0,
                                      member != NULL ? member->column : 0);
  g_autofree char *message = NULL;
  va_list arguments;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  problems_add (problems, &place, NULL, member != NULL ? key : NULL, "%s", message);
  return SETTINGS_OF_NOBODY;
}

#define LIKE_ZERO                                                                                  \
  "; FSDP's FULL_SHARD shards as ZeRO-3 does and SHARD_GRAD_OP as ZeRO-2, which 'fsdpsim "         \
  "compare' "                                                                                      \
  "simulates"

static SettingsKind
refuse_deepspeed (const SettingsTree *tree, Problems *problems)
{
  const SettingsNode *zero = settings_map (settings_root (tree), "zero_optimization");
  const char *stage = settings_text (zero, "stage");

  if (stage != NULL)
    return refuse (tree, "zero_optimization", problems,
                   "settings of DeepSpeed (ZeRO stage %s), which is not modelled" LIKE_ZERO, stage);
  return refuse (tree, zero != NULL ? "zero_optimization" : "train_micro_batch_size_per_gpu",
                 problems, "settings of DeepSpeed, which is not modelled" LIKE_ZERO);
}

static SettingsKind
refuse_launcher (const SettingsTree *tree, const char *type, Problems *problems)
{
  if (g_ascii_strcasecmp (type, "DEEPSPEED") == 0)
    return refuse (tree, "distributed_type", problems,
                   "accelerate starts DeepSpeed with this file, which is not modelled" LIKE_ZERO);
  return refuse (tree, "distributed_type", problems,
                 "accelerate starts %s with this file, which is not modelled", type);
}

static SettingsKind
judge_launcher (const SettingsTree *tree, Problems *problems)
{
  static const char *const others[] = { "DEEPSPEED", "MEGATRON_LM", "XLA", "TPU", NULL };
  const char *type = settings_text (settings_root (tree), "distributed_type");

  for (guint i = 0; type != NULL && others[i] != NULL; i++)
    if (g_ascii_strcasecmp (type, others[i]) == 0)
      return refuse_launcher (tree, type, problems);
  return SETTINGS_OF_ACCELERATE;
}

/* JSON and YAML that people hand in by mistake. */
static SettingsKind
refuse_other (const SettingsTree *tree, Problems *problems)
{
  const SettingsNode *root = settings_root (tree);

  if (has (root, "zero_optimization") || has (root, "train_micro_batch_size_per_gpu")
      || has (root, "zero_allow_untested_optimizer"))
    return refuse_deepspeed (tree, problems);
  if (has (root, "traceEvents"))
    return refuse (tree, "traceEvents", problems,
                   "a profiler trace, no settings; 'fsdpsim trace' reads it");
  if (has (root, "model_type") || has (root, "architectures"))
    return refuse (tree, has (root, "model_type") ? "model_type" : "architectures", problems,
                   "a model's config.json, no settings; give it as --model beside them");
  if (has (root, "peft_type"))
    return refuse (tree, "peft_type", problems, "a PEFT adapter's config, no settings of a job");
  return refuse (
      tree, "", problems,
      "whose settings these are is not known; accelerate's launcher, the Hugging Face "
      "Trainer, axolotl, torchtitan, torchtune, llm-foundry and scenario files are read");
}

/* ---- the kind ---- */

static gboolean
has_any (const SettingsNode *root, const char *const *keys)
{
  for (; *keys != NULL; keys++)
    if (has (root, *keys))
      return TRUE;
  return FALSE;
}

static gboolean
is_fsdp_config (const SettingsNode *root)
{
  static const char *const keys[] = { "transformer_layer_cls_to_wrap",
                                      "backward_prefetch",
                                      "forward_prefetch",
                                      "limit_all_gathers",
                                      "cpu_ram_efficient_loading",
                                      "xla_fsdp_v2",
                                      "sync_module_states",
                                      "use_orig_params",
                                      NULL };

  for (guint i = 0; i < root->members->len; i++)
    {
      const SettingsMember *member = &g_array_index (root->members, SettingsMember, i);
      const char *key = member->key;

      if (g_str_has_prefix (key, "fsdp_"))
        key += strlen ("fsdp_");
      if (g_strv_contains (keys, key))
        return TRUE;
    }
  return FALSE;
}

/* A flag such as bf16; DeepSpeed's of that name are maps. */
static gboolean
has_flag (const SettingsNode *root, const char *key)
{
  const SettingsMember *member = settings_find (root, key);

  return member != NULL && member->value->kind != NODE_MAP;
}

static gboolean
is_torchtune (const SettingsNode *root)
{
  static const char *const parts[] = { "model", "tokenizer", "checkpointer", "optimizer", NULL };

  for (guint i = 0; parts[i] != NULL; i++)
    if (has (settings_map (root, parts[i]), "_component_"))
      return TRUE;
  return FALSE;
}

SettingsKind
settings_kind (const SettingsTree *tree, Problems *problems)
{
  static const char *const launcher[] = { "distributed_type", "compute_environment", NULL };
  static const char *const axolotl[] = { "base_model", NULL };
  static const char *const foundry[]
      = { "max_duration", "device_train_microbatch_size", "global_train_batch_size", NULL };
  static const char *const args[] = { "per_device_train_batch_size",
                                      "gradient_checkpointing",
                                      "fsdp_config",
                                      "gradient_checkpointing_kwargs",
                                      "gradient_accumulation_steps",
                                      "model_name_or_path",
                                      "learning_rate",
                                      "num_train_epochs",
                                      "per_device_eval_batch_size",
                                      "torch_compile",
                                      NULL };
  const SettingsNode *root = settings_root (tree);
  const gboolean is_deepspeed
      = has (root, "zero_optimization") || has (root, "train_micro_batch_size_per_gpu");

  if (settings_syntax (tree) == SETTINGS_TOML)
    return SETTINGS_OF_TORCHTITAN;
  if (has_any (root, launcher))
    return judge_launcher (tree, problems);
  if (has_any (root, axolotl))
    return SETTINGS_OF_AXOLOTL;
  if (is_torchtune (root))
    return SETTINGS_OF_TORCHTUNE;
  if (has_any (root, foundry))
    return SETTINGS_OF_FOUNDRY;
  if (is_deepspeed || has (root, "model_type") || has (root, "architectures"))
    return refuse_other (tree, problems);
  if (has_any (root, args) || has_flag (root, "fsdp") || has_flag (root, "bf16")
      || has_flag (root, "fp16"))
    return SETTINGS_OF_TRAINER;
  if (is_fsdp_config (root))
    return SETTINGS_OF_FSDP_CONFIG;
  return refuse_other (tree, problems);
}

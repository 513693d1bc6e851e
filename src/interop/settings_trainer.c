#include <config.h>

#include "interop/settings_tools.h"

#include <string.h>

#include "config/scenario.h"
#include "config/text_file.h"
#include "interop/settings_reader.h"

static const char *const config_keys[]
    = { "transformer_layer_cls_to_wrap", "min_num_params", "backward_prefetch", "forward_prefetch",
        "limit_all_gathers", "use_orig_params", "sync_module_states", "cpu_ram_efficient_loading",
        "activation_checkpointing", "state_dict_type", "version", "reshard_after_forward",
        "cpu_offload", "xla", "xla_fsdp_settings", "xla_fsdp_v2", "xla_fsdp_grad_ckpt",
        /* accelerate's, which stand in the argument fsdp here */
        "sharding_strategy", "auto_wrap_policy", "offload_params", NULL };

typedef struct
{
  SettingsReader args, config;
  Job *job;
  Findings *findings;
  Problems *unsupported;
  GPtrArray *options; /* char *: of the argument fsdp */
  JobSetting options_place;
  gboolean options_are_known;
} Trainer;

static gboolean
has_option (const Trainer *trainer, const char *word)
{
  for (guint i = 0; i < trainer->options->len; i++)
    if (g_ascii_strcasecmp (g_ptr_array_index (trainer->options, i), word) == 0)
      return TRUE;
  return FALSE;
}

/* ---- the argument fsdp ---- */

static void
find_wrong_options (const Trainer *trainer)
{
  static const char *const words[]
      = { "full_shard", "shard_grad_op", "no_shard", "hybrid_shard", "hybrid_shard_zero2",
          "offload",    "auto_wrap",     "true",     "false",        NULL };
  const Place place = job_place (trainer->job, &trainer->options_place);

  for (guint i = 0; i < trainer->options->len; i++)
    {
      g_autofree char *word = g_ascii_strdown (g_ptr_array_index (trainer->options, i), -1);

      if (!g_strv_contains (words, word))
        findings_add (trainer->findings, FINDING_BAD_VALUE, &place,
                      "fsdp: '%s' is none of full_shard, shard_grad_op, no_shard, hybrid_shard, "
                      "hybrid_shard_zero2, offload, auto_wrap (with blanks between them).",
                      word);
    }
}

static void
read_options (Trainer *trainer)
{
  static const struct
  {
    const char *word;
    ShardingStrategy strategy;
  } strategies[] = { { "full_shard", STRATEGY_FULL_SHARD },
                     { "shard_grad_op", STRATEGY_SHARD_GRAD_OP },
                     { "no_shard", STRATEGY_NO_SHARD },
                     { "hybrid_shard", STRATEGY_HYBRID_SHARD },
                     { "hybrid_shard_zero2", STRATEGY_HYBRID_SHARD_ZERO2 } };
  Job *job = trainer->job;
  gboolean has_strategy = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (strategies); i++)
    if (has_option (trainer, strategies[i].word))
      {
        job->strategy = trainer->options_place;
        job->strategy.value = (gint)strategies[i].strategy;
        has_strategy = TRUE;
      }
  if (has_option (trainer, "offload"))
    {
      job->offload = trainer->options_place;
      job->offload.value = TRUE;
    }
  if (has_option (trainer, "offload") && !has_strategy && trainer->options->len == 1)
    {
      const Place place = job_place (job, &trainer->options_place);

      findings_add (trainer->findings, FINDING_OFFLOAD_ALONE, &place,
                    "fsdp = offload stands alone; full_shard or another strategy belongs beside "
                    "it.");
    }
}

/* Whether fsdp turns FSDP on; not known where only the fsdp_config is. */
static gboolean
turns_fsdp_on (const Trainer *trainer)
{
  return !trainer->options_are_known
         || (trainer->options->len > 0 && !has_option (trainer, "false"));
}

/* ---- fsdp_config ---- */

static void
read_backward_prefetch (Trainer *trainer, gboolean launcher_prefetches)
{
  static const char *const words[]
      = { "BACKWARD_PRE", "BACKWARD_POST", "NO_PREFETCH", "NO_BACKWARD", NULL };
  Job *job = trainer->job;
  const JobSetting before = job->backward_prefetch;
  JobSetting said;

  if (reader_word (&trainer->config, "backward_prefetch", words, 0, &said))
    {
      said.value = MIN (said.value, PREFETCH_NONE);
      job->backward_prefetch = said;
      job->prefetch_cause = PREFETCH_SAID;
      return;
    }
  job->backward_prefetch = job_default (PREFETCH_NONE);
  job->prefetch_cause = launcher_prefetches ? PREFETCH_RESET_BY_TRAINER : PREFETCH_TRAINERS_DEFAULT;
  job->prefetch_culprit = launcher_prefetches ? before : trainer->options_place;
}

/* Classes count before a size; accelerate refuses both, where the size is above 0. */
static void
read_wrapping (Trainer *trainer)
{
  Job *job = trainer->job;
  g_autoptr (GPtrArray) classes = g_ptr_array_new_with_free_func (g_free);
  JobSetting place = job_default (0), size = job_default (0);

  reader_words (&trainer->config, "transformer_layer_cls_to_wrap", classes, &place);
  reader_count (&trainer->config, "min_num_params", &size);
  if (classes->len > 0)
    {
      g_ptr_array_unref (job->classes);
      job->classes = g_steal_pointer (&classes);
      job->wrap_classes = place;
    }
  if (size.value > 0 && place.tree != NULL)
    {
      const Place where = job_place (job, &size);

      findings_add (trainer->findings, FINDING_WRAP_RULES_EXCLUDE, &where,
                    "min_num_params and transformer_layer_cls_to_wrap stand together.");
    }
  if (trainer->options_are_known && !has_option (trainer, "auto_wrap"))
    {
      if (job->wrap.tree == NULL)
        job->wrap = trainer->options_place, job->wrap.value = WRAP_NOTHING;
      return;
    }
  job->wrap = trainer->options_place;
  job->wrap.value = size.value > 0 ? WRAP_BY_SIZE : WRAP_BLOCKS;
}

/* Python's truth of what stands there: "False" in quotes is true. */
static void
read_python_flag (const Trainer *trainer, const char *key, JobSetting *setting)
{
  const SettingsMember *member = reader_find (&trainer->config, key);
  g_autofree char *line = NULL;
  Finding *finding;
  Place place;

  if (member == NULL || !reader_flag (&trainer->config, key, setting))
    return;
  if (member->value->kind != NODE_TEXT || settings_is_true (member->value))
    return;
  setting->value = TRUE;
  place = settings_place (trainer->config.tree, member->value->line, member->value->column);
  finding
      = findings_add (trainer->findings, FINDING_STRING_IS_TRUE, &place,
                      "%s: \"%s\" in quotes is a string, and true to Python: the setting is on.",
                      member->key, member->value->text);
  line = reader_line (settings_syntax (trainer->config.tree), member->key, "false");
  finding_set_fix (finding, "%s", line);
}

/* What accelerate would read here and the Trainer does not. */
static void
find_ignored (const Trainer *trainer)
{
  const SettingsMember *offload = reader_find (&trainer->config, "offload_params");
  const SettingsMember *strategy = reader_find (&trainer->config, "sharding_strategy");
  Place place;

  if (offload != NULL && settings_is_true (offload->value) && !trainer->job->offload.value)
    trainer->job->ignored_offload = job_said (TRUE, trainer->config.tree, offload);
  if (strategy != NULL && strategy->value->text != NULL
      && g_ascii_strcasecmp (strategy->value->text, "FULL_SHARD") != 0
      && g_ascii_strcasecmp (strategy->value->text,
                             ShardingStrategy_words[trainer->job->strategy.value])
             != 0)
    {
      g_autofree char *option = g_ascii_strdown (strategy->value->text, -1);

      place = settings_place (trainer->config.tree, strategy->line, strategy->column);
      finding_set_fix (findings_add (trainer->findings, FINDING_TRAINER_KEY_IGNORED, &place,
                                     "%s: the Trainer does not read it; the strategy stands in the "
                                     "argument fsdp.",
                                     strategy->key),
                       "--fsdp \"%s auto_wrap\"", option);
    }
}

static void
read_version (const Trainer *trainer)
{
  Job *job = trainer->job;

  if (!reader_count (&trainer->config, "version", &job->fsdp_version))
    reader_count (&trainer->args, "fsdp_version", &job->fsdp_version);
  if (job->fsdp_version.value == 2)
    {
      job->api = job->fsdp_version;
      job->api.value = API_FSDP2;
      job->reshard = job_default (RESHARD_TRUE);
    }
}

static void
read_reshard (const Trainer *trainer)
{
  Job *job = trainer->job;
  JobSetting reshard;

  if (job->api.value != API_FSDP2
      || !reader_flag (&trainer->config, "reshard_after_forward", &reshard))
    return;
  job->reshard = reshard;
  job->reshard.value = reshard.value ? RESHARD_TRUE : RESHARD_FALSE;
}

/* Written over the launcher's settings wherever fsdp is set. */
static void
read_config (Trainer *trainer)
{
  Job *job = trainer->job;
  const gboolean launcher_prefetches
      = job->launcher != NULL && job->is_fsdp && job->backward_prefetch.value != PREFETCH_NONE;

  job->is_fsdp = TRUE;
  read_version (trainer);
  read_options (trainer);
  read_backward_prefetch (trainer, launcher_prefetches);
  read_wrapping (trainer);
  read_reshard (trainer);
  job->forward_prefetch = job_default (FALSE);
  job->sync_module_states = job_default (TRUE);
  job->ram_loading = job_default (FALSE);
  job->use_orig_params = job_default (TRUE);
  reader_flag (&trainer->config, "forward_prefetch", &job->forward_prefetch);
  reader_flag (&trainer->config, "sync_module_states", &job->sync_module_states);
  reader_flag (&trainer->config, "cpu_ram_efficient_loading", &job->ram_loading);
  reader_flag (&trainer->config, "use_orig_params", &job->use_orig_params);
  if (job->tool != TOOL_AXOLOTL)
    find_ignored (trainer);
}

/* What the Trainer takes from fsdp_config even where the launcher alone turned FSDP on. */
static void
read_config_always (const Trainer *trainer)
{
  Job *job = trainer->job;

  read_python_flag (trainer, "activation_checkpointing", &job->activation_checkpointing);
  read_python_flag (trainer, "limit_all_gathers", &job->limit_all_gathers);
  reader_find_unknown (&trainer->config, config_keys, FALSE,
                       job->tool == TOOL_AXOLOTL ? "axolotl" : "the Trainer");
}

static void
find_unused (const Trainer *trainer)
{
  const Place place = settings_place (trainer->config.tree, trainer->config.map->line, 0);

  finding_set_fix (findings_add (trainer->findings, FINDING_CONFIG_UNUSED, &place,
                                 trainer->job->is_fsdp
                                     ? "fsdp_config without the argument fsdp: only its "
                                       "activation_checkpointing and limit_all_gathers are read."
                                     : "fsdp_config without the argument fsdp: FSDP stays off."),
                   "--fsdp \"full_shard auto_wrap\"");
}

/* ---- other arguments ---- */

static void
read_gradient_checkpointing (const Trainer *trainer)
{
  Job *job = trainer->job;
  const SettingsReader kwargs
      = { trainer->args.tree, settings_map (trainer->args.map, "gradient_checkpointing_kwargs"),
          NULL, trainer->findings };

  reader_flag (&trainer->args, "gradient_checkpointing", &job->gradient_checkpointing);
  reader_flag (&kwargs, "use_reentrant", &job->use_reentrant);
}

static void
read_precision (const Trainer *trainer)
{
  static const struct
  {
    const char *key;
    Dtype dtype;
  } flags[] = { { "fp16", DTYPE_FP16 }, { "bf16", DTYPE_BF16 } };
  Job *job = trainer->job;

  /* axolotl's bf16 is "auto" where it is not given, which these GPUs have. */
  if (trainer->args.map != NULL && job->launcher == NULL
      && (job->tool != TOOL_AXOLOTL || reader_find (&trainer->args, "bf16") != NULL))
    job->param_dtype = job->reduce_dtype = job_default (DTYPE_FP32);
  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    {
      const SettingsMember *member = reader_find (&trainer->args, flags[i].key);

      if (member == NULL || settings_is_false (member->value))
        continue;
      job->param_dtype = job->reduce_dtype = job_said (flags[i].dtype, trainer->args.tree, member);
    }
}

static void
read_batch (const Trainer *trainer)
{
  static const char *const lengths[]
      = { "sequence_len", "max_length", "max_seq_length", "model_max_length", "cutoff_len", NULL };
  Job *job = trainer->job;

  reader_count (&trainer->args, "per_device_train_batch_size", &job->micro_batch);
  reader_count (&trainer->args, "micro_batch_size", &job->micro_batch);
  reader_count (&trainer->args, "gradient_accumulation_steps", &job->grad_accum);
  for (guint i = 0; lengths[i] != NULL; i++)
    reader_count (&trainer->args, lengths[i], &job->seq_len);
}

/* ---- adapters ---- */

static gboolean
is_on (const SettingsNode *args, const char *key)
{
  const SettingsMember *member = settings_find (args, key);

  return member != NULL && settings_is_true (member->value);
}

static gboolean
has_adapters (const SettingsNode *args)
{
  return settings_text (args, "adapter") != NULL || settings_text (args, "lora_r") != NULL
         || g_strcmp0 (settings_text (args, "finetuning_type"), "lora") == 0
         || settings_find (args, "peft_config") != NULL || is_on (args, "use_peft");
}

/* Under FSDP1 the Trainer puts PEFT's policy in place of the user's; axolotl does the like for
 * FSDP2. */
static const char *
unlike_ours (const SettingsNode *args)
{
  if (g_strcmp0 (settings_text (args, "adapter"), "qlora") == 0 || is_on (args, "load_in_4bit")
      || is_on (args, "load_in_8bit") || settings_text (args, "quantization_bit") != NULL)
    return "frozen weights in 4 or 8 bits (QLoRA) are not simulated; a scenario with "
           "training.trainable = lora has them in bf16.";
  return "PEFT makes each adapter an FSDP unit of its own (fsdp_auto_wrap_policy), and these small "
         "units are not simulated; a scenario with training.trainable = lora has adapters in the "
         "unit of their block.";
}

static void
read_model (const Trainer *trainer)
{
  const SettingsNode *args = trainer->args.map;
  const char *name = settings_text (args, "model_name_or_path");
  Job *job = trainer->job;

  if (name != NULL)
    job->model_name = name;
  if (settings_text (args, "base_model") != NULL)
    job->model_name = settings_text (args, "base_model");
  if (has_adapters (args))
    job->adapters = (JobAdapters){ .given = TRUE, .unlike = unlike_ours (args) };
}

static void
read_args (const Trainer *trainer)
{
  const SettingsMember *deepspeed = reader_find (&trainer->args, "deepspeed");

  read_gradient_checkpointing (trainer);
  read_precision (trainer);
  read_batch (trainer);
  read_model (trainer);
  reader_flag (&trainer->args, "torch_compile", &trainer->job->compile);
  if (deepspeed != NULL)
    {
      const Place place = settings_place (trainer->args.tree, deepspeed->line, deepspeed->column);

      problems_add (trainer->unsupported, &place, NULL, "deepspeed",
                    "DeepSpeed runs this job, which is not modelled; ZeRO-3 shards as FULL_SHARD "
                    "does and ZeRO-2 as SHARD_GRAD_OP");
    }
}

/* ---- the whole ---- */

/* A relative name is of the working folder, as it is to the Trainer, or else of the file's own. */
static const SettingsTree *
read_named_config (const Trainer *trainer, const SettingsMember *member)
{
  g_autofree char *folder = g_path_get_dirname (settings_name (trainer->args.tree));
  g_autofree char *beside = g_build_filename (folder, member->value->text, NULL);
  const char *path
      = g_file_test (member->value->text, G_FILE_TEST_EXISTS) ? member->value->text : beside;
  const Place place
      = settings_place (trainer->args.tree, member->value->line, member->value->column);
  g_autoptr (GError) error = NULL;
  gsize length;
  g_autofree char *text = text_file_read (path, &length, &error);
  SettingsTree *tree;

  if (text == NULL)
    {
      problems_add_io_at (trainer->unsupported, &place, NULL, "fsdp_config", "cannot read '%s': %s",
                          member->value->text, error->message);
      return NULL;
    }
  tree = settings_read_json (path, text, length, trainer->unsupported);
  if (tree != NULL)
    g_ptr_array_add (trainer->job->trees, tree);
  return tree;
}

static void
find_config (Trainer *trainer)
{
  const SettingsMember *member = reader_find (&trainer->args, "fsdp_config");

  if (trainer->config.map != NULL || member == NULL)
    return;
  trainer->config.tree = trainer->args.tree;
  if (member->value->kind == NODE_MAP)
    trainer->config.map = member->value;
  else if (member->value->text != NULL && *member->value->text != '\0')
    {
      trainer->config.tree = read_named_config (trainer, member);
      trainer->config.map
          = trainer->config.tree != NULL ? settings_root (trainer->config.tree) : NULL;
    }
}

static gboolean
is_for_xla (const Trainer *trainer)
{
  const SettingsMember *member = reader_find (&trainer->config, "xla");
  Place place;

  if (member == NULL || !settings_is_true (member->value))
    return FALSE;
  place = settings_place (trainer->config.tree, member->line, member->column);
  problems_add (trainer->unsupported, &place, NULL, "xla",
                "this is FSDP of torch_xla, for TPUs, which is not modelled");
  return TRUE;
}

void
trainer_read (const SettingsTree *tree, const SettingsNode *args, const SettingsTree *config_tree,
              const SettingsNode *config, Job *job, Findings *findings, Problems *unsupported)
{
  g_autoptr (GPtrArray) options = g_ptr_array_new_with_free_func (g_free);
  Trainer trainer = { .args = { tree, args, NULL, findings },
                      .config = { config_tree, config, "fsdp_", findings },
                      .job = job,
                      .findings = findings,
                      .unsupported = unsupported,
                      .options = options };

  job->has_trainer = TRUE;
  job->trainer = tree;
  find_config (&trainer);
  if (trainer.config.map != NULL)
    {
      job->fsdp_config = trainer.config.tree;
      job->fsdp_map = trainer.config.map;
    }
  read_args (&trainer);
  trainer.options_are_known = args != NULL;
  if (reader_words (&trainer.args, "fsdp", options, &trainer.options_place))
    find_wrong_options (&trainer);
  /* axolotl takes an fsdp_config alone for FSDP2. */
  if (job->tool == TOOL_AXOLOTL && options->len == 0 && trainer.config.map != NULL)
    trainer.options_are_known = FALSE;
  if (is_for_xla (&trainer))
    return;
  if (turns_fsdp_on (&trainer))
    read_config (&trainer);
  else if (trainer.config.map != NULL && trainer.config.map->members->len > 0)
    find_unused (&trainer);
  read_config_always (&trainer);
}

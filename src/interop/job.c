#include <config.h>

#include "interop/job.h"

#include <string.h>

#include "config/lora.h"
#include "config/scenario.h"

/* ---- versions ---- */

gboolean
version_parse (const char *text, guint *version)
{
  g_auto (GStrv) parts = g_strsplit (text, ".", 3);
  guint64 major, minor = 0;

  if (parts[0] == NULL || !g_ascii_string_to_unsigned (parts[0], 10, 0, 99, &major, NULL)
      || (parts[1] != NULL && !g_ascii_string_to_unsigned (parts[1], 10, 0, 999, &minor, NULL)))
    return FALSE;
  *version = (guint)(RELEASE (major, minor));
  return TRUE;
}

char *
version_format (guint version)
{
  return g_strdup_printf ("%u.%u", version / 1000, version % 1000);
}

/* ---- settings ---- */

JobSetting
job_default (gint value)
{
  return (JobSetting){ .value = value };
}

JobSetting
job_said (gint value, const SettingsTree *tree, const SettingsMember *member)
{
  return (JobSetting){ value, tree, member->line, member->column };
}

Place
job_place (const Job *job, const JobSetting *setting)
{
  const SettingsTree *tree = job->fsdp_config != NULL ? job->fsdp_config
                             : job->launcher != NULL  ? job->launcher
                                                      : job->trainer;

  if (setting->tree != NULL)
    return settings_place (setting->tree, setting->line, setting->column);
  if (job->fsdp_map != NULL && tree != NULL)
    return settings_place (tree, job->fsdp_map->line, 0);
  return (Place){ .file = tree != NULL ? settings_name (tree) : "" };
}

void
job_init (Job *job, Tool tool, const Versions *versions)
{
  *job = (Job){
    .tool = tool,
    .versions = *versions,
    .is_fsdp = TRUE,
    .api = { .value = API_FSDP1 },
    .strategy = { .value = STRATEGY_FULL_SHARD },
    .reshard = { .value = RESHARD_AUTO },
    .backward_prefetch = { .value = PREFETCH_NONE },
    .limit_all_gathers = { .value = versions->accelerate > RELEASE (0, 25) },
    .use_orig_params = { .value = TRUE },
    .sync_module_states = { .value = TRUE },
    .wrap = { .value = WRAP_NOTHING },
    .classes = g_ptr_array_new_with_free_func (g_free),
    .units = { .value = UNITS_ROOT_AND_BLOCKS },
    .use_reentrant = { .value = REENTRANT_UNSAID },
    .select_every = { .value = 1 },
    .param_dtype = { .value = DTYPE_BF16 },
    .reduce_dtype = { .value = DTYPE_BF16 },
    .grad_accum = { .value = 1 },
    .early_stop = TRUE,
    .software = tool == TOOL_TORCHTITAN ? "torchtitan"
                : tool == TOOL_FOUNDRY  ? "composer"
                                        : "hf-trainer",
    .model_keys = g_ptr_array_new_with_free_func (g_free),
    .trees = g_ptr_array_new_with_free_func ((GDestroyNotify)settings_tree_free),
  };
}

void
job_clear (Job *job)
{
  g_ptr_array_unref (job->classes);
  g_ptr_array_unref (job->model_keys);
  g_ptr_array_unref (job->trees);
}

/* ---- what the settings come to ---- */

/* fsdp-semantics: transformers' layers checkpoint themselves inside __call__ since 4.53, which an
 * FSDP1 wrapper encloses and the hooks of FSDP2 do not; accelerate wraps after FSDP1, before
 * FSDP2, and in 1.6 and 1.7 wrapped first and sharded what was inside. */
Nesting
job_nesting (const Job *job)
{
  const gboolean is_fsdp2 = job->api.value == API_FSDP2;

  if (job->activation_checkpointing.value)
    return is_fsdp2 && job->tool != TOOL_TORCHTITAN && job->tool != TOOL_TORCHTUNE
                   && job->versions.accelerate < RELEASE (1, 8)
               ? NEST_OUTSIDE
               : NEST_INSIDE;
  if (!job->gradient_checkpointing.value)
    return NEST_NONE;
  return !is_fsdp2 && job->versions.transformers >= RELEASE (4, 53) ? NEST_INSIDE : NEST_OUTSIDE;
}

gboolean
job_is_reentrant (const Job *job)
{
  if (job->activation_checkpointing.value)
    return job->inside_reentrant.value;
  if (!job->gradient_checkpointing.value)
    return FALSE;
  if (job->use_reentrant.value == REENTRANT_UNSAID)
    return job->tool != TOOL_AXOLOTL && job->versions.transformers < RELEASE (5, 0);
  return job->use_reentrant.value;
}

/* accelerate since 1.8, which FSDP2's own checkpointing of the other programs is not. */
gboolean
job_checkpoints_children (const Job *job)
{
  return job->api.value == API_FSDP2 && job->activation_checkpointing.value && !job->whole_blocks
         && job_nesting (job) == NEST_INSIDE
         && (job->tool == TOOL_ACCELERATE || job->tool == TOOL_TRAINER
             || job->tool == TOOL_AXOLOTL);
}

gboolean
job_gathers_again (const Job *job)
{
  if (job->api.value == API_FSDP2)
    return job->reshard.value != RESHARD_FALSE;
  return job->strategy.value == STRATEGY_FULL_SHARD || job->strategy.value == STRATEGY_HYBRID_SHARD;
}

gboolean
job_is_one_process (const Job *job)
{
  return job->tool == TOOL_ACCELERATE && job->processes.value == 1;
}

/* ---- as overrides ---- */

static void add (GPtrArray *list, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
add (GPtrArray *list, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_ptr_array_add (list, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

static const char *
yes_or_no (gboolean value)
{
  return value ? "true" : "false";
}

static void
add_training (const Job *job, GPtrArray *list)
{
  add (list, "software.source=%s", job->software);
  if (job->compile.value)
    add (list, "software.compile=true");
  if (job->micro_batch.value > 0)
    add (list, "training.micro_batch=%d", job->micro_batch.value);
  if (job->grad_accum.value > 0)
    add (list, "training.grad_accum=%d", job->grad_accum.value);
  if (job->seq_len.value > 0)
    add (list, "training.seq_len=%d", job->seq_len.value);
}

static void
add_adapters (const JobAdapters *adapters, GPtrArray *list)
{
  g_autofree char *targets = lora_targets_format (adapters->targets);

  if (!adapters->given || adapters->unlike != NULL)
    return;
  add (list, "training.trainable=lora");
  if (adapters->rank > 0)
    add (list, "training.lora_rank=%d", adapters->rank);
  if (adapters->targets != 0)
    add (list, "training.lora_targets=%s", targets);
}

static void
add_fsdp1 (const Job *job, GPtrArray *list)
{
  add (list, "fsdp.sharding_strategy=%s", ShardingStrategy_words[job->strategy.value]);
  add (list, "fsdp.backward_prefetch=%s", BackwardPrefetch_words[job->backward_prefetch.value]);
  add (list, "fsdp.forward_prefetch=%s", yes_or_no (job->forward_prefetch.value));
  add (list, "fsdp.limit_all_gathers=%s", yes_or_no (job->limit_all_gathers.value));
}

static void
add_fsdp2 (const Job *job, GPtrArray *list)
{
  static const char *const words[] = { "false", "auto", "true", "all_but_last" };

  if (job->strategy.value == STRATEGY_HYBRID_SHARD)
    add (list, "fsdp.sharding_strategy=HYBRID_SHARD");
  if (job->reshard.value > 0)
    add (list, "fsdp.reshard_after_forward=%d", job->reshard.value);
  else
    add (list, "fsdp.reshard_after_forward=%s", words[-job->reshard.value]);
}

static void
add_checkpointing (const Job *job, GPtrArray *list)
{
  const Nesting nesting = job_nesting (job);

  if (nesting == NEST_NONE)
    return;
  add (list, "activation_checkpointing.method=%s",
       CheckpointMethod_words[nesting == NEST_OUTSIDE ? CHECKPOINT_OUTSIDE : CHECKPOINT_INSIDE]);
  add (list, "activation_checkpointing.use_reentrant=%s", yes_or_no (job_is_reentrant (job)));
  add (list, "activation_checkpointing.early_stop=%s", yes_or_no (job->early_stop));
  if (job_checkpoints_children (job))
    add (list, "activation_checkpointing.select=children");
  else if (job->select_every.value == 0)
    add (list, "activation_checkpointing.select=op");
  else if (job->select_every.value > 1)
    add (list, "activation_checkpointing.select=every:%d", job->select_every.value);
  else
    add (list, "activation_checkpointing.select=all");
}

GPtrArray *
job_overrides (const Job *job)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (g_free);

  add_training (job, list);
  add_adapters (&job->adapters, list);
  add (list, "fsdp.api=%s", FsdpApi_words[job->api.value]);
  add (list, "fsdp.torch=%u.%u", job->versions.torch / 1000, job->versions.torch % 1000);
  if (job->api.value == API_FSDP1)
    add_fsdp1 (job, list);
  else if (job->api.value == API_FSDP2)
    add_fsdp2 (job, list);
  add (list, "fsdp.units=%s",
       UnitLayout_words[job->wrap.value == WRAP_NOTHING ? UNITS_ONE : job->units.value]);
  add (list, "fsdp.cpu_offload=%s", yes_or_no (job->offload.value));
  add (list, "fsdp.param_dtype=%s", Dtype_words[job->param_dtype.value]);
  add (list, "fsdp.reduce_dtype=%s", Dtype_words[job->reduce_dtype.value]);
  if (job->tool == TOOL_TORCHTUNE) /* loads in its dtype and casts nothing */
    add (list, "fsdp.master_dtype=param_dtype");
  add_checkpointing (job, list);
  return list;
}

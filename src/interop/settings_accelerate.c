#include <config.h>

#include "interop/settings_tools.h"

#include <string.h>

#include "config/scenario.h"
#include "config/suggest.h"
#include "interop/settings_reader.h"

static const char *const top_keys[] = { "compute_environment",
                                        "distributed_type",
                                        "mixed_precision",
                                        "use_cpu",
                                        "debug",
                                        "num_processes",
                                        "gpu_ids",
                                        "machine_rank",
                                        "num_machines",
                                        "main_process_ip",
                                        "main_process_port",
                                        "rdzv_backend",
                                        "same_network",
                                        "main_training_function",
                                        "enable_cpu_affinity",
                                        "deepspeed_config",
                                        "fsdp_config",
                                        "megatron_lm_config",
                                        "ipex_config",
                                        "mpirun_config",
                                        "fp8_config",
                                        "tp_config",
                                        "parallelism_config",
                                        "dynamo_config",
                                        "dynamo_backend",
                                        "downcast_bf16",
                                        "tpu_name",
                                        "tpu_zone",
                                        "tpu_use_cluster",
                                        "tpu_use_sudo",
                                        "tpu_vm",
                                        "tpu_env",
                                        "command_file",
                                        "commands",
                                        "fp16",
                                        NULL };

static const char *const fsdp_keys[] = { "version",
                                         "sharding_strategy",
                                         "reshard_after_forward",
                                         "auto_wrap_policy",
                                         "transformer_layer_cls_to_wrap",
                                         "min_num_params",
                                         "backward_prefetch",
                                         "backward_prefetch_policy",
                                         "forward_prefetch",
                                         "use_orig_params",
                                         "offload_params",
                                         "cpu_ram_efficient_loading",
                                         "sync_module_states",
                                         "activation_checkpointing",
                                         "state_dict_type",
                                         "ignored_modules",
                                         NULL };

/* In the order of accelerate's numbers. */
static const char *const strategy_words[]
    = { "FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD", "HYBRID_SHARD", "HYBRID_SHARD_ZERO2", NULL };
static const ShardingStrategy strategies[]
    = { STRATEGY_FULL_SHARD, STRATEGY_SHARD_GRAD_OP, STRATEGY_NO_SHARD, STRATEGY_HYBRID_SHARD,
        STRATEGY_HYBRID_SHARD_ZERO2 };

/* ---- what is not modelled ---- */

void
refuse_degree (const SettingsTree *tree, const SettingsNode *map, const char *key, const char *what,
               Problems *unsupported)
{
  const SettingsMember *member = settings_find (map, key);
  Place place;
  gint degree;

  if (member == NULL || !settings_is_count (member->value, &degree) || degree <= 1)
    return;
  place = settings_place (tree, member->value->line, member->value->column);
  problems_add (unsupported, &place, NULL, key, "%s parallelism is not modelled", what);
}

static void
read_parallelism (const SettingsTree *tree, Job *job, Problems *unsupported)
{
  const SettingsNode *map = settings_map (settings_root (tree), "parallelism_config");
  const SettingsMember *replicas = settings_find (map, "parallelism_config_dp_replicate_size");
  gint n;

  refuse_degree (tree, map, "parallelism_config_tp_size", "tensor", unsupported);
  refuse_degree (tree, map, "parallelism_config_cp_size", "context", unsupported);
  refuse_degree (tree, map, "parallelism_config_sp_size", "sequence", unsupported);
  if (replicas != NULL && settings_is_count (replicas->value, &n) && n > 1)
    job->strategy = job_said (STRATEGY_HYBRID_SHARD, tree, replicas);
}

/* ---- the top of the file ---- */

static void
find_unknown_on_top (const SettingsTree *tree, Findings *findings)
{
  const GArray *members = settings_root (tree)->members;

  for (guint i = 0; i < members->len; i++)
    {
      const SettingsMember *member = &g_array_index (members, SettingsMember, i);
      const Place place = settings_place (tree, member->line, member->column);
      const char *nearest = suggest_nearest (member->key, top_keys);

      if (g_strv_contains (top_keys, member->key) || strcmp (member->key, "<<") == 0)
        continue;
      if (g_str_has_prefix (member->key, "fsdp_"))
        findings_add (findings, FINDING_UNKNOWN_TOP_KEY, &place,
                      "%s: accelerate refuses a file with this key on top; it belongs under "
                      "fsdp_config.",
                      member->key);
      else if (nearest != NULL)
        findings_add (
            findings, FINDING_UNKNOWN_TOP_KEY, &place,
            "%s: accelerate refuses a file with keys that it does not know; '%s' is near.",
            member->key, nearest);
    }
}

static void
read_precision (const SettingsReader *reader, Job *job)
{
  static const char *const words[] = { "no", "fp16", "bf16", "fp8", NULL };
  static const Dtype dtypes[] = { DTYPE_FP32, DTYPE_FP16, DTYPE_BF16, DTYPE_BF16 };
  JobSetting precision = job_default (0);

  if (settings_is_false ((settings_find (reader->map, "mixed_precision") != NULL)
                             ? settings_find (reader->map, "mixed_precision")->value
                             : NULL))
    precision = job_said (0, reader->tree, settings_find (reader->map, "mixed_precision"));
  else
    reader_word (reader, "mixed_precision", words, 0, &precision);
  job->param_dtype = job->reduce_dtype = precision;
  job->param_dtype.value = job->reduce_dtype.value = dtypes[precision.value];
}

/* Settings for FSDP under another kind of job. */
static void
find_unused (const SettingsTree *tree, const SettingsNode *fsdp, const char *type,
             Findings *findings)
{
  const SettingsMember *first;
  Place place;

  if (fsdp == NULL || fsdp->members->len == 0)
    return;
  first = &g_array_index (fsdp->members, SettingsMember, 0);
  place = settings_place (tree, first->line, first->column);
  finding_set_fix (findings_add (findings, FINDING_CONFIG_UNUSED, &place,
                                 "distributed_type is %s, so nothing under fsdp_config is used.",
                                 type),
                   "distributed_type: FSDP");
}

static void
read_top (const SettingsReader *reader, Job *job)
{
  const SettingsNode *root = settings_root (reader->tree);
  const char *type = settings_text (root, "distributed_type");
  const SettingsNode *fsdp = settings_map (root, "fsdp_config");

  reader_count (reader, "num_machines", &job->machines);
  reader_count (reader, "num_processes", &job->processes);
  if (job->processes.value > 0 && job->machines.value == 0)
    job->machines = job_default (1);
  read_precision (reader, job);
  job->is_fsdp = type != NULL && g_ascii_strcasecmp (type, "FSDP") == 0;
  if (!job->is_fsdp)
    find_unused (reader->tree, fsdp, type != NULL ? type : "not given", reader->findings);
  if (settings_find (settings_map (root, "dynamo_config"), "dynamo_backend") != NULL)
    {
      const SettingsMember *backend
          = settings_find (settings_map (root, "dynamo_config"), "dynamo_backend");

      job->compile = job_said (!settings_is_false (backend->value), reader->tree, backend);
    }
}

/* ---- fsdp_config ---- */

static void
read_version (const SettingsReader *reader, Job *job)
{
  JobSetting version;
  Place place;

  if (!reader_count (reader, "version", &version))
    return;
  job->fsdp_version = version;
  place = job_place (job, &version);
  if (version.value != 1 && version.value != 2)
    findings_add (reader->findings, FINDING_BAD_VALUE, &place,
                  "fsdp_version: %d where 1 or 2 is expected.", version.value);
  if (version.value == 2 && job->versions.accelerate >= RELEASE (1, 6))
    job->api = (JobSetting){ API_FSDP2, version.tree, version.line, version.column };
}

static void
read_sharding (const SettingsReader *reader, Job *job)
{
  JobSetting strategy;
  JobSetting reshard;

  if (reader_word (reader, "sharding_strategy", strategy_words, 5, &strategy))
    {
      strategy.value = (gint)strategies[strategy.value];
      if (job->api.value == API_FSDP2)
        job->ignored_strategy = strategy;
      else
        job->strategy = strategy;
    }
  if (job->api.value == API_FSDP1)
    {
      const SettingsMember *member = reader_find (reader, "reshard_after_forward");

      if (member != NULL && settings_is_count (member->value, &reshard.value) == FALSE
          && !settings_is_true (member->value) && !settings_is_false (member->value))
        {
          if (reader_word (reader, "reshard_after_forward", strategy_words, 5, &reshard)
              && job->strategy.tree == NULL)
            job->strategy = (JobSetting){ (gint)strategies[reshard.value], reshard.tree,
                                          reshard.line, reshard.column };
        }
      else
        reader_flag (reader, "reshard_after_forward", &job->ignored_reshard);
      return;
    }
  reshard = job_default (TRUE);
  reader_flag (reader, "reshard_after_forward", &reshard);
  job->reshard = reshard;
  job->reshard.value = !reshard.value                                ? RESHARD_FALSE
                       : job->versions.accelerate >= RELEASE (1, 14) ? RESHARD_AUTO
                                                                     : RESHARD_TRUE;
  if (job->versions.accelerate >= RELEASE (1, 14))
    job->units = job_default (UNITS_EMBED_BLOCKS_HEAD);
}

/* Up to 0.25 one spelling, up to 0.x both, since then the other. */
static void
read_prefetch (const SettingsReader *reader, Job *job)
{
  static const char *const words[] = { "BACKWARD_PRE", "BACKWARD_POST", "NO_PREFETCH", NULL };
  const gboolean takes_old = job->versions.accelerate < RELEASE (1, 0);
  const gboolean takes_new = job->versions.accelerate > RELEASE (0, 25);
  JobSetting old = { 0 }, new = { 0 };

  reader_word (reader, "backward_prefetch_policy", words, 2, &old);
  reader_word (reader, "backward_prefetch", words, 2, &new);
  job->prefetch_cause = PREFETCH_SAID;
  if (takes_new && new.tree != NULL)
    job->backward_prefetch = new;
  else if (takes_old && old.tree != NULL)
    job->backward_prefetch = old;
  else if (old.tree != NULL || new.tree != NULL)
    {
      job->prefetch_cause = PREFETCH_UNDER_OLD_KEY;
      job->prefetch_culprit = old.tree != NULL ? old : new;
    }
  else
    job->prefetch_cause = PREFETCH_LAUNCHERS_DEFAULT;
}

static void
read_wrapping (const SettingsReader *reader, Job *job)
{
  static const char *const words[]
      = { "TRANSFORMER_BASED_WRAP", "SIZE_BASED_WRAP", "NO_WRAP", NULL };
  static const WrapRule rules[] = { WRAP_BLOCKS, WRAP_BY_SIZE, WRAP_NOTHING };

  job->min_num_params = job_default (100000000);
  if (reader_word (reader, "auto_wrap_policy", words, 0, &job->wrap))
    job->wrap.value = (gint)rules[job->wrap.value];
  reader_count (reader, "min_num_params", &job->min_num_params);
  if (reader_words (reader, "transformer_layer_cls_to_wrap", job->classes, &job->wrap_classes)
      && job->wrap.value == WRAP_NOTHING && job->wrap.tree == NULL)
    job->wrap = job->wrap_classes, job->wrap.value = WRAP_NOTHING;
  if (job->wrap.value == WRAP_BY_SIZE && job->min_num_params.value == 0)
    {
      job->wrap = job->min_num_params;
      job->wrap.value = WRAP_NOTHING;
    }
}

static void
read_fsdp (const SettingsReader *reader, Job *job)
{
  read_version (reader, job);
  read_sharding (reader, job);
  read_prefetch (reader, job);
  read_wrapping (reader, job);
  reader_flag (reader, "forward_prefetch", &job->forward_prefetch);
  reader_flag (reader, "use_orig_params", &job->use_orig_params);
  reader_flag (reader, "sync_module_states", &job->sync_module_states);
  job->ram_loading = job_default (TRUE);
  reader_flag (reader, "cpu_ram_efficient_loading", &job->ram_loading);
  reader_flag (reader, "offload_params", &job->offload);
  reader_flag (reader, "activation_checkpointing", &job->activation_checkpointing);
  reader_find_unknown (reader, fsdp_keys, FALSE, "accelerate");
}

void
accelerate_read (const SettingsTree *tree, Job *job, Findings *findings, Problems *unsupported)
{
  const SettingsReader top = { tree, settings_root (tree), NULL, findings };
  const SettingsReader fsdp
      = { tree, settings_map (settings_root (tree), "fsdp_config"), "fsdp_", findings };

  job->launcher = tree;
  job->fsdp_map = fsdp.map;
  find_unknown_on_top (tree, findings);
  read_top (&top, job);
  if (!job->is_fsdp)
    return;
  read_fsdp (&fsdp, job);
  read_parallelism (tree, job, unsupported);
}

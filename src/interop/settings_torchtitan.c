#include <config.h>

#include "interop/settings_tools.h"

#include <string.h>

#include "config/scenario.h"
#include "interop/settings_reader.h"

typedef struct
{
  const SettingsTree *tree;
  SettingsReader training, parallelism, checkpointing, compile, model;
  Job *job;
  Findings *findings;
  gboolean is_old; /* all degrees under [training], before [parallelism] was */
} Titan;

static SettingsReader
section (const SettingsTree *tree, const char *name, Findings *findings)
{
  return (SettingsReader){ tree, settings_map (settings_root (tree), name), NULL, findings };
}

/* ---- keys ---- */

/* Where a key of [training] went that newer versions read elsewhere or under another name. */
static const struct
{
  const char *key, *now;
} moved_keys[] = {
  { "batch_size", "[training] local_batch_size" },
  { "data_parallel_degree", "[parallelism] data_parallel_shard_degree" },
  { "data_parallel_shard_degree", "[parallelism] data_parallel_shard_degree" },
  { "data_parallel_replicate_degree", "[parallelism] data_parallel_replicate_degree" },
  { "tensor_parallel_degree", "[parallelism] tensor_parallel_degree" },
  { "pipeline_parallel_degree", "[parallelism] pipeline_parallel_degree" },
  { "compile", "[compile] enable" },
};

static void
find_moved (const Titan *titan)
{
  for (guint i = 0; !titan->is_old && i < G_N_ELEMENTS (moved_keys); i++)
    {
      const SettingsMember *member = settings_find (titan->training.map, moved_keys[i].key);
      g_auto (GStrv) now = g_strsplit (moved_keys[i].now, " ", 2);
      Place place;

      if (member == NULL)
        continue;
      place = settings_place (titan->tree, member->line, member->column);
      finding_set_fix (findings_add (titan->findings, FINDING_OLD_LAYOUT, &place,
                                     "[training] %s: versions that know [parallelism] read %s "
                                     "instead.",
                                     member->key, moved_keys[i].now),
                       "%s\n%s = %s", now[0], now[1],
                       member->value->text != NULL ? member->value->text : "");
    }
}

static void
find_unknown (const Titan *titan)
{
  static const char *const parallelism[] = { "data_parallel_replicate_degree",
                                             "data_parallel_shard_degree",
                                             "fsdp_reshard_after_forward",
                                             "tensor_parallel_degree",
                                             "disable_loss_parallel",
                                             "enable_async_tensor_parallel",
                                             "pipeline_parallel_degree",
                                             "pipeline_parallel_split_points",
                                             "pipeline_parallel_layers_per_stage",
                                             "pipeline_parallel_first_stage_less_layers",
                                             "pipeline_parallel_last_stage_less_layers",
                                             "pipeline_parallel_schedule",
                                             "pipeline_parallel_schedule_csv",
                                             "pipeline_parallel_microbatch_size",
                                             "pipeline_parallel_microbatches",
                                             "pipeline_parallel_expert_parallel_overlap",
                                             "module_fqns_per_model_part",
                                             "context_parallel_degree",
                                             "context_parallel_rotate_method",
                                             "context_parallel_load_balancer",
                                             "expert_parallel_degree",
                                             "expert_tensor_parallel_degree",
                                             "expert_parallel_comm_backend",
                                             "enable_compiled_autograd",
                                             "enable_fsdp_symm_mem",
                                             NULL };
  static const char *const checkpointing[] = { "mode",
                                               "selective_ac_option",
                                               "per_op_sac_force_recompute_mm_shapes_by_fqns",
                                               "early_stop",
                                               "memory_budget",
                                               "visualize_memory_budget_pareto",
                                               "preserve_rng_state",
                                               "determinism_check",
                                               "debug",
                                               NULL };

  reader_find_unknown (&titan->parallelism, parallelism, TRUE, "torchtitan");
  reader_find_unknown (&titan->checkpointing, checkpointing, TRUE, "torchtitan");
}

/* ---- values ---- */

static gint
degree (const SettingsNode *map, const char *key, gint standard)
{
  const SettingsMember *member = settings_find (map, key);
  gint number;

  return member != NULL && settings_is_count (member->value, &number) ? number : standard;
}

static void
read_degrees (const Titan *titan, Problems *unsupported)
{
  static const struct
  {
    const char *key, *what;
  } others[] = { { "tensor_parallel_degree", "tensor" },
                 { "pipeline_parallel_degree", "pipeline" },
                 { "context_parallel_degree", "context" },
                 { "expert_parallel_degree", "expert" } };
  const SettingsNode *root = settings_root (titan->tree);
  const SettingsNode *map = titan->is_old ? titan->training.map : titan->parallelism.map;
  const gint replicas = degree (map, "data_parallel_replicate_degree", 1);
  const SettingsMember *shards = settings_find (map, "data_parallel_shard_degree");
  gint n_shards;

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      refuse_degree (titan->tree, map, others[i].key, others[i].what, unsupported);
      if (titan->is_old)
        refuse_degree (titan->tree, settings_map (root, "experimental"), others[i].key,
                       others[i].what, unsupported);
    }
  if (shards != NULL && settings_is_count (shards->value, &n_shards) && n_shards > 0
      && n_shards <= (gint)MOST_JOB_RANKS / MAX (replicas, 1))
    titan->job->processes = job_default (n_shards * MAX (replicas, 1));
  if (replicas > 1)
    {
      titan->job->strategy = job_said (STRATEGY_HYBRID_SHARD, titan->tree,
                                       settings_find (map, "data_parallel_replicate_degree"));
      titan->job->machines = job_default (replicas);
    }
}

/* Before July 2025 the last block was kept, and embedding, norm and head lay in the root. */
static void
read_reshard (const Titan *titan)
{
  static const char *const words[] = { "default", "always", "never", NULL };
  static const gint values[] = { RESHARD_AUTO, RESHARD_TRUE, RESHARD_FALSE };
  JobSetting policy = job_default (0);
  Job *job = titan->job;

  reader_word (&titan->parallelism, "fsdp_reshard_after_forward", words, 0, &policy);
  job->reshard = policy;
  job->reshard.value = titan->is_old ? RESHARD_ALL_BUT_LAST : values[policy.value];
  job->units = job_default (titan->is_old ? UNITS_ROOT_AND_BLOCKS : UNITS_EMBED_BLOCKS_HEAD);
}

static void
read_dtypes (const Titan *titan)
{
  static const char *const words[] = { "bfloat16", "float16", "float32", NULL };

  titan->job->reduce_dtype = job_default (DTYPE_FP32);
  reader_word (&titan->training, "mixed_precision_param", words, 0, &titan->job->param_dtype);
  reader_word (&titan->training, "mixed_precision_reduce", words, 0, &titan->job->reduce_dtype);
}

/* Selective without an option is "2": every second block. */
static void
read_checkpointing (const Titan *titan)
{
  static const char *const modes[] = { "selective", "full", "none", "memory_budget", NULL };
  JobSetting mode = job_default (0);
  const char *option = settings_text (titan->checkpointing.map, "selective_ac_option");
  Job *job = titan->job;
  guint64 every = 2;

  reader_word (&titan->checkpointing, "mode", modes, 0, &mode);
  job->activation_checkpointing = mode;
  job->activation_checkpointing.value = mode.value != 2;
  job->early_stop = FALSE;
  if (mode.value != 0)
    return;
  if (option != NULL && strcmp (option, "op") == 0)
    every = 0;
  else if (option != NULL)
    g_ascii_string_to_unsigned (option, 10, 1, 10000, &every, NULL);
  job->select_every = job_default ((gint)every);
}

static void
read_batch (const Titan *titan)
{
  Job *job = titan->job;

  reader_count (&titan->training, titan->is_old ? "batch_size" : "local_batch_size",
                &job->micro_batch);
  if (job->micro_batch.value == 0)
    reader_count (&titan->training, "batch_size", &job->micro_batch);
  reader_count (&titan->training, "seq_len", &job->seq_len);
  reader_flag (&titan->compile, "enable", &job->compile);
  if (titan->is_old)
    reader_flag (&titan->training, "compile", &job->compile);
}

/* "llama3" and "8B". */
static void
read_model (const Titan *titan)
{
  const char *name = settings_text (titan->model.map, "name");
  const char *flavor = settings_text (titan->model.map, "flavor");
  g_autofree char *whole
      = g_strconcat (name != NULL ? name : "", flavor != NULL ? flavor : "", NULL);

  titan->job->model_name = g_intern_string (whole);
}

void
torchtitan_read (const SettingsTree *tree, Job *job, Findings *findings, Problems *unsupported)
{
  Titan titan = { .tree = tree,
                  .training = section (tree, "training", findings),
                  .parallelism = section (tree, "parallelism", findings),
                  .checkpointing = section (tree, "activation_checkpoint", findings),
                  .compile = section (tree, "compile", findings),
                  .model = section (tree, "model", findings),
                  .job = job,
                  .findings = findings };

  titan.is_old = titan.parallelism.map == NULL;
  job->launcher = tree;
  job->api = job_default (API_FSDP2);
  job->wrap = job_default (WRAP_BLOCKS);
  read_degrees (&titan, unsupported);
  read_reshard (&titan);
  read_dtypes (&titan);
  read_checkpointing (&titan);
  read_batch (&titan);
  read_model (&titan);
  reader_flag (&titan.training, "enable_cpu_offload", &job->offload);
  find_moved (&titan);
  find_unknown (&titan);
}

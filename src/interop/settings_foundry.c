#include <config.h>

#include "interop/settings_tools.h"

#include <string.h>

#include "config/scenario.h"
#include "interop/settings_reader.h"

/* llm-foundry hands fsdp_config to Composer, which wraps blocks in FSDP1 and puts the
 * checkpoint inside. */

static const char *const fsdp_keys[] = { "activation_checkpointing",
                                         "activation_checkpointing_reentrant",
                                         "activation_checkpointing_target",
                                         "activation_cpu_offload",
                                         "auto_wrap",
                                         "backward_prefetch",
                                         "backward_prefetch_limit",
                                         "cpu_offload",
                                         "data_parallel_shard_degree",
                                         "data_parallel_replicate_degree",
                                         "device_mesh",
                                         "flatten_parameters",
                                         "forward_prefetch",
                                         "forward_prefetch_limit",
                                         "ignored_modules",
                                         "keep_low_precision_grads",
                                         "limit_all_gathers",
                                         "load_fsdp_monolith_rank0_only",
                                         "load_monolith_rank0_only",
                                         "load_planner",
                                         "min_params",
                                         "mixed_precision",
                                         "process_group",
                                         "save_planner",
                                         "sharded_ckpt_prefix_dir",
                                         "sharding_strategy",
                                         "state_dict_type",
                                         "sync_module_states",
                                         "te_checkpoint_wrapper",
                                         "te_shard_fp8_weight",
                                         "use_orig_params",
                                         "verbose",
                                         NULL };

static void
read_model (const SettingsNode *model, Job *job)
{
  static const struct
  {
    const char *theirs, *ours;
  } sizes[] = { { "d_model", "model.hidden" },
                { "n_layers", "model.layers" },
                { "vocab_size", "model.vocab" },
                { "max_seq_len", "model.positions" } };
  const SettingsMember *heads = settings_find (model, "n_heads");
  const SettingsMember *width = settings_find (model, "d_model");
  const SettingsMember *ratio = settings_find (model, "expansion_ratio");
  gint n, hidden, factor = 4;

  job->model_name = settings_text (model, "pretrained_model_name_or_path");
  if (g_strcmp0 (settings_text (model, "name"), "mpt_causal_lm") != 0 || width == NULL
      || heads == NULL || !settings_is_count (width->value, &hidden)
      || settings_map (model, "ffn_config") != NULL)
    return;
  job->model_name = "mpt-7b";
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      const SettingsMember *member = settings_find (model, sizes[i].theirs);

      if (member != NULL && settings_is_count (member->value, &n))
        g_ptr_array_add (job->model_keys, g_strdup_printf ("%s=%d", sizes[i].ours, n));
    }
  if (ratio != NULL)
    settings_is_count (ratio->value, &factor);
  g_ptr_array_add (job->model_keys,
                   g_strdup_printf ("model.ffn_hidden=%" G_GINT64_FORMAT, (gint64)factor * hidden));
  if (settings_is_count (heads->value, &n))
    {
      g_ptr_array_add (job->model_keys, g_strdup_printf ("model.heads=%d", n));
      g_ptr_array_add (job->model_keys, g_strdup_printf ("model.kv_heads=%d", n));
    }
}

/* PURE computes and reduces in the low precision, DEFAULT reduces in 32 bits. */
static void
read_precision (const SettingsReader *reader, Job *job)
{
  const char *kind = settings_text (reader->map, "mixed_precision");

  if (kind != NULL && g_ascii_strcasecmp (kind, "FULL") == 0)
    job->param_dtype.value = DTYPE_FP32;
  if (kind == NULL || g_ascii_strcasecmp (kind, "PURE") != 0)
    job->reduce_dtype.value = DTYPE_FP32;
}

static void
read_fsdp (const SettingsReader *reader, Job *job)
{
  static const char *const strategy_words[]
      = { "FULL_SHARD", "SHARD_GRAD_OP", "HYBRID_SHARD", "_HYBRID_SHARD_ZERO2", "NO_SHARD", NULL };
  static const char *const prefetch_words[]
      = { "BACKWARD_PRE", "BACKWARD_POST", "NO_PREFETCH", NULL };

  job->wrap = job_default (WRAP_BLOCKS);
  job->backward_prefetch = job_default (PREFETCH_BACKWARD_POST);
  job->inside_reentrant = job_default (TRUE);
  job->limit_all_gathers = job_default (TRUE);
  reader_word (reader, "sharding_strategy", strategy_words, 0, &job->strategy);
  reader_word (reader, "backward_prefetch", prefetch_words, 0, &job->backward_prefetch);
  reader_flag (reader, "forward_prefetch", &job->forward_prefetch);
  reader_flag (reader, "limit_all_gathers", &job->limit_all_gathers);
  reader_flag (reader, "use_orig_params", &job->use_orig_params);
  reader_flag (reader, "cpu_offload", &job->offload);
  reader_flag (reader, "activation_checkpointing", &job->activation_checkpointing);
  reader_flag (reader, "activation_checkpointing_reentrant", &job->inside_reentrant);
  read_precision (reader, job);
  reader_find_unknown (reader, fsdp_keys, TRUE, "Composer");
}

void
foundry_read (const SettingsTree *tree, Job *job, Findings *findings, Problems *unsupported)
{
  const SettingsNode *root = settings_root (tree);
  const SettingsReader top = { tree, root, NULL, findings };
  const SettingsReader fsdp = { tree, settings_map (root, "fsdp_config"), NULL, findings };
  const SettingsNode *variables = settings_map (root, "variables");
  const SettingsMember *length = settings_find (variables, "max_seq_len");
  gint n;

  refuse_degree (tree, settings_map (settings_map (root, "model"), "ffn_config"), "moe_world_size",
                 "expert", unsupported);
  job->launcher = tree;
  job->fsdp_map = fsdp.map;
  job->is_fsdp = fsdp.map != NULL;
  if (!job->is_fsdp)
    return;
  read_fsdp (&fsdp, job);
  read_model (settings_map (root, "model"), job);
  if (settings_find (root, "device_train_microbatch_size") != NULL
      && settings_is_count (settings_find (root, "device_train_microbatch_size")->value, &n))
    reader_count (&top, "device_train_microbatch_size", &job->micro_batch);
  if (length != NULL && settings_is_count (length->value, &n))
    job->seq_len = job_said (n, tree, length);
}

#include <config.h>

#include "interop/settings_write.h"

static gboolean
is_hybrid (const FsdpConfig *fsdp)
{
  return fsdp->strategy == STRATEGY_HYBRID_SHARD || fsdp->strategy == STRATEGY_HYBRID_SHARD_ZERO2;
}

static const char *
yes_or_no (gboolean value)
{
  return value ? "true" : "false";
}

static gboolean
reshards (const FsdpConfig *fsdp)
{
  return fsdp->reshard_after_forward != RESHARD_FALSE
         && (fsdp->reshard_after_forward != RESHARD_AUTO
             || (fsdp->strategy != STRATEGY_SHARD_GRAD_OP
                 && fsdp->strategy != STRATEGY_HYBRID_SHARD_ZERO2));
}

/* ---- accelerate ---- */

static const char *
precision (const FsdpConfig *fsdp)
{
  return fsdp->param_dtype == DTYPE_FP32 ? "'no'" : Dtype_words[fsdp->param_dtype];
}

static void
append_training (GString *text, const TrainingConfig *training)
{
  g_string_append_printf (text,
                          "# Not accelerate's, but the script's or the Trainer's:\n"
                          "#   per_device_train_batch_size: %u\n"
                          "#   gradient_accumulation_steps: %u\n"
                          "#   sequence length: %u\n",
                          training->micro_batch, training->grad_accum, training->seq_len);
}

static void
append_fsdp1 (GString *text, const FsdpConfig *fsdp)
{
  g_string_append_printf (text,
                          "  fsdp_version: 1\n"
                          "  fsdp_sharding_strategy: %s\n"
                          "  fsdp_backward_prefetch: %s\n"
                          "  fsdp_forward_prefetch: %s\n"
                          "  fsdp_use_orig_params: true\n"
                          "  fsdp_sync_module_states: true\n",
                          ShardingStrategy_words[fsdp->strategy],
                          BackwardPrefetch_words[fsdp->backward_prefetch],
                          yes_or_no (fsdp->forward_prefetch));
}

static void
append_fsdp2 (GString *text, const FsdpConfig *fsdp)
{
  g_string_append_printf (text,
                          "  fsdp_version: 2\n"
                          "  fsdp_reshard_after_forward: %s\n",
                          yes_or_no (reshards (fsdp)));
}

static void
append_checkpointing (GString *text, const FsdpConfig *fsdp, const CheckpointConfig *checkpoint)
{
  g_string_append_printf (text, "  fsdp_activation_checkpointing: %s\n",
                          yes_or_no (checkpoint->method != CHECKPOINT_NONE));
  if (checkpoint->method == CHECKPOINT_NONE)
    return;
  if (checkpoint->select_op)
    g_string_append (text, "  # The scenario keeps matmuls (select = op); accelerate checkpoints "
                           "whole blocks.\n");
  if (checkpoint->select_children && fsdp->api == API_FSDP1)
    g_string_append (text,
                     "  # The scenario checkpoints the children of each block; accelerate does "
                     "so with FSDP2 only.\n");
  else if (!checkpoint->select_children && fsdp->api == API_FSDP2)
    g_string_append (text, "  # accelerate 1.8 or newer checkpoints the children of each block "
                           "(select = children).\n");
  if (checkpoint->every > 1)
    g_string_append_printf (text,
                            "  # The scenario checkpoints every %u. block; accelerate checkpoints "
                            "all.\n",
                            checkpoint->every);
}

static void
append_wrapping (GString *text, UnitLayout units)
{
  g_string_append_printf (text, "  fsdp_auto_wrap_policy: %s\n",
                          units == UNITS_ONE ? "NO_WRAP" : "TRANSFORMER_BASED_WRAP");
  if (units == UNITS_EMBED_BLOCKS_HEAD)
    g_string_append (text, "  # The scenario wraps embedding and head too: name their classes, "
                           "beside the block's, in\n"
                           "  # fsdp_transformer_layer_cls_to_wrap.\n");
  if (units == UNITS_ATTENTION_AND_MLP)
    g_string_append (text, "  # The scenario wraps attention and MLP of each block too: name their "
                           "classes, beside the\n"
                           "  # block's, in fsdp_transformer_layer_cls_to_wrap.\n");
}

static void
append_machines (GString *text, guint n_machines)
{
  if (n_machines > 1)
    g_string_append_printf (text,
                            "# On each machine its own machine_rank, 0 to %u, and on all the "
                            "address of the first:\n"
                            "#   main_process_ip: ADDRESS\n"
                            "#   main_process_port: 29500\n",
                            n_machines - 1);
}

/* What accelerate has no key for. */
static void
append_differences (GString *text, const Scenario *scenario)
{
  const FsdpConfig *fsdp = &scenario->fsdp;

  if (fsdp->reduce_dtype != fsdp->param_dtype)
    g_string_append_printf (text,
                            "# The scenario reduces gradients in %s; accelerate takes "
                            "mixed_precision for them as well.\n",
                            Dtype_words[fsdp->reduce_dtype]);
  if (fsdp->api == API_FSDP2 && fsdp->reshard_after_forward == RESHARD_AUTO && reshards (fsdp))
    g_string_append (text, "# The scenario keeps the root gathered after the forward; accelerate "
                           "reshards it too.\n");
  if (fsdp->api == API_FSDP1 && is_hybrid (fsdp)
      && fsdp->shard_group_size != scenario->cluster.gpus_per_node)
    g_string_append_printf (text,
                            "# The scenario shards over %u GPUs; FSDP1 under accelerate shards "
                            "over a node.\n",
                            fsdp->shard_group_size);
}

/* accelerate 1.10 and later */
static void
append_mesh (GString *text, const Scenario *scenario)
{
  const guint shard = scenario->fsdp.shard_group_size;

  g_string_append_printf (text,
                          "parallelism_config:\n"
                          "  parallelism_config_dp_replicate_size: %u\n"
                          "  parallelism_config_dp_shard_size: %u\n"
                          "  parallelism_config_tp_size: 1\n"
                          "  parallelism_config_cp_size: 1\n",
                          scenario_ranks (scenario) / shard, shard);
}

char *
settings_accelerate_yaml (const Scenario *scenario)
{
  const FsdpConfig *fsdp = &scenario->fsdp;
  const ClusterConfig *cluster = &scenario->cluster;
  GString *text = g_string_new ("# accelerate launch --config_file THIS_FILE train.py\n");

  append_training (text, &scenario->training);
  append_machines (text, cluster->nodes);
  g_string_append_printf (text,
                          "compute_environment: LOCAL_MACHINE\n"
                          "debug: false\n"
                          "distributed_type: %s\n"
                          "downcast_bf16: 'no'\n"
                          "machine_rank: 0\n"
                          "main_training_function: main\n"
                          "mixed_precision: %s\n"
                          "num_machines: %u\n"
                          "num_processes: %u\n"
                          "rdzv_backend: static\n"
                          "same_network: true\n"
                          "use_cpu: false\n",
                          fsdp->api == API_DDP ? "MULTI_GPU" : "FSDP", precision (fsdp),
                          cluster->nodes, scenario_ranks (scenario));
  if (fsdp->api == API_DDP)
    return g_string_free (text, FALSE);
  append_differences (text, scenario);
  if (is_hybrid (fsdp) && fsdp->api == API_FSDP2)
    append_mesh (text, scenario);
  g_string_append (text, "fsdp_config:\n");
  if (fsdp->api == API_FSDP1)
    append_fsdp1 (text, fsdp);
  else
    append_fsdp2 (text, fsdp);
  append_checkpointing (text, fsdp, &scenario->checkpoint);
  append_wrapping (text, fsdp->units);
  g_string_append_printf (text,
                          "  fsdp_cpu_ram_efficient_loading: true\n"
                          "  fsdp_offload_params: %s\n"
                          "  fsdp_state_dict_type: SHARDED_STATE_DICT\n",
                          yes_or_no (fsdp->cpu_offload));
  return g_string_free (text, FALSE);
}

/* ---- torchtitan ---- */

static const char *
titan_dtype (Dtype dtype)
{
  return dtype == DTYPE_FP32 ? "float32" : dtype == DTYPE_FP16 ? "float16" : "bfloat16";
}

static void
append_titan_checkpointing (GString *text, const CheckpointConfig *checkpoint)
{
  g_string_append (text, "\n[activation_checkpoint]\n");
  if (checkpoint->method == CHECKPOINT_NONE)
    g_string_append (text, "mode = \"none\"\n");
  else if (checkpoint->select_op)
    g_string_append (text, "mode = \"selective\"\nselective_ac_option = \"op\"\n");
  else if (checkpoint->every > 1)
    g_string_append_printf (text, "mode = \"selective\"\nselective_ac_option = \"%u\"\n",
                            checkpoint->every);
  else
    g_string_append (text, "mode = \"full\"\n");
}

char *
settings_torchtitan_toml (const Scenario *scenario)
{
  const FsdpConfig *fsdp = &scenario->fsdp;
  const TrainingConfig *training = &scenario->training;
  const guint ranks = scenario_ranks (scenario);
  const guint shard
      = fsdp->api == API_DDP || fsdp->strategy == STRATEGY_NO_SHARD ? 1 : fsdp->shard_group_size;
  GString *text = g_string_new (NULL);

  if (fsdp->api != API_FSDP2)
    g_string_append_printf (text,
                            "# torchtitan runs FSDP2; this was planned for %s, whose schedule and "
                            "memory differ.\n",
                            FsdpApi_words[fsdp->api]);
  g_string_append_printf (
      text,
      "[training]\nlocal_batch_size = %u\nglobal_batch_size = %" G_GUINT64_FORMAT
      "\nseq_len = %u\nmixed_precision_param = \"%s\"\n"
      "mixed_precision_reduce = \"%s\"\n",
      training->micro_batch, (guint64)training->micro_batch * training->grad_accum * ranks,
      training->seq_len, titan_dtype (fsdp->param_dtype), titan_dtype (fsdp->reduce_dtype));
  if (scenario_offloads_params (scenario))
    g_string_append (text, "enable_cpu_offload = true\n");
  g_string_append_printf (text,
                          "\n[parallelism]\ndata_parallel_replicate_degree = %u\n"
                          "data_parallel_shard_degree = %u\nfsdp_reshard_after_forward = \"%s\"\n",
                          ranks / shard, shard,
                          !reshards (fsdp)                              ? "never"
                          : fsdp->reshard_after_forward == RESHARD_TRUE ? "always"
                                                                        : "default");
  append_titan_checkpointing (text, &scenario->checkpoint);
  return g_string_free (text, FALSE);
}

#include <config.h>

#include "config/effects.h"

static const char *const without_api[] = {
  [API_FSDP1] = "no effect with fsdp1",
  [API_FSDP2] = "no effect with fsdp2",
  [API_DDP] = "no effect with ddp",
};

static const char without_hybrid[] = "no effect without a hybrid strategy";
static const char without_offload[] = "no effect without fsdp.cpu_offload";

static const char *
of_fsdp (KeyId key, const FsdpConfig *fsdp)
{
  gboolean hybrid
      = fsdp->strategy == STRATEGY_HYBRID_SHARD || fsdp->strategy == STRATEGY_HYBRID_SHARD_ZERO2;

  switch (key)
    {
    case ID_fsdp_backward_prefetch:
    case ID_fsdp_forward_prefetch:
    case ID_fsdp_limit_all_gathers:
      return fsdp->api != API_FSDP1 ? without_api[fsdp->api] : NULL;
    case ID_fsdp_reshard_after_forward:
    case ID_fsdp_reshard_after_backward:
    case ID_fsdp_forward_prefetch_depth:
    case ID_fsdp_backward_prefetch_depth:
    case ID_fsdp_separate_reduce_scatter_group:
    case ID_fsdp_reduce_scatter_input_buffers:
      return fsdp->api != API_FSDP2 ? without_api[fsdp->api] : NULL;
    case ID_fsdp_sharding_strategy:
    case ID_fsdp_units:
    case ID_fsdp_all_gather_dtype:
    case ID_fsdp_cpu_offload:
      return fsdp->api == API_DDP ? without_api[API_DDP] : NULL;
    case ID_fsdp_pin_memory:
      if (fsdp->api != API_FSDP2)
        return without_api[fsdp->api];
      return fsdp->cpu_offload ? NULL : without_offload;
    case ID_fsdp_defer_all_reduce:
      if (fsdp->api != API_FSDP2)
        return without_api[fsdp->api];
      return hybrid ? NULL : without_hybrid;
    case ID_fsdp_shard_group_size:
      if (fsdp->api == API_DDP)
        return without_api[API_DDP];
      return hybrid ? NULL : without_hybrid;
    default:
      return NULL;
    }
}

static const char *
of_checkpointing (KeyId key, const Scenario *scenario)
{
  const CheckpointConfig *checkpoint = &scenario->checkpoint;
  gboolean is_off = checkpoint->method == CHECKPOINT_NONE;

  switch (key)
    {
    case ID_activation_checkpointing_use_reentrant:
    case ID_activation_checkpointing_select:
    case ID_activation_checkpointing_offload:
    case ID_timing_recompute:
      return is_off ? "no effect with method = none" : NULL;
    case ID_activation_checkpointing_early_stop:
      if (is_off)
        return "no effect with method = none";
      if (checkpoint->use_reentrant)
        return "no effect with use_reentrant = true";
      return scenario->fsdp.torch_minor < 1 ? "no effect before torch 2.1" : NULL;
    default:
      return NULL;
    }
}

static const char *
of_cluster (KeyId key, const ClusterConfig *cluster)
{
  switch (key)
    {
    case ID_cluster_nics_per_node:
    case ID_cluster_nic_bandwidth:
    case ID_cluster_nic_efficiency:
    case ID_cluster_intra_factor:
    case ID_cluster_multi_node_latency:
    case ID_cluster_ll_hop:
    case ID_cluster_ll128_hop:
    case ID_cluster_simple_hop:
    case ID_cluster_cpu:
    case ID_cluster_tree_efficiency:
    case ID_cluster_tree_latency:
    case ID_cluster_tree_hop_factor:
    case ID_cluster_tree_ramp:
    case ID_cluster_nvls_tree_efficiency:
    case ID_cluster_send_efficiency:
    case ID_cluster_all_to_all_efficiency:
    case ID_cluster_placement:
    case ID_cluster_node_placement:
    case ID_cluster_nodes_per_leaf:
    case ID_cluster_oversubscription:
    case ID_cluster_rail_optimised:
      return cluster->nodes == 1 ? "no effect on one node" : NULL;
    default:
      return NULL;
    }
}

/* Collectives that DDP has not: its buckets take their share of all_reduce. */
static gboolean
is_unit_timing (KeyId key)
{
  switch (key)
    {
    case ID_timing_all_gather:
    case ID_timing_reduce_scatter:
    case ID_timing_root_all_gather:
    case ID_timing_root_reduce_scatter:
    case ID_timing_root_all_reduce:
    case ID_timing_embed_all_gather:
    case ID_timing_embed_reduce_scatter:
    case ID_timing_embed_all_reduce:
    case ID_timing_head_all_gather:
    case ID_timing_head_reduce_scatter:
    case ID_timing_head_all_reduce:
    case ID_timing_stack_all_gather:
    case ID_timing_stack_reduce_scatter:
    case ID_timing_stack_all_reduce:
      return TRUE;
    default:
      return FALSE;
    }
}

/* Embedding and head are units of their own in one layout, in the root in the others. */
static const char *
of_unit_timing (KeyId key, const FsdpConfig *fsdp)
{
  UnitLayout units = fsdp->units;

  if (fsdp->api == API_DDP && is_unit_timing (key))
    return without_api[API_DDP];
  switch (key)
    {
    case ID_timing_embed_all_gather:
    case ID_timing_embed_reduce_scatter:
    case ID_timing_embed_all_reduce:
    case ID_timing_head_all_gather:
    case ID_timing_head_reduce_scatter:
    case ID_timing_head_all_reduce:
      return units != UNITS_EMBED_BLOCKS_HEAD ? "no effect without units = embed_blocks_head"
                                              : NULL;
    case ID_timing_stack_all_gather:
    case ID_timing_stack_reduce_scatter:
    case ID_timing_stack_all_reduce:
      return units != UNITS_STACKS_AND_BLOCKS ? "no effect without units = stacks_and_blocks"
                                              : NULL;
    case ID_timing_root_all_gather:
    case ID_timing_root_reduce_scatter:
    case ID_timing_root_all_reduce:
      return units == UNITS_EMBED_BLOCKS_HEAD && fsdp->api == API_FSDP2
                 ? "no effect with units = embed_blocks_head under fsdp2"
                 : NULL;
    default:
      return NULL;
    }
}

/* What the CPU does, and the way to it, count where something is offloaded. */
static const char *
of_offload (KeyId key, const Scenario *scenario)
{
  switch (key)
    {
    case ID_cluster_cpu_cores:
    case ID_cluster_cpu_core_bandwidth:
    case ID_cluster_host_memory_bandwidth:
    case ID_simulation_omp_num_threads:
      return scenario_offloads_params (scenario) ? NULL : without_offload;
    case ID_cluster_host_link_bandwidth:
    case ID_timing_offload_copies:
      return scenario_offloads (scenario) ? NULL : "no effect where nothing is offloaded";
    default:
      return NULL;
    }
}

static gboolean
reduces_once (const Scenario *scenario)
{
  return scenario->training.no_sync || scenario->training.grad_accum == 1;
}

static const char *
of_simulation (KeyId key, const Scenario *scenario)
{
  const SimulationConfig *simulation = &scenario->simulation;

  switch (key)
    {
    case ID_simulation_seed:
      return simulation->compute_jitter <= 0 && simulation->gpu_spread <= 0
                 ? "no effect without compute_jitter or gpu_spread"
                 : NULL;
    case ID_simulation_degraded_links:
      return scenario->cluster.nodes == 1 ? "no effect on one node" : NULL;
    case ID_simulation_cuda_device_max_connections:
      return simulation->cuda_device_max_connections > 1 ? "no effect but at 1" : NULL;
    case ID_gpu_compute_slowdown:
      return simulation->engine == ENGINE_ONE_PASS ? "no effect with engine = one_pass" : NULL;
    case ID_fsdp_defer_all_reduce:
      return reduces_once (scenario) ? "no effect where one micro-batch alone reduces" : NULL;
    case ID_training_no_sync:
      return scenario->training.grad_accum == 1 ? "no effect with grad_accum = 1" : NULL;
    default:
      return NULL;
    }
}

gboolean
effect_is_of_adapters (KeyId key)
{
  return key == ID_training_lora_rank || key == ID_training_lora_targets
         || key == ID_fsdp_use_orig_params;
}

static const char *
of_adapters (KeyId key, const Scenario *scenario)
{
  if (!effect_is_of_adapters (key))
    return NULL;
  if (key == ID_fsdp_use_orig_params && scenario->fsdp.api != API_FSDP1)
    return without_api[scenario->fsdp.api];
  if (key == ID_fsdp_use_orig_params && scenario->software.compile)
    return NULL;
  return scenario_trains_adapters (scenario) ? NULL : "no effect without training.trainable = lora";
}

gboolean
effect_is_of_encoders (KeyId key)
{
  switch (key)
    {
    case ID_model_encoder_layers:
    case ID_model_relative_positions:
    case ID_training_encoder_seq_len:
    case ID_timing_encoder_norm_forward:
    case ID_timing_encoder_norm_backward:
    case ID_timing_stack_all_gather:
    case ID_timing_stack_reduce_scatter:
    case ID_timing_stack_all_reduce:
      return TRUE;
    default:
      return FALSE;
    }
}

static const char *
of_encoders (KeyId key, const Scenario *scenario)
{
  const ModelConfig *model = &scenario->model;

  if (effect_is_of_encoders (key) && key != ID_model_encoder_layers && !model_has_encoder (model))
    return "no effect without model.encoder_layers";
  if (key == ID_software_attention && model->relative_positions > 0)
    return "no effect with model.relative_positions, whose scores are in memory";
  return NULL;
}

static const char *
of_reliability (KeyId key, const ReliabilityConfig *reliability)
{
  switch (key)
    {
    case ID_reliability_checkpoint_interval:
    case ID_reliability_checkpoint_time:
    case ID_reliability_restart_time:
      return reliability->gpu_mtbf_ps <= 0 ? "no effect with gpu_mtbf = 0s" : NULL;
    default:
      return NULL;
    }
}

const char *
effect_absent (KeyId key, const Scenario *scenario)
{
  const char *reason = of_fsdp (key, &scenario->fsdp);

  if (reason == NULL)
    reason = of_checkpointing (key, scenario);
  if (reason == NULL)
    reason = of_cluster (key, &scenario->cluster);
  if (reason == NULL)
    reason = of_unit_timing (key, &scenario->fsdp);
  if (reason == NULL)
    reason = of_offload (key, scenario);
  if (reason == NULL)
    reason = of_simulation (key, scenario);
  if (reason == NULL)
    reason = of_adapters (key, scenario);
  if (reason == NULL)
    reason = of_encoders (key, scenario);
  if (reason == NULL)
    reason = of_reliability (key, &scenario->reliability);
  return reason;
}

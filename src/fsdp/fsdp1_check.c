#include <config.h>

#include "fsdp/hooks.h"
#include "fsdp/runtime.h"

/* Before pytorch#105090 (2.1) the recompute's post-forward hook freed the
 * parameters that the pending backward needed: pytorch#82203, #92935. A block that is no unit
 * has no such hook. */
static gboolean
check_checkpointing (const Scenario *scenario, GError **error)
{
  const CheckpointConfig *checkpoint = &scenario->checkpoint;

  if (checkpoint->method == CHECKPOINT_OUTSIDE && !checkpoint->use_reentrant
      && scenario->fsdp.units != UNITS_ONE && scenario->fsdp.torch_minor < 1)
    return fsdp_refuse (
        error, ID_activation_checkpointing_use_reentrant,
        "before torch 2.1, non-reentrant torch.utils.checkpoint around an FSDP1 unit "
        "frees the parameters that its backward needs (pytorch#105090); use torch 2.1 "
        "or newer, use_reentrant = true, or apply_activation_checkpointing");
  return TRUE;
}

/* Checkpoints around several units, and several in one unit. */
static gboolean
check_regions (const Scenario *scenario, GError **error)
{
  const CheckpointConfig *checkpoint = &scenario->checkpoint;

  if (checkpoint->method == CHECKPOINT_NONE)
    return TRUE;
  if (checkpoint->use_reentrant
      && (checkpoint->select_children || scenario->fsdp.units == UNITS_ONE))
    return fsdp_refuse (
        error, ID_activation_checkpointing_use_reentrant,
        "several reentrant checkpoints in one FSDP1 unit run its post-backward hook once "
        "each, which frees its parameters too early (pytorch#89781, #92935); use "
        "use_reentrant = false, or %s",
        checkpoint->select_children ? "select = all" : "units = root_and_blocks");
  if (scenario->fsdp.units == UNITS_ATTENTION_AND_MLP && !checkpoint->select_children
      && cost_stops_early (scenario))
    return fsdp_refuse (
        error, ID_activation_checkpointing_early_stop,
        "FSDP1 asserts that a unit is idle when its backward begins, and a checkpoint "
        "around a whole block stops its recompute early within the MLP's unit, before "
        "that unit's post-forward hook; use select = children, early_stop = false or "
        "units = root_and_blocks");
  return TRUE;
}

static gboolean
check_sharding (const Scenario *scenario, GError **error)
{
  const FsdpConfig *fsdp = &scenario->fsdp;
  gboolean hybrid
      = fsdp->strategy == STRATEGY_HYBRID_SHARD || fsdp->strategy == STRATEGY_HYBRID_SHARD_ZERO2;

  if (hybrid && fsdp->shard_group_size == 1 && scenario_ranks (scenario) > 1)
    return fsdp_refuse (error, ID_fsdp_shard_group_size,
                        "with a shard group of one rank FSDP1 falls back to NO_SHARD inside that "
                        "rank, and gradients are never reduced; use NO_SHARD or a larger "
                        "shard_group_size");
  if (fsdp->all_gather_dtype == GATHER_FP8)
    return fsdp_refuse (error, ID_fsdp_all_gather_dtype,
                        "FSDP1 gathers flat parameters in one dtype and cannot gather in fp8; "
                        "use api = fsdp2 or all_gather_dtype = param_dtype");
  if (fsdp->units == UNITS_EMBED_BLOCKS_HEAD && scenario->model.tied_embeddings)
    return fsdp_refuse (error, ID_fsdp_units,
                        "FSDP1 does not share a parameter between units: wrapped first, the "
                        "embedding takes the tied weight into its flat parameter, and the head "
                        "finds a shard where its matrix was ('weight' must be 2-D); use units = "
                        "root_and_blocks or one");
  return TRUE;
}

/* The warning in FullyShardedDataParallel's own documentation; pytorch#73784. */
static gboolean
check_offload (const Scenario *scenario, GError **error)
{
  if (scenario->fsdp.cpu_offload && scenario->training.grad_accum > 1
      && !scenario->training.no_sync)
    return fsdp_refuse (
        error, ID_training_no_sync,
        "FSDP1 does not support gradient accumulation outside no_sync() when using CPU "
        "offloading: it uses the newly-reduced gradient instead of accumulating with "
        "any existing gradient; use no_sync = true, api = fsdp2, or cpu_offload = false");
  if (scenario->fsdp.cpu_offload && scenario->training.optimizer == OPTIMIZER_ADAMW_FUSED
      && scenario->fsdp.torch_minor < 4)
    return fsdp_refuse (error, ID_training_optimizer,
                        "before torch 2.4 fused=True requires all the params to be on the GPU, and "
                        "with cpu_offload they are the CPU's; use optimizer = adamw");
  return TRUE;
}

/* Of one flat parameter all views have gradients, the embedding's too. In 2.0 it had to be uniform
 * whatever use_orig_params said. */
static gboolean
check_adapters (const Scenario *scenario, GError **error)
{
  if (scenario->fsdp.torch_minor < 1)
    return fsdp_refuse (error, ID_fsdp_torch,
                        "adapters and frozen weights of a block would be one flat parameter, and "
                        "before torch 2.1 `FlatParameter` requires uniform `requires_grad` "
                        "(ValueError); use torch 2.1 or newer");
  if (!scenario->fsdp.use_orig_params)
    return fsdp_refuse (error, ID_fsdp_use_orig_params,
                        "adapters and frozen weights of a block would be one flat parameter: Must "
                        "flatten tensors with uniform `requires_grad` when `use_orig_params=False` "
                        "(ValueError); use use_orig_params = true or api = fsdp2");
  if (scenario->fsdp.units == UNITS_ONE)
    return fsdp_refuse (
        error, ID_fsdp_units,
        "in one flat parameter with adapters the frozen weights have gradients as well, "
        "those of embedding and head too, so that nothing is saved but optimizer "
        "states; use units = root_and_blocks or api = fsdp2");
  return TRUE;
}

/* torch/_dynamo, of modules that FSDP manages. */
static gboolean
check_compile (const Scenario *scenario, GError **error)
{
  if (scenario->software.compile && !scenario->fsdp.use_orig_params)
    return fsdp_refuse (error, ID_fsdp_use_orig_params,
                        "Dynamo only supports FSDP with use_orig_params=True (AssertionError); use "
                        "use_orig_params = true or compile = false");
  return TRUE;
}

/* _validate_frozen_params and FlatParamHandle. */
static gboolean
check_frozen (const Scenario *scenario, GError **error)
{
  gboolean apart = scenario->fsdp.units == UNITS_EMBED_BLOCKS_HEAD;

  if (scenario_trains_adapters (scenario))
    return check_adapters (scenario, error);
  if (scenario_trains_all (scenario) || (apart && params_count (&scenario->model).outer == 0))
    return TRUE;
  if (apart)
    return fsdp_refuse (
        error, ID_training_trainable,
        "the root unit would hold a frozen norm or projection of the embedding beside "
        "the final norm, and FSDP1 must flatten tensors with uniform requires_grad; use "
        "api = fsdp2");
  return fsdp_refuse (
      error, ID_training_trainable,
      "the root unit would hold the frozen embedding beside the head: FSDP1 must flatten "
      "tensors with uniform requires_grad when use_orig_params=False (ValueError), and "
      "with it computes and reduces the gradient of the whole flat parameter, for which "
      "backward goes through every block; use units = embed_blocks_head or api = fsdp2");
}

gboolean
fsdp1_check (const Scenario *scenario, GError **error)
{
  return check_checkpointing (scenario, error) && check_regions (scenario, error)
         && check_sharding (scenario, error) && check_offload (scenario, error)
         && check_compile (scenario, error) && check_frozen (scenario, error);
}

#include <config.h>

#include "study/plan_memory.h"

#include "fsdp/units.h"

/* On a rank, of so many parameters. */
static gint64
shard_bytes (const Scenario *scenario, gint64 params)
{
  return params / units_shard_ranks (scenario) * dtype_bytes (cost_master_dtype (scenario));
}

static gint64
saved_of_block (const Scenario *scenario, const StepCost *cost, guint block)
{
  const CheckpointConfig *checkpoint = &scenario->checkpoint;
  if (!scenario_trains_block (scenario, block))
    return 0;
  const BlockCost *kind = &cost->kinds[model_kind_of_block (&scenario->model, block)];

  if (checkpoint->method == CHECKPOINT_NONE || block % checkpoint->every != 0)
    return kind->saved_bytes;
  return (checkpoint->offload ? 0 : kind->input_bytes)
         + (checkpoint->select_op ? kind->selected_bytes : 0);
}

gint64
plan_memory_at_least (const Scenario *scenario, const StepCost *cost)
{
  const SimulationConfig *simulation = &scenario->simulation;
  const gboolean on_host = scenario_offloads_params (scenario);
  const gint64 shard = on_host ? 0 : shard_bytes (scenario, cost->params.total + cost->adapters);
  const gint64 states
      = on_host ? 0
                : cost_optimizer_states (scenario) * shard_bytes (scenario, cost->trained_params);
  gint64 activations = cost->head_saved_bytes + cost->encoder_saved_bytes;

  for (guint block = 0; block < scenario->model.layers; block++)
    activations += saved_of_block (scenario, cost, block);
  /* States come with the first optimizer step, behind its activations. */
  if (simulation->steps + simulation->warmup_steps < 2)
    return shard + MAX (states, activations);
  return shard + states + activations;
}

/* FSDP1 has gradients of all of a block beside adapters. */
static gint64
params_with_gradients (const Scenario *scenario, const StepCost *cost)
{
  gint64 in_blocks = cost->adapters;

  if (!scenario_trains_adapters (scenario) || scenario_spares_frozen (scenario))
    return cost->trained_params;
  for (guint block = 0; block < scenario->model.layers; block++)
    in_blocks += cost->kinds[model_kind_of_block (&scenario->model, block)].params.total;
  return in_blocks;
}

gint64
plan_host_memory (const Scenario *scenario, const StepCost *cost)
{
  return scenario->cluster.gpus_per_node
         * (shard_bytes (scenario, cost->params.total + cost->adapters)
            + shard_bytes (scenario, params_with_gradients (scenario, cost))
            + cost_optimizer_states (scenario) * shard_bytes (scenario, cost->trained_params));
}

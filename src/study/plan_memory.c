#include <config.h>

#include "study/plan_memory.h"

#include "fsdp/units.h"

static gint64
shard_elements (const Scenario *scenario, const StepCost *cost)
{
  const guint ranks = units_shard_ranks (scenario);

  return cost->params.total / ranks;
}

static gint64
saved_of_block (const Scenario *scenario, const StepCost *cost, guint block)
{
  const CheckpointConfig *checkpoint = &scenario->checkpoint;
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
  const gint64 shard
      = scenario_offloads_params (scenario)
            ? 0
            : shard_elements (scenario, cost) * dtype_bytes (cost_master_dtype (scenario));
  const gint64 states = cost_optimizer_states (scenario) * shard;
  gint64 activations = cost->head_saved_bytes;

  for (guint block = 0; block < scenario->model.layers; block++)
    activations += saved_of_block (scenario, cost, block);
  /* States come with the first optimizer step, behind its activations. */
  if (simulation->steps + simulation->warmup_steps < 2)
    return shard + MAX (states, activations);
  return shard + states + activations;
}

#include "config.h"

#include "fsdp/units.h"

guint
units_shard_ranks (const Scenario *scenario)
{
  if (scenario->fsdp.strategy == STRATEGY_NO_SHARD)
    return 1;
  return scenario->fsdp.shard_group_size;
}

guint
units_replicas (const Scenario *scenario)
{
  return scenario_ranks (scenario) / units_shard_ranks (scenario);
}

static SimTime
given_or_none (gint64 time)
{
  return time == TIMING_NOT_GIVEN ? SIM_TIME_NONE : time;
}

static Unit
make_unit (const Scenario *scenario, guint32 label, gint64 elements)
{
  const TimingConfig *timing = &scenario->timing;
  gboolean block = label >= UNIT_FIRST_BLOCK;
  guint ranks = units_shard_ranks (scenario);

  return (Unit){
    .label = label,
    .elements = elements,
    .shard = (elements + ranks - 1) / ranks,
    .all_gather = given_or_none (block ? timing->all_gather : timing->root_all_gather),
    .reduce_scatter = given_or_none (block ? timing->reduce_scatter : timing->root_reduce_scatter),
    .all_reduce = given_or_none (block ? timing->all_reduce : timing->root_all_reduce),
  };
}

void
units_init (Units *units, const Scenario *scenario, const StepCost *cost)
{
  guint layers = scenario->model.layers;
  gboolean wrapped = scenario->fsdp.units == UNITS_ROOT_AND_BLOCKS;
  gint64 in_blocks = wrapped ? layers * cost->params.block : 0;

  units->n = 1 + (wrapped ? layers : 0);
  units->list = g_new (Unit, units->n);
  units->first_block = wrapped ? 1 : UNIT_INDEX_NONE;
  units->list[0] = make_unit (scenario, UNIT_ROOT, cost->params.total - in_blocks);
  for (guint i = 1; i < units->n; i++)
    units->list[i] = make_unit (scenario, UNIT_FIRST_BLOCK + i - 1, cost->params.block);
  units->shard = 0;
  for (guint i = 0; i < units->n; i++)
    units->shard += units->list[i].shard;
}

void
units_clear (Units *units)
{
  g_clear_pointer (&units->list, g_free);
}

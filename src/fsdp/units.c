#include <config.h>

#include "fsdp/units.h"

guint
units_shard_ranks (const Scenario *scenario)
{
  if (scenario->fsdp.api == API_DDP || scenario->fsdp.strategy == STRATEGY_NO_SHARD)
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

/* What [timing] says of a kind of collective, by whose unit it is. */
#define GIVEN(timing, label, collective)                                                           \
  given_or_none ((label) == UNIT_ROOT    ? (timing)->root_##collective                             \
                 : (label) == UNIT_EMBED ? (timing)->embed_##collective                            \
                 : (label) == UNIT_HEAD  ? (timing)->head_##collective                             \
                                         : (timing)->collective)

/* Only the blocks' linear weights know fp8; their norms, one in thousands, go along. */
static guint
gather_bytes (const FsdpConfig *fsdp, guint32 label)
{
  if (fsdp->all_gather_dtype == GATHER_FP8 && label >= UNIT_FIRST_BLOCK)
    return 1;
  return dtype_bytes (fsdp->param_dtype);
}

/* The next unit in forward order; its index. */
static guint
add_unit (Units *units, const Scenario *scenario, guint32 label, gint64 elements)
{
  const TimingConfig *timing = &scenario->timing;
  guint ranks = units_shard_ranks (scenario);
  gint64 shard = (elements + ranks - 1) / ranks;

  units->list[units->n] = (Unit){ .label = label,
                                  .elements = elements,
                                  .shard = shard,
                                  .gather_bytes = gather_bytes (&scenario->fsdp, label),
                                  .all_gather = GIVEN (timing, label, all_gather),
                                  .reduce_scatter = GIVEN (timing, label, reduce_scatter),
                                  .all_reduce = GIVEN (timing, label, all_reduce) };
  units->shard += shard;
  return units->n++;
}

static gint64
elements_of_block (const Scenario *scenario, const StepCost *cost, guint block)
{
  return cost->kinds[model_kind_of_block (&scenario->model, block)].params.total;
}

/* The root unit owns all that no other does. Where embedding and head are wrapped apart,
 * fully_shard ([norm, head]) takes the final norm along, and the embedding what else there is, its
 * norm or projection; an auto-wrap policy of FSDP1 lists classes of modules and leaves these to the
 * root. DDP knows no units; its gradients come from the embedding, the blocks and the head. */
void
units_init (Units *units, const Scenario *scenario, const StepCost *cost)
{
  const ParamCount *params = &cost->params;
  UnitLayout layout
      = scenario->fsdp.api == API_DDP ? UNITS_EMBED_BLOCKS_HEAD : scenario->fsdp.units;
  guint layers = scenario->model.layers;
  gint64 in_blocks = 0;
  gboolean apart = layout == UNITS_EMBED_BLOCKS_HEAD;
  gboolean by_class = scenario->fsdp.api == API_FSDP1;
  gint64 with_embed = by_class ? 0 : params->outer;
  gint64 with_head = by_class ? 0 : params->final_norm;

  *units = (Units){ .list = g_new (Unit, layers + 3),
                    .first_block = UNIT_INDEX_NONE,
                    .embed = UNIT_INDEX_NONE,
                    .head = UNIT_INDEX_NONE };
  for (guint i = 0; layout != UNITS_ONE && i < layers; i++)
    in_blocks += elements_of_block (scenario, cost, i);
  add_unit (units, scenario, UNIT_ROOT,
            apart ? params->outer + params->final_norm - with_embed - with_head
                  : params->total - in_blocks);
  if (apart)
    units->embed = add_unit (units, scenario, UNIT_EMBED, params->embedding + with_embed);
  if (layout != UNITS_ONE)
    units->first_block = units->n;
  for (guint i = 0; layout != UNITS_ONE && i < layers; i++)
    add_unit (units, scenario, UNIT_FIRST_BLOCK + i, elements_of_block (scenario, cost, i));
  if (apart)
    units->head = add_unit (units, scenario, UNIT_HEAD, params->head + with_head);
}

void
units_clear (Units *units)
{
  g_clear_pointer (&units->list, g_free);
}

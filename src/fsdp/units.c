#include <config.h>

#include "fsdp/units.h"

#include "cost/adapters.h"

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
  given_or_none ((label) == UNIT_ROOT         ? (timing)->root_##collective                        \
                 : (label) == UNIT_EMBED      ? (timing)->embed_##collective                       \
                 : (label) == UNIT_HEAD       ? (timing)->head_##collective                        \
                 : (label) < UNIT_FIRST_BLOCK ? (timing)->stack_##collective                       \
                                              : (timing)->collective)

/* Only the blocks' linear weights know fp8; their norms, one in thousands, go along. */
static guint
gather_bytes (const FsdpConfig *fsdp, guint32 label)
{
  if (fsdp->all_gather_dtype == GATHER_FP8 && label >= UNIT_FIRST_BLOCK)
    return 1;
  return dtype_bytes (fsdp->param_dtype);
}

static gint64
share_of_rank (const Scenario *scenario, gint64 elements)
{
  const guint ranks = units_shard_ranks (scenario);

  return (elements + ranks - 1) / ranks;
}

/* The next unit in forward order; its index. */
static guint
add_unit (Units *units, const Scenario *scenario, guint32 label, gint64 elements)
{
  const TimingConfig *timing = &scenario->timing;

  units->list[units->n] = (Unit){ .label = label,
                                  .elements = elements,
                                  .shard = share_of_rank (scenario, elements),
                                  .gather_bytes = gather_bytes (&scenario->fsdp, label),
                                  .all_gather = GIVEN (timing, label, all_gather),
                                  .reduce_scatter = GIVEN (timing, label, reduce_scatter),
                                  .all_reduce = GIVEN (timing, label, all_reduce) };
  return units->n++;
}

/* With adapters. */
static gint64
elements_of_block (const Scenario *scenario, const StepCost *cost, guint block)
{
  const BlockCost *kind = &cost->kinds[model_kind_of_block (&scenario->model, block)];

  return kind->params.total + kind->adapters;
}

static const BlockParams *
params_of (const Scenario *scenario, const StepCost *cost, guint block)
{
  return &cost->kinds[model_kind_of_block (&scenario->model, block)].params;
}

static gint64
elements_of_part (const BlockParams *params, BlockPart part)
{
  return part == PART_ATTENTION ? params->attention : params->mlp;
}

/* A unit's share of what [timing] gives for the whole block's; never 0, which would mean none. */
static SimTime
share_of_given (SimTime given, gint64 elements, gint64 whole)
{
  if (given == SIM_TIME_NONE || given == 0 || elements == 0)
    return given;
  return MAX ((SimTime)((double)given * (double)elements / (double)whole), 1);
}

static void
share_times (Unit *unit, gint64 whole)
{
  unit->all_gather = share_of_given (unit->all_gather, unit->elements, whole);
  unit->reduce_scatter = share_of_given (unit->reduce_scatter, unit->elements, whole);
  unit->all_reduce = share_of_given (unit->all_reduce, unit->elements, whole);
}

/* Attention and MLP of a block apart; its own unit has what is left, the norms. */
static void
split_block (Units *units, const Scenario *scenario, const StepCost *cost, guint block)
{
  const BlockParams *params = params_of (scenario, cost, block);
  Unit *whole = &units->list[units_of_block (units, block)];

  whole->elements = params->total - params->attention - params->mlp;
  whole->shard = share_of_rank (scenario, whole->elements);
  share_times (whole, params->total);
  for (guint part = 0; part < N_BLOCK_PARTS; part++)
    {
      gint64 elements = elements_of_part (params, (BlockPart)part);
      guint32 label = timeline_unit_of_part (block, (BlockPart)part);
      guint index;

      if (elements == 0)
        continue;
      index = add_unit (units, scenario, label, elements);
      units->parts[N_BLOCK_PARTS * block + part] = index;
      share_times (&units->list[index], params->total);
    }
}

static gint64
trained_elements (const Scenario *scenario, const StepCost *cost, const Unit *unit)
{
  gboolean adapters = scenario_trains_adapters (scenario);

  if (scenario_trains_all (scenario))
    return unit->elements;
  if (unit->label == UNIT_HEAD)
    return adapters ? 0 : unit->elements;
  if (unit->label == UNIT_EMBED)
    return 0;
  guint block = timeline_block_of_unit (unit->label);
  if (adapters)
    return cost->kinds[model_kind_of_block (&scenario->model, block)].adapters;
  return scenario_trains_block (scenario, block) ? unit->elements : 0;
}

/* FSDP2 cuts each tensor by rows, and A has only lora_rank of them: beyond so many ranks the others
 * have none, but padding is gathered and scattered in their place (_get_dim0_padded_size). */
static void
cut_adapters_by_rows (Units *units, const Scenario *scenario)
{
  const guint ranks = units_shard_ranks (scenario);

  for (guint i = 0; i < units->n; i++)
    units->list[i].trained_shard = 0;
  for (guint block = 0; block < scenario->model.layers; block++)
    {
      const guint kind = model_kind_of_block (&scenario->model, block);
      const guint index = units_of_block (units, block);

      units->list[index == UNIT_INDEX_NONE ? 0 : index].trained_shard
          += adapters_rows_of_rank (scenario, model_kind (&scenario->model, kind), ranks);
    }
  for (guint i = 0; i < units->n; i++)
    {
      Unit *unit = &units->list[i];

      unit->shard = share_of_rank (scenario, unit->elements - unit->trained) + unit->trained_shard;
    }
}

/* What no other unit has of the parameters that are trained is the root's. */
static void
count_trained (Units *units, const Scenario *scenario, const StepCost *cost)
{
  gint64 left = cost->trained_params;

  for (guint i = units->n; i-- > 0;)
    {
      Unit *unit = &units->list[i];

      unit->trained = unit->label == UNIT_ROOT ? left : trained_elements (scenario, cost, unit);
      unit->trained_shard = share_of_rank (scenario, unit->trained);
      left -= unit->trained;
    }
  if (scenario_trains_adapters (scenario) && scenario->fsdp.api == API_FSDP2)
    cut_adapters_by_rows (units, scenario);
  for (guint i = 0; i < units->n; i++)
    units->shard += units->list[i].trained_shard;
}

static guint
lowest_trained (const Units *units, const Scenario *scenario)
{
  const TrainingConfig *training = &scenario->training;

  if (units->encoder != UNIT_INDEX_NONE)
    return units->encoder;
  if (scenario_embedding_needs_gradient (scenario))
    return UNIT_INDEX_NONE;
  if (scenario_trains_adapters (scenario))
    return units_of_block (units, 0);
  if (training->trained_blocks == 0)
    return units->head;
  return units_of_block (units, scenario->model.layers - training->trained_blocks);
}

/* The root unit owns all that no other does. Where embedding and head are wrapped apart,
 * fully_shard ([norm, head]) takes the final norm along, and the embedding what else there is, its
 * norm or projection; an auto-wrap policy of FSDP1 lists classes of modules and leaves these to the
 * root. An encoder or decoder that is wrapped has its positions and norms, and not the embedding,
 * which both share. DDP knows no units; its gradients come from the embedding, the blocks and the
 * head. */
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
  gint64 of_stack = layout == UNITS_STACKS_AND_BLOCKS ? params->stack_begin + params->stack_end : 0;

  *units = (Units){ .list = g_new (Unit, (N_BLOCK_PARTS + 1) * layers + 3 + N_STACKS),
                    .parts = g_new (guint, N_BLOCK_PARTS * layers),
                    .first_block = UNIT_INDEX_NONE,
                    .embed = UNIT_INDEX_NONE,
                    .head = UNIT_INDEX_NONE,
                    .encoder = UNIT_INDEX_NONE,
                    .decoder = UNIT_INDEX_NONE };
  for (guint i = 0; layout != UNITS_ONE && i < layers; i++)
    in_blocks += elements_of_block (scenario, cost, i);
  add_unit (units, scenario, UNIT_ROOT,
            apart ? params->outer + params->final_norm - with_embed - with_head
                  : params->total + cost->adapters - in_blocks - N_STACKS * of_stack);
  if (apart)
    units->embed = add_unit (units, scenario, UNIT_EMBED, params->embedding + with_embed);
  if (layout == UNITS_STACKS_AND_BLOCKS)
    {
      units->encoder = add_unit (units, scenario, UNIT_ENCODER, of_stack);
      units->decoder = add_unit (units, scenario, UNIT_DECODER, of_stack);
    }
  if (layout != UNITS_ONE)
    units->first_block = units->n;
  for (guint i = 0; layout != UNITS_ONE && i < layers; i++)
    add_unit (units, scenario, UNIT_FIRST_BLOCK + i, elements_of_block (scenario, cost, i));
  if (apart)
    units->head = add_unit (units, scenario, UNIT_HEAD, params->head + with_head);
  for (guint i = 0; i < N_BLOCK_PARTS * layers; i++)
    units->parts[i] = UNIT_INDEX_NONE;
  for (guint i = 0; layout == UNITS_ATTENTION_AND_MLP && i < layers; i++)
    split_block (units, scenario, cost, i);
  count_trained (units, scenario, cost);
  units->lowest_trained = lowest_trained (units, scenario);
}

void
units_clear (Units *units)
{
  g_clear_pointer (&units->list, g_free);
  g_clear_pointer (&units->parts, g_free);
}

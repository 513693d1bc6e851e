#include <config.h>

#include "fsdp/fsdp2.h"
#include "fsdp/runtime.h"

/* reshard_after_forward as given, or what the strategy's name stands for where it
 * is left to be chosen (accelerate maps SHARD_GRAD_OP to false). */
static gint
reshard_setting (const Scenario *scenario)
{
  ShardingStrategy strategy = scenario->fsdp.strategy;
  gint setting = scenario->fsdp.reshard_after_forward;
  gint ranks = (gint)units_shard_ranks (scenario);

  if (setting == RESHARD_AUTO
      && (strategy == STRATEGY_SHARD_GRAD_OP || strategy == STRATEGY_HYBRID_SHARD_ZERO2))
    return RESHARD_FALSE;
  if (setting == 1)
    return RESHARD_FALSE; /* a group of one holds all */
  if (setting == ranks)
    return RESHARD_TRUE;
  return setting;
}

guint
fsdp2_reshard_ranks (const Scenario *scenario)
{
  return (guint)MAX (reshard_setting (scenario), 0);
}

/* The root keeps its parameters unless told otherwise (true or a group size), which
 * torch heeds from 2.8 on; what frameworks keep besides (head, last block) is the
 * setting's. */
gboolean
fsdp2_reshards (const Scenario *scenario, guint32 label)
{
  gint setting = reshard_setting (scenario);
  gboolean is_told = setting == RESHARD_TRUE || setting > 0;
  gboolean head_apart = scenario->fsdp.units == UNITS_EMBED_BLOCKS_HEAD;

  if (setting == RESHARD_FALSE)
    return FALSE;
  if (label == UNIT_ROOT)
    return is_told && scenario->fsdp.torch_minor >= 8;
  if (label == UNIT_HEAD)
    return is_told;
  if (setting == RESHARD_ALL_BUT_LAST && label >= UNIT_FIRST_BLOCK
      && timeline_block_of_unit (label) + 1 == scenario->model.layers)
    return head_apart;
  return TRUE;
}

static gboolean
check_reshard (const Scenario *scenario, GError **error)
{
  guint small = fsdp2_reshard_ranks (scenario);
  guint ranks = units_shard_ranks (scenario);

  if (small > 0 && (small > ranks || ranks % small != 0))
    return fsdp_refuse (
        error, ID_fsdp_reshard_after_forward,
        "fully_shard takes a reshard_after_forward that divides the %u ranks of the "
        "shard group, and %u does not (ValueError)",
        ranks, small);
  /* FSDPParam.all_gather_inputs, of what a smaller group keeps after forward. */
  if (small > 0 && scenario->fsdp.all_gather_dtype == GATHER_FP8)
    return fsdp_refuse (error, ID_fsdp_all_gather_dtype,
                        "weights that are cast to fp8 before their all-gather cannot be kept in a "
                        "smaller group after forward (NotImplementedError); use "
                        "reshard_after_forward = true or false, or all_gather_dtype = "
                        "param_dtype");
  return TRUE;
}

gboolean
fsdp2_check (const Scenario *scenario, GError **error)
{
  const FsdpConfig *fsdp = &scenario->fsdp;

  if (fsdp->torch_minor < 6)
    return fsdp_refuse (error, ID_fsdp_torch,
                        "fully_shard (FSDP2) is public from torch 2.6 on; set torch = 2.6 or "
                        "newer, or api = fsdp1");
  if (fsdp->strategy == STRATEGY_NO_SHARD)
    return fsdp_refuse (error, ID_fsdp_sharding_strategy,
                        "fully_shard has no NO_SHARD; use api = ddp, or HYBRID_SHARD with "
                        "shard_group_size = 1, which is what replicate () makes of it");
  if (fsdp->units == UNITS_EMBED_BLOCKS_HEAD && scenario->model.tied_embeddings)
    return fsdp_refuse (error, ID_fsdp_units,
                        "tied embeddings must be in one unit (fully_shard cannot share a "
                        "parameter between groups); use units = root_and_blocks");
  return check_reshard (scenario, error);
}

/* The FSDP units of a model: which parameters are gathered and reduced together,
 * and what [timing] says of their collectives. */
#pragma once

#include "cost/step_cost.h"
#include "sim/program.h"

#define UNIT_INDEX_NONE G_MAXUINT

typedef struct
{
  guint32 label;        /* UNIT_ROOT, UNIT_FIRST_BLOCK + k, … */
  gint64 elements;      /* parameters */
  gint64 shard;         /* of one rank, padded: ceil (elements / shard ranks) */
  gint64 trained;       /* of the elements: those that are trained, */
  gint64 trained_shard; /* and of the shard */
  guint gather_bytes;   /* an element, as it is gathered */
  SimTime all_gather;   /* given times, or SIM_TIME_NONE */
  SimTime reduce_scatter;
  SimTime all_reduce;
} Unit;

typedef struct
{
  Unit *list; /* the root, which owns what no other unit does, is 0; parts of blocks come last */
  guint n;
  guint first_block; /* index of block 0's unit; UNIT_INDEX_NONE: blocks belong to the root's */
  guint embed, head; /* indices of their units; UNIT_INDEX_NONE: they belong to the root's */
  guint encoder, decoder; /* the same; their units stand around those of their blocks */
  guint *parts; /* by block and BlockPart: indices; UNIT_INDEX_NONE: it belongs to the block's */
  guint lowest_trained; /* of those with gradients, where frozen ones or nothing but token ids are
                           below it, so that no gradient leaves it; UNIT_INDEX_NONE: it is the root
                         */
  gint64 shard;         /* of all units together, what is trained */
} Units;

void units_init (Units *units, const Scenario *scenario, const StepCost *cost);
void units_clear (Units *units);

/* Index of the unit that wraps a block, UNIT_INDEX_NONE if none does. */
static inline guint
units_of_block (const Units *units, guint block)
{
  return units->first_block == UNIT_INDEX_NONE ? UNIT_INDEX_NONE : units->first_block + block;
}

/* Index of the unit that wraps a block's attention or MLP, UNIT_INDEX_NONE if none does. */
static inline guint
units_of_part (const Units *units, guint block, BlockPart part)
{
  return units->parts[N_BLOCK_PARTS * block + (guint)part];
}

/* Ranks that share one copy of the parameters, and copies of it in the job. */
guint units_shard_ranks (const Scenario *scenario);
guint units_replicas (const Scenario *scenario);

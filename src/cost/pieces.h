/* A block's pass piece by piece: for attention and MLP that are units, or are checkpointed, apart.
 */
#pragma once

#include "cost/step_cost.h"
#include "cost/workload.h"

/* Fills in what of @cost is measured only in pieces. A time that [timing] gives for a block is
 * shared between attention and MLP, half and half, and no other piece is launched. */
void pieces_measure (const Scenario *scenario, const Workload *work, BlockCost *cost);

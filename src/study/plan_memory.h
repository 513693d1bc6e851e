/* What a training job keeps in memory for certain, without a simulation. */
#pragma once

#include "cost/step_cost.h"

/* Bytes that lie in a GPU's memory at one moment of a steady step: the end of the last forward
 * holds the shards of parameters and optimizer states and all saved activations. The real peak
 * is higher by gathered parameters, gradients and buffers. */
gint64 plan_memory_at_least (const Scenario *scenario, const StepCost *cost);

/* Bytes that lie in the host memory of each node with cpu_offload: parameters, gradients and
 * optimizer states of its ranks' shards. */
gint64 plan_host_memory (const Scenario *scenario, const StepCost *cost);

/* The attention half of a block without its norm and residual: projections,
 * rotary embedding, fused (flash) causal attention. */
#pragma once

#include "cost/workload.h"

double attention_overhead (const Scenario *scenario);

void attention_add_forward (GArray *kernels, const Workload *work);
void attention_add_backward (GArray *kernels, const Workload *work);

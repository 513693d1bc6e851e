/* The attention half of a block without its norm and residual: projections,
 * rotary embedding, attention, fused (flash) or with scores in memory. */
#pragma once

#include "cost/workload.h"

double attention_overhead (const Scenario *scenario);

void attention_add_forward (GArray *kernels, const Workload *work);
void attention_add_backward (GArray *kernels, const Workload *work);

/* Cross-attention of a decoder: its queries, keys and values of what the encoder made. */
void attention_add_cross_forward (GArray *kernels, const Workload *work);
void attention_add_cross_backward (GArray *kernels, const Workload *work);

/* A mixture of experts without its norm and residual: router, tokens sorted by
 * expert, one grouped matmul a matrix over all experts, weighted sum; and the
 * experts that every token passes beside it. Tokens spread evenly. All experts'
 * matrices are read, a token's FLOPs are those of the experts that it is sent to. */
#pragma once

#include "cost/workload.h"

void moe_add_forward (GArray *kernels, const Workload *work);
void moe_add_backward (GArray *kernels, const Workload *work);

/* Bytes a token that autograd keeps, and that the peak of the backward takes on top. */
double moe_saved (const Workload *work);
double moe_workspace (const Workload *work);

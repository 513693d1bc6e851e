/* Kernels of one transformer block. RMSNorm marks the Llama family: rotary
 * embeddings, and query, key and value projected apart. LayerNorm marks the GPT
 * family: one projection for the three, no rotary. */
#pragma once

#include "cost/workload.h"

/* How many kernels at the end of the forward make nothing that the backward
 * needs: the last matmul, what its adapters make of it, and the residual's sum. */
guint block_kernels_after_last_saved (const Workload *work);
/* … and how many of these are the residuals' sums. */
guint block_sums_at_end (const ModelConfig *model);

/* The last piece that is an attention or a feed-forward. */
guint block_last_inside (const ModelConfig *model);

/* Each kernel knows its piece. */
void block_add_forward (GArray *kernels, const Workload *work);
void block_add_backward (GArray *kernels, const Workload *work);

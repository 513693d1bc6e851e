/* Kernels of what stands before and after the blocks: the embedding; the final
 * norm, the head and the loss; and the norm behind an encoder. */
#pragma once

#include "cost/workload.h"

void embed_add_forward (GArray *kernels, const Workload *work);
void embed_add_backward (GArray *kernels, const Workload *work);
void encoder_norm_add_forward (GArray *kernels, const Workload *work);
void encoder_norm_add_backward (GArray *kernels, const Workload *work);
void head_add_forward (GArray *kernels, const Workload *work);
void head_add_backward (GArray *kernels, const Workload *work);

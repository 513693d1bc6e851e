/* Projections of multi-head latent attention (DeepSeek-V2, arXiv:2405.04434,
 * section 2.1): down to a latent for keys and values, and mostly one for queries,
 * a norm on each, and up to all heads; one rotated key for all heads. Training
 * makes keys and values for every head and runs ordinary attention over them. */
#pragma once

#include "cost/workload.h"

void latent_add_forward (GArray *kernels, const Workload *work);
void latent_add_backward (GArray *kernels, const Workload *work);

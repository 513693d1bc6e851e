/* A linear layer over all tokens of a micro-batch. */
#pragma once

#include "cost/workload.h"

/* The bias is added inside the matmul. */
void linear_add_forward (GArray *kernels, const Workload *work, const char *name, double in,
                         double out);

/* Two matmuls, for the input's gradient and for the weight's, and a sum over the
 * tokens for the bias's. Of frozen weights the first alone. */
void linear_add_backward (GArray *kernels, const Workload *work, const char *name, double in,
                          double out, gboolean bias);

/* Scaling and casting @elements to fp8, where the blocks' linear layers multiply in it. */
void linear_add_quantization (GArray *kernels, const Workload *work, double elements);

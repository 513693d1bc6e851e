#include <config.h>

#include "cost/linear.h"

/* In the dtype of the parameters in, one byte out. */
#define FP8_BYTES 1

void
linear_add_quantization (GArray *kernels, const Workload *work, double elements)
{
  if (work->matmul != KERNEL_MATMUL)
    kernels_add_pass (kernels, "fp8.cast", elements * (work->element + FP8_BYTES));
}

void
linear_add_forward (GArray *kernels, const Workload *work, const char *name, double in, double out)
{
  linear_add_quantization (kernels, work, in * out);
  kernels_add_matmul (kernels, work->matmul, name, work->tokens, out, in, work->element);
}

void
linear_add_backward (GArray *kernels, const Workload *work, const char *name, double in, double out,
                     gboolean bias)
{
  linear_add_quantization (kernels, work, work->tokens * out);
  linear_add_quantization (kernels, work, in * out);
  kernels_add_matmul (kernels, work->matmul, name, work->tokens, in, out, work->element);
  if (work->frozen)
    return;
  kernels_add_matmul (kernels, work->matmul, name, out, in, work->tokens, work->element);
  if (bias)
    kernels_add_pass (kernels, name, work->tokens * out * work->element);
}

#include "config.h"

#include "cost/linear.h"

#include "cost/kernels.h"

void
linear_add_forward (GArray *kernels, const Workload *work, const char *name, double in, double out)
{
  kernels_add_matmul (kernels, name, work->tokens, out, in, work->element);
}

void
linear_add_backward (GArray *kernels, const Workload *work, const char *name, double in, double out,
                     gboolean bias)
{
  kernels_add_matmul (kernels, name, work->tokens, in, out, work->element);
  kernels_add_matmul (kernels, name, out, in, work->tokens, work->element);
  if (bias)
    kernels_add_pass (kernels, name, work->tokens * out * work->element);
}

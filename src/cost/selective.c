#include <config.h>

#include "cost/selective.h"

/* @n_matmuls: those so far, counted on. */
static gboolean
is_kept (const Kernel *kernel, guint *n_matmuls)
{
  if (kernel->is_mm)
    return ++*n_matmuls % 2 == 1;
  return kernel->kind == KERNEL_ATTENTION && !kernel->is_cudnn;
}

void
selective_drop_kept (GArray *kernels)
{
  guint n_matmuls = 0;
  guint n_left = 0;

  for (guint i = 0; i < kernels->len; i++)
    {
      const Kernel kernel = g_array_index (kernels, Kernel, i);

      if (!is_kept (&kernel, &n_matmuls))
        g_array_index (kernels, Kernel, n_left++) = kernel;
    }
  g_array_set_size (kernels, n_left);
}

/* The last matmul's result goes into a sum, whose backward reads nothing. */
double
selective_elements (const GArray *kernels, gboolean compile)
{
  double elements = 0, of_last = 0;
  guint n_matmuls = 0;

  for (guint i = 0; i < kernels->len; i++)
    {
      const Kernel *kernel = &g_array_index (kernels, Kernel, i);
      const double kept = is_kept (kernel, &n_matmuls) ? kernel->m * kernel->n : 0;

      elements += kept;
      if (kernel->is_mm)
        of_last = kept;
    }
  return compile ? elements - of_last : elements;
}

#include <config.h>

#include "cost/selective.h"

double
selective_drop_kept (GArray *kernels)
{
  double elements = 0;
  guint n_matmuls = 0;
  guint n_left = 0;

  for (guint i = 0; i < kernels->len; i++)
    {
      const Kernel kernel = g_array_index (kernels, Kernel, i);
      gboolean is_kept = kernel.kind == KERNEL_ATTENTION;

      if (kernel.is_mm)
        is_kept = ++n_matmuls % 2 == 1;
      if (is_kept)
        elements += kernel.m * kernel.n;
      else
        g_array_index (kernels, Kernel, n_left++) = kernel;
    }
  g_array_set_size (kernels, n_left);
  return elements;
}

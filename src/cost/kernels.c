#include "config.h"

#include "cost/kernels.h"

GpuSpeed
gpu_speed (const GpuConfig *gpu, Dtype dtype)
{
  double peak = dtype == DTYPE_FP32 ? gpu->fp32_flops : gpu->matmul_flops;

  return (GpuSpeed){
    .flops_per_s = { [KERNEL_MATMUL] = peak * gpu->matmul_efficiency,
                     [KERNEL_ATTENTION] = peak * gpu->attention_efficiency,
                     [KERNEL_ATTENTION_BACKWARD] = peak * gpu->attention_backward_efficiency },
    .bytes_per_s = gpu->memory_bytes_per_s * gpu->memory_efficiency,
  };
}

GArray *
kernels_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (Kernel));
}

void
kernels_add_matmul (GArray *kernels, const char *name, double m, double n, double k, double element)
{
  double flops = 2 * m * n * k;
  Kernel kernel = { .name = name,
                    .kind = KERNEL_MATMUL,
                    .flops = flops,
                    .model_flops = flops,
                    .bytes = element * (m * k + k * n + m * n) };

  g_array_append_val (kernels, kernel);
}

void
kernels_add_pass (GArray *kernels, const char *name, double bytes)
{
  Kernel kernel = { .name = name, .kind = KERNEL_PASS, .bytes = bytes };

  g_array_append_val (kernels, kernel);
}

double
kernel_seconds (const Kernel *kernel, const GpuSpeed *speed)
{
  double memory = kernel->bytes / speed->bytes_per_s;

  if (kernel->kind == KERNEL_PASS)
    return memory;
  return MAX (kernel->flops / speed->flops_per_s[kernel->kind], memory);
}

KernelSums
kernels_sum (const GArray *kernels, const GpuSpeed *speed)
{
  KernelSums sums = { .n_kernels = kernels->len };

  for (guint i = 0; i < kernels->len; i++)
    {
      const Kernel *kernel = &g_array_index (kernels, Kernel, i);

      sums.seconds += kernel_seconds (kernel, speed);
      sums.model_flops += kernel->model_flops;
      sums.bytes += kernel->bytes;
    }
  return sums;
}

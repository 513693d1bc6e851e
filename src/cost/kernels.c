#include <config.h>

#include "cost/kernels.h"

#include <math.h>

/* How the large kernels of cuBLAS cut a result. */
#define TILE_LONG  256
#define TILE_SHORT 128

/* Of the multiprocessors that a last wave leaves idle, so many are lost. Whole ones predict
 * published runs worse, none at all a little better (docs/cost.md). */
#define LAST_WAVE_SHARE 0.25

/* Efficiencies hold for the slowest GPU of a node of eight. */
#define GPUS_OF_FIT 8

/* FlashAttention 1 loses more in its backward than 2 does (docs/cost.md). */
#define FLASH1_BACKWARD 0.62

#define MANY_KERNELS 256 /* room for which is made at once */

/* Standard deviations by which the slowest of @n lies from the mean, for large n. */
static double
expected_extreme (double n)
{
  return sqrt (2 * log (n));
}

/* A synchronous job goes at the pace of its slowest GPU. Where GPUs are told to differ
 * (simulation.gpu_spread), each rank's own factor says how slow it is. */
static double
slowest_of_job (const Scenario *scenario)
{
  double ranks = scenario_ranks (scenario);

  if (scenario->simulation.gpu_spread > 0 || scenario->gpu.speed_spread <= 0)
    return 1;
  return 1
         + scenario->gpu.speed_spread * (expected_extreme (ranks) - expected_extreme (GPUS_OF_FIT));
}

static void
set_attention_speed (GpuSpeed *speed, const Scenario *scenario, double peak)
{
  const GpuConfig *gpu = &scenario->gpu;
  double forward = gpu->attention_efficiency;
  double backward = gpu->attention_backward_efficiency;

  if (scenario->software.attention == ATTENTION_FLASH1_TRITON)
    forward = gpu->flash1_triton_efficiency;
  if (scenario->software.attention == ATTENTION_FLASH1)
    forward = gpu->flash1_efficiency;
  if (forward != gpu->attention_efficiency)
    backward = forward * FLASH1_BACKWARD;
  speed->flops_per_s[KERNEL_ATTENTION] = peak * forward;
  speed->flops_per_s[KERNEL_ATTENTION_BACKWARD] = peak * backward;
}

GpuSpeed
gpu_speed (const Scenario *scenario)
{
  const GpuConfig *gpu = &scenario->gpu;
  double peak = scenario->fsdp.param_dtype == DTYPE_FP32 ? gpu->fp32_flops : gpu->matmul_flops;
  GpuSpeed speed = {
    .flops_per_s = { [KERNEL_MATMUL] = peak * gpu->matmul_efficiency,
                     [KERNEL_MATMUL_FP8] = gpu->fp8_flops * gpu->fp8_efficiency,
                     [KERNEL_MATMUL_FP8_ROWWISE] = gpu->fp8_flops * gpu->fp8_rowwise_efficiency },
    .bytes_per_s = gpu->memory_bytes_per_s * gpu->memory_efficiency,
    .fill_depth = gpu->matmul_fill_depth,
    .multiprocessors = gpu->sms,
    .tail_waves = gpu->matmul_tail_waves,
    .slowest = slowest_of_job (scenario),
  };

  set_attention_speed (&speed, scenario, peak);
  return speed;
}

GArray *
kernels_new (void)
{
  return g_array_sized_new (FALSE, FALSE, sizeof (Kernel), MANY_KERNELS);
}

void
kernels_add_matmul (GArray *kernels, KernelKind kind, const char *name, double m, double n,
                    double k, double element)
{
  double flops = 2 * m * n * k;
  Kernel kernel = { .name = name,
                    .kind = kind,
                    .is_mm = TRUE,
                    .m = m,
                    .n = n,
                    .k = k,
                    .flops = flops,
                    .model_flops = flops,
                    .bytes = element * (m * k + k * n + m * n) };

  g_array_append_val (kernels, kernel);
}

void
kernels_add_grouped_matmul (GArray *kernels, KernelKind kind, const char *name, double n_groups,
                            double m, double n, double k, double element)
{
  Kernel *kernel;

  kernels_add_matmul (kernels, kind, name, m, n, k, element);
  kernel = &g_array_index (kernels, Kernel, kernels->len - 1);
  kernel->is_mm = FALSE;
  kernel->m *= n_groups;
  kernel->flops *= n_groups;
  kernel->model_flops *= n_groups;
  kernel->bytes *= n_groups;
}

void
kernels_add_pass (GArray *kernels, const char *name, double bytes)
{
  Kernel kernel = { .name = name, .kind = KERNEL_PASS, .bytes = bytes };

  g_array_append_val (kernels, kernel);
}

/* Tiles of a result, lying or standing, whichever are fewer. */
static double
count_tiles (double m, double n)
{
  double lying = ceil (m / TILE_SHORT) * ceil (n / TILE_LONG);
  double standing = ceil (m / TILE_LONG) * ceil (n / TILE_SHORT);

  return MIN (lying, standing);
}

/* A last wave that is not full costs a part of what it leaves idle, since libraries
 * then take other tiles or split the depth; the tail is what every matmul pays for
 * its first and last tiles. */
static double
matmul_arithmetic_seconds (const Kernel *kernel, const GpuSpeed *speed)
{
  double waves = count_tiles (kernel->m, kernel->n) / speed->multiprocessors;
  double paid = waves + LAST_WAVE_SHARE * (ceil (waves) - waves) + speed->tail_waves;
  double elements = paid * speed->multiprocessors * TILE_LONG * TILE_SHORT;
  double depth = kernel->k + speed->fill_depth;

  return 2 * elements * depth / speed->flops_per_s[kernel->kind];
}

double
kernel_seconds (const Kernel *kernel, const GpuSpeed *speed)
{
  double memory = kernel->bytes / speed->bytes_per_s;

  switch (kernel->kind)
    {
    case KERNEL_PASS:
      return memory;
    case KERNEL_ATTENTION:
    case KERNEL_ATTENTION_BACKWARD:
      return MAX (kernel->flops / speed->flops_per_s[kernel->kind], memory);
    case KERNEL_MATMUL:
    case KERNEL_MATMUL_FP8:
    case KERNEL_MATMUL_FP8_ROWWISE:
    case N_KERNEL_KINDS:
      break;
    }
  return MAX (matmul_arithmetic_seconds (kernel, speed), memory);
}

KernelSums
kernels_sum (const GArray *kernels, const GpuSpeed *speed)
{
  KernelSums sums = { .n_kernels = kernels->len };

  for (guint i = 0; i < kernels->len; i++)
    {
      const Kernel *kernel = &g_array_index (kernels, Kernel, i);

      sums.seconds += kernel_seconds (kernel, speed) * speed->slowest;
      sums.model_flops += kernel->model_flops;
      sums.bytes += kernel->bytes;
    }
  return sums;
}

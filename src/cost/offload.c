#include <config.h>

#include "cost/offload.h"

#include "cost/run.h"

/* Operands that the CPU's loops read and write, in all.
 * _single_tensor_adamw (torch/optim/adamw.py): p *= 1 - lr * decay (2); m = lerp (m, g) (3);
 * v = beta2 * v (2) + (1 - beta2) * g * g (3); r = sqrt (v) (2) / correction (2) + eps (2);
 * p += step * m / r (4). Fused: reads p, g, m, v, writes p, m, v. */
#define ADAMW_OPERANDS          20
#define ADAMW_FOR_LOOP_OPERANDS 22 /* m *= beta1 (2); m += (1 - beta1) * g (3) */
#define ADAMW_FUSED_OPERANDS    7
#define SGD_MOMENTUM_OPERANDS   8
#define SGD_OPERANDS            3
#define NORM_OPERANDS           1
#define SCALE_OPERANDS          2
#define SUM_OPERANDS            3

static double
cpu_bytes_per_s (const Scenario *scenario)
{
  const ClusterConfig *cluster = &scenario->cluster;
  double share = (double)cluster->cpu_cores / cluster->gpus_per_node;
  double cores = MIN ((double)scenario->simulation.omp_num_threads, share);

  return MIN (cores * cluster->cpu_core_bytes_per_s,
              cluster->host_memory_bytes_per_s / cluster->gpus_per_node);
}

/* Nothing on the GPU alters it. */
static KernelRun
run_of_seconds (double seconds, double bytes, gint64 given)
{
  gint64 time_ps = given != TIMING_NOT_GIVEN ? given : round_seconds_to_ps (seconds);

  return (KernelRun){ .time_ps = time_ps, .n_kernels = time_ps > 0, .fixed = TRUE, .bytes = bytes };
}

/* The GPU's engine takes from the pinned buffer what a core has read and written there. */
KernelRun
cost_host_copy (const Scenario *scenario, gint64 bytes, gboolean pinned)
{
  const ClusterConfig *cluster = &scenario->cluster;
  double rate = cluster->host_link_bytes_per_s;

  if (!pinned)
    rate = MIN (rate, cluster->cpu_core_bytes_per_s / 2);
  KernelRun run
      = run_of_seconds ((double)bytes / rate, (double)bytes, scenario->timing.offload_copies);
  if (run.n_kernels > 0)
    run.host_ps = scenario->timing.host_op != TIMING_NOT_GIVEN ? scenario->timing.host_op
                                                               : cluster->kernel_launch_ps;
  return run;
}

static KernelRun
cpu_run (const Scenario *scenario, guint operands, gint64 elements, gint64 given)
{
  double bytes = (double)operands * dtype_bytes (cost_master_dtype (scenario)) * (double)elements;

  return run_of_seconds (bytes / cpu_bytes_per_s (scenario), bytes, given);
}

KernelRun
cost_cpu_optimizer_step (const Scenario *scenario, gint64 elements)
{
  guint operands = 0;

  switch (scenario->training.optimizer)
    {
    case OPTIMIZER_ADAMW:
      operands = ADAMW_OPERANDS;
      break;
    case OPTIMIZER_ADAMW_FUSED:
      operands = ADAMW_FUSED_OPERANDS;
      break;
    case OPTIMIZER_ADAMW_FOR_LOOP:
      operands = ADAMW_FOR_LOOP_OPERANDS;
      break;
    case OPTIMIZER_SGD_MOMENTUM:
      operands = SGD_MOMENTUM_OPERANDS;
      break;
    case OPTIMIZER_SGD:
      operands = SGD_OPERANDS;
      break;
    }
  return cpu_run (scenario, operands, elements, scenario->timing.optimizer_step);
}

KernelRun
cost_cpu_grad_norm (const Scenario *scenario, gint64 elements)
{
  return cpu_run (scenario, NORM_OPERANDS, elements, scenario->timing.grad_clip);
}

KernelRun
cost_cpu_grad_scale (const Scenario *scenario, gint64 elements)
{
  gboolean given = scenario->timing.grad_clip != TIMING_NOT_GIVEN;

  return cpu_run (scenario, SCALE_OPERANDS, elements, given ? 0 : TIMING_NOT_GIVEN);
}

KernelRun
cost_cpu_accumulate (const Scenario *scenario, gint64 elements)
{
  gboolean given = scenario->timing.backward != TIMING_NOT_GIVEN;

  return cpu_run (scenario, SUM_OPERANDS, elements, given ? 0 : TIMING_NOT_GIVEN);
}

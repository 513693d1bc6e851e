#include <config.h>

#include "cost/run.h"

#include <math.h>

/* No single run counts for longer than 10,000 s, so that sums of many still fit
 * into 64 bits of picoseconds. */
#define LONGEST_PS 1e16

gint64
round_seconds_to_ps (double seconds)
{
  return (gint64)MIN (round (seconds * 1e12), LONGEST_PS);
}

/* A given host_op is for the whole run, which then counts as one launch. */
static void
set_host (KernelRun *run, const Scenario *scenario, guint n_kernels)
{
  gint64 host_op = scenario->timing.host_op;

  if (host_op == TIMING_NOT_GIVEN)
    {
      run->n_kernels = n_kernels;
      run->host_ps = n_kernels * scenario->cluster.kernel_launch_ps;
    }
  else
    {
      run->n_kernels = 1;
      run->host_ps = host_op;
    }
}

KernelRun
run_of_kernels (const Scenario *scenario, const GArray *kernels, gint64 given)
{
  GpuSpeed speed = gpu_speed (scenario);
  KernelSums sums = kernels_sum (kernels, &speed);
  gboolean fixed = given != TIMING_NOT_GIVEN;
  KernelRun run = { .time_ps = fixed ? given : round_seconds_to_ps (sums.seconds),
                    .fixed = fixed,
                    .flops = sums.model_flops,
                    .bytes = sums.bytes };

  if (run.time_ps == 0)
    return (KernelRun){ .fixed = fixed };
  set_host (&run, scenario, fixed ? 1 : sums.n_kernels);
  return run;
}

/* What leaves the GPU: copies between host memory and a GPU, and the kernels of the CPU that clips
 * gradients and runs the optimizer where fsdp.cpu_offload puts shards there. A rank's CPU streams
 * through host memory: as many cores as OMP_NUM_THREADS says, at most its share of the node's, and
 * at most its share of the node's bandwidth. docs/cost.md tells what each figure is. */
#pragma once

#include "cost/step_cost.h"

/* A copy of @bytes by a GPU's copy engine. What is not pinned a core copies to and from a pinned
 * buffer besides: the host is to wait for it (cost_copy_blocks_host). */
KernelRun cost_host_copy (const Scenario *scenario, gint64 bytes, gboolean pinned);

/* On the CPU, over a shard of @elements elements. torch.optim goes through them operation by
 * operation, tensor by tensor, or fused. Their host_ps is 0: they are the host's own time. */
KernelRun cost_cpu_optimizer_step (const Scenario *scenario, gint64 elements);
KernelRun cost_cpu_grad_norm (const Scenario *scenario, gint64 elements);
KernelRun cost_cpu_grad_scale (const Scenario *scenario, gint64 elements);
/* Adds a new gradient to one that is there. */
KernelRun cost_cpu_accumulate (const Scenario *scenario, gint64 elements);

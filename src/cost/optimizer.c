#include <config.h>

#include "cost/run.h"

/* PyTorch's foreach kernels walk over many tensors in one launch: at most 320
 * blocks of 65,536 elements each (aten/src/ATen/native/cuda/MultiTensorApply.cuh). */
#define ELEMENTS_PER_LAUNCH (320 * 65536)

/* One foreach operation: how many operands it reads and writes. */
typedef struct
{
  const char *name;
  guint operands;
} ForeachPass;

/* _multi_tensor_adamw (torch/optim/adamw.py), not capturable, no amsgrad. */
static const ForeachPass adamw[] = {
  { "adamw.decay", 2 },          /* p *= 1 - lr * decay */
  { "adamw.momentum", 3 },       /* m = lerp (m, g) */
  { "adamw.variance_decay", 2 }, /* v *= beta2 */
  { "adamw.variance", 3 },       /* v += g * g */
  { "adamw.root", 2 },           /* r = sqrt (v) */
  { "adamw.correct", 2 },        /* r /= correction */
  { "adamw.epsilon", 2 },        /* r += eps */
  { "adamw.update", 4 },         /* p += step * m / r */
};

/* All in one: reads p, g, m, v; writes p, m, v. */
static const ForeachPass adamw_fused[] = { { "adamw", 7 } };
/* _single_tensor_adamw, or a framework's own loop over tensors. */
static const ForeachPass adamw_for_loop[] = {
  { "adamw.decay", 2 },          { "adamw.momentum_decay", 2 }, { "adamw.momentum", 3 },
  { "adamw.variance_decay", 2 }, { "adamw.variance", 3 },       { "adamw.root", 2 },
  { "adamw.correct", 2 },        { "adamw.epsilon", 2 },        { "adamw.update", 4 },
};
static const ForeachPass sgd[] = { { "sgd.update", 3 } }; /* no momentum: p -= lr * g */
/* _multi_tensor_sgd (torch/optim/sgd.py). */
static const ForeachPass sgd_momentum[] = {
  { "sgd.momentum_decay", 2 }, /* b *= momentum */
  { "sgd.momentum", 3 },       /* b += g */
  { "sgd.update", 3 },         /* p -= lr * b */
};
static const ForeachPass grad_norm[] = { { "clip.norm", 1 } };
static const ForeachPass grad_scale[] = { { "clip.scale", 2 } };

static void
add_foreach (GArray *kernels, const Scenario *scenario, const ForeachPass *passes, guint n_passes,
             gint64 elements)
{
  for (guint i = 0; i < n_passes; i++)
    for (gint64 done = 0; done < elements; done += ELEMENTS_PER_LAUNCH)
      kernels_add_pass (kernels, passes[i].name,
                        (double)passes[i].operands * dtype_bytes (cost_master_dtype (scenario))
                            * (double)MIN (elements - done, ELEMENTS_PER_LAUNCH));
}

KernelRun
cost_optimizer_step (const Scenario *scenario, gint64 elements)
{
  g_autoptr (GArray) kernels = kernels_new ();

  switch (scenario->training.optimizer)
    {
    case OPTIMIZER_ADAMW:
      add_foreach (kernels, scenario, adamw, G_N_ELEMENTS (adamw), elements);
      break;
    case OPTIMIZER_ADAMW_FUSED:
      add_foreach (kernels, scenario, adamw_fused, G_N_ELEMENTS (adamw_fused), elements);
      break;
    case OPTIMIZER_ADAMW_FOR_LOOP:
      add_foreach (kernels, scenario, adamw_for_loop, G_N_ELEMENTS (adamw_for_loop), elements);
      break;
    case OPTIMIZER_SGD:
      add_foreach (kernels, scenario, sgd, G_N_ELEMENTS (sgd), elements);
      break;
    case OPTIMIZER_SGD_MOMENTUM:
      add_foreach (kernels, scenario, sgd_momentum, G_N_ELEMENTS (sgd_momentum), elements);
      break;
    default:
      g_assert_not_reached ();
    }
  return run_of_kernels (scenario, kernels, scenario->timing.optimizer_step);
}

guint
cost_optimizer_states (const Scenario *scenario)
{
  switch (scenario->training.optimizer)
    {
    case OPTIMIZER_ADAMW:
    case OPTIMIZER_ADAMW_FUSED:
    case OPTIMIZER_ADAMW_FOR_LOOP:
      return 2;
    case OPTIMIZER_SGD_MOMENTUM:
      return 1;
    case OPTIMIZER_SGD:
      break;
    }
  return 0;
}

/* The norms of all tensors, stacked, and the norm of these. */
KernelRun
cost_grad_norm (const Scenario *scenario, gint64 elements)
{
  g_autoptr (GArray) kernels = kernels_new ();

  add_foreach (kernels, scenario, grad_norm, G_N_ELEMENTS (grad_norm), elements);
  kernels_add_pass (kernels, "clip.stack", 0);
  kernels_add_pass (kernels, "clip.total_norm", 0);
  return run_of_kernels (scenario, kernels, scenario->timing.grad_clip);
}

/* The factor, max_norm / (norm + eps) and at most 1, and what it is multiplied onto. */
KernelRun
cost_grad_scale (const Scenario *scenario, gint64 elements)
{
  g_autoptr (GArray) kernels = kernels_new ();
  gboolean given = scenario->timing.grad_clip != TIMING_NOT_GIVEN;

  kernels_add_pass (kernels, "clip.add_epsilon", 0);
  kernels_add_pass (kernels, "clip.divide", 0);
  kernels_add_pass (kernels, "clip.clamp", 0);
  add_foreach (kernels, scenario, grad_scale, G_N_ELEMENTS (grad_scale), elements);
  return run_of_kernels (scenario, kernels, given ? 0 : TIMING_NOT_GIVEN);
}

#include <config.h>

#include "cost/passes.h"

#include "cost/kernels.h"

/* When a kernel is needed at all. */
typedef enum
{
  ALWAYS,
  WITH_CASTS,          /* where the dtype of the parameters is not fp32 */
  WITH_WEIGHT_GRADIENT /* where the norm's weight is not frozen */
} Need;

/* One kernel: bytes that it moves for each element of its chain. Kernels over
 * one number a token have 0 and cost their launch only. */
typedef struct
{
  const char *name;
  guint fp32_bytes; /* of operands in fp32 */
  guint operands;   /* in the dtype of the parameters */
  Need need;
} Pass;

/* y = weight * cast (x32 * rsqrt (mean (x32^2) + eps)), x32 = cast (x). */
static const Pass rmsnorm_forward[] = {
  { "norm.cast_in", 4, 1, WITH_CASTS },  { "norm.square", 8, 0, ALWAYS },
  { "norm.mean", 4, 0, ALWAYS },         { "norm.add_epsilon", 0, 0, ALWAYS },
  { "norm.rsqrt", 0, 0, ALWAYS },        { "norm.scale", 8, 0, ALWAYS },
  { "norm.cast_out", 4, 1, WITH_CASTS }, { "norm.weight", 0, 2, ALWAYS },
};

/* The same backwards as autograd does it, kernel for kernel. */
static const Pass rmsnorm_backward[] = {
  { "norm.weight_input", 0, 2, ALWAYS },
  { "norm.weight_product", 0, 3, WITH_WEIGHT_GRADIENT },
  { "norm.weight_sum", 0, 1, WITH_WEIGHT_GRADIENT },
  { "norm.cast_in", 4, 1, WITH_CASTS },
  { "norm.scale_input", 8, 0, ALWAYS },
  { "norm.scale_product", 12, 0, ALWAYS },
  { "norm.scale_sum", 4, 0, ALWAYS },
  { "norm.rsqrt_cube", 0, 0, ALWAYS },
  { "norm.rsqrt", 0, 0, ALWAYS },
  { "norm.mean", 4, 0, ALWAYS },
  { "norm.square_power", 8, 0, ALWAYS },
  { "norm.square_double", 8, 0, ALWAYS },
  { "norm.square", 12, 0, ALWAYS },
  { "norm.sum", 12, 0, ALWAYS },
  { "norm.cast_out", 4, 1, WITH_CASTS },
};

static const Pass layernorm_forward[] = { { "norm", 0, 2, ALWAYS } };
static const Pass layernorm_backward[]
    = { { "norm.input", 0, 3, ALWAYS }, { "norm.weight", 0, 2, WITH_WEIGHT_GRADIENT } };

/* torch.autocast runs layer_norm in fp32: its input is cast there, and what it
 * returns is cast back by the linear layer that follows. */
static const Pass autocast_layernorm_forward[] = { { "norm.cast_in", 4, 1, WITH_CASTS },
                                                   { "norm", 8, 0, ALWAYS },
                                                   { "norm.cast_out", 4, 1, WITH_CASTS } };
static const Pass autocast_layernorm_backward[] = { { "norm.cast_out", 4, 1, WITH_CASTS },
                                                    { "norm.input", 12, 0, ALWAYS },
                                                    { "norm.weight", 8, 0, WITH_WEIGHT_GRADIENT },
                                                    { "norm.cast_in", 4, 1, WITH_CASTS } };

/* A complex product in fp32. */
static const Pass rotary[] = { { "rotary.cast_in", 4, 1, WITH_CASTS },
                               { "rotary", 8, 0, ALWAYS },
                               { "rotary.cast_out", 4, 1, WITH_CASTS } };

static const Pass swiglu_forward[] = { { "silu", 0, 2, ALWAYS }, { "gate", 0, 3, ALWAYS } };
static const Pass swiglu_backward[]
    = { { "gate.silu", 0, 3, ALWAYS }, { "gate.up", 0, 3, ALWAYS }, { "silu", 0, 3, ALWAYS } };
static const Pass gelu_forward[] = { { "gelu", 0, 2, ALWAYS } };
static const Pass gelu_backward[] = { { "gelu", 0, 3, ALWAYS } };
static const Pass add[] = { { "add", 0, 3, ALWAYS } };

/* Cross-entropy in fp32. The rows of log_softmax stay in the L2 cache while the
 * kernel goes over them again. */
static const Pass loss_forward[] = { { "loss.cast_in", 4, 1, WITH_CASTS },
                                     { "loss.log_softmax", 8, 0, ALWAYS },
                                     { "loss.pick", 0, 0, ALWAYS } };
static const Pass loss_backward[] = { { "loss.zero", 4, 0, ALWAYS },
                                      { "loss.pick", 0, 0, ALWAYS },
                                      { "loss.log_softmax", 12, 0, ALWAYS },
                                      { "loss.cast_out", 4, 1, WITH_CASTS } };

/* Scale, mask, softmax in fp32 and back; the mask's gradient is one more pass. */
static const Pass scores_forward[] = { { "attention.scale", 0, 2, ALWAYS },
                                       { "attention.mask", 0, 3, ALWAYS },
                                       { "attention.softmax", 4, 1, ALWAYS },
                                       { "attention.cast_out", 4, 1, WITH_CASTS } };
static const Pass scores_backward[] = { { "attention.cast_out", 4, 1, WITH_CASTS },
                                        { "attention.softmax", 8, 1, ALWAYS },
                                        { "attention.mask", 0, 3, ALWAYS },
                                        { "attention.scale", 0, 2, ALWAYS } };

/* What torch.compile makes of the chains above: one kernel that reads its inputs
 * and writes its outputs (norm backward: one more for the weight's gradient). */
static const Pass compiled_norm_forward[] = { { "norm", 0, 2, ALWAYS } };
static const Pass compiled_norm_backward[]
    = { { "norm.input", 0, 3, ALWAYS }, { "norm.weight", 0, 2, WITH_WEIGHT_GRADIENT } };
static const Pass compiled_rotary[] = { { "rotary", 0, 2, ALWAYS } };
static const Pass compiled_swiglu_forward[] = { { "swiglu", 0, 3, ALWAYS } };
static const Pass compiled_swiglu_backward[] = { { "swiglu", 0, 5, ALWAYS } };

/* Logits are read for the sums and again for the gradient, which is written in place. */
static const Pass fused_loss_forward[] = { { "loss", 0, 1, ALWAYS } };
static const Pass fused_loss_backward[] = { { "loss", 0, 2, ALWAYS } };

#define CHAIN_OF(table)                                                                            \
  {                                                                                                \
    table, G_N_ELEMENTS (table)                                                                    \
  }

typedef struct
{
  const Pass *passes;
  guint n_passes;
} ChainTable;

static const ChainTable chains[N_CHAINS] = {
  [CHAIN_RMSNORM_FORWARD] = CHAIN_OF (rmsnorm_forward),
  [CHAIN_RMSNORM_BACKWARD] = CHAIN_OF (rmsnorm_backward),
  [CHAIN_LAYERNORM_FORWARD] = CHAIN_OF (layernorm_forward),
  [CHAIN_LAYERNORM_BACKWARD] = CHAIN_OF (layernorm_backward),
  [CHAIN_AUTOCAST_LAYERNORM_FORWARD] = CHAIN_OF (autocast_layernorm_forward),
  [CHAIN_AUTOCAST_LAYERNORM_BACKWARD] = CHAIN_OF (autocast_layernorm_backward),
  [CHAIN_ROTARY] = CHAIN_OF (rotary),
  [CHAIN_SWIGLU_FORWARD] = CHAIN_OF (swiglu_forward),
  [CHAIN_SWIGLU_BACKWARD] = CHAIN_OF (swiglu_backward),
  [CHAIN_GELU_FORWARD] = CHAIN_OF (gelu_forward),
  [CHAIN_GELU_BACKWARD] = CHAIN_OF (gelu_backward),
  [CHAIN_ADD] = CHAIN_OF (add),
  [CHAIN_LOSS_FORWARD] = CHAIN_OF (loss_forward),
  [CHAIN_LOSS_BACKWARD] = CHAIN_OF (loss_backward),
  [CHAIN_METRIC] = CHAIN_OF (loss_forward),
  [CHAIN_SCORES_FORWARD] = CHAIN_OF (scores_forward),
  [CHAIN_SCORES_BACKWARD] = CHAIN_OF (scores_backward),
};

/* Where torch.compile does not change a chain, it has none here. */
static const ChainTable compiled_chains[N_CHAINS] = {
  [CHAIN_RMSNORM_FORWARD] = CHAIN_OF (compiled_norm_forward),
  [CHAIN_RMSNORM_BACKWARD] = CHAIN_OF (compiled_norm_backward),
  [CHAIN_AUTOCAST_LAYERNORM_FORWARD] = CHAIN_OF (compiled_norm_forward),
  [CHAIN_AUTOCAST_LAYERNORM_BACKWARD] = CHAIN_OF (compiled_norm_backward),
  [CHAIN_ROTARY] = CHAIN_OF (compiled_rotary),
  [CHAIN_SWIGLU_FORWARD] = CHAIN_OF (compiled_swiglu_forward),
  [CHAIN_SWIGLU_BACKWARD] = CHAIN_OF (compiled_swiglu_backward),
};

static const ChainTable fused_loss[]
    = { CHAIN_OF (fused_loss_forward), CHAIN_OF (fused_loss_backward) };

static const ChainTable *
find_chain (const SoftwareConfig *software, Chain chain)
{
  gboolean is_loss = chain == CHAIN_LOSS_FORWARD || chain == CHAIN_LOSS_BACKWARD;

  if (is_loss && software->loss != LOSS_EAGER)
    return &fused_loss[chain == CHAIN_LOSS_BACKWARD];
  if (software->compile && compiled_chains[chain].n_passes > 0)
    return &compiled_chains[chain];
  return &chains[chain];
}

static gboolean
is_needed (const Pass *pass, const Workload *work)
{
  return pass->need == ALWAYS || (pass->need == WITH_CASTS ? work->casts : !work->frozen);
}

void
passes_add (GArray *kernels, const Workload *work, Chain chain, double elements)
{
  const ChainTable *table = find_chain (work->software, chain);

  for (guint i = 0; i < table->n_passes; i++)
    {
      const Pass *pass = &table->passes[i];

      if (is_needed (pass, work))
        kernels_add_pass (kernels, pass->name,
                          elements * (pass->fp32_bytes + pass->operands * work->element));
    }
}

static Chain
norm_chain (const Workload *work, gboolean forward)
{
  if (work->model->norm == NORM_RMSNORM)
    return forward ? CHAIN_RMSNORM_FORWARD : CHAIN_RMSNORM_BACKWARD;
  if (work->software->norms == NORMS_AUTOCAST)
    return forward ? CHAIN_AUTOCAST_LAYERNORM_FORWARD : CHAIN_AUTOCAST_LAYERNORM_BACKWARD;
  return forward ? CHAIN_LAYERNORM_FORWARD : CHAIN_LAYERNORM_BACKWARD;
}

void
passes_add_norm_forward_over (GArray *kernels, const Workload *work, double elements)
{
  passes_add (kernels, work, norm_chain (work, TRUE), elements);
}

void
passes_add_norm_backward_over (GArray *kernels, const Workload *work, double elements)
{
  passes_add (kernels, work, norm_chain (work, FALSE), elements);
}

void
passes_add_norm_forward (GArray *kernels, const Workload *work)
{
  passes_add_norm_forward_over (kernels, work, work->tokens * work->hidden);
}

void
passes_add_norm_backward (GArray *kernels, const Workload *work)
{
  passes_add_norm_backward_over (kernels, work, work->tokens * work->hidden);
}

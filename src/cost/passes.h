/* Chains of memory-bound kernels as PyTorch's eager mode launches them or as the
 * scenario's software does it instead, one table a chain. */
#pragma once

#include <glib.h>

#include "cost/workload.h"

typedef enum
{
  CHAIN_RMSNORM_FORWARD,
  CHAIN_RMSNORM_BACKWARD,
  CHAIN_LAYERNORM_FORWARD,
  CHAIN_LAYERNORM_BACKWARD,
  CHAIN_AUTOCAST_LAYERNORM_FORWARD, /* in fp32 between casts */
  CHAIN_AUTOCAST_LAYERNORM_BACKWARD,
  CHAIN_ROTARY, /* forward, and backward as well: the conjugate rotation */
  CHAIN_SWIGLU_FORWARD,
  CHAIN_SWIGLU_BACKWARD,
  CHAIN_GELU_FORWARD,
  CHAIN_GELU_BACKWARD,
  CHAIN_ADD, /* residual forward; sum of two gradients backward */
  CHAIN_LOSS_FORWARD,
  CHAIN_LOSS_BACKWARD,
  CHAIN_METRIC,         /* a cross-entropy that nobody differentiates */
  CHAIN_SCORES_FORWARD, /* between the two products of attention, over all scores */
  CHAIN_SCORES_BACKWARD,
  N_CHAINS
} Chain;

/* Appends the chain over @elements elements. */
void passes_add (GArray *kernels, const Workload *work, Chain chain, double elements);

/* The model's norm over all tokens. */
void passes_add_norm_forward (GArray *kernels, const Workload *work);
void passes_add_norm_backward (GArray *kernels, const Workload *work);
/* The same over other tensors: latents, queries and keys. */
void passes_add_norm_forward_over (GArray *kernels, const Workload *work, double elements);
void passes_add_norm_backward_over (GArray *kernels, const Workload *work, double elements);

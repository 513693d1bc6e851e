/* LoRA's adapters as PEFT computes them: the linear layer W x, then B (A x) scaled and added,
 * without biases and dropout. A @target is a set of LoraTarget: what the layer is of. */
#pragma once

#include "config/lora.h"
#include "cost/workload.h"

/* Has one of @targets adapters? */
static inline gboolean
adapters_beside (const Workload *work, guint targets)
{
  return (work->lora_targets & targets) != 0;
}

/* Parameters of the adapters of a block of this kind, 0 where none are trained. */
gint64 adapters_elements (const Scenario *scenario, const ModelConfig *kind);
/* What a rank holds of them where each matrix is cut by rows: the most, which is the first
 * rank's. */
gint64 adapters_rows_of_rank (const Scenario *scenario, const ModelConfig *kind, guint ranks);
/* Appends A and B of each, in the order of the forward (cost/tensors.h). */
void adapters_add_tensors (GArray *tensors, const Scenario *scenario, const ModelConfig *kind);

/* Behind the kernels of the linear layer itself; nothing where it has no adapters. */
void adapters_add_forward (GArray *kernels, const Workload *work, guint target, double in,
                           double out);
void adapters_add_backward (GArray *kernels, const Workload *work, guint target, double in,
                            double out);

/* Kernels more than without adapters behind the last tensor that the backward of @target needs: its
 * own matmul, or with adapters what comes behind A's. */
guint adapters_kernels_after_last_saved (const Workload *work, guint target);
/* Bytes of a token that the backward of @targets needs besides: what A makes. */
double adapters_saved (const Workload *work, guint targets);

/* Bytes of activations that autograd keeps, tensor by tensor as eager PyTorch
 * saves them, and of the short-lived tensors at the peak of a backward. */
#pragma once

#include "cost/step_cost.h"
#include "cost/workload.h"

/* Fill the activation fields of a kind of block and of the head. */
void activations_measure_block (const Workload *work, BlockCost *cost);
/* The same of its pieces, and what is kept of children that are checkpointed apart. */
void activations_measure_pieces (const Workload *work, BlockCost *cost);
void activations_measure_head (const Workload *work, StepCost *cost);
/* What lies between encoder and decoder. @work: of the encoder. */
void activations_measure_encoder (const Workload *work, StepCost *cost);

/* Bytes of activations that autograd keeps, tensor by tensor as eager PyTorch
 * saves them, and of the short-lived tensors at the peak of a backward. */
#pragma once

#include "cost/step_cost.h"
#include "cost/workload.h"

/* Fills the activation fields of @cost. */
void activations_measure (const Workload *work, StepCost *cost);

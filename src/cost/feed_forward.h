/* A feed-forward over all tokens without its norm and residual: two matrices, or
 * gated three, and the activation function between them. */
#pragma once

#include "cost/workload.h"

/* @inner: its inner width. */
void feed_forward_add_forward (GArray *kernels, const Workload *work, double inner);
void feed_forward_add_backward (GArray *kernels, const Workload *work, double inner);

/* The activation function, and with a gate the product, over @elements elements. */
void feed_forward_add_activation_forward (GArray *kernels, const Workload *work, double elements);
void feed_forward_add_activation_backward (GArray *kernels, const Workload *work, double elements);

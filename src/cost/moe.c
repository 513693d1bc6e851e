#include <config.h>

#include "cost/moe.h"

#include "cost/feed_forward.h"
#include "cost/linear.h"
#include "cost/passes.h"

#define FP32           4
#define TOKEN_ID_BYTES 8
#define ROUTE_OPERANDS 4 /* fp32 logits read and scores written, twice: softmax and top-k */

static double
expert_hidden (const Workload *work)
{
  return work->model->expert_hidden > 0 ? work->model->expert_hidden : work->hidden;
}

/* Rows of the sorted batch: each token once for each of its experts. */
static double
rows (const Workload *work)
{
  return work->tokens * work->model->experts_per_token;
}

/* One matrix of every expert over its rows. */
static void
add_grouped_forward (GArray *kernels, const Workload *work, const char *name, double in, double out)
{
  double n = work->model->experts;

  kernels_add_grouped_matmul (kernels, work->matmul, name, n, rows (work) / n, out, in,
                              work->element);
}

static void
add_grouped_backward (GArray *kernels, const Workload *work, const char *name, double in,
                      double out)
{
  double n = work->model->experts;

  kernels_add_grouped_matmul (kernels, work->matmul, name, n, rows (work) / n, in, out,
                              work->element);
  kernels_add_grouped_matmul (kernels, work->matmul, name, n, out, in, rows (work) / n,
                              work->element);
  if (work->model->mlp_bias)
    kernels_add_pass (kernels, name, rows (work) * out * work->element);
}

static gboolean
is_projected (const Workload *work)
{
  return expert_hidden (work) != work->hidden;
}

/* Scores of the experts, the best of them, and the order that sorts the rows. */
static void
add_routing (GArray *kernels, const Workload *work)
{
  kernels_add_pass (kernels, "moe.route",
                    ROUTE_OPERANDS * FP32 * work->tokens * work->model->experts);
  kernels_add_pass (kernels, "moe.sort", 4 * rows (work) * TOKEN_ID_BYTES);
}

void
moe_add_forward (GArray *kernels, const Workload *work)
{
  double width = expert_hidden (work);
  double row_bytes = rows (work) * width * work->element;

  linear_add_forward (kernels, work, "moe.router", work->hidden, work->model->experts);
  add_routing (kernels, work);
  if (is_projected (work))
    linear_add_forward (kernels, work, "moe.project_in", work->hidden, width);
  kernels_add_pass (kernels, "moe.gather", 2 * row_bytes);
  if (work->model->gated_ffn)
    add_grouped_forward (kernels, work, "moe.gate", width, work->ffn);
  add_grouped_forward (kernels, work, "moe.up", width, work->ffn);
  feed_forward_add_activation_forward (kernels, work, rows (work) * work->ffn);
  add_grouped_forward (kernels, work, "moe.down", work->ffn, width);
  kernels_add_pass (kernels, "moe.weight", 2 * row_bytes);
  kernels_add_pass (kernels, "moe.sum", row_bytes + work->tokens * width * work->element);
  if (is_projected (work))
    linear_add_forward (kernels, work, "moe.project_out", width, work->hidden);
  if (work->model->shared_ffn_hidden == 0)
    return;
  feed_forward_add_forward (kernels, work, work->model->shared_ffn_hidden);
  passes_add (kernels, work, CHAIN_ADD, work->tokens * work->hidden);
}

static void
add_shared_backward (GArray *kernels, const Workload *work)
{
  if (work->model->shared_ffn_hidden == 0)
    return;
  feed_forward_add_backward (kernels, work, work->model->shared_ffn_hidden);
  passes_add (kernels, work, CHAIN_ADD, work->tokens * work->hidden);
}

/* The weights' gradient needs the rows' products with the experts' outputs. */
void
moe_add_backward (GArray *kernels, const Workload *work)
{
  double width = expert_hidden (work);
  double row_bytes = rows (work) * width * work->element;

  add_shared_backward (kernels, work);
  if (is_projected (work))
    linear_add_backward (kernels, work, "moe.project_out", width, work->hidden, FALSE);
  kernels_add_pass (kernels, "moe.sum", row_bytes + work->tokens * width * work->element);
  kernels_add_pass (kernels, "moe.weight", 2 * row_bytes);
  kernels_add_pass (kernels, "moe.weight_product", 2 * row_bytes);
  add_grouped_backward (kernels, work, "moe.down", work->ffn, width);
  feed_forward_add_activation_backward (kernels, work, rows (work) * work->ffn);
  add_grouped_backward (kernels, work, "moe.up", width, work->ffn);
  if (work->model->gated_ffn)
    {
      add_grouped_backward (kernels, work, "moe.gate", width, work->ffn);
      passes_add (kernels, work, CHAIN_ADD, rows (work) * width);
    }
  kernels_add_pass (kernels, "moe.gather", row_bytes + work->tokens * width * work->element);
  if (is_projected (work))
    linear_add_backward (kernels, work, "moe.project_in", work->hidden, width, FALSE);
  add_routing (kernels, work);
  linear_add_backward (kernels, work, "moe.router", work->hidden, work->model->experts,
                       work->model->router_bias);
  passes_add (kernels, work, CHAIN_ADD, work->tokens * work->hidden);
}

/* Scores and their softmax; the sorted rows, gate, its SiLU, up and product (or
 * up and its GELU), the experts' outputs; the same of the shared experts. */
double
moe_saved (const Workload *work)
{
  const ModelConfig *model = work->model;
  double inner = model->gated_ffn ? 4 : 2;
  double row = work->element * (2 * expert_hidden (work) + inner * work->ffn) + TOKEN_ID_BYTES;

  return 2 * FP32 * (double)model->experts + model->experts_per_token * row
         + work->element * inner * model->shared_ffn_hidden;
}

double
moe_workspace (const Workload *work)
{
  const ModelConfig *model = work->model;
  double row = expert_hidden (work) + work->ffn * (model->gated_ffn ? 2 : 1);

  return work->element * (work->hidden + model->experts_per_token * row);
}

#include <config.h>

#include "cost/adapters.h"

#include "cost/passes.h"
#include "cost/tensors.h"

/* ---- parameters ---- */

static guint
list_matrices (const Scenario *scenario, const ModelConfig *kind,
               LoraMatrix matrices[LORA_MOST_MATRICES])
{
  if (!scenario_trains_adapters (scenario))
    return 0;
  return lora_list_matrices (kind, scenario->training.lora_targets, matrices);
}

gint64
adapters_elements (const Scenario *scenario, const ModelConfig *kind)
{
  LoraMatrix matrices[LORA_MOST_MATRICES];
  guint n = list_matrices (scenario, kind, matrices);
  gint64 widths = 0;

  for (guint i = 0; i < n; i++)
    widths += (gint64)matrices[i].in + matrices[i].out;
  return scenario->training.lora_rank * widths;
}

static gint64
rows_of_rank (guint rows, guint ranks)
{
  return (rows + ranks - 1) / ranks;
}

gint64
adapters_rows_of_rank (const Scenario *scenario, const ModelConfig *kind, guint ranks)
{
  const guint rank = scenario->training.lora_rank;
  LoraMatrix matrices[LORA_MOST_MATRICES];
  guint n = list_matrices (scenario, kind, matrices);
  gint64 elements = 0;

  for (guint i = 0; i < n; i++)
    elements += rows_of_rank (rank, ranks) * matrices[i].in
                + rows_of_rank (matrices[i].out, ranks) * rank;
  return elements;
}

void
adapters_add_tensors (GArray *tensors, const Scenario *scenario, const ModelConfig *kind)
{
  const gint64 rank = scenario->training.lora_rank;
  LoraMatrix matrices[LORA_MOST_MATRICES];
  guint n = list_matrices (scenario, kind, matrices);

  for (guint i = 0; i < n; i++)
    {
      const ParamTensor a = { .elements = rank * matrices[i].in, .is_linear = TRUE };
      const ParamTensor b = { .elements = rank * matrices[i].out, .is_linear = TRUE };

      g_array_append_val (tensors, a);
      g_array_append_val (tensors, b);
    }
}

/* ---- kernels ---- */

/* Torch.compile makes one kernel of scaling and sum. */
static guint
kernels_of_sum (const Workload *work)
{
  return work->software->compile ? 1 : 2;
}

static void
add_to_result (GArray *kernels, const Workload *work, double elements)
{
  if (kernels_of_sum (work) > 1)
    kernels_add_pass (kernels, "lora.scale", 2 * elements * work->element);
  passes_add (kernels, work, CHAIN_ADD, elements);
}

static void
add_matmul (GArray *kernels, const Workload *work, const char *name, double m, double n, double k)
{
  kernels_add_matmul (kernels, KERNEL_MATMUL, name, m, n, k, work->element);
}

void
adapters_add_forward (GArray *kernels, const Workload *work, guint target, double in, double out)
{
  const double rank = work->lora_rank;

  if (!adapters_beside (work, target))
    return;
  add_matmul (kernels, work, "lora.a", work->tokens, rank, in);
  add_matmul (kernels, work, "lora.b", work->tokens, out, rank);
  add_to_result (kernels, work, work->tokens * out);
}

/* The sum's gradient is scaled; then come the gradients of what A made and of B, of the input,
 * which is added to that through W, and of A. */
void
adapters_add_backward (GArray *kernels, const Workload *work, guint target, double in, double out)
{
  const double rank = work->lora_rank;

  if (!adapters_beside (work, target))
    return;
  kernels_add_pass (kernels, "lora.scale", 2 * work->tokens * out * work->element);
  add_matmul (kernels, work, "lora.b", work->tokens, rank, out);
  add_matmul (kernels, work, "lora.b", out, rank, work->tokens);
  add_matmul (kernels, work, "lora.a", work->tokens, in, rank);
  add_matmul (kernels, work, "lora.a", rank, in, work->tokens);
  passes_add (kernels, work, CHAIN_ADD, work->tokens * in);
}

/* ---- activations ---- */

guint
adapters_kernels_after_last_saved (const Workload *work, guint target)
{
  return adapters_beside (work, target) ? kernels_of_sum (work) : 0;
}

double
adapters_saved (const Workload *work, guint targets)
{
  LoraMatrix matrices[LORA_MOST_MATRICES];
  guint n = lora_list_matrices (work->model, work->lora_targets & targets, matrices);

  return n * work->lora_rank * work->element;
}

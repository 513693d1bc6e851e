#include "config.h"

#include "cost/ends.h"

#include "cost/linear.h"
#include "cost/passes.h"

#define TOKEN_ID_BYTES 8
#define SORT_PASSES    8 /* of a radix sort of 64-bit keys, each with a value of the same size */

void
embed_add_forward (GArray *kernels, const Workload *work)
{
  double rows = work->tokens * work->hidden * work->element;

  kernels_add_pass (kernels, "embedding.tokens", 2 * rows + work->tokens * TOKEN_ID_BYTES);
  if (work->model->positions == 0)
    return;
  kernels_add_pass (kernels, "embedding.positions",
                    2 * work->seq_len * work->hidden * work->element);
  passes_add (kernels, work, CHAIN_ADD, work->tokens * work->hidden);
}

/* The gradient of an embedding is dense: filled with zeros, then added to row by
 * row in the order of the sorted token ids. */
static void
add_table_backward (GArray *kernels, const Workload *work, const char *name, double table_rows,
                    double rows)
{
  kernels_add_pass (kernels, name, table_rows * work->hidden * work->element);
  kernels_add_pass (kernels, name, SORT_PASSES * 4 * rows * TOKEN_ID_BYTES);
  kernels_add_pass (kernels, name, 3 * rows * work->hidden * work->element);
}

void
embed_add_backward (GArray *kernels, const Workload *work)
{
  const ModelConfig *model = work->model;

  if (model->positions > 0)
    {
      kernels_add_pass (kernels, "embedding.positions_sum",
                        work->tokens * work->hidden * work->element);
      add_table_backward (kernels, work, "embedding.positions", model->positions, work->seq_len);
    }
  add_table_backward (kernels, work, "embedding.tokens", model->vocab, work->tokens);
  if (model->tied_embeddings) /* the head has a gradient for the same matrix */
    passes_add (kernels, work, CHAIN_ADD, model->vocab * work->hidden);
}

/* The head's matmul stays in the dtype of the parameters. */
static Workload
of_head (const Workload *work)
{
  Workload head = *work;

  head.matmul = KERNEL_MATMUL;
  return head;
}

void
head_add_forward (GArray *kernels, const Workload *work)
{
  Workload head = of_head (work);

  passes_add_norm_forward (kernels, work);
  linear_add_forward (kernels, &head, "head", work->hidden, work->model->vocab);
  passes_add (kernels, work, CHAIN_LOSS_FORWARD, work->tokens * work->model->vocab);
}

void
head_add_backward (GArray *kernels, const Workload *work)
{
  Workload head = of_head (work);

  passes_add (kernels, work, CHAIN_LOSS_BACKWARD, work->tokens * work->model->vocab);
  linear_add_backward (kernels, &head, "head", work->hidden, work->model->vocab, FALSE);
  passes_add_norm_backward (kernels, work);
}

#include <config.h>

#include "cost/ends.h"

#include "cost/linear.h"
#include "cost/passes.h"

#define TOKEN_ID_BYTES 8
#define SORT_PASSES    8 /* of a radix sort of 64-bit keys, each with a value of the same size */

/* Width of the embedding's rows, which a few models project to that of the blocks. */
static double
row_width (const Workload *work)
{
  return work->model->embedding_hidden > 0 ? work->model->embedding_hidden : work->hidden;
}

static gboolean
is_projected (const Workload *work)
{
  return row_width (work) != work->hidden;
}

void
embed_add_forward (GArray *kernels, const Workload *work)
{
  double rows = work->tokens * row_width (work) * work->element;

  kernels_add_pass (kernels, "embedding.tokens", 2 * rows + work->tokens * TOKEN_ID_BYTES);
  if (is_projected (work))
    linear_add_forward (kernels, work, "embedding.project", row_width (work), work->hidden);
  if (model_has_embedding_norm (work->model))
    passes_add_norm_forward (kernels, work);
  if (work->model->positions == 0)
    return;
  kernels_add_pass (kernels, "embedding.positions",
                    2 * work->seq_len * work->hidden * work->element);
  passes_add (kernels, work, CHAIN_ADD, work->tokens * work->hidden);
}

/* The gradient of an embedding is dense: filled with zeros, then added to row by
 * row in the order of the sorted token ids. */
static void
add_table_backward (GArray *kernels, const Workload *work, const char *name, double width,
                    double table_rows, double rows)
{
  kernels_add_pass (kernels, name, table_rows * width * work->element);
  kernels_add_pass (kernels, name, SORT_PASSES * 4 * rows * TOKEN_ID_BYTES);
  kernels_add_pass (kernels, name, 3 * rows * width * work->element);
}

static void
add_positions_backward (GArray *kernels, const Workload *work)
{
  if (work->model->positions == 0)
    return;
  kernels_add_pass (kernels, "embedding.positions_sum",
                    work->tokens * work->hidden * work->element);
  add_table_backward (kernels, work, "embedding.positions", work->hidden, work->model->positions,
                      work->seq_len);
}

void
embed_add_backward (GArray *kernels, const Workload *work)
{
  const ModelConfig *model = work->model;

  add_positions_backward (kernels, work);
  if (model_has_embedding_norm (model))
    passes_add_norm_backward (kernels, work);
  if (is_projected (work))
    linear_add_backward (kernels, work, "embedding.project", row_width (work), work->hidden, FALSE);
  add_table_backward (kernels, work, "embedding.tokens", row_width (work),
                      MAX (model->embedding_rows, model->vocab), work->tokens);
  /* The head has a gradient for the same matrix, or the decoder. */
  if (model->tied_embeddings || work->stack == STACK_ENCODER)
    passes_add (kernels, work, CHAIN_ADD, model->vocab * row_width (work));
}

void
encoder_norm_add_forward (GArray *kernels, const Workload *work)
{
  if (model_has_final_norm (work->model))
    passes_add_norm_forward (kernels, work);
}

void
encoder_norm_add_backward (GArray *kernels, const Workload *work)
{
  if (model_has_final_norm (work->model))
    passes_add_norm_backward (kernels, work);
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

  if (model_has_final_norm (work->model))
    passes_add_norm_forward (kernels, work);
  if (is_projected (work))
    linear_add_forward (kernels, &head, "head.project", work->hidden, row_width (work));
  linear_add_forward (kernels, &head, "head", row_width (work), work->model->vocab);
  passes_add (kernels, work, CHAIN_LOSS_FORWARD, work->tokens * work->model->vocab);
  for (guint i = 0; i < work->software->train_metrics; i++)
    passes_add (kernels, work, CHAIN_METRIC, work->tokens * work->model->vocab);
}

void
head_add_backward (GArray *kernels, const Workload *work)
{
  Workload head = of_head (work);

  passes_add (kernels, work, CHAIN_LOSS_BACKWARD, work->tokens * work->model->vocab);
  linear_add_backward (kernels, &head, "head", row_width (work), work->model->vocab,
                       work->model->head_bias);
  if (is_projected (work))
    linear_add_backward (kernels, &head, "head.project", work->hidden, row_width (work), FALSE);
  if (model_has_final_norm (work->model))
    passes_add_norm_backward (kernels, work);
}

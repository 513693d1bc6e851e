/* The parameters of a model one by one, where their sizes matter: DDP's buckets
 * hold whole tensors. */
#pragma once

#include "config/scenario.h"

typedef struct
{
  gint64 elements;
  gboolean is_linear; /* weight or bias of a matmul, which autocast casts */
} ParamTensor;

/* Each appends to @tensors (of ParamTensor) in the order in which modules use them.
 * What the model file gives as a lump (extra_parameters, outer_parameters) is one
 * tensor. The sums are those of cost/params.h. */

/* @kind: of model_kind (). The layout is that of the transformers library: query,
 * key, value, output, norms over queries and keys, then gate, up, down, each expert
 * with tensors of its own, then the block's norms. */
void tensors_add_block (GArray *tensors, const ModelConfig *kind);
/* Token and position embeddings, and what else is outside the blocks, such as the norm behind an
 * encoder. */
void tensors_add_embedding (GArray *tensors, const ModelConfig *model);
/* Final norm and head; of a tied head only its bias. */
void tensors_add_head (GArray *tensors, const ModelConfig *model);

GArray *tensors_new (void);

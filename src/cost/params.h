/* Exact parameter counts of a decoder-only transformer, tensor by tensor. */
#pragma once

#include "config/scenario.h"

/* Of one block. */
typedef struct
{
  gint64 total;
  gint64 active;    /* that one token passes: of the experts only those it is sent to */
  gint64 attention; /* of total; or where there is no attention, of what stands in its place */
  gint64 mlp;       /* of total: feed-forward, or router and experts */
} BlockParams;

typedef struct
{
  gint64 block;     /* of the most common kind; of several alike the first */
  gint64 embedding; /* token and learned position embeddings */
  gint64 head;      /* 0 where tied */
  gint64 final_norm;
  gint64 outer; /* embedding norm, projections of embeddings, what else is outside the blocks */
  gint64 total;
  gint64 active; /* total, but of each block the active ones */
} ParamCount;

/* @kind: of model_kind(). */
BlockParams params_of_block (const ModelConfig *kind);

ParamCount params_count (const ModelConfig *model);

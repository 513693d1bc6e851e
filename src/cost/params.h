/* Exact parameter counts of a transformer, tensor by tensor. */
#pragma once

#include "config/scenario.h"

/* Of one block. */
typedef struct
{
  gint64 total;
  gint64 active;    /* that one token passes: of the experts only those it is sent to */
  gint64 attention; /* of total; or where there is no attention, of what stands in its place */
  gint64 mlp;       /* of total: feed-forward, or router and experts */
  gint64 memory;    /* of attention: the keys and values of what an encoder made */
} BlockParams;

typedef struct
{
  gint64 block;      /* of the most common kind; of several alike the first */
  gint64 embedding;  /* token and learned position embeddings, these of each stack */
  gint64 head;       /* 0 where tied */
  gint64 final_norm; /* before the head */
  gint64 outer; /* embedding norms, projections of embeddings, an encoder's final norm, what else is
                   outside the blocks */
  gint64 stack_begin; /* counted above, of each stack of an encoder-decoder: its positions and the
                         norm behind its embedding, */
  gint64 stack_end;   /* and its final norm */
  gint64 total;
  gint64 active; /* total, but of each block the active ones */
} ParamCount;

/* @kind: of model_kind(). */
BlockParams params_of_block (const ModelConfig *kind);

ParamCount params_count (const ModelConfig *model);

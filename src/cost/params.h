/* Exact parameter counts of a decoder-only transformer, tensor by tensor. */
#pragma once

#include "config/scenario.h"

typedef struct
{
  gint64 block;
  gint64 embedding; /* token and learned position embeddings */
  gint64 head;      /* 0 where tied */
  gint64 final_norm;
  gint64 total;
} ParamCount;

ParamCount params_count (const ModelConfig *model);

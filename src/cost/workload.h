/* The sizes that the kernels of one micro-batch are made of. */
#pragma once

#include "cost/kernels.h"

typedef struct
{
  const ModelConfig *model;
  const SoftwareConfig *software;
  Stack stack;
  KernelKind matmul; /* of the blocks' linear layers */
  double tokens;     /* of a micro-batch on one rank */
  double seq_len;
  double key_tokens;    /* as many, but of cross-attention the encoder's */
  double memory_tokens; /* of a decoder: those of the encoder, */
  double memory_len;    /* and of its sequence */
  double element;       /* bytes of parameters and activations */
  double hidden;
  double queries;  /* width of all query heads */
  double keys;     /* of all key heads */
  double values;   /* of all value heads */
  double outputs;  /* of the attention's output: a value for each query head */
  double attended; /* tokens that a token attends to, on average: half under the causal mask */
  gboolean scores_in_memory; /* of attention, which is not fused */
  double ffn;
  double attention_overhead; /* keys that a query costs beyond those it attends to */
  LossKeeps loss_keeps;      /* what auto stands for is filled in */
  gboolean casts;            /* norms, rotary and loss go through fp32 and back */
  gboolean repeats_kv;       /* keys and values are copied out to the width of the queries */
  double lora_rank;          /* of the blocks' adapters */
  guint lora_targets;        /* set of LoraTarget; none without adapters */
  gboolean frozen;           /* no gradients of the model's own weights are computed */
} Workload;

/* Of a micro-batch of so many sequences, in blocks of the scenario's model or kind. */
Workload workload_new (const Scenario *scenario, guint sequences);
/* The same of @stack. */
Workload workload_of_stack (const Scenario *scenario, guint sequences, Stack stack);

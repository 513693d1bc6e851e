/* DistributedDataParallel under autocast: its state, for the files that play its
 * parts. Sources: torch/csrc/distributed/c10d/reducer.cpp, torch/nn/parallel/distributed.py,
 * torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py of torch 2.2 to 2.8;
 * aten/src/ATen/autocast_mode.cpp. */
#pragma once

#include "fsdp/hooks.h"

/* A parameter, but for what adapters stand beside, in the order in which gradients appear:
 * backwards. */
typedef struct
{
  gint64 elements;
  gboolean is_linear;
  guint bucket;
} DdpTensor;

/* Whole tensors that are reduced together. */
typedef struct
{
  guint first, n; /* tensors */
  gint64 elements;
  guint32 label; /* of the unit whose gradient is its last */
  EventId reduced;
} DdpBucket;

/* Embedding, a block, or final norm and head. */
typedef struct
{
  guint first, n; /* tensors */
  guint first_frozen, n_frozen;
  gint64 cast_elements; /* of weights that autocast casts, the tied head's included */
  gint64 largest;       /* tensor */
  BufferId low;         /* autocast's copies */
  BufferId grads;       /* fp32: .grad of each parameter */
  BufferId temporary;   /* a gradient before it is cast or added */
} DdpPart;

typedef struct
{
  Runtime runtime; /* first, so that a Runtime is one */
  StreamId nccl, hook;
  CommunicatorId whole;
  gboolean autocasts, compresses;
  guint param_bytes, reduce_bytes, original_bytes;
  GArray *tensors; /* DdpTensor */
  GArray *frozen;  /* gint64: elements of each matrix beside adapters, which autocast casts too */
  GArray *buckets; /* DdpBucket */
  DdpPart *parts;  /* by unit */
} Ddp;

static inline Ddp *
ddp_of (Runtime *runtime)
{
  return (Ddp *)runtime;
}

static inline DdpTensor *
ddp_tensor (const Ddp *ddp, guint index)
{
  return &g_array_index (ddp->tensors, DdpTensor, index);
}

/* All parameters, and which belong to which unit. */
void ddp_list_tensors (Ddp *ddp);
/* Reducer::rebuild_buckets: a first bucket of 1 MiB, then of 25 MiB. A bucket is
 * full when it reaches its size, so the tensor that fills it may be of any size. */
void ddp_fill_buckets (Ddp *ddp);

/* mark_variable_ready for each gradient of a unit: copied into its bucket, which is
 * reduced when it holds all of them. */
void ddp_gradients_ready (Ddp *ddp, guint unit);
/* finalize_backward: compute waits for each bucket and copies the gradients back. */
void ddp_finalize_backward (Ddp *ddp);

/* FSDP1 (FullyShardedDataParallel) as of torch 2.0 to 2.14: its state, for the
 * files that play its parts. Sources: torch/distributed/fsdp/_runtime_utils.py,
 * _flat_param.py, _exec_order_utils.py, _limiter_utils.py, _init_utils.py of
 * torch 2.2.2 and 2.8.0; names follow them. */
#pragma once

#include "fsdp/hooks.h"

typedef enum
{
  TRAINING_IDLE,
  TRAINING_FORWARD,
  TRAINING_BACKWARD_PRE,
  TRAINING_BACKWARD_POST
} TrainingState;

/* HandleTrainingState and flags of one FlatParamHandle. */
typedef struct
{
  TrainingState state;
  gboolean gathered;
  gboolean prefetched;
  gboolean needs_pre_forward_unshard;
  gboolean needs_pre_backward_unshard;
  gboolean ran_pre_backward_hook;
  guint post_forward_index; /* 0 doubles as "not set", as in PyTorch */
  guint pre_forward_index;  /* place in pre_forward_order, from 1; 0: not recorded */
  BufferId unsharded;       /* gathered parameters, or NO_SHARD's low-precision copy */
  BufferId parameter_grads; /* one gradient an original parameter, until concatenated */
  BufferId flat_grad;       /* of the whole unit, in compute dtype */
  BufferId sharded_grad;
} Handle;

typedef struct
{
  Runtime runtime; /* first, so that a Runtime is one */
  StreamId pre_unshard, unshard, post_backward;
  StreamId all_reduce;      /* HYBRID_SHARD; post_backward before torch 2.1 */
  CommunicatorId shard;     /* process_group: every all-gather and reduce-scatter */
  CommunicatorId replicate; /* _inter_node_pg, or NO_SHARD's process_group */
  gboolean sharded;         /* FALSE: NO_SHARD */
  gboolean hybrid;
  gboolean reshard_after_forward;
  guint param_bytes, reduce_bytes, original_bytes;
  gboolean low_precision; /* parameters are cast for compute */
  gboolean low_reduction; /* gradients are cast after their reduction */
  double predivide, postdivide;
  Handle *handles;            /* by unit */
  GArray *post_forward_order; /* guint: units of this iteration */
  GArray *pre_forward_order;  /* guint: units, recorded in the first iteration */
  guint iteration;            /* backward passes that have ended */
  GArray *free_events;        /* EventId: _FreeEventQueue, oldest first, from… */
  guint first_free;           /* …this on; those before are popped */
  GArray *spare_events;       /* EventId: popped, to be recorded again */
} Fsdp1;

/* FALSE of a module whose parameters all lie in units below it: FSDP1 has no handle for it. */
static inline gboolean
fsdp1_has_handle (const Fsdp1 *fsdp, guint unit)
{
  return fsdp->runtime.writer->units.list[unit].elements > 0;
}

/* _FreeEventQueue: remembers the compute stream's present, and lets the host wait
 * for the oldest moment where two are remembered. */
void fsdp1_limiter_push (Fsdp1 *fsdp);
void fsdp1_limiter_pop (Fsdp1 *fsdp, guint32 label);

/* What follows a unit's reshard in its post-backward hook when gradients are
 * synchronised: _reduce_grad and _reduce_grad_no_shard. */
void fsdp1_reduce_grad (Fsdp1 *fsdp, guint unit);

/* Gradients of the unit's parameters become one: the kernel that autograd runs
 * behind FlatParameter's views. */
void fsdp1_concatenate_grads (Fsdp1 *fsdp, guint unit);

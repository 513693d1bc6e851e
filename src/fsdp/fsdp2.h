/* FSDP2 (fully_shard) as of torch 2.6 to 2.14: its state, for the files that play
 * its parts. Sources: torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py,
 * _fsdp_state.py, _fsdp_collectives.py, _fsdp_param.py of torch 2.7.1, 2.8.0,
 * a 2.11 nightly and 2.14.0; names follow them. */
#pragma once

#include "fsdp/hooks.h"

typedef enum
{
  GROUP_IDLE,
  GROUP_FORWARD,
  GROUP_PRE_BACKWARD,
  GROUP_POST_BACKWARD
} GroupState;

/* What fully_shard keeps in memory of a group's parameters between its passes. */
typedef enum
{
  SHARDED,              /* one rank's shard */
  SHARDED_POST_FORWARD, /* reshard_after_forward = int: a larger shard, of a smaller group */
  UNSHARDED
} ShardedState;

/* An FSDPState with its FSDPParamGroup. */
typedef struct
{
  GroupState module_state; /* FSDPState._training_state */
  GroupState state;        /* FSDPParamGroup._training_state */
  ShardedState sharded;
  gboolean reshard_after_forward;
  guint reshard_ranks;     /* of the group that holds the post-forward shards */
  gboolean gather_pending; /* _all_gather_result is set: nobody has waited for it yet */
  EventId gathered;        /* _all_gather_result.all_gather_event */
  EventId resharded;       /* _reshard_after_forward_event */
  gboolean reshard_is_new; /* … and the gather streams have yet to wait for it */
  EventId copied_out;
  GArray *post_forward_indices; /* guint: a stack */
  BufferId gather_output, unsharded, post_forward_shard;
  BufferId parameter_grads, accumulated_grads, sharded_grad;
  EventId scattered;      /* of its reduce_scatter_state, */
  BufferId scatter_input; /* which holds this */
  BufferId partial_grad;  /* reduce-scattered, and not yet all-reduced */
  EventId offloaded;      /* grad_offload_event */
  gboolean offload_pending;
  gboolean has_host_grad; /* the gradient that the CPU has */
} Group;

/* FSDPCommContext and FSDPStateContext. */
typedef struct
{
  Runtime runtime; /* first, so that a Runtime is one */
  StreamId copy_in, all_gather, reduce_scatter, all_reduce;
  CommunicatorId shard, scatter, replicate, post_forward;
  gboolean hybrid;
  gboolean post_forward_records_in_backward; /* up to 2.9: the recompute reshards and records */
  guint param_bytes, reduce_bytes, original_bytes;
  gboolean low_reduction;       /* gradients are cast after their reduction */
  double predivide, postdivide; /* fp16 only; else NCCL averages */
  Group *groups;                /* by unit */
  GArray *post_forward_order;   /* guint: units */
  guint iteration_root;         /* unit whose forward is the outermost one, or UNIT_INDEX_NONE */
  gboolean in_backward;
  BufferId parked; /* a gather's output (all_gather_state), or BUFFER_NONE, */
  EventId parked_copied_out;
  GArray
      *scatters; /* guint: units whose reduce-scatters compute has yet to wait for, oldest first */
} Fsdp2;

static inline Fsdp2 *
fsdp2_of (Runtime *runtime)
{
  return (Fsdp2 *)runtime;
}

static inline const Unit *
fsdp2_unit (const Fsdp2 *fsdp, guint unit)
{
  return &fsdp->runtime.writer->units.list[unit];
}

/* FSDPParamGroup.unshard, wait_for_unshard and reshard. */
void fsdp2_unshard (Fsdp2 *fsdp, guint unit);
void fsdp2_wait_for_unshard (Fsdp2 *fsdp, guint unit);
void fsdp2_reshard (Fsdp2 *fsdp, guint unit);
/* Both gather streams wait until the parked output has been copied out, and it is dropped. */
void fsdp2_release_parked (Fsdp2 *fsdp);
/* _prefetch_unshard. */
void fsdp2_prefetch (Fsdp2 *fsdp, guint target);
/* finalize_backward: a gather that nobody waited for is waited for and dropped. */
void fsdp2_drop_mistargeted (Fsdp2 *fsdp, guint unit);

/* foreach_reduce: copy-in, reduce-scatter, all-reduce, and what follows. */
void fsdp2_reduce_grads (Fsdp2 *fsdp, guint unit);
/* Does this micro-batch, if it reduces, reduce over the replicas too? */
gboolean fsdp2_all_reduces (const Fsdp2 *fsdp);
/* Compute waits for the oldest reduce-scatters, whose inputs are then dropped, until fewer than
 * @n are left; for all of them where @n is 0. */
void fsdp2_wait_for_scatters (Fsdp2 *fsdp, guint n);
/* accumulate_unsharded_grad_if_needed: adds the new gradients to what earlier
 * micro-batches left. */
void fsdp2_add_to_accumulated (Fsdp2 *fsdp, guint unit);
/* Without synchronisation the gradients stay unsharded, in the reduce dtype. */
void fsdp2_keep_unsharded_grads (Fsdp2 *fsdp, guint unit);

/* The host waits until the unit's gradient is the CPU's. */
void fsdp2_wait_for_offload (Fsdp2 *fsdp, guint unit);

/* What the settings say of a unit: is it resharded after forward, and to a group
 * of how many ranks (0: to the whole shard group). */
gboolean fsdp2_reshards (const Scenario *scenario, guint32 label);
guint fsdp2_reshard_ranks (const Scenario *scenario);

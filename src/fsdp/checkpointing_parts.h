/* What the two halves of checkpointing share: blocks as a whole, and piece by piece. */
#pragma once

#include "fsdp/checkpointing.h"

typedef enum
{
  NESTING_NONE,
  NESTING_OUTSIDE_REENTRANT,     /* checkpoint (FSDP (block)), the naive case */
  NESTING_OUTSIDE_NON_REENTRANT, /* the same, hooks of saved tensors instead of a nested backward */
  NESTING_INSIDE                 /* FSDP (checkpoint (block)) */
} Nesting;

struct _Checkpointing
{
  Runtime *runtime;
  Nesting nesting;      /* of the blocks that are checkpointed */
  gboolean in_pieces;   /* cost_is_in_pieces() */
  BufferId *kept;       /* by block: what its forward keeps for the backward */
  BufferId *recomputed; /* by block: what its recompute keeps besides */
  BufferId *back;       /* by block: an offloaded input that has come back from the host */
  BufferId of_child;    /* the same of the child whose backward is under way */
};

/* NESTING_NONE of a block that is not checkpointed, or is frozen and so is never computed again. */
Nesting checkpointing_nesting (const Checkpointing *checkpointing, guint block);
const BlockCost *checkpointing_cost (const Checkpointing *checkpointing, guint block);
BufferId checkpointing_keep (Checkpointing *checkpointing, gint64 bytes, guint block);

/* Computes something again, a block or the child at @piece of it. */
typedef void (*Recompute) (Checkpointing *checkpointing, guint block, guint piece);

/* What precedes the backward kernels of a region in @unit. @stops_early: the recompute does not
 * come to the end of the unit's forward. */
void checkpointing_prepare_backward (Checkpointing *checkpointing, guint unit, Nesting nesting,
                                     gboolean stops_early, Recompute recompute, guint block,
                                     guint piece);

/* ---- piece by piece ---- */

/* Forward, recompute or backward of a block's kernels, with the hooks of the units inside it. */
void pieces_forward (Checkpointing *checkpointing, guint block, gboolean grad_enabled);
void pieces_recompute (Checkpointing *checkpointing, guint block, guint unused);
/* @children: each child is computed again before its backward. */
void pieces_backward (Checkpointing *checkpointing, guint block, Nesting children);

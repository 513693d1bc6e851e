/* What the pieces of a training step cost on one GPU: kernels, FLOPs, bytes,
 * seconds, activations. docs/cost.md has the kernels of each piece, and what a
 * kernel takes. */
#pragma once

#include "config/scenario.h"
#include "cost/params.h"
#include "cost/tape.h"

/* A run of kernels that the host launches one after another. */
typedef struct
{
  gint64 time_ps;  /* on the device, alone; 0: not launched */
  gint64 host_ps;  /* of the host, for all of its kernels */
  guint n_kernels; /* 0 where time_ps is 0; 1 where the time or host_op is given */
  gboolean fixed;  /* given in [timing]: nothing may alter time_ps */
  double flops; /* of its matmuls and attention as MFU counts them, also where the time is given */
  double bytes; /* moved in GPU memory */
} KernelRun;

/* What a block's pass is made of, in the order of its forward: two halves, each of the same four
 * pieces. A half, or a piece of it, may have no kernels. */
typedef enum
{
  PIECE_NORM_BEFORE, /* of the first half; PIECE_SECOND_HALF + this, of the second */
  PIECE_INSIDE,      /* attention, or what stands in its place; the feed-forward */
  PIECE_NORM_BEHIND,
  PIECE_SUM, /* with the residual */
  PIECE_SECOND_HALF,
  N_BLOCK_PIECES = 2 * PIECE_SECOND_HALF
} BlockPieceId;

/* Backward takes the halves from the second on, and of each the pieces in this order. */
#define PIECES_BACKWARD                                                                            \
  {                                                                                                \
    PIECE_NORM_BEHIND, PIECE_INSIDE, PIECE_NORM_BEFORE, PIECE_SUM                                  \
  }

typedef struct
{
  KernelRun forward;
  KernelRun recompute; /* as cost_recompute() has it, of this piece */
  KernelRun backward;
  gint64 saved_bytes; /* by child: what its recompute keeps for its backward */
} BlockPiece;

/* One block, one micro-batch. */
typedef struct
{
  BlockParams params;
  gint64 adapters; /* parameters beside params.total */
  KernelRun forward;
  KernelRun recompute;            /* the whole forward again */
  KernelRun recompute_early_stop; /* without the last matmul and what follows it */
  KernelRun recompute_selected;   /* where ops are selected: without those whose results are kept */
  KernelRun backward;
  gint64 saved_bytes;     /* activations that it keeps for its backward */
  gint64 input_bytes;     /* what it keeps when checkpointed */
  gint64 selected_bytes;  /* and where ops are selected, the results that are kept */
  gint64 workspace_bytes; /* more at the peak of its backward: gradients of activations */
  /* The rest is measured only where cost_is_in_pieces(). */
  BlockPiece pieces[N_BLOCK_PIECES];
  guint unfinished_piece;       /* that a recompute leaves early; N_BLOCK_PIECES: none */
  gint64 children_input_bytes;  /* what it keeps when its children are checkpointed apart */
  KernelRun recompute_children; /* of all of them together */
} BlockCost;

typedef struct
{
  ParamCount params;
  gint64 adapters;                         /* parameters beside params.total */
  gint64 trained_params;                   /* of both: those that are trained */
  BlockCost kinds[MOST_BLOCK_KINDS];       /* by model_kind_of_block() */
  KernelRun embed_forward, embed_backward; /* of an encoder-decoder, of the encoder's tokens */
  KernelRun head_forward, head_backward;   /* final norm, head, loss */
  KernelRun decoder_embed_forward, decoder_embed_backward; /* the rest of one */
  KernelRun encoder_norm_forward, encoder_norm_backward;
  gint64 encoder_saved_bytes;  /* what the norm behind it keeps, and its output */
  gint64 encoder_output_bytes; /* that alone, or its gradient, to which all of the decoder adds */
  gint64 head_saved_bytes;     /* what final norm, head and loss keep */
  /* Tensors of final norm, head and loss: over the forward, the loss's backward, and the
   * rest of the backward, before which the gradients of the head's weights appear. */
  Tape head_forward_memory, loss_backward_memory, head_backward_memory;
  Tape metrics_memory;          /* behind the backward */
  double model_flops_per_token; /* 6 x (active parameters - input embedding) + 12 x layers with
                                   attention x hidden x seq_len; of frozen blocks a third. Of an
                                   encoder-decoder, docs/cost.md says more */
} StepCost;

/* Replaces by [timing] what it gives. */
void step_cost_new (const Scenario *scenario, StepCost *cost);
/* The same of a micro-batch of so many sequences. */
void step_cost_of_micro_batch (const Scenario *scenario, guint sequences, StepCost *cost);

/* Is a recompute left as soon as all that the backward needs is there? Early stop came with torch
 * 2.1, and only to the non-reentrant implementation. */
gboolean cost_stops_early (const Scenario *scenario);
/* Is a block's pass launched piece by piece? Where its parts are units, or checkpointed, apart. */
gboolean cost_is_in_pieces (const Scenario *scenario);
/* What is computed again of a checkpointed block. */
const KernelRun *cost_recompute (const Scenario *scenario, const BlockCost *cost);

/* Work on a rank's shard or unit of @elements elements. */
KernelRun cost_optimizer_step (const Scenario *scenario, gint64 elements);
/* What it remembers of each element, in the dtype of the shard: so many numbers. */
guint cost_optimizer_states (const Scenario *scenario);
KernelRun cost_grad_norm (const Scenario *scenario,
                          gint64 elements); /* norms before the scalar all-reduce */
KernelRun cost_grad_scale (const Scenario *scenario,
                           gint64 elements); /* after it; not launched where grad_clip is given: the
                                                norm run is all of it */

/* One device copy of FSDP's that reads and writes so many bytes in all; [timing] fsdp_copies
 * replaces its time. */
KernelRun cost_fsdp_copy (const Scenario *scenario, gint64 bytes);

/* Host time of launching a collective, of one FSDP hook, and after a limiter
 * wait that blocked; [timing] host_op and limiter_wakeup replace them. */
gint64 cost_collective_host_ps (const Scenario *scenario);
gint64 cost_hook_host_ps (const Scenario *scenario);
gint64 cost_limiter_wakeup_ps (const Scenario *scenario);

/* Of the parameters' shards, their gradients and optimizer states. */
Dtype cost_master_dtype (const Scenario *scenario);

/* Peak FLOP/s that MFU is measured against: the dense peak of the param dtype. */
double cost_peak_flops (const Scenario *scenario);

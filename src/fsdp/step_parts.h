/* The state of a step that is being written, for the files that write its parts. */
#pragma once

#include "fsdp/checkpointing.h"

typedef struct _Step Step;
struct _Step
{
  Runtime *runtime;
  Writer *writer;
  Checkpointing *checkpointing;
  const StepCost *cost;        /* of the micro-batches but the last, */
  const StepCost *last_cost;   /* and of that */
  KernelRun norm, scale;       /* of clipping, */
  KernelRun optimizer;         /* and behind it; on the CPU where that has the shards */
  EventId end;                 /* of the compute stream's step */
  BufferId head[TAPE_TENSORS]; /* tensors of the head */
  BufferId head_grads;         /* of its weights, where they belong to the root, */
  BufferId embed_grads;        /* and of the embedding's, which the decoder makes first */
  BufferId encoder_output;     /* with what the norm behind the encoder keeps */
  BufferId encoder_gradient;   /* to which all of the decoder adds */
  gboolean has_states;         /* the optimizer has stepped once */
};

/* ---- what both do ---- */

static inline void
step_launch (Step *step, const KernelRun *run, TimelineOp op, guint32 unit)
{
  writer_launch (step->writer, step->writer->compute, run, op, unit);
}

static inline void
step_drop (Step *step, BufferId *buffer)
{
  if (*buffer != BUFFER_NONE)
    program_free_buffer (step->writer->program, *buffer, 0);
  *buffer = BUFFER_NONE;
}

/* ---- the two stacks of an encoder-decoder ---- */

/* Is the block the decoder's first? */
static inline gboolean
stacks_begin_decoder (const Step *step, guint block)
{
  const ModelConfig *model = &step->writer->scenario->model;

  return model_has_encoder (model) && block == model->encoder_layers;
}

/* The gradients of a stack's own parameters are complete where its backward ends, or where it has
 * nothing but the norm behind its blocks, when it begins. */
static inline gboolean
stacks_end_at_norm (const Step *step)
{
  return step->writer->cost->params.stack_begin == 0;
}

/* The encoder ends and the decoder begins, in forward. */
void stacks_change (Step *step);
/* Behind the head's backward. */
void stacks_begin_backward (Step *step);
/* The decoder ends and the encoder begins, in backward. */
void stacks_change_backward (Step *step);

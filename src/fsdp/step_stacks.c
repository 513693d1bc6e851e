#include <config.h>

#include "fsdp/step_parts.h"

static BufferId
keep (Step *step, gint64 bytes)
{
  Writer *writer = step->writer;

  return program_alloc (writer->program, writer->compute, MEMORY_ACTIVATIONS, bytes, UNIT_ENCODER);
}

void
stacks_change (Step *step)
{
  Writer *writer = step->writer;
  const StepCost *cost = writer->cost;

  step->encoder_output = keep (step, cost->encoder_saved_bytes);
  step_launch (step, &cost->encoder_norm_forward, TIMELINE_FORWARD, UNIT_ENCODER);
  runtime_post_forward (step->runtime, writer->units.encoder, TRUE);
  runtime_pre_forward (step->runtime, writer->units.decoder, TRUE);
  step_launch (step, &cost->decoder_embed_forward, TIMELINE_FORWARD, UNIT_EMBED);
}

/* ---- backward ---- */

static void
stack_backward_begins (Step *step, guint unit)
{
  runtime_pre_backward (step->runtime, unit);
  runtime_gradients_begin (step->runtime, unit);
}

void
stacks_begin_backward (Step *step)
{
  Writer *writer = step->writer;

  if (!model_has_encoder (&writer->scenario->model))
    return;
  step->encoder_gradient = keep (step, writer->cost->encoder_output_bytes);
  stack_backward_begins (step, writer->units.decoder);
  if (stacks_end_at_norm (step) && !step->runtime->hooks->waits_for_inputs)
    runtime_post_backward (step->runtime, writer->units.decoder);
}

/* The embedding's gradient waits for the encoder's part; tied, it is the head's that does. */
static void
decoder_embed_backward (Step *step)
{
  Writer *writer = step->writer;
  const Units *units = &writer->units;
  gint64 bytes = writer->cost->params.embedding * dtype_bytes (writer->scenario->fsdp.param_dtype);

  runtime_gradients_begin (step->runtime, units->embed);
  if (units->embed == UNIT_INDEX_NONE && units->first_block != UNIT_INDEX_NONE
      && !writer->scenario->model.tied_embeddings)
    step->embed_grads = program_alloc (writer->program, writer->compute, MEMORY_UNSHARDED_GRADS,
                                       bytes, UNIT_EMBED);
  step_launch (step, &writer->cost->decoder_embed_backward, TIMELINE_BACKWARD, UNIT_EMBED);
}

void
stacks_change_backward (Step *step)
{
  Writer *writer = step->writer;
  const Units *units = &writer->units;

  decoder_embed_backward (step);
  if (!stacks_end_at_norm (step) || step->runtime->hooks->waits_for_inputs)
    runtime_post_backward (step->runtime, units->decoder);
  stack_backward_begins (step, units->encoder);
  step_launch (step, &writer->cost->encoder_norm_backward, TIMELINE_BACKWARD, UNIT_ENCODER);
  program_free_buffer (writer->program, step->encoder_output, 0);
  program_free_buffer (writer->program, step->encoder_gradient, 0);
  if (stacks_end_at_norm (step))
    runtime_post_backward (step->runtime, units->encoder);
}

#include <config.h>

#include "fsdp/step.h"

#include "cost/offload.h"
#include "fsdp/offload.h"
#include "fsdp/step_parts.h"

#define ROOT 0

/* Takes and gives back the memory of the head's tensors. */
static void
play (Step *step, const Tape *tape)
{
  Writer *writer = step->writer;

  for (guint i = 0; i < tape->n; i++)
    {
      const TapeChange *change = &tape->changes[i];

      if (change->bytes > 0)
        step->head[change->tensor] = program_alloc (writer->program, writer->compute,
                                                    MEMORY_ACTIVATIONS, change->bytes, UNIT_HEAD);
      else
        program_free_buffer (writer->program, step->head[change->tensor], 0);
    }
}

/* ---- forward ---- */

static void
forward (Step *step)
{
  Writer *writer = step->writer;

  writer->phase = PHASE_FORWARD;
  runtime_pre_forward (step->runtime, ROOT, TRUE);
  runtime_pre_forward (step->runtime, writer->units.encoder, TRUE);
  runtime_pre_forward (step->runtime, writer->units.embed, TRUE);
  step_launch (step, &writer->cost->embed_forward, TIMELINE_FORWARD, UNIT_EMBED);
  runtime_post_forward (step->runtime, writer->units.embed, TRUE);
  for (guint block = 0; block < writer->scenario->model.layers; block++)
    {
      if (stacks_begin_decoder (step, block))
        stacks_change (step);
      checkpointing_forward (step->checkpointing, block);
    }
  /* Its last norm is launched with the head. */
  runtime_post_forward (step->runtime, writer->units.decoder, TRUE);
  runtime_pre_forward (step->runtime, writer->units.head, TRUE);
  play (step, &writer->cost->head_forward_memory);
  step_launch (step, &writer->cost->head_forward, TIMELINE_FORWARD, UNIT_HEAD);
  runtime_post_forward (step->runtime, writer->units.head, TRUE);
  runtime_post_forward (step->runtime, ROOT, TRUE);
}

/* ---- backward ---- */

/* The head's weights get their gradients behind the loss's backward. Where they are the
 * root's, they wait for those of the embedding. */
static void
head_gradients_begin (Step *step)
{
  Writer *writer = step->writer;
  const ParamCount *params = &writer->cost->params;
  gint64 elements = params->head > 0 ? params->head : params->embedding;

  if (writer->units.head != UNIT_INDEX_NONE)
    runtime_gradients_begin (step->runtime, writer->units.head);
  else if (writer->units.first_block != UNIT_INDEX_NONE
           && !scenario_trains_adapters (writer->scenario))
    step->head_grads
        = program_alloc (writer->program, writer->compute, MEMORY_UNSHARDED_GRADS,
                         elements * dtype_bytes (writer->scenario->fsdp.param_dtype), UNIT_HEAD);
}

static void
head_backward (Step *step)
{
  Writer *writer = step->writer;

  runtime_pre_backward (step->runtime, writer->units.head);
  play (step, &writer->cost->loss_backward_memory);
  head_gradients_begin (step);
  play (step, &writer->cost->head_backward_memory);
  step_launch (step, &writer->cost->head_backward, TIMELINE_BACKWARD, UNIT_HEAD);
  runtime_post_backward (step->runtime, writer->units.head);
}

static void
embed_backward (Step *step)
{
  Writer *writer = step->writer;
  gboolean trains = scenario_trains_all (writer->scenario);

  if (scenario_embedding_needs_gradient (writer->scenario))
    runtime_pre_backward (step->runtime, writer->units.embed);
  step_drop (step, &step->head_grads);
  step_drop (step, &step->embed_grads);
  if (writer->units.first_block != UNIT_INDEX_NONE)
    runtime_gradients_begin (step->runtime, ROOT); /* with the head's */
  if (!trains)
    return;
  if (!model_has_encoder (&writer->scenario->model))
    runtime_gradients_begin (step->runtime, writer->units.embed);
  step_launch (step, &writer->cost->embed_backward, TIMELINE_BACKWARD, UNIT_EMBED);
  runtime_post_backward (step->runtime, writer->units.embed);
  if (!stacks_end_at_norm (step))
    runtime_post_backward (step->runtime, writer->units.encoder);
}

/* The root's own gradients are complete when the embedding's is, the last of all. */
static void
backward (Step *step)
{
  Writer *writer = step->writer;

  writer->phase = PHASE_BACKWARD;
  runtime_pre_backward (step->runtime, ROOT);
  if (writer->units.first_block == UNIT_INDEX_NONE)
    runtime_gradients_begin (step->runtime, ROOT); /* with all blocks' */
  head_backward (step);
  stacks_begin_backward (step);
  for (guint block = writer->scenario->model.layers; block-- > 0;)
    {
      if (scenario_trains_block (writer->scenario, block))
        checkpointing_backward (step->checkpointing, block);
      if (stacks_begin_decoder (step, block))
        stacks_change_backward (step);
    }
  embed_backward (step);
  runtime_post_backward (step->runtime, ROOT);
  step->runtime->hooks->end_of_backward (step->runtime);
  play (step, &writer->cost->metrics_memory);
}

/* ---- the step ---- */

/* Of the ranks that have shards of the gradients. */
static void
sum_norms (Step *step)
{
  Runtime *runtime = step->runtime;
  CommunicatorId communicator;

  if (runtime->hooks->norm_communicator == NULL
      || !runtime->hooks->norm_communicator (runtime, &communicator))
    return;
  writer_collective (step->writer,
                     &(WriterCollective){ .communicator = communicator,
                                          .stream = step->writer->compute,
                                          .kind = COLLECTIVE_ALL_REDUCE,
                                          .bytes = sizeof (float),
                                          .in_place = TRUE,
                                          .given = SIM_TIME_NONE },
                     UNIT_ROOT);
}

/* The same on the CPU, which has to have the sum before it can go on. */
static void
clip_on_cpu (Step *step)
{
  Writer *writer = step->writer;

  offload_run_on_cpu (writer, &step->norm, TIMELINE_GRAD_CLIP, UNIT_ROOT);
  if (writer->scenario->timing.grad_clip != TIMING_NOT_GIVEN)
    return;
  sum_norms (step);
  offload_synchronize (writer, writer->compute, UNIT_ROOT);
  offload_run_on_cpu (writer, &step->scale, TIMELINE_GRAD_CLIP, UNIT_ROOT);
}

/* Norms of the shards, one all-reduce of a float, and a multiplication. A given
 * time is all three in one launch. */
static void
clip_gradients (Step *step)
{
  Writer *writer = step->writer;
  const Scenario *scenario = writer->scenario;

  if (scenario->training.max_grad_norm <= 0)
    return;
  if (scenario_offloads_params (scenario))
    {
      clip_on_cpu (step);
      return;
    }
  step_launch (step, &step->norm, TIMELINE_GRAD_CLIP, UNIT_ROOT);
  if (scenario->timing.grad_clip != TIMING_NOT_GIVEN)
    return;
  sum_norms (step);
  step_launch (step, &step->scale, TIMELINE_GRAD_CLIP, UNIT_ROOT);
}

/* Of so many elements of a shard, its gradient or one of its states. */
static gint64
master_bytes (const Step *step, gint64 elements)
{
  return elements * dtype_bytes (cost_master_dtype (step->writer->scenario));
}

static void
make_optimizer_states (Step *step)
{
  Writer *writer = step->writer;

  guint states = cost_optimizer_states (writer->scenario);

  if (step->has_states)
    return;
  step->has_states = TRUE;
  if (states > 0)
    program_alloc (writer->program, writer->compute, MEMORY_OPTIMIZER,
                   states * master_bytes (step, writer->units.shard), UNIT_ROOT);
}

static void
optimizer_step_on_cpu (Step *step)
{
  offload_run_on_cpu (step->writer, &step->optimizer, TIMELINE_OPTIMIZER, UNIT_ROOT);
  offload_compute_waits_for_cpu (step->writer);
}

/* PyTorch's default AdamW goes through lists of tensors (foreach) and keeps a
 * list of temporaries as large as one of its states; tensor by tensor it is one tensor's, and
 * FSDP1's tensors are whole units. */
static gint64
optimizer_temporaries (const Step *step)
{
  const Units *units = &step->writer->units;
  gint64 largest = 0;

  switch (step->writer->scenario->training.optimizer)
    {
    case OPTIMIZER_ADAMW:
      return master_bytes (step, units->shard);
    case OPTIMIZER_ADAMW_FOR_LOOP:
      for (guint i = 0; i < units->n; i++)
        largest = MAX (largest, units->list[i].trained_shard);
      return master_bytes (step, largest);
    case OPTIMIZER_ADAMW_FUSED:
    case OPTIMIZER_SGD:
    case OPTIMIZER_SGD_MOMENTUM:
      break;
    }
  return 0;
}

static void
optimizer_step (Step *step)
{
  Writer *writer = step->writer;

  if (scenario_offloads_params (writer->scenario))
    {
      optimizer_step_on_cpu (step);
      return;
    }
  make_optimizer_states (step);
  BufferId temporaries = program_alloc (writer->program, writer->compute, MEMORY_OTHER,
                                        optimizer_temporaries (step), UNIT_ROOT);
  step_launch (step, &step->optimizer, TIMELINE_OPTIMIZER, UNIT_ROOT);
  program_free_buffer (writer->program, temporaries, 0);
}

/* What a framework does between steps; where it reads the loss, it waits first. */
static void
between_steps (Step *step)
{
  Writer *writer = step->writer;
  const SoftwareConfig *software = &writer->scenario->software;

  if (software->synchronizes)
    {
      program_record (writer->program, step->end, writer->compute);
      program_host_wait (writer->program, step->end, 0,
                         writer_label (writer, TIMELINE_WAIT, UNIT_ROOT));
    }
  program_host_busy (writer->program, software->step_overhead_ps);
}

static void
training_step (Step *step)
{
  Runtime *runtime = step->runtime;
  Writer *writer = step->writer;
  const TrainingConfig *training = &writer->scenario->training;

  program_host_delay (writer->program);
  for (guint i = 0; i < training->grad_accum; i++)
    {
      writer->micro_batch = i;
      writer->cost = i + 1 == training->grad_accum ? step->last_cost : step->cost;
      runtime->sync_gradients = !training->no_sync || i + 1 == training->grad_accum;
      forward (step);
      backward (step);
    }
  writer->phase = PHASE_OPTIMIZER;
  clip_gradients (step);
  optimizer_step (step);
  runtime->hooks->zero_grad (runtime);
  program_end_of_step (writer->program, writer->compute);
  between_steps (step);
}

/* What is the same in every step. */
static void
price_ends_of_steps (Step *step)
{
  const Scenario *scenario = step->writer->scenario;
  const gint64 shard = step->writer->units.shard;
  const gboolean on_cpu = scenario_offloads_params (scenario);

  step->norm = on_cpu ? cost_cpu_grad_norm (scenario, shard) : cost_grad_norm (scenario, shard);
  step->scale = on_cpu ? cost_cpu_grad_scale (scenario, shard) : cost_grad_scale (scenario, shard);
  step->optimizer
      = on_cpu ? cost_cpu_optimizer_step (scenario, shard) : cost_optimizer_step (scenario, shard);
}

void
step_write_program (Runtime *runtime)
{
  Writer *writer = runtime->writer;
  const SimulationConfig *simulation = &writer->scenario->simulation;
  const TrainingConfig *training = &writer->scenario->training;
  g_autoptr (Checkpointing) checkpointing = checkpointing_new (runtime);
  g_autofree StepCost *partial = NULL;
  Step step = { .runtime = runtime,
                .writer = writer,
                .checkpointing = checkpointing,
                .cost = writer->cost,
                .last_cost = writer->cost,
                .head_grads = BUFFER_NONE,
                .embed_grads = BUFFER_NONE,
                .end = program_add_event (writer->program) };

  if (training->last_micro_batch > 0 && training->last_micro_batch < training->micro_batch)
    {
      partial = g_new (StepCost, 1);
      step_cost_of_micro_batch (writer->scenario, training->last_micro_batch, partial);
      step.last_cost = partial;
    }
  if (simulation->cuda_device_max_connections == 1)
    program_use_single_queue (writer->program);
  runtime->hooks->load (runtime);
  offload_init (writer);
  program_end_of_load (writer->program);
  price_ends_of_steps (&step);
  for (guint i = 0; i < simulation->warmup_steps + simulation->steps; i++)
    training_step (&step);
  writer->cost = step.cost;
  program_seal (writer->program, simulation->warmup_steps);
}

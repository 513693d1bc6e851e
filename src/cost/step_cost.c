#include <config.h>

#include "cost/step_cost.h"

#include "cost/activations.h"
#include "cost/adapters.h"
#include "cost/block.h"
#include "cost/ends.h"
#include "cost/pieces.h"
#include "cost/run.h"
#include "cost/selective.h"

typedef void (*AddKernels) (GArray *kernels, const Workload *work);

/* A piece of the step without its last @n_left_out kernels. */
static KernelRun
piece (const Scenario *scenario, const Workload *work, AddKernels add, guint n_left_out,
       gint64 given)
{
  g_autoptr (GArray) kernels = kernels_new ();

  add (kernels, work);
  g_array_set_size (kernels, kernels->len - n_left_out);
  return run_of_kernels (scenario, kernels, given);
}

/* Encoder-decoders: every weight with the tokens that pass it, and attention with as many keys as
 * there are; of a sequence of both. */
static double
flops_of_both_stacks (const Scenario *scenario, const StepCost *cost)
{
  const ModelConfig *model = &scenario->model;
  const double source = scenario->training.encoder_seq_len;
  const double target = scenario->training.seq_len;
  const double queries = (double)model->heads * model->head_dim;
  const ParamCount *params = &cost->params;
  const gint64 embedding_norm = params->stack_begin - (gint64)model->positions * model->hidden;
  const gint64 others = params->outer - params->stack_end - N_STACKS * embedding_norm;
  double flops = 6 * target * (double)(params->head + params->final_norm)
                 + 6 * source * (double)params->stack_end
                 + 6 * (source + target) * (double)(embedding_norm + others);

  for (guint block = 0; block < model->layers; block++)
    {
      const ModelConfig *kind = model_kind (model, model_kind_of_block (model, block));
      const BlockParams of_block = params_of_block (kind);

      if (kind->stack == STACK_ENCODER)
        flops += source * (6 * (double)of_block.active + 12 * queries * source);
      else
        flops += 6 * source * (double)of_block.memory
                 + target
                       * (6 * (double)(of_block.active - of_block.memory)
                          + 12 * queries * (source + target));
    }
  return flops;
}

/* As torchtitan counts them, which leaves the matrix of tied embeddings out, and
 * experts that a token does not pass. */
static double
model_flops_per_token (const Scenario *scenario, const StepCost *cost)
{
  const ModelConfig *model = &scenario->model;
  double attention = 12.0 * model->hidden * scenario->training.seq_len;
  double of_a_weight = scenario_trains_adapters (scenario) ? 4 : 6; /* forward, input, weight */
  double flops = of_a_weight * (double)(cost->params.active - cost->params.embedding);

  if (model_has_encoder (model))
    return flops_of_both_stacks (scenario, cost) / (double)scenario_tokens_of_sequence (scenario);
  for (guint block = 0; block < model->layers; block++)
    {
      const ModelConfig *kind = model_kind (model, model_kind_of_block (model, block));
      gboolean trained = scenario_trains_block (scenario, block);

      if (kind->heads > 0)
        flops += trained ? attention : attention / 3;
      if (!trained)
        flops -= 4 * (double)params_of_block (kind).active;
    }
  return flops + 6 * (double)cost->adapters;
}

static gint64
count_adapters (const Scenario *scenario, const StepCost *cost)
{
  const ModelConfig *model = &scenario->model;
  gint64 adapters = 0;

  for (guint block = 0; block < model->layers; block++)
    adapters += cost->kinds[model_kind_of_block (model, block)].adapters;
  return adapters;
}

/* Adapters, or final norm, head, and the last blocks. */
static gint64
count_trained (const Scenario *scenario, const StepCost *cost)
{
  const ModelConfig *model = &scenario->model;
  gint64 trained = cost->params.final_norm + cost->params.head;

  if (scenario_trains_all (scenario))
    return cost->params.total;
  if (scenario_trains_adapters (scenario))
    return cost->adapters;
  for (guint block = 0; block < model->layers; block++)
    if (scenario_trains_block (scenario, block))
      trained += cost->kinds[model_kind_of_block (model, block)].params.total;
  return trained;
}

/* What op-level selective checkpointing computes again; n_left_out: of the kernels
 * of the whole. */
static void
measure_selected (const Scenario *scenario, const Workload *work, guint n_left_out, BlockCost *cost)
{
  g_autoptr (GArray) kernels = kernels_new ();

  block_add_forward (kernels, work);
  const double elements = selective_elements (kernels, work->software->compile);
  if (scenario->checkpoint.early_stop)
    g_array_set_size (kernels, kernels->len - n_left_out);
  selective_drop_kept (kernels);
  cost->recompute_selected = run_of_kernels (scenario, kernels, scenario->timing.recompute);
  cost->selected_bytes = (gint64)MIN (elements * work->element, (double)cost->saved_bytes);
}

static void
measure_kind (const Scenario *scenario, guint sequences, BlockCost *cost)
{
  Workload work = workload_new (scenario, sequences);
  const TimingConfig *timing = &scenario->timing;
  guint n_left_out = block_kernels_after_last_saved (&work);

  cost->adapters = adapters_elements (scenario, &scenario->model);
  cost->params = params_of_block (&scenario->model);
  cost->forward = piece (scenario, &work, block_add_forward, 0, timing->forward);
  cost->recompute = piece (scenario, &work, block_add_forward, 0, timing->recompute);
  cost->recompute_early_stop
      = piece (scenario, &work, block_add_forward, n_left_out, timing->recompute);
  cost->backward = piece (scenario, &work, block_add_backward, 0, timing->backward);
  activations_measure_block (&work, cost);
  measure_selected (scenario, &work, n_left_out, cost);
  if (cost_is_in_pieces (scenario))
    pieces_measure (scenario, &work, cost);
}

/* Each kind is measured as if all blocks were of it. */
static void
measure_blocks (const Scenario *scenario, guint sequences, StepCost *cost)
{
  guint n = MAX (scenario->model.n_kinds, 1);

  for (guint kind = 0; kind < n; kind++)
    {
      Scenario alone = *scenario;

      alone.model = *model_kind (&scenario->model, kind);
      measure_kind (&alone, sequences, &cost->kinds[kind]);
    }
}

/* The embedding serves both stacks. */
static void
measure_ends_of_stacks (const Scenario *scenario, guint sequences, const Workload *decoder,
                        StepCost *cost)
{
  const TimingConfig *timing = &scenario->timing;
  const Workload encoder = workload_of_stack (scenario, sequences, STACK_ENCODER);

  cost->embed_forward = piece (scenario, &encoder, embed_add_forward, 0, timing->embed_forward);
  cost->embed_backward = piece (scenario, &encoder, embed_add_backward, 0, timing->embed_backward);
  cost->encoder_norm_forward
      = piece (scenario, &encoder, encoder_norm_add_forward, 0, timing->encoder_norm_forward);
  cost->encoder_norm_backward
      = piece (scenario, &encoder, encoder_norm_add_backward, 0, timing->encoder_norm_backward);
  cost->decoder_embed_forward
      = piece (scenario, decoder, embed_add_forward, 0, timing->embed_forward);
  cost->decoder_embed_backward
      = piece (scenario, decoder, embed_add_backward, 0, timing->embed_backward);
  activations_measure_encoder (&encoder, cost);
}

void
step_cost_of_micro_batch (const Scenario *scenario, guint sequences, StepCost *cost)
{
  Workload work = workload_new (scenario, sequences);
  const TimingConfig *timing = &scenario->timing;

  work.frozen = scenario_trains_adapters (scenario); /* what is outside the blocks, wholly */
  *cost = (StepCost){ .params = params_count (&scenario->model) };
  measure_blocks (scenario, sequences, cost);
  cost->embed_forward = piece (scenario, &work, embed_add_forward, 0, timing->embed_forward);
  if (model_has_encoder (&scenario->model))
    measure_ends_of_stacks (scenario, sequences, &work, cost);
  else if (scenario_trains_all (scenario))
    cost->embed_backward = piece (scenario, &work, embed_add_backward, 0, timing->embed_backward);
  cost->adapters = count_adapters (scenario, cost);
  cost->trained_params = count_trained (scenario, cost);
  cost->head_forward = piece (scenario, &work, head_add_forward, 0, timing->head_forward);
  cost->head_backward = piece (scenario, &work, head_add_backward, 0, timing->head_backward);
  cost->model_flops_per_token = model_flops_per_token (scenario, cost);
  activations_measure_head (&work, cost);
}

void
step_cost_new (const Scenario *scenario, StepCost *cost)
{
  step_cost_of_micro_batch (scenario, scenario->training.micro_batch, cost);
}

KernelRun
cost_fsdp_copy (const Scenario *scenario, gint64 bytes)
{
  g_autoptr (GArray) kernels = kernels_new ();

  kernels_add_pass (kernels, "fsdp.copy", (double)bytes);
  return run_of_kernels (scenario, kernels, scenario->timing.fsdp_copies);
}

gint64
cost_collective_host_ps (const Scenario *scenario)
{
  if (scenario->timing.host_op != TIMING_NOT_GIVEN)
    return scenario->timing.host_op;
  return scenario->cluster.collective_launch_ps;
}

gint64
cost_hook_host_ps (const Scenario *scenario)
{
  return scenario->timing.host_op != TIMING_NOT_GIVEN ? 0 : scenario->cluster.fsdp_hook_ps;
}

gint64
cost_limiter_wakeup_ps (const Scenario *scenario)
{
  if (scenario->timing.limiter_wakeup != TIMING_NOT_GIVEN)
    return scenario->timing.limiter_wakeup;
  return scenario->cluster.limiter_wakeup_ps;
}

Dtype
cost_master_dtype (const Scenario *scenario)
{
  return scenario->fsdp.master_dtype == MASTER_PARAM_DTYPE ? scenario->fsdp.param_dtype
                                                           : DTYPE_FP32;
}

double
cost_peak_flops (const Scenario *scenario)
{
  const GpuConfig *gpu = &scenario->gpu;

  return scenario->fsdp.param_dtype == DTYPE_FP32 ? gpu->fp32_flops : gpu->matmul_flops;
}

gboolean
cost_stops_early (const Scenario *scenario)
{
  return scenario->checkpoint.early_stop && !scenario->checkpoint.use_reentrant
         && scenario->fsdp.torch_minor >= 1;
}

gboolean
cost_is_in_pieces (const Scenario *scenario)
{
  const CheckpointConfig *checkpoint = &scenario->checkpoint;

  return (scenario->fsdp.units == UNITS_ATTENTION_AND_MLP && scenario->fsdp.api != API_DDP)
         || (checkpoint->select_children && checkpoint->method != CHECKPOINT_NONE);
}

const KernelRun *
cost_recompute (const Scenario *scenario, const BlockCost *cost)
{
  if (scenario->checkpoint.select_children)
    return &cost->recompute_children;
  if (scenario->checkpoint.select_op)
    return &cost->recompute_selected;
  return cost_stops_early (scenario) ? &cost->recompute_early_stop : &cost->recompute;
}

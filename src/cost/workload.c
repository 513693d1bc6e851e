#include <config.h>

#include "cost/workload.h"

#include "cost/attention.h"

static KernelKind
matmul_kind (MatmulDtype dtype)
{
  switch (dtype)
    {
    case MATMUL_FP8_TENSORWISE:
      return KERNEL_MATMUL_FP8;
    case MATMUL_FP8_ROWWISE:
      return KERNEL_MATMUL_FP8_ROWWISE;
    case MATMUL_PARAM_DTYPE:
      break;
    }
  return KERNEL_MATMUL;
}

/* Under the causal mask token i of a sequence attends to min (i, window) others. */
static double
attended (const ModelConfig *model, Stack stack, double seq_len)
{
  double window = model->sliding_window;

  if (stack == STACK_ENCODER)
    return seq_len;
  if (window == 0 || window >= seq_len)
    return seq_len / 2;
  return window - window * window / (2 * seq_len);
}

/* Compiled, keys and values are read in place for all the queries that share them. */
static gboolean
repeats_kv (const Scenario *scenario)
{
  const ModelConfig *model = &scenario->model;

  return model->kv_lora_rank == 0 && model->kv_heads < model->heads && !scenario->software.compile;
}

static LossKeeps
loss_keeps (const SoftwareConfig *software)
{
  if (software->loss_keeps != LOSS_KEEPS_AUTO)
    return software->loss_keeps;
  return software->loss == LOSS_EAGER ? LOSS_KEEPS_LOG_PROBABILITIES : LOSS_KEEPS_LOGITS;
}

Workload
workload_of_stack (const Scenario *scenario, guint sequences, Stack stack)
{
  const ModelConfig *model = &scenario->model;
  const TrainingConfig *training = &scenario->training;
  double seq_len = stack == STACK_ENCODER ? training->encoder_seq_len : training->seq_len;
  double memory_len = stack == STACK_DECODER ? training->encoder_seq_len : 0;
  double value_head_dim = model->value_head_dim > 0 ? model->value_head_dim : model->head_dim;
  /* Out of a latent come keys and values for every head. */
  double kv_heads = model->kv_lora_rank > 0 ? model->heads : model->kv_heads;
  gboolean adapted = scenario_trains_adapters (scenario);

  return (Workload){ .model = model,
                     .software = &scenario->software,
                     .stack = stack,
                     .matmul = matmul_kind (scenario->training.matmul_dtype),
                     .tokens = sequences * seq_len,
                     .seq_len = seq_len,
                     .key_tokens = sequences * seq_len,
                     .memory_tokens = sequences * memory_len,
                     .memory_len = memory_len,
                     .element = dtype_bytes (scenario->fsdp.param_dtype),
                     .hidden = model->hidden,
                     .queries = (double)model->heads * model->head_dim,
                     .keys = kv_heads * model->head_dim,
                     .values = kv_heads * value_head_dim,
                     .outputs = model->heads * value_head_dim,
                     .attended = attended (model, stack, seq_len),
                     .scores_in_memory = scenario_has_scores_in_memory (scenario),
                     .ffn = model->ffn_hidden,
                     .attention_overhead = attention_overhead (scenario),
                     .loss_keeps = loss_keeps (&scenario->software),
                     .casts = scenario->fsdp.param_dtype != DTYPE_FP32,
                     .repeats_kv = repeats_kv (scenario),
                     .lora_rank = scenario->training.lora_rank,
                     .lora_targets = adapted ? scenario->training.lora_targets : 0,
                     .frozen = scenario_spares_frozen (scenario) };
}

Workload
workload_new (const Scenario *scenario, guint sequences)
{
  return workload_of_stack (scenario, sequences, scenario->model.stack);
}

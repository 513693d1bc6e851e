#include "config.h"

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

/* Compiled, keys and values are read in place for all the queries that share them. */
static gboolean
repeats_kv (const Scenario *scenario)
{
  return scenario->model.kv_heads < scenario->model.heads && !scenario->software.compile;
}

Workload
workload_new (const Scenario *scenario, guint sequences)
{
  const ModelConfig *model = &scenario->model;
  double seq_len = scenario->training.seq_len;

  return (Workload){ .model = model,
                     .software = &scenario->software,
                     .matmul = matmul_kind (scenario->training.matmul_dtype),
                     .tokens = sequences * seq_len,
                     .seq_len = seq_len,
                     .element = dtype_bytes (scenario->fsdp.param_dtype),
                     .hidden = model->hidden,
                     .queries = (double)model->heads * model->head_dim,
                     .keys = (double)model->kv_heads * model->head_dim,
                     .ffn = model->ffn_hidden,
                     .attention_overhead = attention_overhead (scenario),
                     .casts = scenario->fsdp.param_dtype != DTYPE_FP32,
                     .repeats_kv = repeats_kv (scenario) };
}

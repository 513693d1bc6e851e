#include "config.h"

#include "cost/workload.h"

Workload
workload_new (const Scenario *scenario)
{
  const ModelConfig *model = &scenario->model;
  double seq_len = scenario->training.seq_len;

  return (Workload){ .model = model,
                     .tokens = scenario->training.micro_batch * seq_len,
                     .seq_len = seq_len,
                     .element = dtype_bytes (scenario->fsdp.param_dtype),
                     .hidden = model->hidden,
                     .queries = (double)model->heads * model->head_dim,
                     .keys = (double)model->kv_heads * model->head_dim,
                     .ffn = model->ffn_hidden,
                     .casts = scenario->fsdp.param_dtype != DTYPE_FP32,
                     .repeats_kv = model->kv_heads < model->heads };
}

/* A GPU and models of round figures, for the costs of kernels. */
#pragma once

#include "cost/step_cost.h"

static inline void
give_no_times (TimingConfig *timing)
{
#define TIMING(key, what) timing->key = TIMING_NOT_GIVEN;
#include "config/timing.def"
#undef TIMING
}

/* A GPU of round figures: matmuls at half of 100 TFLOP/s, attention at a quarter,
 * its backward at a fifth, 1 TB/s; 5 us of host time a kernel. One multiprocessor, so that no
 * tile of a matmul idles, and 1024 tokens, of which tiles have 256 or 128. */
static inline Scenario
round_scenario (void)
{
  Scenario scenario = {
    .gpu = { .matmul_flops = 100e12,
             .fp32_flops = 10e12,
             .memory_bytes_per_s = 2e12,
             .matmul_efficiency = 0.5,
             .attention_efficiency = 0.25,
             .attention_backward_efficiency = 0.2,
             .memory_efficiency = 0.5,
             .sms = 1 },
    .cluster = { .kernel_launch_ps = 5000000,
                 .collective_launch_ps = 35000000,
                 .fsdp_hook_ps = 75000000,
                 .limiter_wakeup_ps = 200000000 },
    .training = { .micro_batch = 2, .seq_len = 512, .optimizer = OPTIMIZER_ADAMW },
    .fsdp = { .param_dtype = DTYPE_BF16, .reduce_dtype = DTYPE_BF16 },
  };

  give_no_times (&scenario.timing);
  return scenario;
}

/* Llama's kind: RMSNorm, rotary, SwiGLU, 4 queries for each key. */
static inline Scenario
llama_scenario (void)
{
  Scenario scenario = round_scenario ();

  scenario.model = (ModelConfig){ .layers = 3,
                                  .hidden = 1024,
                                  .heads = 8,
                                  .kv_heads = 2,
                                  .head_dim = 128,
                                  .ffn_hidden = 2048,
                                  .gated_ffn = TRUE,
                                  .vocab = 1024,
                                  .norm = NORM_RMSNORM };
  return scenario;
}

static inline void
assert_run (const KernelRun *run, gint64 time_ps, guint n_kernels)
{
  assert_int_equal (run->time_ps, time_ps);
  assert_int_equal (run->n_kernels, n_kernels);
}

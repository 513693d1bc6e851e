#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>

#include "cost/kernels.h"
#include "cost_fixture.h"

/* GPT-2's kind of block: LayerNorm, GELU, one matrix for query, key and value. */
static Scenario
gpt_scenario (void)
{
  Scenario scenario = round_scenario ();

  scenario.model = (ModelConfig){ .layers = 3,
                                  .hidden = 1024,
                                  .heads = 8,
                                  .kv_heads = 8,
                                  .head_dim = 128,
                                  .ffn_hidden = 4096,
                                  .vocab = 1024,
                                  .tied_embeddings = TRUE,
                                  .norm = NORM_LAYERNORM };
  return scenario;
}

static StepCost
cost_of (const Scenario *scenario)
{
  StepCost cost;

  step_cost_new (scenario, &cost);
  return cost;
}

/* A tile of 128 rows over 1024 columns of depth 1024, 2 x 2^27 FLOPs, is 5.37 us at 50 TFLOP/s
 * on all of the GPU; but with 100 multiprocessors it is 0.05 us, and the matrix alone has
 * 2 MiB: 2 x (1024 + 1024 x 1024 + 1024) B at 1 TB/s. */
static void
a_thin_matmul_is_bound_by_memory (void **state)
{
  Scenario scenario = round_scenario ();
  g_autoptr (GArray) kernels = kernels_new ();
  GpuSpeed speed;

  (void)state;
  scenario.gpu.matmul_efficiency = 5; /* 500 TFLOP/s */
  scenario.gpu.sms = 4;
  speed = gpu_speed (&scenario);
  kernels_add_matmul (kernels, KERNEL_MATMUL, "thin", 1, 1024, 1024, 2);
  assert_true (kernel_seconds (&g_array_index (kernels, Kernel, 0), &speed) == 2101248 / 1e12);
}

/* 1024 x 1000 results are 4 x 8 tiles of 256 x 128, or 3.2 waves over 10 multiprocessors. A quarter
 * of the 0.8 that the last wave leaves idle is lost, and half a wave more: 3.9 waves of 327,680
 * elements, each 2 x (1000 + 250) deep with the pipeline's filling, at 50 TFLOP/s. */
static void
a_matmul_loses_depth_and_tail (void **state)
{
  Scenario scenario = round_scenario ();
  g_autoptr (GArray) kernels = kernels_new ();
  GpuSpeed speed;
  double us;

  (void)state;
  scenario.gpu.sms = 10;
  scenario.gpu.matmul_fill_depth = 250;
  scenario.gpu.matmul_tail_waves = 0.5;
  speed = gpu_speed (&scenario);
  kernels_add_matmul (kernels, KERNEL_MATMUL, "odd", 1024, 1000, 1000, 2);
  us = kernel_seconds (&g_array_index (kernels, Kernel, 0), &speed) * 1e6;
  assert_true (fabs (us - 3.9 * 327680 * 2500 / 50e6) < 1e-9);
}

/* 64 ranks instead of 8: sqrt (2 ln 64) - sqrt (2 ln 8) = 0.84472 of 10%. */
static void
the_slowest_of_many_gpus_sets_the_pace (void **state)
{
  Scenario scenario = round_scenario ();

  (void)state;
  scenario.gpu.speed_spread = 0.1;
  scenario.cluster.gpus_per_node = 8;
  scenario.cluster.nodes = 1;
  assert_true (gpu_speed (&scenario).slowest == 1);
  scenario.cluster.nodes = 8;
  assert_true (fabs (gpu_speed (&scenario).slowest - 1.084472) < 1e-6);
  scenario.simulation.ranks = RANKS_ALL; /* no other ranks than before */
  assert_true (fabs (gpu_speed (&scenario).slowest - 1.084472) < 1e-6);
  scenario.simulation.gpu_spread = 0.03; /* their own factors say it */
  assert_true (gpu_speed (&scenario).slowest == 1);
}

/* Matmuls: 2 x 1024 x 12 x 1024^2 FLOPs = 515.396076 us. Attention: half of 4 x 1024 x 512 x
 * 1024 at 25 TFLOP/s, 42.949673 us. Per element of 1024 x 1024: two norms of 4 B, two sums
 * of 6, GELU 4 on four times as many: 36 B, 37.748736 us. */
static void
gpt_forward_adds_up (void **state)
{
  Scenario scenario = gpt_scenario ();
  StepCost cost = cost_of (&scenario);

  (void)state;
  assert_run (&cost.kinds[0].forward, 596094484, 10);
  assert_run (&cost.kinds[0].recompute, 596094484, 10);
  assert_int_equal (cost.kinds[0].forward.host_ps, 10 * 5000000);
  assert_false (cost.kinds[0].forward.fixed);
}

/* Without the down projection (171.798692 us) and the sum after it (6.291456 us). */
static void
early_stop_leaves_out_the_last_matmul_and_sum (void **state)
{
  Scenario scenario = gpt_scenario ();
  StepCost cost = cost_of (&scenario);

  (void)state;
  assert_run (&cost.kinds[0].recompute_early_stop, 418004337, 8);
}

/* Matmuls twice: 1030.792151 us. Attention 2.5 times the FLOPs at 20 TFLOP/s: 134.217728 us;
 * row sums 4 B and cast 6 B an element: 10.48576. GELU 6 B x 4, norms 2 x 10, sums 2 x 6:
 * 56 B, 58.720256 us. */
static void
gpt_backward_adds_up (void **state)
{
  Scenario scenario = gpt_scenario ();
  StepCost cost = cost_of (&scenario);

  (void)state;
  assert_run (&cost.kinds[0].backward, 1234215895, 18);
}

/* Matmuls: 1024^2 for query and output each, 1024 x 256 for key and value each, 3 x 1024 x
 * 2048: 8,912,896 x 2 x 1024 FLOPs = 365.07222 us. Attention 42.949673. For each of 1024 tokens
 * norms 2 x 36 B on 1024; rotary 20 B on 1024 + 256; keys and values copied out 2 x 2 B on
 * 256 + 1024; SiLU and product 10 B on 2048; sums 12 B on 1024: 137,216 B, 140.509184 us. Kernels:
 * 7 matmuls, attention, 2 x 8, 2 x 3, 2, 2, 2. */
static void
llama_forward_adds_up (void **state)
{
  Scenario scenario = llama_scenario ();
  StepCost cost = cost_of (&scenario);

  (void)state;
  assert_run (&cost.kinds[0].forward, 548531077, 36);
}

/* Compiled, each chain is one kernel: norms 2 x 4 B on 1024, rotary 4 B on 1280, SwiGLU
 * 6 B on 2048, sums 12 on 1024, nothing copied out: 37,888 B a token, 38.797312 us instead
 * of 140.509184. Kernels: 7 matmuls, attention, 2, 2, 1, 2. */
static void
compiled_chains_are_one_kernel_each (void **state)
{
  Scenario scenario = llama_scenario ();
  StepCost cost;

  (void)state;
  scenario.software.compile = TRUE;
  cost = cost_of (&scenario);
  assert_run (&cost.kinds[0].forward, 548531077 - 140509184 + 38797312, 15);
}

/* Twice the peak, half of which is reached: matmuls take 182.53611 us instead of
 * 365.07222. What they read is cast, 3 B an element: 3 x 1024 + 2048 a token, and
 * 8,912,896 weights: 42.467328 us in 4 + 7 kernels. */
static void
fp8_multiplies_faster_and_casts (void **state)
{
  Scenario scenario = llama_scenario ();
  StepCost cost;

  (void)state;
  scenario.gpu.fp8_flops = 200e12;
  scenario.gpu.fp8_efficiency = 0.5;
  scenario.training.matmul_dtype = MATMUL_FP8_TENSORWISE;
  cost = cost_of (&scenario);
  assert_run (&cost.kinds[0].forward, 548531077 - 182536110 + 42467328, 36 + 11);
}

/* 128 keys more than half of 512: attention takes 1.25 times 42.949673 us; heads half as wide
 * lose 2^-2.8 of 128. */
static void
attention_has_an_overhead_a_query (void **state)
{
  Scenario scenario = gpt_scenario ();
  StepCost cost;

  (void)state;
  scenario.gpu.attention_overhead = 128;
  cost = cost_of (&scenario);
  assert_int_equal (cost.kinds[0].forward.time_ps, 596094484 + 10737419);
  scenario.model.heads = scenario.model.kv_heads = 16;
  scenario.model.head_dim = 64;
  cost = cost_of (&scenario);
  assert_int_equal (cost.kinds[0].forward.time_ps, 597636241);
}

/* FlashAttention 1 at 12.5 % instead of 25 %: 85.899346 us; its backward, 2.5 times the FLOPs,
 * at 62 % of that rate: 346.368330 instead of 134.217728. */
static void
older_attention_has_a_rate_of_its_own (void **state)
{
  Scenario scenario = gpt_scenario ();
  StepCost cost;

  (void)state;
  scenario.gpu.flash1_efficiency = 0.125;
  scenario.software.attention = ATTENTION_FLASH1;
  cost = cost_of (&scenario);
  assert_int_equal (cost.kinds[0].forward.time_ps, 639044157);
  assert_int_equal (cost.kinds[0].backward.time_ps, 1446366497);
}

/* Two products over the whole square, 21.474836 us each of matmul, while 12.58 MB of scores and
 * operands would take 12.58 us; scores 4 + 6 + 6 + 6 B on 8 x 1024 x 512: 92.274688 us. */
static void
scores_in_memory_cost_their_traffic (void **state)
{
  Scenario scenario = gpt_scenario ();
  StepCost cost;

  (void)state;
  scenario.software.attention = ATTENTION_EAGER;
  cost = cost_of (&scenario);
  assert_run (&cost.kinds[0].forward, 688369172, 10 - 1 + 6);
}

/* 20 B instead of 4 a norm forward, 32 instead of 10 backward, in fp32 between casts. */
static void
autocast_norms_move_more (void **state)
{
  Scenario scenario = gpt_scenario ();
  StepCost cost;

  (void)state;
  scenario.software.norms = NORMS_AUTOCAST;
  cost = cost_of (&scenario);
  assert_run (&cost.kinds[0].forward, 629648916, 10 + 2 * 2);
  assert_run (&cost.kinds[0].backward, 1280353239, 18 + 2 * 2);
}

/* Kept: attention and the first, third, fifth and seventh matmul of query, key, value,
 * output, gate, up and down. Computed again: matmuls of 1024 x (256 + 1024 + 2048) weights,
 * 139.586437 us, and all that moves memory, 140.509184. Kept are 1024 + 256 + 1024 + 2048 + 1024
 * elements a token, and early stop leaves out the last sum: with the down matmul, which is kept,
 * 6.291456 us. */
static void
selected_ops_keep_every_second_matmul (void **state)
{
  Scenario scenario = llama_scenario ();
  StepCost cost;

  (void)state;
  scenario.checkpoint.method = CHECKPOINT_INSIDE;
  scenario.checkpoint.select_op = TRUE;
  cost = cost_of (&scenario);
  assert_run (&cost.kinds[0].recompute_selected, 280095621, 36 - 5);
  assert_int_equal (cost.kinds[0].selected_bytes, 1024 * 2 * (1024 + 256 + 1024 + 2048 + 1024));
  scenario.checkpoint.early_stop = TRUE;
  cost = cost_of (&scenario);
  assert_run (&cost.kinds[0].recompute_selected, 273804165, 36 - 6);
}

/* The list of what is kept names no operator of cuDNN's: 2 x 1024 x 256 x 2048 FLOPs at
 * 25 TFLOP/s more, 42.949673 us, and 1024 elements a token less. */
static void
cudnn_attention_is_computed_again (void **state)
{
  Scenario scenario = llama_scenario ();
  StepCost cost;

  (void)state;
  scenario.checkpoint.method = CHECKPOINT_INSIDE;
  scenario.checkpoint.select_op = TRUE;
  scenario.software.attention = ATTENTION_CUDNN;
  cost = cost_of (&scenario);
  assert_run (&cost.kinds[0].recompute_selected, 280095621 + 42949673, 36 - 4);
  assert_int_equal (cost.kinds[0].selected_bytes, 1024 * 2 * (256 + 1024 + 2048 + 1024));
}

/* Matmuls 730.14444 us, attention 134.217728. For each of 1024 tokens attention's row sums and
 * cast 10 B on 1024, norms 2 x 92 B, SwiGLU 18 B on 2048, rotary 20 B on 1280, keys and values
 * summed up 4 B on 1280; sums of gradients, two residuals, gate with up, query with key and
 * value: 5 x 6 B on 1024. 296,960 B, 304.08704 us. */
static void
llama_backward_adds_up (void **state)
{
  Scenario scenario = llama_scenario ();
  StepCost cost = cost_of (&scenario);

  (void)state;
  assert_run (&cost.kinds[0].backward, 1168449208, 63);
}

/* In fp32 nothing is cast: 2 x 2 kernels of the norms and 2 x 2 of the rotary go.
 * Matmuls at 5 TFLOP/s 3650.722202 us, attention at 2.5 429.496730; for each of 1024 tokens norms
 * 2 x (8 + 4 + 8 + 8) B on 1024, rotary and copies 8 B each on 1280, SwiGLU 20 B on 2048, sums 24 B
 * on 1024: 143,360 B, 146.800640 us. */
static void
fp32_is_slower_and_casts_nothing (void **state)
{
  Scenario scenario = llama_scenario ();
  StepCost cost;

  (void)state;
  scenario.fsdp.param_dtype = DTYPE_FP32;
  cost = cost_of (&scenario);
  assert_run (&cost.kinds[0].forward, 4227019571, 28);
  assert_true (cost_peak_flops (&scenario) == 10e12);
  scenario.fsdp.param_dtype = DTYPE_FP16;
  cost = cost_of (&scenario);
  assert_run (&cost.kinds[0].forward, 548531077, 36);
  assert_true (cost_peak_flops (&scenario) == 100e12);
}

/* Head: 2 x 1024^3 FLOPs = 42.949673 us; norm 4 B = 4.194304; loss: cast 6 B,
 * log_softmax 8 B on 1,048,576 logits = 14.680064. Backward: 85.899346; norm 10.48576; loss
 * 4 + 12 + 6 B, 23.068672. */
static void
head_and_loss_add_up (void **state)
{
  Scenario scenario = gpt_scenario ();
  StepCost cost = cost_of (&scenario);

  (void)state;
  assert_run (&cost.head_forward, 61824041, 5);
  assert_run (&cost.head_backward, 119453778, 8);
}

/* 2 B a logit forward, 4 backward. */
static void
a_fused_loss_reads_logits_twice (void **state)
{
  Scenario scenario = gpt_scenario ();
  StepCost cost;

  (void)state;
  scenario.software.loss = LOSS_FUSED;
  cost = cost_of (&scenario);
  assert_run (&cost.head_forward, 49241129, 3);
  assert_run (&cost.head_backward, 100579410, 5);
}

/* Takes and gives back as the tape says; returns the highest level. */
static gint64
play (const Tape *tape, gint64 *level, gint64 *sizes)
{
  gint64 highest = *level;

  for (guint i = 0; i < tape->n; i++)
    {
      const TapeChange *change = &tape->changes[i];

      assert_int_not_equal (change->bytes > 0, sizes[change->tensor] > 0);
      *level += change->bytes - sizes[change->tensor];
      sizes[change->tensor] = change->bytes;
      highest = MAX (highest, *level);
    }
  return highest;
}

/* The peaks of the head's forward and of the loss's backward, without what the norm keeps. */
static void
assert_head_peaks (const StepCost *cost, gint64 norm, gint64 forward, gint64 backward)
{
  gint64 sizes[TAPE_TENSORS] = { 0 };
  gint64 level = 0;

  assert_int_equal (play (&cost->head_forward_memory, &level, sizes), norm + forward);
  assert_int_equal (level, cost->head_saved_bytes);
  assert_int_equal (play (&cost->loss_backward_memory, &level, sizes), norm + backward);
  play (&cost->head_backward_memory, &level, sizes);
  play (&cost->metrics_memory, &level, sizes);
  assert_int_equal (level, 0);
}

/* PyTorch's loss: 2 B a logit, 4 in fp32 and 4 of log-probabilities forward; 4 of these, their
 * gradient and the fp32 logits' backward. A fused loss keeps the logits and makes their
 * gradient; in chunks, an eighth of three fp32 copies comes on top. A metric is computed
 * behind the backward, until when its logits stay. */
static void
metrics_and_losses_take_memory_of_their_own (void **state)
{
  Scenario scenario = gpt_scenario ();
  StepCost cost = cost_of (&scenario);

  (void)state;
  assert_head_peaks (&cost, 1024 * 4104, 1048576 * 10, 1048576 * 12);
  scenario.software.train_metrics = 2;
  scenario.software.loss = LOSS_FUSED;
  cost = cost_of (&scenario);
  assert_run (&cost.head_forward, 49241129 + 2 * 14680064, 3 + 2 * 3);
  assert_int_equal (cost.head_saved_bytes, 1024 * 4104 + 1048576 * 2);
  assert_head_peaks (&cost, 1024 * 4104, 1048576 * 2, 1048576 * 4);
  scenario.software.loss = LOSS_CHUNKED;
  cost = cost_of (&scenario);
  assert_head_peaks (&cost, 1024 * 4104, 1048576 * 2, 1048576 * 4 + 1048576 * 12 / 8);
  scenario.software.loss_keeps = LOSS_KEEPS_LOG_PROBABILITIES;
  scenario.software.train_metrics = 0;
  cost = cost_of (&scenario);
  assert_head_peaks (&cost, 1024 * 4104, 1048576 * 10, 1048576 * 12);
}

/* Rows are read and written, 2 x 2 B x 1024 x 1024, and 8 B a token: 4.202496 us. Backward:
 * zeros for 1024 x 1024, 8 passes of a sort over 1024 x 32 B, rows read and added,
 * 3 x 2 B x 1024 x 1024, and the sum with the head's gradient, the matrix being tied:
 * 2.097152 + 0.262144 + 6.291456 + 6.291456. */
static void
embedding_adds_up (void **state)
{
  Scenario scenario = gpt_scenario ();
  StepCost cost = cost_of (&scenario);

  (void)state;
  assert_run (&cost.embed_forward, 4202496, 1);
  assert_run (&cost.embed_backward, 14942208, 4);
  scenario.model.tied_embeddings = FALSE;
  cost = cost_of (&scenario);
  assert_run (&cost.embed_backward, 8650752, 3);
}

/* Positions: a table of 512 rows read and written, 2.097152 us, and a sum, 6.291456. */
static void
learned_positions_are_looked_up_and_added (void **state)
{
  Scenario scenario = gpt_scenario ();
  StepCost cost;

  (void)state;
  scenario.model.positions = 1024;
  cost = cost_of (&scenario);
  assert_run (&cost.embed_forward, 12591104, 3);
}

/* A bias adds one sum over the tokens to the backward: 2 B x 1024 x (3072 + 1024) in
 * attention, x (4096 + 1024) in the feed-forward, 18.874368 us; nothing to the forward. */
static void
biases_cost_a_sum_in_backward (void **state)
{
  Scenario scenario = gpt_scenario ();
  StepCost cost;

  (void)state;
  scenario.model.attention_bias = scenario.model.mlp_bias = TRUE;
  cost = cost_of (&scenario);
  assert_run (&cost.kinds[0].forward, 596094484, 10);
  assert_run (&cost.kinds[0].backward, 1253090263, 22);
}

/* A token of the Llama block keeps: norms 2 x (8 x 1024 + 4) B; queries, keys and values
 * (copied out), output 8 x 1024, and 4 B for each of 8 heads; gate, SiLU, up, product
 * 8 x 2048: 41,000 B. Backward adds the residual's gradient and two of ffn's width. */
static void
saved_activations_are_counted_tensor_by_tensor (void **state)
{
  Scenario llama = llama_scenario ();
  Scenario gpt = gpt_scenario ();
  StepCost cost = cost_of (&llama);

  (void)state;
  assert_int_equal (cost.kinds[0].saved_bytes, 1024 * 41000);
  assert_int_equal (cost.kinds[0].input_bytes, 1024 * 2048);
  assert_int_equal (cost.kinds[0].workspace_bytes, 1024 * 2 * (1024 + 2 * 2048));
  /* norms 2 x (4 x 1024 + 8), attention 8 x 1024 + 32, GELU 4 x 4096 */
  cost = cost_of (&gpt);
  assert_int_equal (cost.kinds[0].saved_bytes, 1024 * 32816);
  assert_int_equal (cost.kinds[0].workspace_bytes, 1024 * 2 * (1024 + 4096));
  /* compiled: the norms' inputs and what matmuls and attention make: 2 x (2048 + 4), queries, keys,
   * values and output 2 x (2048 + 512) + 32, gate and up 8192 */
  llama.software.compile = TRUE;
  cost = cost_of (&llama);
  assert_int_equal (cost.kinds[0].saved_bytes, 1024 * (4104 + 5152 + 8192));
  /* gate x up again beside its gradient and those of both; the last matmul's result is not kept */
  assert_int_equal (cost.kinds[0].workspace_bytes, 1024 * 2 * (1024 + 3 * 2048));
  assert_int_equal (cost.kinds[0].selected_bytes, 1024 * 2 * (1024 + 256 + 1024 + 2048));
  cost = cost_of (&gpt);
  /* fp32 log-probabilities of 1024 words, and the norm */
  assert_int_equal (cost.head_saved_bytes, 1024 * (4096 + 4104));
}

/* 6 x (blocks + norm + head) + 12 x 3 x 1024 x 512. A block has 8,912,896 in matrices
 * and 2048 in norms. Recomputing a block: 2 FLOPs a parameter of its matrices and 4 x
 * 1024 x 512 for attention, uncut by the mask as MFU counts it. */
static void
model_flops_are_counted_as_torchtitan_does (void **state)
{
  Scenario scenario = llama_scenario ();
  StepCost cost = cost_of (&scenario);

  (void)state;
  assert_int_equal ((gint64)cost.model_flops_per_token,
                    G_GINT64_CONSTANT (6) * (3 * 8914944 + 1024 + 1048576) + 12 * 3 * 1024 * 512);
  assert_int_equal ((gint64)cost.kinds[0].recompute.flops,
                    1024 * (G_GINT64_CONSTANT (2) * 8912896 + 4 * 1024 * 512));
}

/* 10^6 elements of fp32: AdamW's eight foreach passes move 80 B each, the fused one 28,
 * SGD 12, with momentum 32, a loop over tensors 88. Above 320 x 65,536 elements a pass takes a
 * second launch. */
static void
optimizers_pass_over_their_shard (void **state)
{
  Scenario scenario = gpt_scenario ();
  KernelRun run = cost_optimizer_step (&scenario, 1000000);

  (void)state;
  assert_run (&run, 80000000, 8);
  run = cost_optimizer_step (&scenario, 320 * 65536);
  assert_int_equal (run.n_kernels, 8);
  run = cost_optimizer_step (&scenario, 320 * 65536 + 1);
  assert_int_equal (run.n_kernels, 16);
  scenario.training.optimizer = OPTIMIZER_ADAMW_FUSED;
  run = cost_optimizer_step (&scenario, 1000000);
  assert_run (&run, 28000000, 1);
  scenario.training.optimizer = OPTIMIZER_ADAMW_FOR_LOOP;
  run = cost_optimizer_step (&scenario, 1000000);
  assert_run (&run, 88000000, 9);
  scenario.fsdp.master_dtype = MASTER_PARAM_DTYPE; /* 2 B instead of 4 */
  run = cost_optimizer_step (&scenario, 1000000);
  assert_run (&run, 44000000, 9);
  scenario.fsdp.master_dtype = MASTER_FP32;
  scenario.training.optimizer = OPTIMIZER_SGD;
  run = cost_optimizer_step (&scenario, 1000000);
  assert_run (&run, 12000000, 1);
  scenario.training.optimizer = OPTIMIZER_SGD_MOMENTUM; /* 8 + 12 + 12 */
  run = cost_optimizer_step (&scenario, 1000000);
  assert_run (&run, 32000000, 3);
  run = cost_optimizer_step (&scenario, 0);
  assert_run (&run, 0, 0);
}

/* 4 B an element are read for the norms, 8 B read and written to scale. */
static void
clipping_reads_and_then_scales (void **state)
{
  Scenario scenario = gpt_scenario ();
  KernelRun norm = cost_grad_norm (&scenario, 1000000);
  KernelRun scale = cost_grad_scale (&scenario, 1000000);

  (void)state;
  assert_run (&norm, 4000000, 3);
  assert_run (&scale, 8000000, 4);
  scenario.timing.grad_clip = 7000000;
  norm = cost_grad_norm (&scenario, 1000000);
  scale = cost_grad_scale (&scenario, 1000000);
  assert_run (&norm, 7000000, 1);
  assert_true (norm.fixed);
  assert_run (&scale, 0, 0);
}

static void
a_given_time_is_one_fixed_launch (void **state)
{
  Scenario scenario = gpt_scenario ();
  StepCost cost;

  (void)state;
  scenario.timing.recompute = 4000000000;
  cost = cost_of (&scenario);
  assert_run (&cost.kinds[0].recompute, 4000000000, 1);
  /* early stop does not shorten it */
  assert_run (&cost.kinds[0].recompute_early_stop, 4000000000, 1);
  assert_true (cost.kinds[0].recompute.fixed);
  assert_int_equal (cost.kinds[0].recompute.host_ps, 5000000);
  assert_true (cost.kinds[0].recompute.flops == cost.kinds[0].forward.flops);
  assert_false (cost.kinds[0].forward.fixed);
}

static void
what_is_given_as_0_is_not_launched (void **state)
{
  Scenario scenario = gpt_scenario ();
  KernelRun copy;
  StepCost cost;

  (void)state;
  scenario.timing.head_forward = 0;
  scenario.timing.fsdp_copies = 0;
  scenario.timing.host_op = 1000000;
  cost = cost_of (&scenario);
  assert_run (&cost.head_forward, 0, 0);
  assert_int_equal (cost.head_forward.host_ps, 0);
  copy = cost_fsdp_copy (&scenario, 1000000);
  assert_run (&copy, 0, 0);
  assert_int_equal (copy.host_ps, 0);
}

/* host_op is for a whole run; FSDP's own hooks then cost nothing. */
static void
a_given_host_op_makes_every_run_one_launch (void **state)
{
  Scenario scenario = gpt_scenario ();
  StepCost cost;

  (void)state;
  scenario.timing.host_op = 1234;
  cost = cost_of (&scenario);
  assert_run (&cost.kinds[0].forward, 596094484, 1);
  assert_int_equal (cost.kinds[0].forward.host_ps, 1234);
  assert_false (cost.kinds[0].forward.fixed);
  assert_int_equal (cost_collective_host_ps (&scenario), 1234);
  assert_int_equal (cost_hook_host_ps (&scenario), 0);
}

static void
host_times_come_from_the_cluster_unless_given (void **state)
{
  Scenario scenario = gpt_scenario ();

  (void)state;
  assert_int_equal (cost_collective_host_ps (&scenario), 35000000);
  assert_int_equal (cost_hook_host_ps (&scenario), 75000000);
  assert_int_equal (cost_limiter_wakeup_ps (&scenario), 200000000);
  scenario.timing.limiter_wakeup = 0;
  assert_int_equal (cost_limiter_wakeup_ps (&scenario), 0);
}

/* 1 TB/s: 3 MB read and written in all. */
static void
an_fsdp_copy_moves_its_bytes (void **state)
{
  Scenario scenario = gpt_scenario ();
  KernelRun copy = cost_fsdp_copy (&scenario, 3000000);

  (void)state;
  assert_run (&copy, 3000000, 1);
  assert_int_equal (copy.host_ps, 5000000);
  scenario.timing.fsdp_copies = 42;
  copy = cost_fsdp_copy (&scenario, 3000000);
  assert_run (&copy, 42, 1);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_thin_matmul_is_bound_by_memory),
    cmocka_unit_test (a_matmul_loses_depth_and_tail),
    cmocka_unit_test (the_slowest_of_many_gpus_sets_the_pace),
    cmocka_unit_test (selected_ops_keep_every_second_matmul),
    cmocka_unit_test (cudnn_attention_is_computed_again),
    cmocka_unit_test (compiled_chains_are_one_kernel_each),
    cmocka_unit_test (fp8_multiplies_faster_and_casts),
    cmocka_unit_test (attention_has_an_overhead_a_query),
    cmocka_unit_test (older_attention_has_a_rate_of_its_own),
    cmocka_unit_test (scores_in_memory_cost_their_traffic),
    cmocka_unit_test (autocast_norms_move_more),
    cmocka_unit_test (a_fused_loss_reads_logits_twice),
    cmocka_unit_test (metrics_and_losses_take_memory_of_their_own),
    cmocka_unit_test (gpt_forward_adds_up),
    cmocka_unit_test (early_stop_leaves_out_the_last_matmul_and_sum),
    cmocka_unit_test (gpt_backward_adds_up),
    cmocka_unit_test (llama_forward_adds_up),
    cmocka_unit_test (llama_backward_adds_up),
    cmocka_unit_test (fp32_is_slower_and_casts_nothing),
    cmocka_unit_test (head_and_loss_add_up),
    cmocka_unit_test (embedding_adds_up),
    cmocka_unit_test (learned_positions_are_looked_up_and_added),
    cmocka_unit_test (biases_cost_a_sum_in_backward),
    cmocka_unit_test (saved_activations_are_counted_tensor_by_tensor),
    cmocka_unit_test (model_flops_are_counted_as_torchtitan_does),
    cmocka_unit_test (optimizers_pass_over_their_shard),
    cmocka_unit_test (clipping_reads_and_then_scales),
    cmocka_unit_test (a_given_time_is_one_fixed_launch),
    cmocka_unit_test (what_is_given_as_0_is_not_launched),
    cmocka_unit_test (a_given_host_op_makes_every_run_one_launch),
    cmocka_unit_test (host_times_come_from_the_cluster_unless_given),
    cmocka_unit_test (an_fsdp_copy_moves_its_bytes),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

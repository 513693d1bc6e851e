#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "config/lora.h"
#include "cost/adapters.h"
#include "step_fixture.h"
#include "study/plan_memory.h"
#include "timeline/memory.h"

/* The model of round numbers: hidden 64, queries, keys and values as wide, an ungated feed-forward
 * of 128. A block is 32,896 elements, of which 32,768 are matrices; embedding and head are 16,384
 * each, the final norm 64. Rank 4 beside queries and values: 2 x 4 x (64 + 64) = 1,024 a block. */
#define BLOCK    32896
#define MATRICES 32768
#define ADAPTERS 1024
#define MODEL    1085504
#define TOKENS   16

#define QUERY_AND_VALUE (LORA_QUERY | LORA_VALUE)
#define ALL_LINEAR      0x7f

static Scenario
adapters (FsdpApi api)
{
  Scenario scenario = scenario_of_round_numbers ();

  scenario.fsdp.api = api;
  scenario.fsdp.use_orig_params = TRUE;
  scenario.training.trainable = TRAINABLE_LORA;
  scenario.training.lora_rank = 4;
  scenario.training.lora_targets = QUERY_AND_VALUE;
  return scenario;
}

/* ---- targets ---- */

static void
targets_are_names_of_modules (void **state)
{
  static const struct
  {
    const char *text;
    guint targets;
    const char *format;
  } cases[] = {
    { "q_proj v_proj", QUERY_AND_VALUE, "q_proj v_proj" },
    { "v_proj,q_proj", QUERY_AND_VALUE, "q_proj v_proj" },
    { " down_proj,  o_proj", LORA_DOWN | LORA_OUTPUT, "o_proj down_proj" },
    { "all-linear", ALL_LINEAR, "all-linear" },
    { "q_proj k_proj v_proj o_proj gate_proj up_proj down_proj", ALL_LINEAR, "all-linear" },
  };
  (void)state;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint targets = 0;

      assert_true (lora_targets_parse (cases[i].text, &targets, NULL));
      assert_int_equal (targets, cases[i].targets);
      g_autofree char *format = lora_targets_format (targets);
      assert_string_equal (format, cases[i].format);
    }
}

static void
unknown_modules_are_refused (void **state)
{
  static const char *const cases[][2] = {
    { "q_proj vproj", "unknown module 'vproj'; did you mean 'v_proj'?" },
    { "all_linear", "unknown module 'all_linear'; did you mean 'all-linear'?" },
    { " , ", "no value; names of modules such as q_proj v_proj" },
  };
  (void)state;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      guint targets = 77;

      assert_false (lora_targets_parse (cases[i][0], &targets, &error));
      if (strstr (error->message, cases[i][1]) == NULL)
        fail_msg ("'%s'", error->message);
      assert_int_equal (targets, 77);
    }
}

/* ---- parameters ---- */

static gint64
adapters_of (const ModelConfig *model, guint rank, guint targets)
{
  Scenario scenario
      = { .training = { .trainable = TRAINABLE_LORA, .lora_rank = rank, .lora_targets = targets } };

  return model->layers * adapters_elements (&scenario, model);
}

/* Llama-2 7B, rank 8: queries and values 32 x 2 x 8 x (4096 + 4096) = 4,194,304, as PEFT prints
 * (print_trainable_parameters). Rank 16 beside all: a block 16 x (4 x 8192 + 3 x (4096 + 11,008)) =
 * 1,249,280. Llama-3 8B has keys and values of 1024: 16 x (2 x 8192 + 2 x 5120 + 3 x 18,432) =
 * 1,310,720, 32 times 41,943,040. In MPT-7B queries, keys and values are one matrix to 12,288, and
 * any of the three names it: 32 x 8 x (4096 + 12,288) = 4,194,304. */
static void
adapters_are_counted_as_peft_does (void **state)
{
  const ModelConfig llama2 = { .layers = 32,
                               .hidden = 4096,
                               .heads = 32,
                               .kv_heads = 32,
                               .head_dim = 128,
                               .ffn_hidden = 11008,
                               .gated_ffn = TRUE };
  ModelConfig llama3 = llama2;
  ModelConfig mpt = llama2;
  (void)state;

  llama3.kv_heads = 8;
  llama3.ffn_hidden = 14336;
  mpt.norm = NORM_LAYERNORM;
  assert_int_equal (adapters_of (&llama2, 8, QUERY_AND_VALUE), 4194304);
  assert_int_equal (adapters_of (&llama2, 16, ALL_LINEAR), 32 * 1249280);
  assert_int_equal (adapters_of (&llama3, 16, ALL_LINEAR), 41943040);
  assert_int_equal (adapters_of (&mpt, 8, QUERY_AND_VALUE), 4194304);
  assert_int_equal (adapters_of (&mpt, 8, LORA_KEY), 4194304);
  assert_int_equal (adapters_of (&mpt, 8, LORA_GATE), 32 * 8 * (4096 + 11008));
  mpt.gated_ffn = FALSE;
  assert_int_equal (adapters_of (&mpt, 8, LORA_GATE), 0);
}

/* ---- kernels ---- */

static BlockCost
measured (Scenario scenario)
{
  StepCost cost;

  scenario.timing.forward = scenario.timing.recompute = scenario.timing.backward = TIMING_NOT_GIVEN;
  scenario.timing.host_op = TIMING_NOT_GIVEN;
  step_cost_new (&scenario, &cost);
  return cost.kinds[0];
}

static BlockCost
measured_all (void)
{
  return measured (scenario_of_round_numbers ());
}

/* Forward, an adapter is two matmuls, scaling and sum; two adapters. Backward, each is scaling,
 * four matmuls and the sum of gradients; frozen are six matrices' gradients and of each of two
 * norms the product and sum of its weight's. */
static void
frozen_weights_have_no_gradients (void **state)
{
  (void)state;
  BlockCost all = measured_all ();
  BlockCost some = measured (adapters (API_FSDP2));

  assert_int_equal (some.forward.n_kernels, all.forward.n_kernels + 2 * 4);
  assert_int_equal (some.backward.n_kernels, all.backward.n_kernels + 2 * 6 - 6 - 2 * 2);
  /* 6 FLOPs a weight and token where all are trained; 2 of them go, and adapters bring 4. */
  assert_int_equal ((gint64)(all.backward.flops - some.backward.flops),
                    TOKENS * (2 * MATRICES - 4 * ADAPTERS));
}

/* FSDP1's views of the flat parameter all require gradients, whatever the original does. */
static void
fsdp1_computes_them_in_vain (void **state)
{
  (void)state;
  BlockCost all = measured_all ();
  BlockCost some = measured (adapters (API_FSDP1));

  assert_int_equal (some.backward.n_kernels, all.backward.n_kernels + 2 * 6);
  assert_int_equal ((gint64)(some.backward.flops - all.backward.flops), TOKENS * 4 * ADAPTERS);
  assert_int_equal (some.saved_bytes - all.saved_bytes, TOKENS * 2 * 4 * 2); /* what A makes */
}

/* Without adapters an early stop leaves the last matmul and the residual's sum out. With them down
 * is needed no less than before, for nothing; B, scaling, sum and the residual's sum are left out.
 */
static void
a_recompute_stops_before_the_last_b (void **state)
{
  (void)state;
  Scenario scenario = adapters (API_FSDP2);

  BlockCost cost = measured (scenario);
  assert_int_equal (cost.forward.n_kernels - cost.recompute_early_stop.n_kernels, 2);
  scenario.training.lora_targets = ALL_LINEAR;
  cost = measured (scenario);
  assert_int_equal (cost.forward.n_kernels - cost.recompute_early_stop.n_kernels, 4);
}

/* ---- activations ---- */

/* A token's in bf16. Gone: of both norms the scaled input for the weight's gradient, 2 x 128; of
 * the second also the output, 128, and GELU's, 256: nothing behind them has a gradient. New: what
 * two A make, 16. Adapters everywhere: gone are the scaled inputs, new are six, 48. */
static void
inputs_of_frozen_matrices_are_not_kept (void **state)
{
  (void)state;
  Scenario scenario = adapters (API_FSDP2);
  gint64 all = measured_all ().saved_bytes;

  assert_int_equal (all - measured (scenario).saved_bytes, TOKENS * (256 + 128 + 256 - 16));
  scenario.training.lora_targets = ALL_LINEAR;
  assert_int_equal (all - measured (scenario).saved_bytes, TOKENS * (256 - 48));
}

/* ---- collectives ---- */

static gint64
scattered_bytes (const Scenario *scenario)
{
  g_autoptr (Timeline) timeline = run (scenario);
  gint64 bytes = 0;

  for (guint32 i = timeline_first_reported (timeline); i < timeline->records->len; i++)
    if (timeline_record (timeline, i)->label.op == TIMELINE_REDUCE_SCATTER)
      bytes += timeline_record (timeline, i)->bytes;
  return bytes;
}

/* FSDP1 scatters of each block all. FSDP2 scatters adapters alone: by rows on 16 ranks, A has 4 of
 * 64, so one a rank (with padding) and 64 elements; B has 64 of 4, so four a rank and 16 elements:
 * a rank's two are 160, 2,560 together for 1,024. Of rank 16 no row is padding, and it is 4,096. */
static void
fsdp2_scatters_adapters_alone (void **state)
{
  (void)state;
  Scenario scenario = adapters (API_FSDP1);

  assert_int_equal (scattered_bytes (&scenario), N_BLOCKS * 2 * (BLOCK + ADAPTERS));
  scenario = adapters (API_FSDP2);
  assert_int_equal (scattered_bytes (&scenario), N_BLOCKS * 2 * 2560);
  scenario.training.lora_rank = 16;
  assert_int_equal (scattered_bytes (&scenario), N_BLOCKS * 2 * 4096);
}

/* Blocks are gathered for their backward; the frozen root stays gathered over it and scatters
 * nothing. */
static void
all_blocks_are_gone_back_through (void **state)
{
  static const FsdpApi apis[] = { API_FSDP1, API_FSDP2 };
  (void)state;

  for (guint i = 0; i < G_N_ELEMENTS (apis); i++)
    {
      Scenario scenario = adapters (apis[i]);

      assert_counts (&scenario, UNIT_ROOT, (Counts){ 1, 0, 0, 0 });
      assert_counts (&scenario, UNIT_FIRST_BLOCK, (Counts){ 1, 1, 1, 0 });
      use_wrapper (&scenario);
      assert_counts (&scenario, UNIT_ROOT, (Counts){ 1, 0, 0, 0 });
      assert_counts (&scenario, UNIT_FIRST_BLOCK, (Counts){ 1, 1, 1, 0 });
    }
}

/* A head of its own is gathered for its backward, and freed behind it. So is the embedding, in
 * vain, where its output needs a gradient, as PEFT has it with checkpointing. */
static void
frozen_ends_are_gathered_again (void **state)
{
  static const FsdpApi apis[] = { API_FSDP1, API_FSDP2 };
  (void)state;

  for (guint i = 0; i < G_N_ELEMENTS (apis); i++)
    {
      Scenario scenario = adapters (apis[i]);

      scenario.fsdp.units = UNITS_EMBED_BLOCKS_HEAD;
      scenario.fsdp.reshard_after_forward = RESHARD_TRUE;
      assert_counts (&scenario, UNIT_HEAD, (Counts){ 1, 1, 0, 0 });
      assert_counts (&scenario, UNIT_FIRST_BLOCK + 31, (Counts){ 1, 1, 1, 0 });
      use_wrapper (&scenario);
      assert_counts (&scenario, UNIT_EMBED, (Counts){ 1, 1, 0, 0 });
    }
}

/* Gathers of root and block 0 (0.5 + 1.76), 32 x 4 forward, 32 x 8 backward, the scatter of block
 * 0: 388.02 ms. FSDP1's ends behind that of block 1, which is hidden; FSDP2 lays no hook at block
 * 0, whose inputs need no gradient, but the final callback starts it at the same time. */
static void
a_step_ends_with_the_scatter_of_the_first_block (void **state)
{
  static const FsdpApi apis[] = { API_FSDP1, API_FSDP2 };
  (void)state;

  for (guint i = 0; i < G_N_ELEMENTS (apis); i++)
    {
      Scenario scenario = adapters (apis[i]);

      assert_int_equal (step_time (&scenario), 388020 * US);
    }
}

/* 32 x 1,024 elements are 131,072 bytes, less than the first bucket's 1 MiB; of 0.1 us each, behind
 * 384 ms of blocks. Reduced are two bytes an element. */
static void
ddp_has_buckets_for_adapters_alone (void **state)
{
  (void)state;
  Scenario scenario = adapters (API_DDP);

  scenario.timing.all_reduce = BLOCK * (US / 10);
  assert_all_counts (&scenario, (Counts){ 0, 0, 0, 1 });
  assert_int_equal (step_time (&scenario), 384000 * US + N_BLOCKS * ADAPTERS * (US / 10));
}

/* ---- memory ---- */

/* What is allocated of a kind at the end of the run, or at most. */
static gint64
held (const Scenario *scenario, MemoryKind kind, gboolean at_most)
{
  g_autoptr (Timeline) timeline = run (scenario);
  MemoryLevel level = { 0 };
  gint64 most = 0;

  for (guint i = 0; i < timeline->changes->len; i++)
    {
      memory_level_apply (&level, &g_array_index (timeline->changes, MemoryChange, i));
      most = MAX (most, level.by_kind[kind]);
    }
  return at_most ? most : level.by_kind[kind];
}

/* Two states of 4 bytes: of a sixteenth, by rows of the 160 elements that the first rank has, of
 * all. DDP's gradients and bucket are theirs too. */
static void
adapters_alone_have_states (void **state)
{
  (void)state;
  Scenario scenario = adapters (API_FSDP1);

  assert_int_equal (held (&scenario, MEMORY_OPTIMIZER, FALSE), 2 * 4 * N_BLOCKS * ADAPTERS / 16);
  scenario = adapters (API_FSDP2);
  assert_int_equal (held (&scenario, MEMORY_OPTIMIZER, FALSE), 2 * 4 * N_BLOCKS * 160);
  scenario = adapters (API_DDP);
  assert_int_equal (held (&scenario, MEMORY_OPTIMIZER, FALSE), 2 * 4 * N_BLOCKS * ADAPTERS);
  assert_int_equal (held (&scenario, MEMORY_GRADS, TRUE), 4 * N_BLOCKS * ADAPTERS);
  assert_int_equal (held (&scenario, MEMORY_PARAMS, FALSE), 4 * (MODEL + N_BLOCKS * ADAPTERS));
}

/* Reduced gradients, fp32: FSDP1's are whole shards. */
static void
fsdp1_holds_gradients_of_frozen_weights (void **state)
{
  (void)state;
  Scenario scenario = adapters (API_FSDP1);

  assert_int_equal (held (&scenario, MEMORY_GRADS, TRUE), 4 * N_BLOCKS * (BLOCK + ADAPTERS) / 16);
  scenario = adapters (API_FSDP2);
  assert_int_equal (held (&scenario, MEMORY_GRADS, TRUE), 4 * N_BLOCKS * 160);
}

/* What a node's eight ranks hold of an offloaded job, of 4 bytes: sixteenths of all parameters,
 * 1,118,272, of the gradients, under FSDP1 of all that is in blocks, 1,085,440, and of two states
 * of the adapters, 32,768. */
static void
hosts_hold_what_is_offloaded (void **state)
{
  (void)state;
  Scenario scenario = adapters (API_FSDP1);
  StepCost cost;

  step_cost_new (&scenario, &cost);
  assert_int_equal (plan_host_memory (&scenario, &cost),
                    8 * 4 * (1118272 + 1085440 + 2 * 32768) / 16);
  scenario = adapters (API_FSDP2);
  assert_int_equal (plan_host_memory (&scenario, &cost), 8 * 4 * (1118272 + 3 * 32768) / 16);
}

static void
nothing_is_left_over (void **state)
{
  static const FsdpApi apis[] = { API_FSDP1, API_FSDP1, API_FSDP2, API_FSDP2, API_FSDP2, API_DDP };
  static const UnitLayout layouts[] = { UNITS_ROOT_AND_BLOCKS,
                                        UNITS_EMBED_BLOCKS_HEAD,
                                        UNITS_ROOT_AND_BLOCKS,
                                        UNITS_EMBED_BLOCKS_HEAD,
                                        UNITS_ONE,
                                        UNITS_ROOT_AND_BLOCKS };
  (void)state;

  for (guint number = 0; number < 6 * 32; number++)
    {
      Scenario scenario = adapters (apis[number % 6]);
      guint bits = number / 6;

      scenario.fsdp.units = layouts[number % 6];
      if ((bits & 1) != 0)
        use_wrapper (&scenario);
      scenario.checkpoint.select_children = scenario.fsdp.api == API_FSDP2 && (bits & 2) != 0;
      scenario.training.lora_targets = (bits & 2) != 0 ? ALL_LINEAR : QUERY_AND_VALUE;
      if ((bits & 4) != 0)
        scenario.fsdp.strategy = STRATEGY_SHARD_GRAD_OP;
      scenario.training.grad_accum = (bits & 8) != 0 ? 2 : 1;
      scenario.training.no_sync = (bits & 16) != 0;
      for (MemoryKind kind = 0; kind < N_MEMORY_KINDS; kind++)
        if (kind != MEMORY_PARAMS && kind != MEMORY_OPTIMIZER
            && (scenario.fsdp.api != API_DDP || kind != MEMORY_COMM_BUFFERS)) /* buckets stay */
          assert_int_equal (held (&scenario, kind, FALSE), 0);
    }
}

/* ---- FLOPs ---- */

/* Of a frozen weight the gradient of the input alone, 4 of 6 FLOPs a token, also where FSDP1
 * computes the weight's in vain; of adapters 6, of attention all. */
static void
model_flops_are_those_of_the_passes (void **state)
{
  static const FsdpApi apis[] = { API_FSDP1, API_FSDP2, API_DDP };
  Scenario scenario = scenario_of_round_numbers ();
  StepCost all, some;
  (void)state;

  step_cost_new (&scenario, &all);
  for (guint i = 0; i < G_N_ELEMENTS (apis); i++)
    {
      scenario = adapters (apis[i]);
      step_cost_new (&scenario, &some);
      assert_int_equal (some.trained_params, N_BLOCKS * ADAPTERS);
      assert_int_equal ((gint64)(all.model_flops_per_token - some.model_flops_per_token),
                        2 * (MODEL - 16384) - 6 * N_BLOCKS * ADAPTERS);
    }
}

/* ---- refusals ---- */

static void
assert_refused (const Scenario *scenario, const char *reason)
{
  g_autoptr (GError) error = NULL;
  StepCost cost;

  step_cost_new (scenario, &cost);
  g_autoptr (Program) program = fsdp_program (scenario, &cost, &error);

  assert_null (program);
  assert_non_null (strstr (error->message, reason));
}

static void
fsdp1_mixes_only_with_original_parameters (void **state)
{
  (void)state;
  Scenario scenario = adapters (API_FSDP1);

  scenario.fsdp.use_orig_params = FALSE;
  assert_refused (&scenario, "uniform `requires_grad` when `use_orig_params=False`");
  scenario.fsdp.use_orig_params = TRUE;
  scenario.fsdp.torch_minor = 0;
  assert_refused (&scenario, "requires uniform `requires_grad`");
  scenario.fsdp.torch_minor = 1;
  scenario.fsdp.units = UNITS_ONE;
  assert_refused (&scenario, "those of embedding and head too");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (targets_are_names_of_modules),
    cmocka_unit_test (unknown_modules_are_refused),
    cmocka_unit_test (adapters_are_counted_as_peft_does),
    cmocka_unit_test (frozen_weights_have_no_gradients),
    cmocka_unit_test (fsdp1_computes_them_in_vain),
    cmocka_unit_test (a_recompute_stops_before_the_last_b),
    cmocka_unit_test (inputs_of_frozen_matrices_are_not_kept),
    cmocka_unit_test (fsdp2_scatters_adapters_alone),
    cmocka_unit_test (all_blocks_are_gone_back_through),
    cmocka_unit_test (frozen_ends_are_gathered_again),
    cmocka_unit_test (a_step_ends_with_the_scatter_of_the_first_block),
    cmocka_unit_test (ddp_has_buckets_for_adapters_alone),
    cmocka_unit_test (adapters_alone_have_states),
    cmocka_unit_test (fsdp1_holds_gradients_of_frozen_weights),
    cmocka_unit_test (hosts_hold_what_is_offloaded),
    cmocka_unit_test (nothing_is_left_over),
    cmocka_unit_test (model_flops_are_those_of_the_passes),
    cmocka_unit_test (fsdp1_mixes_only_with_original_parameters),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}

#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "step_fixture.h"
#include "timeline/memory.h"

static Scenario
fsdp2_scenario (void)
{
  Scenario scenario = scenario_of_round_numbers ();

  scenario.fsdp.api = API_FSDP2;
  return scenario;
}

/* ---- step times ---- */

/* Without copies, FSDP2 prefetches as FSDP1 does under BACKWARD_PRE and its compute
 * waits for nothing more: 0.5 + 1.76 + 32 x 4 + 32 x 8 + 1.76 + 0.5 = 388.52. */
static void
without_checkpointing (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  assert_int_equal (step_time (&scenario), 388520 * US);
}

/* 32 recomputes of 4 more. */
static void
the_wrapper_adds_the_recompute (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  use_wrapper (&scenario);
  assert_int_equal (step_time (&scenario), 516520 * US);
}

/* Up to 2.9 a block's backward is: scatter of the block above and gather for the
 * recompute 1.76 + 1.76, recompute 4 beside the second gather and the stale one, 8: 15.52.
 * From 2.10 the recompute uses what was prefetched, as the wrapper's. */
static void
reentrant_outside_loses_its_prefetch_up_to_2_9 (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  use_naive (&scenario);
  scenario.fsdp.torch_minor = 7;
  assert_int_equal (step_time (&scenario), 625640 * US);
  scenario.fsdp.torch_minor = 10;
  assert_int_equal (step_time (&scenario), 516520 * US);
}

/* Each block's compute waits for the scatter of the block above it. With scatters of 20 ms and
 * gathers of 0.1 ms behind them: compute of block k waits for its gather, which stands
 * before that scatter on the communicator, then for the scatter. 20 a block, and not 8. */
static void
compute_waits_for_the_scatter_before (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  scenario.timing.all_gather = 100 * US;
  scenario.timing.reduce_scatter = 20000 * US;
  SimTime long_one = step_time (&scenario);
  scenario.model.layers--;
  SimTime short_one = step_time (&scenario);
  /* One block more: 4 in forward; 0.1 + 20 on the communicator in backward. */
  assert_int_equal (long_one - short_one, 24100 * US);
}

/* The head's scatter of 40 ms begins with backward, on a communicator of its own. Block 31,
 * gathered in 1.76, ends at 9.76 and, with one input, waits for it until 40; with six inputs five
 * blocks more run beside it, and nothing waits: 30.24 less. */
static void
more_inputs_of_scatters_let_compute_run_on (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  scenario.fsdp.units = UNITS_EMBED_BLOCKS_HEAD;
  scenario.fsdp.separate_reduce_scatter_group = TRUE;
  scenario.timing.head_reduce_scatter = 40000 * US;
  scenario.fsdp.reduce_scatter_input_buffers = 1;
  SimTime one = step_time (&scenario);
  scenario.fsdp.reduce_scatter_input_buffers = 6;
  assert_int_equal (one - step_time (&scenario), 30240 * US);
}

/* With a communicator of its own, gathers do not stand behind scatters: max (8, 6, 6)
 * instead of 6 + 6. */
static void
a_separate_communicator_frees_the_gathers (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();
  SimTime per_block[2];

  scenario.timing.all_gather = scenario.timing.reduce_scatter = 6000 * US;
  scenario.timing.forward = 6000 * US;
  for (guint separate = 0; separate < 2; separate++)
    {
      scenario.fsdp.separate_reduce_scatter_group = separate != 0;
      scenario.model.layers = N_BLOCKS;
      per_block[separate] = step_time (&scenario);
      scenario.model.layers--;
      per_block[separate] -= step_time (&scenario);
    }
  assert_int_equal (per_block[0], (6000 + 12000) * US);
  assert_int_equal (per_block[1], (6000 + 8000) * US);
}

/* ---- counts of a block: gathers forward, backward; scatters; all-reduces ---- */

static const Counts three_collectives = { 1, 1, 1, 0 };

static void
reentrant_outside_gathers_by_version (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  use_naive (&scenario);
  for (guint minor = 6; minor <= 9; minor++)
    {
      scenario.fsdp.torch_minor = minor;
      assert_counts (&scenario, UNIT_FIRST_BLOCK + 7, (Counts){ 1, 3, 1, 0 });
      /* Nothing is above the last block; the stale gather of block 31 came with block 30. */
      assert_counts (&scenario, UNIT_FIRST_BLOCK, (Counts){ 1, 2, 1, 0 });
      /* 3N - 1 in backward. */
      assert_all_counts (&scenario, (Counts){ N_BLOCKS + 1, 3 * N_BLOCKS - 1, N_BLOCKS + 1, 0 });
    }
  for (guint minor = 10; minor <= 14; minor++)
    {
      scenario.fsdp.torch_minor = minor;
      assert_counts (&scenario, UNIT_FIRST_BLOCK + 7, three_collectives);
      assert_all_counts (&scenario, (Counts){ N_BLOCKS + 1, N_BLOCKS, N_BLOCKS + 1, 0 });
    }
}

/* What is kept after forward is gathered once; up to 2.9 a reentrant recompute still
 * prefetches the block above, which was resharded after its backward. */
static void
kept_parameters_are_gathered_once (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  scenario.fsdp.reshard_after_forward = RESHARD_FALSE;
  assert_counts (&scenario, UNIT_FIRST_BLOCK + 7, (Counts){ 1, 0, 1, 0 });
  use_naive (&scenario);
  assert_counts (&scenario, UNIT_FIRST_BLOCK + 7, (Counts){ 1, 1, 1, 0 });
  scenario.fsdp.torch_minor = 10;
  assert_counts (&scenario, UNIT_FIRST_BLOCK + 7, (Counts){ 1, 0, 1, 0 });
}

static void
hybrid_shard_adds_an_all_reduce (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  use_hybrid (&scenario);
  assert_counts (&scenario, UNIT_FIRST_BLOCK + 7, (Counts){ 1, 1, 1, 1 });
  assert_counts (&scenario, UNIT_ROOT, (Counts){ 1, 0, 1, 1 });
}

/* An explicit true is honoured on the root from 2.8 on. */
static void
an_explicit_true_reshards_the_root_from_2_8 (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  scenario.fsdp.reshard_after_forward = RESHARD_TRUE;
  scenario.fsdp.torch_minor = 7;
  assert_counts (&scenario, UNIT_ROOT, (Counts){ 1, 0, 1, 0 });
  scenario.fsdp.torch_minor = 8;
  assert_counts (&scenario, UNIT_ROOT, (Counts){ 1, 1, 1, 0 });
}

/* So is a group size, of which the whole shard group is one more. */
static void
a_group_size_reshards_the_root_from_2_8 (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  for (gint ranks = 4; ranks <= 16; ranks *= 2)
    {
      scenario.fsdp.reshard_after_forward = ranks;
      scenario.fsdp.torch_minor = 7;
      assert_counts (&scenario, UNIT_ROOT, (Counts){ 1, 0, 1, 0 });
      scenario.fsdp.torch_minor = 8;
      assert_counts (&scenario, UNIT_ROOT, (Counts){ 1, 1, 1, 0 });
    }
}

/* The first block has no block ahead of it in backward, so its list is empty and the
 * implicit prefetch stays: the embedding's gather comes before the block's scatter. */
static void
an_empty_list_leaves_the_implicit_prefetch (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();
  SimTime embed = 0;

  scenario.fsdp.units = UNITS_EMBED_BLOCKS_HEAD;
  scenario.fsdp.backward_prefetch_depth = 1;
  scenario.timing.embed_all_gather = 500 * US;
  g_autoptr (Timeline) timeline = run (&scenario);
  for (guint32 i = timeline_first_reported (timeline); i < timeline->records->len; i++)
    {
      const TimelineRecord *record = timeline_record (timeline, i);

      if (record->label.op == TIMELINE_ALL_GATHER && record->label.unit == UNIT_EMBED)
        embed = record->start - timeline->origin; /* the later one, in backward */
    }
  assert_true (embed < start_of (timeline, TIMELINE_REDUCE_SCATTER, PHASE_BACKWARD, 0));
}

/* An explicit prefetch of the next d blocks, and a reentrant recompute: each block's
 * recompute gathers the d blocks above it again, which were done. */
static void
explicit_prefetch_and_reentrant_recompute_gather_in_vain (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  use_naive (&scenario);
  scenario.fsdp.torch_minor = 12;
  scenario.fsdp.forward_prefetch_depth = 1;
  assert_counts (&scenario, UNIT_FIRST_BLOCK + 7, (Counts){ 1, 2, 1, 0 });
}

static void
no_sync_reduces_once_and_gathers_always (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  scenario.training.grad_accum = 4;
  assert_counts (&scenario, UNIT_FIRST_BLOCK, (Counts){ 4, 4, 1, 0 });
  scenario.training.no_sync = FALSE;
  assert_counts (&scenario, UNIT_FIRST_BLOCK, (Counts){ 4, 4, 4, 0 });
}

/* ---- attention and MLP as units, as checkpoints ---- */

/* Norms without weights leave all to attention and MLP, 16384 parameters each: half of each time.
 */
static Scenario
nested_scenario (void)
{
  Scenario scenario = fsdp2_scenario ();

  scenario.model.norm = NORM_LAYERNORM_PLAIN;
  scenario.fsdp.units = UNITS_ATTENTION_AND_MLP;
  return scenario;
}

/* Only half a block is gathered before the first kernel and scattered after the last: 0.5 + 0.88 +
 * 32 x 4 + 32 x 8 + 0.88 + 0.5 = 386.76. */
static void
smaller_units_expose_less (void **state)
{
  (void)state;
  Scenario scenario = nested_scenario ();

  assert_int_equal (step_time (&scenario), 386760 * US);
  use_wrapper (&scenario);
  scenario.checkpoint.select_children = TRUE;
  assert_int_equal (step_time (&scenario), (386760 + 32 * 4000) * US);
}

/* Communication buffers that are held when the second step begins. */
static gint64
left_by_the_first_step (const Scenario *scenario)
{
  g_autoptr (Timeline) timeline = run (scenario);
  MemoryLevel level = { 0 };

  for (guint i = 0; i < timeline_step (timeline, 1)->first_change; i++)
    memory_level_apply (&level, &g_array_index (timeline->changes, MemoryChange, i));
  return level.by_kind[MEMORY_COMM_BUFFERS];
}

/* A recompute that stops early in the MLP never comes to the post-forward hook that would drop its
 * gather's parked output, and the end of the backward does not look for it: block 0's, of 16384
 * parameters in bf16, is left to the first wait of the next step. */
static void
an_early_stop_leaves_one_output_parked (void **state)
{
  (void)state;
  Scenario scenario = nested_scenario ();

  assert_int_equal (left_by_the_first_step (&scenario), 0);
  use_wrapper (&scenario);
  assert_int_equal (left_by_the_first_step (&scenario), 2 * 16384);
  scenario.checkpoint.early_stop = FALSE;
  assert_int_equal (left_by_the_first_step (&scenario), 0);
}

/* A block more, around which the recompute runs. The attention's gather is issued on demand, behind
 * the scatter of the attention above: 4 in forward; 0.88 + 0.88 that nothing hides, 4, 8. */
static void
a_recompute_gathers_attention_on_demand (void **state)
{
  (void)state;
  Scenario scenario = nested_scenario ();

  scenario.checkpoint.method = CHECKPOINT_OUTSIDE;
  scenario.fsdp.torch_minor = 10;
  SimTime long_one = step_time (&scenario);
  scenario.model.layers--;
  SimTime short_one = step_time (&scenario);
  assert_int_equal (long_one - short_one, (4000 + 880 + 880 + 4000 + 8000) * US);
}

/* ---- copies ---- */

/* Each gather has a cast, a copy-in and a copy-out; the scatter a copy-in and a cast
 * of what comes back. A group of 8 adds the clone of what is kept after forward,
 * which is staged again as the shard is, though it has the dtype already. */
static void
copies_of_a_gather_and_a_scatter (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  scenario.timing.fsdp_copies = 1 * US;
  assert_int_equal (count_copies (&scenario, UNIT_FIRST_BLOCK), 2 * 3 + 2);
  scenario.fsdp.reshard_after_forward = 8;
  assert_int_equal (count_copies (&scenario, UNIT_FIRST_BLOCK), 2 * 3 + 2 + 1);
  scenario.fsdp.param_dtype = DTYPE_FP32;
  assert_int_equal (count_copies (&scenario, UNIT_FIRST_BLOCK), 2 * 2 + 2 + 1);
}

/* Gradients that are not reduced are kept in the reduce dtype: three micro-batches of two
 * gathers, an upcast in the first two, and the copy-in of the scatter in the last. */
static void
kept_gradients_are_upcast_in_each_micro_batch (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  scenario.timing.fsdp_copies = 1 * US;
  scenario.training.grad_accum = 3;
  scenario.fsdp.reduce_dtype = DTYPE_FP32;
  assert_int_equal (count_copies (&scenario, UNIT_FIRST_BLOCK), 3 * 2 * 3 + 2 + 1);
}

/* ---- whole-step counts of recorded runs ---- */

/* Llama-3 70B on 8 GPUs, torchtitan before the head had a unit of its own: 80 blocks, the
 * last one kept. 80 + 79 and the root's are 160 gathers, 81 scatters. */
static void
torchtitan_that_keeps_the_last_block (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  scenario.model.layers = 80;
  scenario.fsdp.reshard_after_forward = RESHARD_ALL_BUT_LAST;
  assert_all_counts (&scenario, (Counts){ 81, 79, 81, 0 });
}

/* Qwen3 8B: 36 blocks and the root, 8 micro-batches, every unit resharded: 37 gathers
 * forward and 37 backward in each micro-batch, 592; 37 scatters in the last. */
static void
accumulation_that_gathers_in_every_micro_batch (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  scenario.model.layers = 36;
  scenario.training.grad_accum = 8;
  scenario.fsdp.reshard_after_forward = RESHARD_TRUE;
  assert_all_counts (&scenario, (Counts){ 8 * 37, 8 * 37, 37, 0 });
  use_wrapper (&scenario);
  assert_all_counts (&scenario, (Counts){ 8 * 37, 8 * 37, 37, 0 });
}

/* The same that keeps parameters after forward and between micro-batches: 37 and 37. */
static void
accumulation_that_keeps_parameters (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  scenario.model.layers = 36;
  scenario.training.grad_accum = 8;
  scenario.fsdp.reshard_after_forward = RESHARD_FALSE;
  scenario.fsdp.reshard_after_backward = FALSE;
  assert_all_counts (&scenario, (Counts){ 37, 0, 37, 0 });
}

/* Qwen3 14B in torchtitan: 40 blocks, embedding, norm and head, all resharded: 42 + 42. */
static void
torchtitan_that_reshards_all (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  scenario.model.layers = 40;
  scenario.fsdp.units = UNITS_EMBED_BLOCKS_HEAD;
  scenario.fsdp.reshard_after_forward = RESHARD_TRUE;
  assert_all_counts (&scenario, (Counts){ 42, 42, 42, 0 });
}

/* ---- refusals ---- */

static void
assert_refused (const Scenario *scenario, const char *word)
{
  g_autoptr (GError) error = NULL;
  StepCost cost;

  step_cost_new (scenario, &cost);
  assert_null (fsdp_program (scenario, &cost, &error));
  assert_true (error->domain == FSDP_ERROR);
  assert_non_null (strstr (error->message, word));
}

static void
what_fully_shard_does_not_take (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  scenario.fsdp.torch_minor = 5;
  assert_refused (&scenario, "2.6");
  scenario = fsdp2_scenario ();
  scenario.fsdp.strategy = STRATEGY_NO_SHARD;
  assert_refused (&scenario, "NO_SHARD");
  scenario = fsdp2_scenario ();
  scenario.fsdp.reshard_after_forward = 5;
  assert_refused (&scenario, "divides the 16 ranks");
  scenario = fsdp2_scenario ();
  scenario.fsdp.reshard_after_forward = 4;
  scenario.fsdp.all_gather_dtype = GATHER_FP8;
  assert_refused (&scenario, "NotImplementedError");
}

/* set_requires_all_reduce (False) in all micro-batches but the last: each scatters, one reduces. */
static void
a_deferred_all_reduce_is_one (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  use_hybrid (&scenario);
  scenario.training.grad_accum = 3;
  scenario.training.no_sync = FALSE;
  assert_counts (&scenario, UNIT_FIRST_BLOCK + 7, (Counts){ 3, 3, 3, 3 });
  scenario.fsdp.defer_all_reduce = TRUE;
  assert_counts (&scenario, UNIT_FIRST_BLOCK + 7, (Counts){ 3, 3, 3, 1 });
  assert_counts (&scenario, UNIT_ROOT, (Counts){ 3, 0, 3, 1 });
}

/* All-reduces of 30 ms, longer than 8 of backward, set the pace: 30 for a block more in each
 * micro-batch that has them, and in others 8. Forward takes 4 in each of three:
 * 3 x (4 + 30) against 3 x 4 + 2 x 8 + 30. */
static void
a_deferred_all_reduce_takes_its_time_once (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();
  SimTime per_block[2];

  use_hybrid (&scenario);
  scenario.timing.all_reduce = 30000 * US;
  scenario.training.grad_accum = 3;
  scenario.training.no_sync = FALSE;
  for (guint defer = 0; defer < 2; defer++)
    {
      scenario.fsdp.defer_all_reduce = defer;
      scenario.model.layers = N_BLOCKS;
      SimTime long_one = step_time (&scenario);
      scenario.model.layers = N_BLOCKS - 1;
      per_block[defer] = long_one - step_time (&scenario);
    }
  assert_int_equal (per_block[0], 102000 * US);
  assert_int_equal (per_block[1], 58000 * US);
}

/* CUDA_DEVICE_MAX_CONNECTIONS = 1: block k - 1's backward is launched behind the gather for k - 2,
 * which stands behind block k's scatter on the communicator and so begins 1.76 after block k.
 * Forward's gathers begin with the block before: 4 + 8 + 1.76 for a block more, not 4 + 8. */
static void
one_queue_puts_the_scatter_before_compute (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  scenario.simulation.cuda_device_max_connections = 1;
  SimTime long_one = step_time (&scenario);
  scenario.model.layers--;
  assert_int_equal (long_one - step_time (&scenario), 13760 * US);
}

/* With a communicator of its own the gather starts as the scatter does, when the block ends: 4 + 8.
 */
static void
one_queue_and_a_separate_communicator (void **state)
{
  (void)state;
  Scenario scenario = fsdp2_scenario ();

  scenario.simulation.cuda_device_max_connections = 1;
  scenario.fsdp.separate_reduce_scatter_group = TRUE;
  SimTime long_one = step_time (&scenario);
  scenario.model.layers--;
  assert_int_equal (long_one - step_time (&scenario), 12000 * US);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (without_checkpointing),
    cmocka_unit_test (the_wrapper_adds_the_recompute),
    cmocka_unit_test (reentrant_outside_loses_its_prefetch_up_to_2_9),
    cmocka_unit_test (compute_waits_for_the_scatter_before),
    cmocka_unit_test (more_inputs_of_scatters_let_compute_run_on),
    cmocka_unit_test (a_separate_communicator_frees_the_gathers),
    cmocka_unit_test (reentrant_outside_gathers_by_version),
    cmocka_unit_test (kept_parameters_are_gathered_once),
    cmocka_unit_test (hybrid_shard_adds_an_all_reduce),
    cmocka_unit_test (an_explicit_true_reshards_the_root_from_2_8),
    cmocka_unit_test (a_group_size_reshards_the_root_from_2_8),
    cmocka_unit_test (an_empty_list_leaves_the_implicit_prefetch),
    cmocka_unit_test (explicit_prefetch_and_reentrant_recompute_gather_in_vain),
    cmocka_unit_test (no_sync_reduces_once_and_gathers_always),
    cmocka_unit_test (smaller_units_expose_less),
    cmocka_unit_test (an_early_stop_leaves_one_output_parked),
    cmocka_unit_test (a_recompute_gathers_attention_on_demand),
    cmocka_unit_test (copies_of_a_gather_and_a_scatter),
    cmocka_unit_test (kept_gradients_are_upcast_in_each_micro_batch),
    cmocka_unit_test (torchtitan_that_keeps_the_last_block),
    cmocka_unit_test (accumulation_that_gathers_in_every_micro_batch),
    cmocka_unit_test (accumulation_that_keeps_parameters),
    cmocka_unit_test (torchtitan_that_reshards_all),
    cmocka_unit_test (a_deferred_all_reduce_is_one),
    cmocka_unit_test (a_deferred_all_reduce_takes_its_time_once),
    cmocka_unit_test (one_queue_puts_the_scatter_before_compute),
    cmocka_unit_test (one_queue_and_a_separate_communicator),
    cmocka_unit_test (what_fully_shard_does_not_take),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

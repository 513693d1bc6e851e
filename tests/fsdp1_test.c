#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "step_fixture.h"

/* ---- step times ---- */

/* Forward: root gather 0.5, first block's 1.76, then 32 x 4 with every other
 * gather hidden. Backward: 32 x 8, the first gather hidden behind the end of
 * forward, since the host is two blocks ahead. Then the last block's scatter 1.76
 * and the root's 0.5. 0.5 + 1.76 + 128 + 256 + 1.76 + 0.5 = 388.52. Without
 * prefetch 31 gathers stand behind 31 scatters: + 31 x 3.52 = 497.64. */
static void
without_checkpointing (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  assert_int_equal (step_time (&scenario), 388520 * US);
  scenario.fsdp.backward_prefetch = PREFETCH_BACKWARD_POST;
  assert_int_equal (step_time (&scenario), 388520 * US);
  scenario.fsdp.backward_prefetch = PREFETCH_NONE;
  assert_int_equal (step_time (&scenario), 497640 * US);
}

/* 32 recomputes of 4 more, nothing else: 388.52 + 128 = 516.52, and 625.64. */
static void
with_the_wrapper_the_recompute_is_all_that_is_added (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  use_wrapper (&scenario);
  assert_int_equal (step_time (&scenario), 516520 * US);
  scenario.fsdp.backward_prefetch = PREFETCH_BACKWARD_POST;
  assert_int_equal (step_time (&scenario), 516520 * US);
  scenario.fsdp.backward_prefetch = PREFETCH_NONE;
  assert_int_equal (step_time (&scenario), 625640 * US);
}

/* Each block: scatter 1.76 and gather 1.76 back to back, recompute 4 (which hides
 * the second gather), backward 8; the first gather is hidden and the last scatter
 * is followed by the root's: 130.26 + 32 x 15.52 - 1.76 + 0.5 = 625.64. */
static void
with_naive_checkpointing_no_prefetch_mode_helps (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  use_naive (&scenario);
  for (guint mode = PREFETCH_BACKWARD_PRE; mode <= PREFETCH_NONE; mode++)
    {
      scenario.fsdp.backward_prefetch = (BackwardPrefetch)mode;
      assert_int_equal (step_time (&scenario), 625640 * US);
    }
}

/* The second gather shows where it is longer than the recompute: with gathers and
 * scatters of 6 ms a naive block's backward takes 6 + 6 + max (4, 6) + 8 = 26. In
 * forward the gathers stand back to back, 6 a block. */
static void
the_second_gather_shows_where_it_outlasts_the_recompute (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  use_naive (&scenario);
  scenario.timing.all_gather = scenario.timing.reduce_scatter = 6000 * US;
  SimTime long_one = step_time (&scenario);
  scenario.model.layers--;
  SimTime short_one = step_time (&scenario);
  /* One block more: 6 in forward, 26 in backward. */
  assert_int_equal (long_one - short_one, 32000 * US);
}

/* FULL_SHARD's 1.76 becomes the hybrid's, and each block adds an all-reduce of 1
 * that hides; at the end scatter (block) 1.76, all-reduce 1 beside the root's
 * scatter 0.5, then the root's all-reduce 0.2: 388.52 - 0.5 + 1 + 0.2. */
static void
hybrid_shards_all_reduce_only_at_the_end (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  use_hybrid (&scenario);
  assert_int_equal (step_time (&scenario), 389220 * US);
}

/* Before 2.1 the all-reduce ran on the stream of the reduce-scatters. The last
 * block's scatter, its all-reduce, the root's scatter, its all-reduce follow one
 * another: 386.26 + 1.76 + 1 + 0.5 + 0.2. */
static void
before_torch_2_1_all_reduces_stand_between_reduce_scatters (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  use_hybrid (&scenario);
  scenario.fsdp.torch_minor = 0;
  assert_int_equal (step_time (&scenario), 389720 * US);
}

/* ---- counts: all-gathers forward, backward; reduce-scatters; all-reduces ---- */

static const Counts three_collectives = { 1, 1, 1, 0 };
static const Counts four_collectives = { 1, 2, 1, 0 };

static void
reentrant_outside_gathers_twice_in_backward (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  use_naive (&scenario);
  for (guint32 block = 0; block < N_BLOCKS; block++)
    assert_counts (&scenario, UNIT_FIRST_BLOCK + block, four_collectives);
  assert_counts (&scenario, UNIT_ROOT, (Counts){ 1, 0, 1, 0 });
}

static void
every_other_nesting_gathers_once_in_backward (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  assert_counts (&scenario, UNIT_FIRST_BLOCK, three_collectives);
  for (guint reentrant = 0; reentrant < 2; reentrant++)
    for (guint early_stop = 0; early_stop < 2; early_stop++)
      {
        use_wrapper (&scenario);
        scenario.checkpoint.use_reentrant = reentrant != 0;
        scenario.checkpoint.early_stop = early_stop != 0;
        assert_counts (&scenario, UNIT_FIRST_BLOCK + 7, three_collectives);
      }
  scenario.checkpoint.method = CHECKPOINT_OUTSIDE;
  scenario.checkpoint.use_reentrant = FALSE;
  assert_counts (&scenario, UNIT_FIRST_BLOCK + 7, three_collectives);
}

/* every:4: blocks 0, 4, 8, … are checkpointed. */
static void
only_selected_blocks_gather_twice (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  use_naive (&scenario);
  scenario.checkpoint.every = 4;
  assert_counts (&scenario, UNIT_FIRST_BLOCK + 8, four_collectives);
  assert_counts (&scenario, UNIT_FIRST_BLOCK + 9, three_collectives);
}

static void
strategies_that_keep_parameters_gather_once (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  use_naive (&scenario);
  scenario.fsdp.strategy = STRATEGY_SHARD_GRAD_OP;
  assert_counts (&scenario, UNIT_FIRST_BLOCK, (Counts){ 1, 0, 1, 0 });
  use_hybrid (&scenario);
  assert_counts (&scenario, UNIT_FIRST_BLOCK, (Counts){ 1, 2, 1, 1 });
  scenario.fsdp.strategy = STRATEGY_HYBRID_SHARD_ZERO2;
  assert_counts (&scenario, UNIT_FIRST_BLOCK, (Counts){ 1, 0, 1, 1 });
  scenario.fsdp.strategy = STRATEGY_NO_SHARD;
  assert_counts (&scenario, UNIT_FIRST_BLOCK, (Counts){ 0, 0, 0, 1 });
}

/* Four micro-batches: FULL_SHARD gathers twice in each and, under no_sync, reduces
 * in the last only; SHARD_GRAD_OP keeps what it gathered in the first. */
static void
accumulation_reduces_once_under_no_sync (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  scenario.training.grad_accum = 4;
  assert_counts (&scenario, UNIT_FIRST_BLOCK, (Counts){ 4, 4, 1, 0 });
  scenario.training.no_sync = FALSE;
  assert_counts (&scenario, UNIT_FIRST_BLOCK, (Counts){ 4, 4, 4, 0 });
  scenario.fsdp.strategy = STRATEGY_SHARD_GRAD_OP;
  assert_counts (&scenario, UNIT_FIRST_BLOCK, (Counts){ 4, 0, 4, 0 });
  scenario.training.no_sync = TRUE;
  assert_counts (&scenario, UNIT_FIRST_BLOCK, (Counts){ 1, 0, 1, 0 });
}

/* ---- prefetch and limiter ---- */

/* F(0) runs 2.26..6.26. In the first iteration the queue is empty: AG(2), the third
 * gather of a block, is the first to find two events and waits for F(0). Without
 * the limiter it goes out at once and follows AG(1): 0.5 + 2 x 1.76 = 4.02. */
static void
the_limiter_holds_the_host_two_blocks_back (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  scenario.simulation.warmup_steps = 0;
  g_autoptr (Timeline) limited = run (&scenario);
  assert_int_equal (start_of (limited, TIMELINE_ALL_GATHER, PHASE_FORWARD, 2), 6260 * US);
  scenario.fsdp.limit_all_gathers = FALSE;
  g_autoptr (Timeline) unlimited = run (&scenario);
  assert_int_equal (start_of (unlimited, TIMELINE_ALL_GATHER, PHASE_FORWARD, 2), 4020 * US);
}

/* A backward pass ends with four events in the queue (blocks 2, 1 and 0, root): the
 * last two units push without a prefetch that pops. The next forward pops them
 * for the root and blocks 0, 1 and 2, so AG(3) is the first to wait for F(0). */
static void
the_queue_outlives_the_step (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();
  g_autoptr (Timeline) timeline = run (&scenario);

  assert_int_equal (start_of (timeline, TIMELINE_ALL_GATHER, PHASE_FORWARD, 2), 4020 * US);
  assert_int_equal (start_of (timeline, TIMELINE_ALL_GATHER, PHASE_FORWARD, 3), 6260 * US);
}

/* The host takes 1 ms a launch: root's gather at 1, AG(0) at 2, F(0) at 3, AG(1) at
 * 4. Prefetching, it issues AG(1) one launch before F(0). The order of the first
 * iteration is not known before it has run: there nothing is prefetched. */
static void
forward_prefetch_begins_with_the_second_iteration (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  scenario.timing.host_op = 1000 * US;
  scenario.timing.forward = scenario.timing.backward = 100 * US;
  scenario.timing.all_gather = scenario.timing.root_all_gather = 10 * US;
  scenario.fsdp.forward_prefetch = TRUE;
  scenario.simulation.warmup_steps = 0;
  g_autoptr (Timeline) first = run (&scenario);
  assert_int_equal (start_of (first, TIMELINE_ALL_GATHER, PHASE_FORWARD, 1), 4000 * US);
  assert_int_equal (start_of (first, TIMELINE_FORWARD, PHASE_FORWARD, 0), 3000 * US);
  scenario.simulation.warmup_steps = 1;
  g_autoptr (Timeline) second = run (&scenario);
  SimTime gather = start_of (second, TIMELINE_ALL_GATHER, PHASE_FORWARD, 1);
  SimTime forward = start_of (second, TIMELINE_FORWARD, PHASE_FORWARD, 0);
  assert_int_equal (forward - gather, 1000 * US);
}

/* A wake-up of 3 ms after each wait: AG(2), due at 6.26 when F(0) ends, starts at
 * 9.26 and F(2) after it at 11.02, when F(1) has been over since 10.26. */
static void
a_late_wake_up_delays_the_gather (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  scenario.timing.limiter_wakeup = 3000 * US;
  scenario.simulation.warmup_steps = 0;
  g_autoptr (Timeline) timeline = run (&scenario);
  assert_int_equal (start_of (timeline, TIMELINE_ALL_GATHER, PHASE_FORWARD, 2), 9260 * US);
  assert_int_equal (start_of (timeline, TIMELINE_FORWARD, PHASE_FORWARD, 2), 11020 * US);
}

/* Host-bound: every launch costs 10 ms, more than any device work. A step has
 * 33 + 32 gathers, 33 scatters, 32 forwards and 32 backwards: 162 launches. All
 * but the root's first gather of a step overlap nothing of the host's pace, so a
 * step is 162 x 10 ms; the host's last launch of a step, the root's scatter, ends
 * 0.5 later, but so it did in the step before. */
static void
a_slow_host_sets_the_pace (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  scenario.timing.host_op = 10000 * US;
  assert_int_equal (step_time (&scenario), 1620000 * US);
}

/* Naive: a checkpointed block prefetches an unchecked predecessor, never a
 * checkpointed one. every:2: block 1 is plain, so block 2's backward (checkpointed)
 * issues AG(1) before its own reduce-scatter; block 1's does not issue AG(0). */
static void
naive_blocks_prefetch_only_plain_ones (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  use_naive (&scenario);
  scenario.checkpoint.every = 2;
  g_autoptr (Timeline) timeline = run (&scenario);

  assert_true (start_of (timeline, TIMELINE_ALL_GATHER, PHASE_BACKWARD, 1)
               < start_of (timeline, TIMELINE_REDUCE_SCATTER, PHASE_BACKWARD, 2));
  assert_true (start_of (timeline, TIMELINE_ALL_GATHER, PHASE_BACKWARD, 0)
               > start_of (timeline, TIMELINE_REDUCE_SCATTER, PHASE_BACKWARD, 1));
}

/* ---- copies ---- */

/* With bf16 and 16 ranks (division by 4 before and after) a unit's reduction has a
 * concatenation, two divisions and a cast back; each of its gathers a cast. With
 * fp32 throughout there is no cast; with one rank no division. */
static void
copies_follow_the_dtypes (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  scenario.timing.fsdp_copies = 1 * US;
  assert_int_equal (count_copies (&scenario, UNIT_FIRST_BLOCK), 2 + 4);
  scenario.fsdp.reduce_dtype = DTYPE_FP32; /* cast whole before, none after */
  assert_int_equal (count_copies (&scenario, UNIT_FIRST_BLOCK), 2 + 4);
  scenario.fsdp.param_dtype = DTYPE_FP32;
  assert_int_equal (count_copies (&scenario, UNIT_FIRST_BLOCK), 3);
  scenario.fsdp.param_dtype = DTYPE_FP16;  /* as wide as bf16 and still another dtype: */
  scenario.fsdp.reduce_dtype = DTYPE_BF16; /* cast before and after */
  assert_int_equal (count_copies (&scenario, UNIT_FIRST_BLOCK), 2 + 5);
}

/* ---- memory ---- */

/* What a step allocates it frees, but for the optimizer states of the first. */
static void
memory_returns_to_its_start_after_every_step (void **state)
{
  (void)state;
  static const ShardingStrategy strategies[]
      = { STRATEGY_FULL_SHARD, STRATEGY_SHARD_GRAD_OP, STRATEGY_HYBRID_SHARD, STRATEGY_NO_SHARD };

  for (guint i = 0; i < G_N_ELEMENTS (strategies) * 4; i++)
    {
      Scenario scenario = scenario_of_round_numbers ();
      gint64 sum = 0;

      scenario.fsdp.strategy = strategies[i / 4];
      scenario.fsdp.shard_group_size = i / 4 == 2 ? 8 : 16;
      scenario.fsdp.reduce_dtype = i % 2 == 0 ? DTYPE_BF16 : DTYPE_FP32;
      scenario.training.grad_accum = 2;
      scenario.simulation.steps = 2;
      if (i / 2 % 2 == 0)
        use_naive (&scenario);
      g_autoptr (Timeline) timeline = run (&scenario);
      guint32 from = g_array_index (timeline->steps, TimelineStep, 1).first_change;
      for (guint32 c = from; c < timeline->changes->len; c++)
        sum += g_array_index (timeline->changes, MemoryChange, c).bytes;
      assert_int_equal (sum, 0);
    }
}

/* ---- refusals ---- */

static void
assert_refused (const Scenario *scenario, const char *reason)
{
  g_autoptr (GError) error = NULL;
  StepCost cost;

  step_cost_new (scenario, &cost);
  assert_null (fsdp_program (scenario, &cost, &error));
  assert_true (error->domain == FSDP_ERROR);
  assert_non_null (strstr (error->message, reason));
}

static void
what_pytorch_refuses_is_refused (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  scenario.checkpoint.method = CHECKPOINT_OUTSIDE;
  scenario.fsdp.torch_minor = 0;
  assert_refused (&scenario, "105090");

  scenario = scenario_of_round_numbers ();
  use_hybrid (&scenario);
  scenario.fsdp.shard_group_size = 1;
  assert_refused (&scenario, "NO_SHARD");

  scenario = scenario_of_round_numbers ();
  use_wrapper (&scenario);
  scenario.fsdp.units = UNITS_ATTENTION_AND_MLP;
  assert_refused (&scenario, "idle");

  scenario = scenario_of_round_numbers ();
  use_wrapper (&scenario);
  scenario.checkpoint.use_reentrant = scenario.checkpoint.select_children = TRUE;
  assert_refused (&scenario, "89781");

  scenario = scenario_of_round_numbers ();
  use_wrapper (&scenario);
  scenario.checkpoint.use_reentrant = TRUE;
  scenario.fsdp.units = UNITS_ONE;
  assert_refused (&scenario, "89781");

  scenario = scenario_of_round_numbers ();
  scenario.training.matmul_dtype = MATMUL_FP8_ROWWISE;
  scenario.fsdp.torch_minor = 0;
  assert_refused (&scenario, "float8");

  scenario = scenario_of_round_numbers ();
  scenario.software.compile = TRUE;
  assert_refused (&scenario, "Dynamo");
  scenario.fsdp.use_orig_params = TRUE;
  assert_true (fsdp_check (&scenario, NULL));

  scenario = scenario_of_round_numbers ();
  use_wrapper (&scenario);
  scenario.fsdp.torch_minor = 0;
  scenario.checkpoint.select_op = TRUE;
  assert_refused (&scenario, "context_fn");

  scenario = scenario_of_round_numbers ();
  scenario.fsdp.torch_minor = 0;
  scenario.software.expandable_segments = TRUE;
  assert_refused (&scenario, "unrecognized option");

  scenario = scenario_of_round_numbers ();
  scenario.fsdp.units = UNITS_EMBED_BLOCKS_HEAD;
  scenario.model.tied_embeddings = TRUE;
  assert_refused (&scenario, "'weight' must be 2-D");
}

/* torch 2.0 breaks where a unit is run again in its own backward. Blocks in one unit are none. */
static void
a_checkpoint_around_what_is_no_unit_is_taken (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();
  g_autoptr (GError) error = NULL;

  scenario.checkpoint.method = CHECKPOINT_OUTSIDE;
  scenario.fsdp.torch_minor = 0;
  assert_false (fsdp_check (&scenario, &error));
  assert_int_equal (error->code, ID_activation_checkpointing_use_reentrant);
  scenario.fsdp.units = UNITS_ONE;
  assert_true (fsdp_check (&scenario, NULL));
}

static guint
clipping_collectives (const Scenario *scenario)
{
  g_autoptr (Timeline) timeline = run (scenario);
  guint n = 0;

  for (guint i = 0; i < timeline->records->len; i++)
    n += timeline_record (timeline, i)->label.op == TIMELINE_GRAD_CLIP
         && timeline_record (timeline, i)->lane != LANE_COMPUTE;
  return n;
}

/* clip_grad_norm_ of FSDP sums over the shard group; under NO_SHARD it is that of torch.nn.utils,
 * each rank's own. */
static void
clipping_reduces_a_float_where_gradients_are_sharded (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  scenario.simulation.warmup_steps = 0;
  scenario.timing.grad_clip = TIMING_NOT_GIVEN;
  scenario.training.max_grad_norm = 1;
  assert_int_equal (clipping_collectives (&scenario), 1);
  scenario.fsdp.strategy = STRATEGY_NO_SHARD;
  assert_int_equal (clipping_collectives (&scenario), 0);
}

/* A world of one has nothing to gather: FSDP1 falls back to NO_SHARD, whose
 * all-reduce of one rank is given 0 here. */
static void
a_single_rank_gathers_nothing (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  scenario.cluster.nodes = scenario.cluster.gpus_per_node = 1;
  scenario.fsdp.shard_group_size = 1;
  assert_counts (&scenario, UNIT_FIRST_BLOCK, (Counts){ 0, 0, 0, 0 });
  assert_int_equal (step_time (&scenario), 384000 * US); /* 32 x (4 + 8) */
}

/* One unit for the whole model: gathered before everything, reduced after. */
static void
one_unit_hides_nothing (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  scenario.fsdp.units = UNITS_ONE;
  scenario.timing.root_all_gather = scenario.timing.root_reduce_scatter = 50000 * US;
  assert_int_equal (step_time (&scenario), (50000 + 384000 + 50000) * US);
}

/* ---- embedding and head as units of their own, by an auto-wrap policy ---- */

static Scenario
wrapped_apart (void)
{
  Scenario scenario = scenario_of_round_numbers ();

  scenario.fsdp.units = UNITS_EMBED_BLOCKS_HEAD;
  return scenario;
}

/* The final norm stays with the root: 32 blocks, root, embedding, head are 35 gathers forward; all
 * but the root's are freed after it, 34 backward; 35 scatters. Reentrant checkpoints outside gather
 * the 32 blocks once more, and neither embedding nor head. */
static void
a_policy_that_lists_embedding_and_head (void **state)
{
  (void)state;
  Scenario scenario = wrapped_apart ();

  assert_all_counts (&scenario, (Counts){ 35, 34, 35, 0 });
  assert_counts (&scenario, UNIT_ROOT, (Counts){ 1, 0, 1, 0 });
  assert_counts (&scenario, UNIT_EMBED, three_collectives);
  assert_counts (&scenario, UNIT_HEAD, three_collectives);
  use_naive (&scenario);
  assert_all_counts (&scenario, (Counts){ 35, 66, 35, 0 });
  scenario.fsdp.strategy = STRATEGY_SHARD_GRAD_OP;
  assert_all_counts (&scenario, (Counts){ 35, 0, 35, 0 });
}

/* Gathers of root, embedding and block 0 (0.5 + 0.5 + 1.76), 32 x 4 forward, gathers of the head
 * and of block 31 that nothing hides, the head's work being none (0.5 + 1.76), 32 x 8 backward,
 * scatters of block 0, embedding and root (1.76 + 0.5 + 0.5): 391.78. */
static void
what_more_units_expose (void **state)
{
  (void)state;
  Scenario scenario = wrapped_apart ();

  assert_int_equal (step_time (&scenario), 391780 * US);
}

static SimTime
second_start_of_gather (const Timeline *timeline, guint32 unit)
{
  SimTime last = 0;

  for (guint32 i = timeline_first_reported (timeline); i < timeline->records->len; i++)
    if (timeline_record (timeline, i)->label.op == TIMELINE_ALL_GATHER
        && timeline_record (timeline, i)->label.unit == unit)
      last = timeline_record (timeline, i)->start - timeline->origin;
  return last;
}

/* Norms without weights leave the root nothing: no flat parameter, no collectives, no prefetch from
 * its hooks. The head's gather still comes before block 31's. */
static void
a_root_without_parameters_gathers_and_reduces_nothing (void **state)
{
  (void)state;
  Scenario scenario = wrapped_apart ();

  scenario.model.norm = NORM_LAYERNORM_PLAIN;
  assert_counts (&scenario, UNIT_ROOT, (Counts){ 0, 0, 0, 0 });
  assert_all_counts (&scenario, (Counts){ 34, 34, 34, 0 });
  g_autoptr (Timeline) timeline = run (&scenario);
  assert_true (second_start_of_gather (timeline, UNIT_HEAD)
               < second_start_of_gather (timeline, UNIT_FIRST_BLOCK + N_BLOCKS - 1));
}

/* CUDA_DEVICE_MAX_CONNECTIONS = 1: block k - 1's backward is launched behind the gather for k - 2,
 * which stands behind block k's scatter on the communicator and so begins 1.76 after block k.
 * Forward's gathers begin with the block before: 4 + 8 + 1.76 for a block more, not 4 + 8. */
static void
one_queue_puts_the_scatter_before_compute (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();

  scenario.simulation.cuda_device_max_connections = 1;
  SimTime long_one = step_time (&scenario);
  scenario.model.layers--;
  assert_int_equal (long_one - step_time (&scenario), 13760 * US);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (without_checkpointing),
    cmocka_unit_test (with_the_wrapper_the_recompute_is_all_that_is_added),
    cmocka_unit_test (with_naive_checkpointing_no_prefetch_mode_helps),
    cmocka_unit_test (the_second_gather_shows_where_it_outlasts_the_recompute),
    cmocka_unit_test (hybrid_shards_all_reduce_only_at_the_end),
    cmocka_unit_test (before_torch_2_1_all_reduces_stand_between_reduce_scatters),
    cmocka_unit_test (reentrant_outside_gathers_twice_in_backward),
    cmocka_unit_test (every_other_nesting_gathers_once_in_backward),
    cmocka_unit_test (only_selected_blocks_gather_twice),
    cmocka_unit_test (strategies_that_keep_parameters_gather_once),
    cmocka_unit_test (accumulation_reduces_once_under_no_sync),
    cmocka_unit_test (the_limiter_holds_the_host_two_blocks_back),
    cmocka_unit_test (the_queue_outlives_the_step),
    cmocka_unit_test (forward_prefetch_begins_with_the_second_iteration),
    cmocka_unit_test (a_late_wake_up_delays_the_gather),
    cmocka_unit_test (a_slow_host_sets_the_pace),
    cmocka_unit_test (naive_blocks_prefetch_only_plain_ones),
    cmocka_unit_test (copies_follow_the_dtypes),
    cmocka_unit_test (memory_returns_to_its_start_after_every_step),
    cmocka_unit_test (what_pytorch_refuses_is_refused),
    cmocka_unit_test (a_checkpoint_around_what_is_no_unit_is_taken),
    cmocka_unit_test (clipping_reduces_a_float_where_gradients_are_sharded),
    cmocka_unit_test (a_single_rank_gathers_nothing),
    cmocka_unit_test (one_unit_hides_nothing),
    cmocka_unit_test (a_policy_that_lists_embedding_and_head),
    cmocka_unit_test (what_more_units_expose),
    cmocka_unit_test (a_root_without_parameters_gathers_and_reduces_nothing),
    cmocka_unit_test (one_queue_puts_the_scatter_before_compute),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}

#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "step_fixture.h"
#include "timeline/memory.h"

/* The model of round numbers: a block is 4 x 64^2 + 2 x 64 x 128 + 2 x 64 = 32,896
 * elements in eight tensors, the head 256 x 64 behind a norm of 64, the embedding
 * 256 x 64. Backwards: head and norm 16,448, blocks 31 to 25 7 x 32,896 = 230,272,
 * and of block 24 two norms of 64, down and up of 8,192 each: 263,232 elements, the
 * first that reach 1 MiB (262,144). The other 822,272 are less than 25 MiB. */
#define FIRST_BUCKET               263232
#define SECOND_BUCKET              822272
#define LAST_BLOCK_OF_FIRST_BUCKET 24

/* All-reduces of a block's 32,896 elements in so many times that of one element. */
static Scenario
scenario_of_ddp (SimTime all_reduce_of_an_element)
{
  Scenario scenario = scenario_of_round_numbers ();

  scenario.fsdp.api = API_DDP;
  scenario.timing.all_reduce = 32896 * all_reduce_of_an_element;
  return scenario;
}

/* Forward 32 x 4 = 128 ms, backward 256 ms. The first bucket is there after eight
 * blocks of backward and hides; the second comes with the embedding's gradient, at
 * the end: 384 + 82.2272 ms. */
static void
the_last_bucket_shows (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_ddp (US / 10);

  assert_int_equal (step_time (&scenario), 384000 * US + SECOND_BUCKET * (US / 10));
}

/* The first bucket begins at 128 + 8 x 8 = 192 ms and takes 263.232; the second
 * follows on the same stream. */
static void
buckets_follow_one_another (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_ddp (US);

  assert_int_equal (step_time (&scenario), 192000 * US + (FIRST_BUCKET + SECOND_BUCKET) * US);
}

static void
a_bucket_belongs_to_the_unit_of_its_last_gradient (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_ddp (US);

  assert_all_counts (&scenario, (Counts){ 0, 0, 0, 2 });
  assert_counts (&scenario, UNIT_FIRST_BLOCK + LAST_BLOCK_OF_FIRST_BUCKET, (Counts){ 0, 0, 0, 1 });
  assert_counts (&scenario, UNIT_EMBED, (Counts){ 0, 0, 0, 1 });
}

/* A bucket is full when it reaches its size: the tensor that fills it goes in whole.
 * A head of 2^18 x 64 elements (64 MiB) fills the first bucket alone, and 32 blocks of
 * 131,584 bytes (4 MiB) with an embedding of 64 MiB are the second. */
static void
a_large_tensor_fills_the_bucket_that_is_open (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_ddp (US);

  scenario.model.vocab = 1 << 18;
  assert_counts (&scenario, UNIT_HEAD, (Counts){ 0, 0, 0, 1 });
  assert_all_counts (&scenario, (Counts){ 0, 0, 0, 2 });
}

static void
no_sync_reduces_in_the_last_micro_batch (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_ddp (US / 10);

  scenario.training.grad_accum = 4;
  assert_all_counts (&scenario, (Counts){ 0, 0, 0, 2 });
  assert_int_equal (step_time (&scenario), 4 * 384000 * US + SECOND_BUCKET * (US / 10));
  scenario.training.no_sync = FALSE;
  assert_all_counts (&scenario, (Counts){ 0, 0, 0, 8 });
}

/* 32 recomputes of 4 ms more wherever the checkpoint is said to stand; units,
 * strategy and groups mean nothing. */
static void
only_the_recompute_matters_of_a_checkpoint (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_ddp (US / 10);
  SimTime want = (384000 + 128000) * US + SECOND_BUCKET * (US / 10);

  use_wrapper (&scenario);
  assert_int_equal (step_time (&scenario), want);
  use_naive (&scenario);
  assert_int_equal (step_time (&scenario), want);
  scenario.checkpoint.use_reentrant = FALSE;
  assert_int_equal (step_time (&scenario), want);
  scenario.fsdp.units = UNITS_ONE;
  scenario.fsdp.strategy = STRATEGY_HYBRID_SHARD;
  scenario.fsdp.shard_group_size = 8;
  assert_int_equal (step_time (&scenario), want);
}

/* Each gradient is copied into its bucket and back. Block 24 has eight tensors, and
 * the first bucket, which is its, 2 + 7 x 8 + 4 = 62. A compression hook adds cast,
 * division, and the cast back. */
static void
gradients_are_copied_there_and_back (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_ddp (US);
  guint32 last = UNIT_FIRST_BLOCK + LAST_BLOCK_OF_FIRST_BUCKET;

  scenario.timing.fsdp_copies = 1 * US;
  assert_int_equal (count_copies (&scenario, UNIT_HEAD), 2);
  assert_int_equal (count_copies (&scenario, last), 8 + 62 + 3);
  scenario.fsdp.reduce_dtype = DTYPE_FP32;
  assert_int_equal (count_copies (&scenario, last), 8 + 62);
}

/* Where the cost model prices the passes, autocast's casts show: six matrices of a
 * block in forward, and their gradients in backward. */
static void
autocast_casts_weights_and_gradients (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_ddp (US);
  guint32 block = UNIT_FIRST_BLOCK + 7;

  scenario.timing.forward = scenario.timing.backward = scenario.timing.recompute = TIMING_NOT_GIVEN;
  scenario.timing.fsdp_copies = 1 * US;
  assert_int_equal (count_copies (&scenario, block), 6 + 6 + 8);
  use_wrapper (&scenario);
  assert_int_equal (count_copies (&scenario, block), 6 + 6 + 6 + 8);
  scenario.fsdp.param_dtype = DTYPE_FP32;
  assert_int_equal (count_copies (&scenario, block), 8);
}

/* 4 bytes of each of 1,085,504 parameters, as many of buckets, and two states of AdamW.
 * After a step nothing else is left: no gradient, cast or activation. */
static void
everything_is_whole_on_every_rank (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_ddp (US);
  const gint64 elements = FIRST_BUCKET + SECOND_BUCKET;
  gint64 held = 0;

  for (guint accumulated = 1; accumulated < 4; accumulated += 2)
    for (guint method = 0; method < 2; method++)
      {
        scenario.training.grad_accum = accumulated;
        if (method == 1)
          use_wrapper (&scenario);
        g_autoptr (Timeline) timeline = run (&scenario);

        held = 0;
        for (guint32 i = 0; i < timeline->changes->len; i++)
          held += g_array_index (timeline->changes, MemoryChange, i).bytes;
        assert_int_equal (held, elements * 4 * 4);
      }
}

/* Nothing that only the compute stream uses waits for the device before its memory is
 * used again: what is reserved is what is allocated at the peak, but for the ends of
 * pages. */
static void
fp32_reserves_no_more_than_it_allocates (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_ddp (US);
  const AllocatorRules rules = { .expandable_segments = TRUE };
  MemoryUse use;

  scenario.fsdp.reduce_dtype = DTYPE_FP32;
  g_autoptr (Timeline) timeline = run (&scenario);
  memory_measure (timeline, &rules, &use);
  assert_in_range (use.reserved, use.peaks[use.phase].allocated,
                   use.peaks[use.phase].allocated + (22 << 20));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_last_bucket_shows),
    cmocka_unit_test (buckets_follow_one_another),
    cmocka_unit_test (a_bucket_belongs_to_the_unit_of_its_last_gradient),
    cmocka_unit_test (a_large_tensor_fills_the_bucket_that_is_open),
    cmocka_unit_test (no_sync_reduces_in_the_last_micro_batch),
    cmocka_unit_test (only_the_recompute_matters_of_a_checkpoint),
    cmocka_unit_test (gradients_are_copied_there_and_back),
    cmocka_unit_test (autocast_casts_weights_and_gradients),
    cmocka_unit_test (everything_is_whole_on_every_rank),
    cmocka_unit_test (fp32_reserves_no_more_than_it_allocates),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}

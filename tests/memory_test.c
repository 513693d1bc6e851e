#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "timeline/memory.h"
#include "timeline_fixture.h"

#define MIB (G_GINT64_CONSTANT (1) << 20)

static const AllocatorRules classic = { 0 };
static const AllocatorRules expandable = { .expandable_segments = TRUE };

/* Load: 100 of parameters, 50 passing through: peak 150. First step: 30 of
 * activations with 20 unsharded, then the optimizer's 200: the peak is 100 + 200
 * at its end (not 150, earlier). Second step: the same 50 on top of 300: 350. */
static void
peaks_of_load_first_and_later_steps_are_told_apart (void **state)
{
  g_autoptr (Timeline) timeline = fixture_timeline ();
  MemoryUse use;
  (void)state;

  fixture_change (timeline, 0, MEMORY_PARAMS, 100, 0, 0, UNIT_ROOT);
  fixture_change (timeline, 0, MEMORY_OTHER, 50, 0, 0, UNIT_ROOT);
  fixture_change (timeline, 0, MEMORY_OTHER, -50, 0, 0, UNIT_ROOT);
  for (guint step = 0; step < 2; step++)
    {
      SimTime base = 100 * step;

      fixture_end_of_step (timeline, 0, timeline->changes->len, base + 100);
      fixture_change (timeline, base + 10, MEMORY_UNSHARDED_PARAMS, 20, 0, 1, UNIT_FIRST_BLOCK);
      fixture_change (timeline, base + 20, MEMORY_ACTIVATIONS, 30, 0, 0, UNIT_FIRST_BLOCK + 1);
      fixture_change (timeline, base + 30, MEMORY_ACTIVATIONS, -30, base + 30, 0, UNIT_FIRST_BLOCK);
      fixture_change (timeline, base + 40, MEMORY_UNSHARDED_PARAMS, -20, base + 40, 1,
                      UNIT_FIRST_BLOCK);
      if (step == 0)
        fixture_change (timeline, 50, MEMORY_OPTIMIZER, 200, 0, 0, UNIT_ROOT);
    }
  memory_measure (timeline, &classic, &use);

  assert_int_equal (use.peaks[PEAK_AT_LOAD].allocated, 150);
  assert_int_equal (use.peaks[PEAK_IN_FIRST_STEP].allocated, 300);
  assert_int_equal (use.peaks[PEAK_IN_FIRST_STEP].time, 50);
  assert_int_equal (use.peaks[PEAK_IN_FIRST_STEP].by_kind[MEMORY_OPTIMIZER], 200);
  assert_int_equal (use.peaks[PEAK_IN_STEADY_STEP].allocated, 350);
  assert_int_equal (use.peaks[PEAK_IN_STEADY_STEP].time, 120);
  assert_int_equal (use.peaks[PEAK_IN_STEADY_STEP].unit, UNIT_FIRST_BLOCK + 1);
  assert_int_equal (use.peaks[PEAK_IN_STEADY_STEP].by_kind[MEMORY_ACTIVATIONS], 30);
  assert_int_equal (use.peaks[PEAK_IN_STEADY_STEP].by_kind[MEMORY_UNSHARDED_PARAMS], 20);
  assert_int_equal (use.phase, PEAK_IN_STEADY_STEP);
}

/* One step only: there is no steady step, and 120 while loading stays the peak. */
static void
a_phase_that_never_came_has_no_peak (void **state)
{
  g_autoptr (Timeline) timeline = fixture_timeline ();
  MemoryUse use;
  (void)state;

  for (guint i = 0; i < 2; i++)
    fixture_change (timeline, 0, MEMORY_PARAMS, 60, 0, 0, UNIT_ROOT);
  fixture_change (timeline, 0, MEMORY_PARAMS, -60, 0, 0, UNIT_ROOT);
  fixture_end_of_step (timeline, 0, 3, 10);
  fixture_change (timeline, 1, MEMORY_ACTIVATIONS, 5, 0, 0, UNIT_ROOT);
  memory_measure (timeline, &classic, &use);

  assert_int_equal (use.peaks[PEAK_AT_LOAD].allocated, 120);
  assert_int_equal (use.peaks[PEAK_IN_FIRST_STEP].allocated, 65);
  assert_int_equal (use.peaks[PEAK_IN_STEADY_STEP].allocated, 0);
  assert_int_equal (use.phase, PEAK_AT_LOAD);
}

/* Freed at 10 by the host, but the compute stream is past it only at 40. An
 * allocation at 20 cannot have it: 16 + 16 = 32 MiB. One at 40 can. */
static void
a_block_in_use_by_another_stream_is_not_reused (void **state)
{
  static const struct
  {
    SimTime alloc_at;
    gint64 reserved;
  } cases[] = { { 20, 32 }, { 39, 32 }, { 40, 16 }, { 50, 16 } };
  (void)state;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Timeline) timeline = fixture_timeline ();
      MemoryUse use;

      fixture_end_of_step (timeline, 0, 0, 100);
      fixture_change (timeline, 0, MEMORY_UNSHARDED_PARAMS, 16 * MIB, 0, 1, UNIT_FIRST_BLOCK);
      fixture_change (timeline, 10, MEMORY_UNSHARDED_PARAMS, -16 * MIB, 40, 1, UNIT_FIRST_BLOCK);
      fixture_change (timeline, cases[i].alloc_at, MEMORY_UNSHARDED_PARAMS, 16 * MIB, 0, 1,
                      UNIT_FIRST_BLOCK + 1);
      memory_measure (timeline, &classic, &use);
      assert_int_equal (use.reserved, cases[i].reserved * MIB);
      assert_int_equal (use.peaks[PEAK_IN_FIRST_STEP].allocated, 16 * MIB);
    }
}

/* Pool 0 held 10 MiB and has them back before pool 1 takes 10: 20 stay reserved,
 * though never more than 10 were allocated. */
static void
blocks_never_move_between_pools (void **state)
{
  g_autoptr (Timeline) timeline = fixture_timeline ();
  MemoryUse use;
  (void)state;

  fixture_end_of_step (timeline, 0, 0, 100);
  fixture_change (timeline, 0, MEMORY_ACTIVATIONS, 10 * MIB, 0, 0, UNIT_ROOT);
  fixture_change (timeline, 5, MEMORY_ACTIVATIONS, -10 * MIB, 5, 0, UNIT_ROOT);
  fixture_change (timeline, 6, MEMORY_COMM_BUFFERS, 10 * MIB, 0, 1, UNIT_ROOT);
  memory_measure (timeline, &classic, &use);
  assert_int_equal (use.reserved, 20 * MIB);
  assert_int_equal (use.reserved_by_pool[0], 10 * MIB);
  assert_int_equal (use.reserved_by_pool[1], 10 * MIB);
  assert_int_equal (use.peaks[PEAK_IN_FIRST_STEP].allocated, 10 * MIB);
}

/* Three segments of 12 MiB, freed at 10 and reusable at 30, 20 and 25. 11 MiB at 22
 * fit into the one that is free; of two more at 26 one finds the second. */
static void
frees_become_reusable_in_order_of_time (void **state)
{
  g_autoptr (Timeline) timeline = fixture_timeline ();
  static const SimTime reusable[] = { 30, 20, 25 };
  MemoryUse use;
  (void)state;

  fixture_end_of_step (timeline, 0, 0, 100);
  for (guint i = 0; i < 3; i++)
    fixture_change (timeline, 0, MEMORY_OTHER, 12 * MIB, 0, 0, UNIT_ROOT);
  for (guint i = 0; i < 3; i++)
    fixture_change (timeline, 10, MEMORY_OTHER, -12 * MIB, reusable[i], 0, UNIT_ROOT);
  fixture_change (timeline, 22, MEMORY_OTHER, 11 * MIB, 0, 0, UNIT_ROOT);
  memory_measure (timeline, &classic, &use);
  assert_int_equal (use.reserved, 36 * MIB);
  fixture_change (timeline, 26, MEMORY_OTHER, 11 * MIB, 0, 0, UNIT_ROOT);
  memory_measure (timeline, &classic, &use);
  assert_int_equal (use.reserved, 36 * MIB);
  fixture_change (timeline, 26, MEMORY_OTHER, 11 * MIB, 0, 0, UNIT_ROOT);
  memory_measure (timeline, &classic, &use);
  assert_int_equal (use.reserved, 48 * MIB); /* 11 round up to 12 */
}

/* 1 MiB lies in a segment of 2, 3 in one of 20, 33 in one of 34. Expandable
 * segments grow by pages of 2 and 20: the large pool's 36 take 40. */
static void
segments_have_their_sizes (void **state)
{
  g_autoptr (Timeline) timeline = fixture_timeline ();
  MemoryUse use;
  (void)state;

  fixture_end_of_step (timeline, 0, 0, 100);
  fixture_change (timeline, 0, MEMORY_OTHER, 1 * MIB, 0, 0, UNIT_ROOT);
  fixture_change (timeline, 0, MEMORY_OTHER, 3 * MIB, 0, 0, UNIT_ROOT);
  fixture_change (timeline, 0, MEMORY_OTHER, 33 * MIB, 0, 0, UNIT_ROOT);
  memory_measure (timeline, &classic, &use);
  assert_int_equal (use.reserved, (2 + 20 + 34) * MIB);
  memory_measure (timeline, &expandable, &use);
  assert_int_equal (use.reserved, (2 + 40) * MIB);
}

/* 40 and 40 are freed before 80 are wanted. Two segments do not hold them, one
 * that can grow does. */
static void
only_expandable_segments_join (void **state)
{
  g_autoptr (Timeline) timeline = fixture_timeline ();
  MemoryUse use;
  (void)state;

  fixture_end_of_step (timeline, 0, 0, 100);
  for (guint i = 0; i < 2; i++)
    fixture_change (timeline, 0, MEMORY_OTHER, 40 * MIB, 0, 0, UNIT_ROOT);
  for (guint i = 0; i < 2; i++)
    fixture_change (timeline, 1, MEMORY_OTHER, -40 * MIB, 1, 0, UNIT_ROOT);
  fixture_change (timeline, 2, MEMORY_OTHER, 80 * MIB, 0, 0, UNIT_ROOT);
  memory_measure (timeline, &classic, &use);
  assert_int_equal (use.reserved, 160 * MIB);
  memory_measure (timeline, &expandable, &use);
  assert_int_equal (use.reserved, 80 * MIB);
}

/* The same with 120 MiB to have: the two are given back, once, and 80 is what is
 * left. With 70 nothing helps: 80 would do, not the 160 that lie between. */
static void
near_capacity_what_is_cached_is_given_back (void **state)
{
  g_autoptr (Timeline) timeline = fixture_timeline ();
  MemoryUse use;
  (void)state;

  fixture_end_of_step (timeline, 0, 0, 100);
  for (guint i = 0; i < 2; i++)
    fixture_change (timeline, 0, MEMORY_OTHER, 40 * MIB, 0, 0, UNIT_ROOT);
  for (guint i = 0; i < 2; i++)
    fixture_change (timeline, 1, MEMORY_OTHER, -40 * MIB, 50, 0, UNIT_ROOT);
  fixture_change (timeline, 2, MEMORY_OTHER, 80 * MIB, 0, 1, UNIT_ROOT);
  for (guint i = 0; i < 2; i++)
    {
      AllocatorRules rules = { .expandable_segments = i == 1, .capacity_bytes = 120 * MIB };

      memory_measure (timeline, &rules, &use);
      assert_int_equal (use.reserved, 80 * MIB);
      assert_int_equal (use.retries, 1);
      assert_false (use.out_of_memory);
      rules.capacity_bytes = 70 * MIB;
      memory_measure (timeline, &rules, &use);
      assert_int_equal (use.reserved, 80 * MIB);
      assert_true (use.out_of_memory);
    }
}

/* 40 are freed before 50 are wanted. With 60 MiB to have, an expandable segment needs but 20 more
 * (10, rounded up to its pages), which there are; otherwise the 40 must be given back before there
 * is room for a segment of 50. */
static void
a_free_end_counts_towards_what_an_expandable_segment_grows_to (void **state)
{
  g_autoptr (Timeline) timeline = fixture_timeline ();
  MemoryUse use;
  (void)state;

  fixture_end_of_step (timeline, 0, 0, 100);
  fixture_change (timeline, 0, MEMORY_OTHER, 40 * MIB, 0, 0, UNIT_ROOT);
  fixture_change (timeline, 1, MEMORY_OTHER, -40 * MIB, 1, 0, UNIT_ROOT);
  fixture_change (timeline, 2, MEMORY_OTHER, 50 * MIB, 0, 0, UNIT_ROOT);
  for (guint i = 0; i < 2; i++)
    {
      const AllocatorRules rules = { .expandable_segments = i == 1, .capacity_bytes = 60 * MIB };

      memory_measure (timeline, &rules, &use);
      assert_int_equal (use.reserved, i == 1 ? 60 * MIB : 50 * MIB);
      assert_int_equal (use.retries, i == 1 ? 0 : 1);
      assert_false (use.out_of_memory);
    }
}

/* Two steps of allocations and frees in any order, of 1 byte to 64 MiB. */
static Timeline *
random_timeline (GRand *random)
{
  Timeline *timeline = fixture_timeline ();
  g_autoptr (GArray) live = g_array_new (FALSE, FALSE, sizeof (MemoryChange));

  for (guint i = 0; i < 200; i++)
    {
      const gint at = g_rand_int_range (random, 0, 2 * (gint)live->len + 8);
      MemoryChange change = { .time = i,
                              .bytes = 1 + (gint64)(64 * MIB >> g_rand_int_range (random, 0, 26)),
                              .buffer = i,
                              .pool = (guint8)g_rand_int_range (random, 0, 3) };

      if (i % 100 == 0)
        fixture_end_of_step (timeline, 0, i, i + 100);
      if (at < (gint)live->len)
        {
          change = g_array_index (live, MemoryChange, at);
          g_array_remove_index_fast (live, (guint)at);
          change.bytes = -change.bytes;
          change.time = i;
          change.reusable = i + g_rand_int_range (random, 0, 20);
        }
      else
        g_array_append_val (live, change);
      g_array_append_val (timeline->changes, change);
    }
  return timeline;
}

/* All changes played from the first on; @use: reserved, retries of the last step, out_of_memory. */
static void
play_whole (const Timeline *timeline, const AllocatorRules *rules, MemoryUse *use)
{
  g_autoptr (Allocator) allocator = allocator_new (rules);
  guint before = 0;

  *use = (MemoryUse){ 0 };
  for (guint i = 0; i < timeline->changes->len && allocator_n_failures (allocator) == 0; i++)
    {
      const MemoryChange *change = &g_array_index (timeline->changes, MemoryChange, i);

      if (i == timeline_step (timeline, timeline->steps->len - 1)->first_change)
        before = allocator_n_retries (allocator);
      if (change->bytes < 0)
        allocator_give (allocator, change->buffer, change->time, change->reusable);
      else
        allocator_take (allocator, change->pool, change->buffer, change->bytes, change->time);
      use->reserved = MAX (use->reserved, allocator_reserved (allocator));
    }
  use->retries = allocator_n_retries (allocator) - before;
  use->out_of_memory = allocator_n_failures (allocator) > 0;
}

/* However much there is: what a limit does is the same as if it had been there from the start. What
 * is said to be needed is no less than what is allocated, and enough: of segments that grow the end
 * may have been free when it was mapped, which then asks for a little more. */
static void
a_limit_is_felt_as_from_the_start (void **state)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  guint n_retried = 0, n_out_of_memory = 0;

  (void)state;
  for (guint i = 0; i < 400; i++)
    {
      g_autoptr (Timeline) timeline = random_timeline (random);
      AllocatorRules rules = { .expandable_segments = i % 2 == 1 };
      MemoryUse wish, wanted, use;

      play_whole (timeline, &rules, &wish);
      rules.capacity_bytes = wish.reserved / 100 * g_rand_int_range (random, 30, 100);
      play_whole (timeline, &rules, &wanted);
      memory_measure (timeline, &rules, &use);
      assert_int_equal (use.retries, wanted.retries);
      assert_int_equal (use.out_of_memory, wanted.out_of_memory);
      n_retried += use.retries > 0;
      n_out_of_memory += use.out_of_memory;
      if (!use.out_of_memory)
        {
          assert_int_equal (use.reserved, wanted.reserved);
          continue;
        }
      assert_true (use.reserved >= use.peaks[use.phase].allocated);
      rules.capacity_bytes = use.reserved;
      play_whole (timeline, &rules, &wanted);
      assert_true (rules.expandable_segments || !wanted.out_of_memory);
    }
  assert_true (n_retried > 20 && n_out_of_memory > 20);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (peaks_of_load_first_and_later_steps_are_told_apart),
    cmocka_unit_test (a_phase_that_never_came_has_no_peak),
    cmocka_unit_test (a_block_in_use_by_another_stream_is_not_reused),
    cmocka_unit_test (blocks_never_move_between_pools),
    cmocka_unit_test (frees_become_reusable_in_order_of_time),
    cmocka_unit_test (segments_have_their_sizes),
    cmocka_unit_test (only_expandable_segments_join),
    cmocka_unit_test (near_capacity_what_is_cached_is_given_back),
    cmocka_unit_test (a_free_end_counts_towards_what_an_expandable_segment_grows_to),
    cmocka_unit_test (a_limit_is_felt_as_from_the_start),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

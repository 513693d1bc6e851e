#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "timeline/memory.h"
#include "timeline_fixture.h"

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
  memory_measure (timeline, &use);

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

  fixture_change (timeline, 0, MEMORY_PARAMS, 120, 0, 0, UNIT_ROOT);
  fixture_change (timeline, 0, MEMORY_PARAMS, -60, 0, 0, UNIT_ROOT);
  fixture_end_of_step (timeline, 0, 2, 10);
  fixture_change (timeline, 1, MEMORY_ACTIVATIONS, 5, 0, 0, UNIT_ROOT);
  memory_measure (timeline, &use);

  assert_int_equal (use.peaks[PEAK_AT_LOAD].allocated, 120);
  assert_int_equal (use.peaks[PEAK_IN_FIRST_STEP].allocated, 65);
  assert_int_equal (use.peaks[PEAK_IN_STEADY_STEP].allocated, 0);
  assert_int_equal (use.phase, PEAK_AT_LOAD);
}

/* Freed at 10 by the host, but the compute stream is past it only at 40. An
 * allocation at 20 cannot have it: 8 + 8 = 16. One at 40 can. */
static void
a_block_in_use_by_another_stream_is_not_reused (void **state)
{
  static const struct
  {
    SimTime alloc_at;
    gint64 reserved;
  } cases[] = { { 20, 16 }, { 39, 16 }, { 40, 8 }, { 50, 8 } };
  (void)state;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Timeline) timeline = fixture_timeline ();
      MemoryUse use;

      fixture_end_of_step (timeline, 0, 0, 100);
      fixture_change (timeline, 0, MEMORY_UNSHARDED_PARAMS, 8, 0, 1, UNIT_FIRST_BLOCK);
      fixture_change (timeline, 10, MEMORY_UNSHARDED_PARAMS, -8, 40, 1, UNIT_FIRST_BLOCK);
      fixture_change (timeline, cases[i].alloc_at, MEMORY_UNSHARDED_PARAMS, 8, 0, 1,
                      UNIT_FIRST_BLOCK + 1);
      memory_measure (timeline, &use);
      assert_int_equal (use.reserved, cases[i].reserved);
      assert_int_equal (use.peaks[PEAK_IN_FIRST_STEP].allocated, 8);
    }
}

/* Pool 0 held 10 and gave them back before pool 1 took 10: 20 stay reserved,
 * though never more than 10 were allocated. */
static void
blocks_never_move_between_pools (void **state)
{
  g_autoptr (Timeline) timeline = fixture_timeline ();
  MemoryUse use;
  (void)state;

  fixture_end_of_step (timeline, 0, 0, 100);
  fixture_change (timeline, 0, MEMORY_ACTIVATIONS, 10, 0, 0, UNIT_ROOT);
  fixture_change (timeline, 5, MEMORY_ACTIVATIONS, -10, 5, 0, UNIT_ROOT);
  fixture_change (timeline, 6, MEMORY_COMM_BUFFERS, 10, 0, 1, UNIT_ROOT);
  memory_measure (timeline, &use);
  assert_int_equal (use.reserved, 20);
  assert_int_equal (use.peaks[PEAK_IN_FIRST_STEP].allocated, 10);
}

/* Three blocks of 4, freed at 10 and reusable at 30, 20 and 25. An allocation of
 * 2 at 22 finds one free of the three: 2 + 8 waiting, so the pool stays at 12. One
 * of 9 at 26 finds two: 11 in use + 4 waiting = 15. */
static void
frees_become_reusable_in_order_of_time (void **state)
{
  g_autoptr (Timeline) timeline = fixture_timeline ();
  MemoryUse use;
  (void)state;

  fixture_end_of_step (timeline, 0, 0, 100);
  for (guint i = 0; i < 3; i++)
    fixture_change (timeline, 0, MEMORY_OTHER, 4, 0, 0, UNIT_ROOT);
  fixture_change (timeline, 10, MEMORY_OTHER, -4, 30, 0, UNIT_ROOT);
  fixture_change (timeline, 10, MEMORY_OTHER, -4, 20, 0, UNIT_ROOT);
  fixture_change (timeline, 10, MEMORY_OTHER, -4, 25, 0, UNIT_ROOT);
  fixture_change (timeline, 22, MEMORY_OTHER, 2, 0, 0, UNIT_ROOT);
  memory_measure (timeline, &use);
  assert_int_equal (use.reserved, 12);
  fixture_change (timeline, 26, MEMORY_OTHER, 9, 0, 0, UNIT_ROOT);
  memory_measure (timeline, &use);
  assert_int_equal (use.reserved, 15);
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
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

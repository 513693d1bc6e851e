#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "timeline/label.h"
#include "timeline/timeline.h"

/* Units count from the root: three of their own, then the blocks from 0. */
static void
units_are_named_as_people_name_them (void **state)
{
  static const struct
  {
    guint32 unit;
    const char *name;
  } cases[] = { { UNIT_ROOT, "root" },
                { UNIT_EMBED, "embed" },
                { UNIT_HEAD, "head" },
                { UNIT_FIRST_BLOCK, "block.0" },
                { UNIT_FIRST_BLOCK + 125, "block.125" },
                { UNIT_FIRST_PART + 2 * 3, "block.3.attention" },
                { UNIT_FIRST_PART + 2 * 16383 + 1, "block.16383.mlp" } };
  (void)state;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = timeline_unit_name (cases[i].unit);
      guint32 unit;

      assert_string_equal (name, cases[i].name);
      assert_true (timeline_unit_parse (name, &unit));
      assert_int_equal (unit, cases[i].unit);
    }
}

static void
what_is_no_name_of_a_unit (void **state)
{
  static const char *const names[]
      = { "",         "roots",        "block",        "block.",
          "block.x",  "block.-1",     "block.16384",  "block.1x",
          "block.1.", "block.1.norm", "block.1.mlp.", "block.99999999999999999999" };
  guint32 unit;

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    assert_false (timeline_unit_parse (names[i], &unit));
}

static void
names_in_files_follow_the_contract (void **state)
{
  (void)state;
  assert_string_equal (timeline_op_name (TIMELINE_REDUCE_SCATTER), "reduce_scatter");
  assert_string_equal (timeline_op_name (TIMELINE_WAIT), "wait");
  assert_string_equal (timeline_phase_name (PHASE_OPTIMIZER), "optimizer");
  assert_string_equal (timeline_lane_name (LANE_COMM_SHARD), "comm.shard");
  assert_string_equal (memory_kind_name (MEMORY_UNSHARDED_PARAMS), "unsharded_params");
  assert_string_equal (memory_kind_words (MEMORY_PARAMS), "parameter shards");
}

/* Clipping's scalar all-reduce is no collective of the counts. */
static void
four_ops_are_collectives (void **state)
{
  guint n_collectives = 0;
  (void)state;

  for (guint op = 0; op < N_TIMELINE_OPS; op++)
    n_collectives += timeline_op_is_collective (op);
  assert_int_equal (n_collectives, 4);
  assert_true (timeline_op_is_collective (TIMELINE_ALL_REDUCE));
  assert_false (timeline_op_is_collective (TIMELINE_GRAD_CLIP));
}

/* One warm-up step to 100 ps, two reported ones to 160 and 230: 130 ps reported. */
static void
reported_time_starts_at_the_end_of_warm_up (void **state)
{
  static const TimelineStep steps[] = { { 100, 0, 0 }, { 160, 7, 3 }, { 230, 14, 6 } };
  g_autoptr (Timeline) timeline = timeline_new ();
  (void)state;

  g_array_append_vals (timeline->steps, steps, G_N_ELEMENTS (steps));
  timeline->n_warmup_steps = 1;
  timeline->origin = 100;
  assert_int_equal (timeline_n_reported_steps (timeline), 2);
  assert_int_equal (timeline_first_reported (timeline), 7);
  assert_int_equal (timeline_end (timeline), 230);
  assert_int_equal (timeline_reported_time (timeline), 130);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (units_are_named_as_people_name_them),
    cmocka_unit_test (what_is_no_name_of_a_unit),
    cmocka_unit_test (names_in_files_follow_the_contract),
    cmocka_unit_test (four_ops_are_collectives),
    cmocka_unit_test (reported_time_starts_at_the_end_of_warm_up),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "timeline/critical_path.h"
#include "timeline_fixture.h"

static void
wait_for (TimelineRecord *record, guint32 waited_for, WaitReason why)
{
  record->waited_for = waited_for;
  record->waited_why = (guint8)why;
}

static SimTime
sum_of_parts (const CriticalPath *path)
{
  SimTime sum = path->waiting_for_ranks + path->host;

  for (guint op = 0; op < N_TIMELINE_OPS; op++)
    sum += path->by_op[op];
  return sum;
}

/* Gather 0-30, forward 30-80, backward 80-180. A second gather, 30-60, hides
 * under the forward and is not on the path: 30 + 50 + 100 = 180. */
static void
hidden_work_is_not_on_the_path (void **state)
{
  static const guint32 expected[] = { 0, 1, 3 };
  g_autoptr (Timeline) timeline = fixture_timeline ();
  CriticalPath path;
  (void)state;

  fixture_all_gather (timeline, 0, 30);
  wait_for (fixture_compute (timeline, TIMELINE_FORWARD, 30, 80), 0, WAITED_FOR_EVENT);
  wait_for (fixture_all_gather (timeline, 30, 60), 0, WAITED_FOR_STREAM);
  wait_for (fixture_compute (timeline, TIMELINE_BACKWARD, 80, 180), 1, WAITED_FOR_STREAM);
  fixture_end_of_step (timeline, 0, 0, 180);
  critical_path_find (timeline, &path);

  assert_int_equal (path.by_op[TIMELINE_ALL_GATHER], 30);
  assert_int_equal (path.by_op[TIMELINE_FORWARD], 50);
  assert_int_equal (path.by_op[TIMELINE_BACKWARD], 100);
  assert_int_equal (sum_of_parts (&path), 180);
  assert_int_equal (path.records->len, 3);
  assert_memory_equal (path.records->data, expected, sizeof expected);
  critical_path_clear (&path);
}

/* The rank comes to its gather at 5, the last rank at 25, the data are there at
 * 40: the host had 0-5, waiting for ranks 20, all-gather 15, forward 10. */
static void
waiting_for_ranks_is_told_from_moving_data (void **state)
{
  g_autoptr (Timeline) timeline = fixture_timeline ();
  CriticalPath path;
  (void)state;

  fixture_all_gather (timeline, 5, 40)->peers_from = 25;
  wait_for (fixture_compute (timeline, TIMELINE_FORWARD, 40, 50), 0, WAITED_FOR_EVENT);
  fixture_end_of_step (timeline, 0, 0, 50);
  critical_path_find (timeline, &path);

  assert_int_equal (path.host, 5);
  assert_int_equal (path.waiting_for_ranks, 20);
  assert_int_equal (path.by_op[TIMELINE_ALL_GATHER], 15);
  assert_int_equal (path.by_op[TIMELINE_FORWARD], 10);
  critical_path_clear (&path);
}

/* The rate limiter holds the host from 10 to 33: the gather it waits for ends at
 * 30, waking up takes 3, issuing the next gather 2 more (35-50). So on the path:
 * gathers 30 + 15, host 3 + 2, forward 10 = 60; and none of the wait itself. */
static void
a_host_wait_is_passed_through_to_its_cause (void **state)
{
  g_autoptr (Timeline) timeline = fixture_timeline ();
  CriticalPath path;
  (void)state;

  fixture_all_gather (timeline, 0, 30);
  wait_for (
      fixture_record (timeline, LANE_HOST, G_MAXUINT8, TIMELINE_WAIT, UNIT_FIRST_BLOCK, 10, 33), 0,
      WAITED_FOR_EVENT);
  wait_for (fixture_all_gather (timeline, 35, 50), 1, WAITED_FOR_HOST);
  wait_for (fixture_compute (timeline, TIMELINE_FORWARD, 50, 60), 2, WAITED_FOR_EVENT);
  fixture_end_of_step (timeline, 0, 0, 60);
  critical_path_find (timeline, &path);

  assert_int_equal (path.by_op[TIMELINE_ALL_GATHER], 45);
  assert_int_equal (path.by_op[TIMELINE_WAIT], 0);
  assert_int_equal (path.host, 5);
  assert_int_equal (path.by_op[TIMELINE_FORWARD], 10);
  assert_int_equal (path.records->len, 4);
  critical_path_clear (&path);
}

/* The window opens at 100, in the middle of a gather 90-120: 20 of it count. */
static void
the_path_stops_at_the_origin (void **state)
{
  g_autoptr (Timeline) timeline = fixture_timeline ();
  CriticalPath path;
  (void)state;

  fixture_compute (timeline, TIMELINE_OPTIMIZER, 0, 100);
  fixture_end_of_step (timeline, 0, 0, 100);
  wait_for (fixture_all_gather (timeline, 90, 120), 0, WAITED_FOR_NOTHING);
  wait_for (fixture_compute (timeline, TIMELINE_FORWARD, 120, 150), 1, WAITED_FOR_EVENT);
  fixture_end_of_step (timeline, 1, 0, 150);
  timeline->n_warmup_steps = 1;
  timeline->origin = 100;
  critical_path_find (timeline, &path);

  assert_int_equal (path.by_op[TIMELINE_ALL_GATHER], 20);
  assert_int_equal (path.by_op[TIMELINE_FORWARD], 30);
  assert_int_equal (path.by_op[TIMELINE_OPTIMIZER], 0);
  assert_int_equal (sum_of_parts (&path), 50);
  critical_path_clear (&path);
}

/* Records that wait for any one before them, in any lane, with gaps and overlaps. */
static void
the_parts_sum_to_the_step_on_any_path (void **state)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  (void)state;

  for (guint round = 0; round < 300; round++)
    {
      g_autoptr (Timeline) timeline = fixture_timeline ();
      SimTime now = 0;
      CriticalPath path;

      for (guint32 i = 0; i < 40; i++)
        {
          SimTime start = now + g_rand_int_range (random, -3, 10);
          TimelineRecord *record;

          now = start + g_rand_int_range (random, 0, 20);
          record = fixture_record (timeline, (TimelineLane)g_rand_int_range (random, 0, 3), 0,
                                   (TimelineOp)g_rand_int_range (random, 0, 3), 0, start, now);
          record->peers_from = start + g_rand_int_range (random, 0, (gint32)(now - start) + 1);
          wait_for (record, i == 0 ? RECORD_NONE : (guint32)g_rand_int_range (random, 0, (gint32)i),
                    (WaitReason)g_rand_int_range (random, 0, 5));
        }
      timeline->origin = g_rand_int_range (random, 0, 30);
      fixture_end_of_step (timeline, 0, 0, now + timeline->origin + 1);
      critical_path_find (timeline, &path);
      assert_int_equal (sum_of_parts (&path), timeline_reported_time (timeline));
      critical_path_clear (&path);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (hidden_work_is_not_on_the_path),
    cmocka_unit_test (waiting_for_ranks_is_told_from_moving_data),
    cmocka_unit_test (a_host_wait_is_passed_through_to_its_cause),
    cmocka_unit_test (the_path_stops_at_the_origin),
    cmocka_unit_test (the_parts_sum_to_the_step_on_any_path),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

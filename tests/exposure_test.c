#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "timeline/exposure.h"
#include "timeline_fixture.h"

/*            0    10   20   30   40   50
 * compute    ·····FFFFF·····BBBBB·····
 * all-gather GGGGGGG
 * reduce                       SSSSSSS
 * Idle 0-10 under the all-gather, 20-30 under nothing, 40-50: the reduce-scatter
 * runs to 42, then the host alone: 10 + 2 exposed, 10 + 8 host, 20 compute. */
static void
idle_time_belongs_to_the_collective_that_runs (void **state)
{
  g_autoptr (Timeline) timeline = fixture_timeline ();
  SimTime per_record[4];
  Exposure exposure;
  (void)state;

  fixture_all_gather (timeline, 0, 14);
  fixture_compute (timeline, TIMELINE_FORWARD, 10, 20);
  fixture_compute (timeline, TIMELINE_BACKWARD, 30, 40);
  fixture_reduce_scatter (timeline, 36, 42);
  fixture_end_of_step (timeline, 0, 0, 50);
  exposure_measure (timeline, &exposure, per_record);

  assert_int_equal (exposure.total, 50);
  assert_int_equal (exposure.compute, 20);
  assert_int_equal (exposure.busy[TIMELINE_FORWARD], 10);
  assert_int_equal (exposure.busy[TIMELINE_BACKWARD], 10);
  assert_int_equal (exposure.exposed[TIMELINE_ALL_GATHER], 10);
  assert_int_equal (exposure.exposed[TIMELINE_REDUCE_SCATTER], 2);
  assert_int_equal (exposure.exposed[TIMELINE_ALL_REDUCE], 0);
  assert_int_equal (exposure.host_bound, 18);
  assert_int_equal (per_record[0], 10);
  assert_int_equal (per_record[1], 0);
  assert_int_equal (per_record[3], 2);
}

/* Nothing computes. 0-10 copy alone, 10-20 with an all-reduce, 20-30 with a
 * reduce-scatter too, 30-40 with an all-gather on top: each outranks the one
 * before. The copy's 10 count with the host. */
static void
the_stronger_collective_takes_the_instant (void **state)
{
  g_autoptr (Timeline) timeline = fixture_timeline ();
  Exposure exposure;
  (void)state;

  fixture_record (timeline, LANE_COPY, FIXTURE_COMPUTE, TIMELINE_COPY, 0, 0, 40);
  fixture_record (timeline, LANE_COMM_REPLICATE, FIXTURE_ALL_REDUCE, TIMELINE_ALL_REDUCE, 0, 10,
                  40);
  fixture_reduce_scatter (timeline, 20, 40);
  fixture_all_gather (timeline, 30, 40);
  fixture_end_of_step (timeline, 0, 0, 40);
  exposure_measure (timeline, &exposure, NULL);

  assert_int_equal (exposure.exposed[TIMELINE_ALL_GATHER], 10);
  assert_int_equal (exposure.exposed[TIMELINE_REDUCE_SCATTER], 10);
  assert_int_equal (exposure.exposed[TIMELINE_ALL_REDUCE], 10);
  assert_int_equal (exposure.host_bound, 10);
}

/* Two all-gathers on two streams, 0-30 and 10-20: the one issued first has it all. */
static void
of_equals_the_one_issued_first_is_exposed (void **state)
{
  g_autoptr (Timeline) timeline = fixture_timeline ();
  SimTime per_record[2];
  Exposure exposure;
  (void)state;

  fixture_record (timeline, LANE_COMM_REPLICATE, FIXTURE_ALL_REDUCE, TIMELINE_ALL_GATHER, 0, 0, 30);
  fixture_all_gather (timeline, 10, 20);
  fixture_end_of_step (timeline, 0, 0, 30);
  exposure_measure (timeline, &exposure, per_record);
  assert_int_equal (per_record[0], 30);
  assert_int_equal (per_record[1], 0);
}

/* Clipping's scalar all-reduce has op grad_clip on a communication lane: 7 ps of
 * exposed all-reduce. A cast on the unshard stream is a copy: 5 ps of the host. */
static void
other_work_on_communication_lanes (void **state)
{
  g_autoptr (Timeline) timeline = fixture_timeline ();
  Exposure exposure;
  (void)state;

  fixture_record (timeline, LANE_COMM_SHARD, FIXTURE_UNSHARD, TIMELINE_COPY, 0, 0, 5);
  fixture_record (timeline, LANE_COMM_SHARD, FIXTURE_UNSHARD, TIMELINE_GRAD_CLIP, 0, 5, 12);
  fixture_end_of_step (timeline, 0, 0, 12);
  exposure_measure (timeline, &exposure, NULL);
  assert_int_equal (exposure.exposed[TIMELINE_ALL_REDUCE], 7);
  assert_int_equal (exposure.host_bound, 5);
}

/* The window is 100 to 150. A gather of the reported step began at 90, a reduce-
 * scatter ends at 170; the warm-up's own tail (to 120) does not count. Exposed
 * 100-110 and 140-150; compute 110-140. */
static void
records_are_cut_to_the_reported_window (void **state)
{
  g_autoptr (Timeline) timeline = fixture_timeline ();
  SimTime per_record[4];
  Exposure exposure;
  (void)state;

  fixture_record (timeline, LANE_COMM_REPLICATE, FIXTURE_ALL_REDUCE, TIMELINE_ALL_GATHER, 0, 20,
                  120);
  fixture_end_of_step (timeline, 0, 0, 100);
  fixture_all_gather (timeline, 90, 110);
  fixture_compute (timeline, TIMELINE_FORWARD, 110, 140);
  fixture_reduce_scatter (timeline, 130, 170);
  fixture_end_of_step (timeline, 1, 0, 150);
  timeline->n_warmup_steps = 1;
  timeline->origin = 100;
  exposure_measure (timeline, &exposure, per_record);

  assert_int_equal (exposure.total, 50);
  assert_int_equal (exposure.compute, 30);
  assert_int_equal (per_record[0], 0);
  assert_int_equal (per_record[1], 10);
  assert_int_equal (per_record[3], 10);
  assert_int_equal (exposure.host_bound, 0);
}

/* Host waits cover the whole step and change nothing: 30 of 30 are the host's. */
static void
waits_of_the_host_are_no_work (void **state)
{
  g_autoptr (Timeline) timeline = fixture_timeline ();
  Exposure exposure;
  (void)state;

  fixture_record (timeline, LANE_HOST, G_MAXUINT8, TIMELINE_WAIT, 0, 0, 30);
  fixture_end_of_step (timeline, 0, 0, 30);
  exposure_measure (timeline, &exposure, NULL);
  assert_int_equal (exposure.host_bound, 30);
}

/* ---- any timeline ---- */

static const struct
{
  TimelineLane lane;
  TimelineOp op;
} stream_work[] = { { LANE_COMPUTE, TIMELINE_FORWARD },
                    { LANE_COMM_SHARD, TIMELINE_ALL_GATHER },
                    { LANE_COMM_SHARD, TIMELINE_REDUCE_SCATTER },
                    { LANE_COMM_REPLICATE, TIMELINE_ALL_REDUCE },
                    { LANE_COPY, TIMELINE_COPY } };

static Timeline *
random_timeline (GRand *random)
{
  Timeline *timeline = fixture_timeline ();
  SimTime tails[G_N_ELEMENTS (stream_work)] = { 0 };

  for (guint i = 0; i < 60; i++)
    {
      guint8 s = (guint8)g_rand_int_range (random, 0, G_N_ELEMENTS (stream_work));
      SimTime start = tails[s] + g_rand_int_range (random, 0, 9);

      tails[s] = start + g_rand_int_range (random, 0, 12);
      fixture_record (timeline, stream_work[s].lane, s, stream_work[s].op, 0, start, tails[s]);
    }
  timeline->origin = g_rand_int_range (random, 0, 20);
  timeline->n_warmup_steps = 1;
  fixture_end_of_step (timeline, 0, 0, timeline->origin);
  fixture_end_of_step (timeline, 10, 0, timeline->origin + g_rand_int_range (random, 1, 120));
  return timeline;
}

static gboolean
runs_at (const Timeline *timeline, guint work, SimTime now)
{
  for (guint32 i = timeline_first_reported (timeline); i < timeline->records->len; i++)
    {
      const TimelineRecord *record = timeline_record (timeline, i);

      if (record->stream == work && record->start <= now && now < record->end)
        return TRUE;
    }
  return FALSE;
}

/* The same by looking at every single picosecond. */
static void
measure_by_hand (const Timeline *timeline, Exposure *expected)
{
  *expected = (Exposure){ 0 };
  for (SimTime now = timeline->origin; now < timeline_end (timeline); now++)
    {
      expected->total++;
      if (runs_at (timeline, 0, now))
        expected->compute++;
      else if (runs_at (timeline, 1, now))
        expected->exposed[TIMELINE_ALL_GATHER]++;
      else if (runs_at (timeline, 2, now))
        expected->exposed[TIMELINE_REDUCE_SCATTER]++;
      else if (runs_at (timeline, 3, now))
        expected->exposed[TIMELINE_ALL_REDUCE]++;
      else
        expected->host_bound++;
    }
}

static void
the_parts_sum_to_the_step_in_any_timeline (void **state)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (20);
  (void)state;

  for (guint round = 0; round < 500; round++)
    {
      g_autoptr (Timeline) timeline = random_timeline (random);
      SimTime per_record[60], sum = 0;
      Exposure exposure, expected;

      exposure_measure (timeline, &exposure, per_record);
      measure_by_hand (timeline, &expected);
      assert_int_equal (exposure.total, expected.total);
      assert_int_equal (exposure.compute, expected.compute);
      assert_int_equal (exposure.busy[TIMELINE_FORWARD], expected.compute);
      assert_int_equal (exposure.host_bound, expected.host_bound);
      for (guint op = TIMELINE_ALL_GATHER; op <= TIMELINE_ALL_REDUCE; op++)
        {
          assert_int_equal (exposure.exposed[op], expected.exposed[op]);
          sum += exposure.exposed[op];
        }
      assert_int_equal (exposure.compute + sum + exposure.host_bound, exposure.total);
      for (guint i = 0; i < G_N_ELEMENTS (per_record); i++)
        sum -= per_record[i];
      assert_int_equal (sum, 0);
    }
}

/* Spans of the first picture: gather 0-10, compute to 20, nothing to 30. */
static void
spans_cover_the_window_without_gaps (void **state)
{
  g_autoptr (Timeline) timeline = fixture_timeline ();
  g_autoptr (GArray) spans = NULL;
  SimTime now = 0;
  (void)state;

  fixture_all_gather (timeline, 0, 14);
  fixture_compute (timeline, TIMELINE_FORWARD, 10, 20);
  fixture_end_of_step (timeline, 0, 0, 30);
  spans = exposure_spans (timeline);
  for (guint i = 0; i < spans->len; i++)
    {
      const ExposureSpan *span = &g_array_index (spans, ExposureSpan, i);

      assert_int_equal (span->start, now);
      assert_int_equal (span->is_compute, now >= 10 && now < 20);
      assert_int_equal (span->op, now < 10   ? TIMELINE_ALL_GATHER
                                  : now < 20 ? TIMELINE_FORWARD
                                             : TIMELINE_WAIT);
      now = span->end;
    }
  assert_int_equal (now, 30);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (idle_time_belongs_to_the_collective_that_runs),
    cmocka_unit_test (the_stronger_collective_takes_the_instant),
    cmocka_unit_test (of_equals_the_one_issued_first_is_exposed),
    cmocka_unit_test (other_work_on_communication_lanes),
    cmocka_unit_test (records_are_cut_to_the_reported_window),
    cmocka_unit_test (waits_of_the_host_are_no_work),
    cmocka_unit_test (the_parts_sum_to_the_step_in_any_timeline),
    cmocka_unit_test (spans_cover_the_window_without_gaps),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "program_fixture.h"

static const EngineOptions one_rank = { .n_ranks = 1, .folded = TRUE };
static const EngineOptions one_rank_events = { .n_ranks = 1, .folded = TRUE, .force_events = TRUE };

/* A program of one step on "compute" and "comm", to which a test adds. */
typedef struct
{
  Program *program;
  StreamId compute, comm;
  CommunicatorId group;
} Small;

static Small
small_begin (guint ranks)
{
  Small small = { .program = program_new () };

  small.compute = program_add_stream (small.program, "compute", LANE_COMPUTE);
  small.comm = program_add_stream (small.program, "comm", LANE_COMM_SHARD);
  small.group = program_add_communicator (small.program, "group", LANE_COMM_SHARD, ranks, 1);
  program_end_of_load (small.program);
  return small;
}

static void
small_end (Small *small)
{
  program_end_of_step (small->program, small->compute);
  program_seal (small->program, 0);
}

/* Runs under both executors, which must agree, and frees the program. */
static Timeline *
small_run (Small *small)
{
  g_autoptr (Timeline) events = fixture_run (small->program, &one_rank_events, 0);
  Timeline *timeline = fixture_run (small->program, &one_rank, 0);

  fixture_assert_same (timeline, events);
  program_free (small->program);
  return timeline;
}

static void
assert_record (const Timeline *timeline, guint32 index, SimTime start, SimTime end)
{
  assert_int_equal (timeline_record (timeline, index)->start, start);
  assert_int_equal (timeline_record (timeline, index)->end, end);
}

/* Two kernels of 100 on one stream, launched at 5 and 10: 5..105, 105..205. */
static void
a_stream_runs_its_work_in_order (void **state)
{
  (void)state;
  Small small = small_begin (1);
  fixture_kernel (small.program, small.compute, 100, 5);
  fixture_kernel (small.program, small.compute, 100, 5);
  small_end (&small);
  g_autoptr (Timeline) timeline = small_run (&small);

  assert_record (timeline, 0, 5, 105);
  assert_record (timeline, 1, 105, 205);
  assert_int_equal (timeline_record (timeline, 1)->waited_why, WAITED_FOR_STREAM);
  assert_int_equal (timeline_record (timeline, 1)->waited_for, 0);
  assert_int_equal (timeline_reported_time (timeline), 205);
}

/* A kernel of 10 launched at 50 and one at 100: the device idles in between. */
static void
work_does_not_start_before_the_host_has_enqueued_it (void **state)
{
  (void)state;
  Small small = small_begin (1);
  fixture_kernel (small.program, small.compute, 10, 50);
  fixture_kernel (small.program, small.compute, 10, 50);
  small_end (&small);
  g_autoptr (Timeline) timeline = small_run (&small);

  assert_record (timeline, 1, 100, 110);
  assert_int_equal (timeline_record (timeline, 1)->waited_why, WAITED_FOR_HOST);
}

/* Ten kernels that the host launches 7 apart and the device runs in 5 each: the
 * last is launched at 70 and ends at 75; in one piece of 50 that is 25..75. */
static void
a_run_that_the_host_holds_up_ends_with_its_last_launch (void **state)
{
  (void)state;
  Small small = small_begin (1);
  program_launch (
      small.program,
      &(KernelLaunch){ .stream = small.compute, .time = 50, .host = 70, .n_kernels = 10 });
  small_end (&small);
  g_autoptr (Timeline) timeline = small_run (&small);

  assert_record (timeline, 0, 25, 75);
}

/* The collective on "comm" waits for the event after the first kernel (100), not
 * for the second, launched later. */
static void
an_event_stands_for_the_work_up_to_its_recording (void **state)
{
  (void)state;
  Small small = small_begin (1);
  EventId event = program_add_event (small.program);
  fixture_kernel (small.program, small.compute, 100, 0);
  program_record (small.program, event, small.compute);
  fixture_kernel (small.program, small.compute, 100, 0);
  program_stream_wait (small.program, small.comm, event);
  fixture_collective (small.program, small.group, small.comm, 30, 0);
  small_end (&small);
  g_autoptr (Timeline) timeline = small_run (&small);

  assert_record (timeline, 2, 100, 130);
  assert_int_equal (timeline_record (timeline, 2)->waited_why, WAITED_FOR_EVENT);
  assert_int_equal (timeline_record (timeline, 2)->waited_for, 0);
}

/* Issued first on another stream, the gather that waits for a kernel of 100 holds
 * up the one behind it on the same communicator: 100..120, 120..140. */
static void
a_communicator_is_first_in_first_out_in_host_order (void **state)
{
  (void)state;
  Small small = small_begin (1);
  fixture_kernel (small.program, small.compute, 100, 0);
  fixture_collective (small.program, small.group, small.compute, 20, 0);
  fixture_collective (small.program, small.group, small.comm, 20, 0);
  small_end (&small);
  g_autoptr (Timeline) timeline = small_run (&small);

  assert_record (timeline, 1, 100, 120);
  assert_record (timeline, 2, 120, 140);
  assert_int_equal (timeline_record (timeline, 2)->waited_why, WAITED_FOR_COMMUNICATOR);
}

/* The host blocks from 5 until the kernel ends at 105, wakes 3 later and launches
 * in 5: 113. A wait for what is over costs nothing. */
static void
the_host_wakes_up_late_only_where_it_blocked (void **state)
{
  (void)state;
  Small small = small_begin (1);
  EventId event = program_add_event (small.program);
  fixture_kernel (small.program, small.compute, 100, 5);
  program_record (small.program, event, small.compute);
  program_host_wait (small.program, event, 3, (TimelineLabel){ .op = TIMELINE_WAIT });
  program_host_wait (small.program, event, 3, (TimelineLabel){ .op = TIMELINE_WAIT });
  fixture_kernel (small.program, small.compute, 10, 5);
  small_end (&small);
  g_autoptr (Timeline) timeline = small_run (&small);

  assert_int_equal (timeline->records->len, 3); /* kernel, one wait, kernel */
  assert_record (timeline, 1, 5, 108);
  assert_record (timeline, 2, 113, 123);
  assert_int_equal (timeline_record (timeline, 2)->waited_for, 1);
}

/* Rank 1's kernel takes 1.5 x 100. Both leave the gather at 150 + 20; rank 0 has
 * been in it since 100. */
static void
a_collective_waits_for_its_last_rank (void **state)
{
  (void)state;
  const NumberedFigure slow = { 1, 1.5 };
  EngineOptions options = { .n_ranks = 2, .slow_ranks = &slow, .n_slow_ranks = 1 };
  Small small = small_begin (2);
  fixture_kernel (small.program, small.compute, 100, 0);
  fixture_collective (small.program, small.group, small.compute, 20, 0);
  small_end (&small);

  g_autoptr (Timeline) first = fixture_run (small.program, &options, 0);
  g_autoptr (Timeline) second = fixture_run (small.program, &options, 1);
  options.force_events = TRUE;
  g_autoptr (Timeline) events = fixture_run (small.program, &options, 0);
  program_free (small.program);

  assert_record (first, 1, 100, 170);
  assert_int_equal (timeline_record (first, 1)->peers_from, 150);
  assert_record (second, 1, 150, 170);
  fixture_assert_same (first, events);
}

/* A kernel of 100 beside a collective of 30 that starts at 10, at a slow-down of
 * a half: 10 at full rate, 30 in which 20 are done, 70 left: 10 + 30 + 70 = 110. */
static void
a_kernel_is_slower_beside_a_collective (void **state)
{
  (void)state;
  EngineOptions options = { .n_ranks = 1, .folded = TRUE, .compute_slowdown = 0.5 };
  Small small = small_begin (1);
  fixture_kernel (small.program, small.compute, 100, 0);
  fixture_collective (small.program, small.group, small.comm, 30, 10);
  small_end (&small);

  g_autoptr (Timeline) timeline = fixture_run (small.program, &options, 0);
  program_free (small.program);
  assert_record (timeline, 0, 0, 110);
  assert_record (timeline, 1, 10, 40);
}

/* The same, the kernel's time being given: nothing slows it. */
static void
a_given_time_is_not_slowed (void **state)
{
  (void)state;
  EngineOptions options = { .n_ranks = 1, .folded = TRUE, .compute_slowdown = 0.5 };
  Small small = small_begin (1);
  program_launch (
      small.program,
      &(KernelLaunch){ .stream = small.compute, .time = 100, .n_kernels = 1, .fixed = TRUE });
  fixture_collective (small.program, small.group, small.comm, 30, 10);
  small_end (&small);

  g_autoptr (Timeline) timeline = fixture_run (small.program, &options, 0);
  program_free (small.program);
  assert_record (timeline, 0, 0, 100);
}

/* From 10 on both kernels have half of the GPU: the short one takes 60 for its 30, and the
 * long one has 60 of 100 left at 70. */
static void
kernels_of_two_streams_share_the_gpu (void **state)
{
  (void)state;
  EngineOptions options = { .n_ranks = 1, .folded = TRUE, .compute_slowdown = 0.5 };
  Small small = small_begin (1);
  fixture_kernel (small.program, small.compute, 100, 0);
  fixture_kernel (small.program, small.comm, 30, 10);
  small_end (&small);

  g_autoptr (Timeline) timeline = fixture_run (small.program, &options, 0);
  options.compute_slowdown = 0; /* nothing slows anything */
  g_autoptr (Timeline) alone = fixture_run (small.program, &options, 0);
  program_free (small.program);
  assert_record (timeline, 0, 0, 130);
  assert_record (timeline, 1, 10, 70);
  assert_record (alone, 0, 0, 100);
  assert_record (alone, 1, 10, 40);
}

/* A given time takes no part of the GPU from others, and gives none. */
static void
given_times_share_nothing (void **state)
{
  (void)state;
  EngineOptions options = { .n_ranks = 1, .folded = TRUE, .compute_slowdown = 0.5 };
  Small small = small_begin (1);
  program_launch (
      small.program,
      &(KernelLaunch){ .stream = small.compute, .time = 100, .n_kernels = 1, .fixed = TRUE });
  fixture_kernel (small.program, small.comm, 30, 0);
  small_end (&small);

  g_autoptr (Timeline) timeline = fixture_run (small.program, &options, 0);
  program_free (small.program);
  assert_record (timeline, 0, 0, 100);
  assert_record (timeline, 1, 0, 30);
}

/* ---- one hardware queue, late hosts ---- */

/* A collective that waits for a kernel of 100 stands in the queue, and what is launched after it
 * on another stream stands behind it: 100..110 instead of 0..10. */
static void
one_queue_lets_nothing_overtake (void **state)
{
  (void)state;
  for (guint single = 0; single < 2; single++)
    {
      g_autoptr (Program) program = program_new ();
      StreamId compute = program_add_stream (program, "compute", LANE_COMPUTE);
      StreamId reduce = program_add_stream (program, "reduce", LANE_COPY);
      StreamId copy = program_add_stream (program, "copy", LANE_COPY);
      CommunicatorId all = program_add_communicator (program, "all", LANE_COMM_SHARD, 2, 1);
      EngineOptions options = { .n_ranks = 2 };

      if (single)
        program_use_single_queue (program);
      program_end_of_load (program);
      fixture_kernel (program, compute, 100, 0);
      program_stream_wait_stream (program, reduce, compute);
      fixture_collective (program, all, reduce, 50, 0);
      fixture_kernel (program, copy, 10, 0);
      program_end_of_step (program, compute);
      program_seal (program, 0);
      for (guint events = 0; events < 2; events++)
        {
          options.force_events = events != 0;
          g_autoptr (Timeline) timeline = fixture_run (program, &options, 0);

          assert_record (timeline, 1, 100, 150);
          assert_record (timeline, 2, single ? 100 : 0, single ? 110 : 10);
        }
    }
}

/* Rank 1's host loses 30: its kernel of 100 runs 30..130, and the collective of 50 that rank 0
 * reaches at 100 is over for both at 180. */
static void
a_late_host_holds_up_its_group (void **state)
{
  (void)state;
  g_autoptr (Program) program = program_new ();
  StreamId compute = program_add_stream (program, "compute", LANE_COMPUTE);
  CommunicatorId all = program_add_communicator (program, "all", LANE_COMM_SHARD, 2, 1);
  const NumberedFigure late = { 1, 30 };
  EngineOptions options = { .n_ranks = 2, .late_hosts = &late, .n_late_hosts = 1 };

  program_end_of_load (program);
  program_host_delay (program);
  fixture_kernel (program, compute, 100, 0);
  fixture_collective (program, all, compute, 50, 0);
  program_end_of_step (program, compute);
  program_seal (program, 0);
  for (guint events = 0; events < 2; events++)
    {
      options.force_events = events != 0;
      g_autoptr (Timeline) timeline = fixture_run (program, &options, 0);

      assert_record (timeline, 1, 100, 180);
      assert_int_equal (timeline_record (timeline, 1)->peers_from, 130);
    }
}

/* ---- links: shared, and degraded ---- */

#define MEGABYTE G_GINT64_CONSTANT (1000000)

static void
priced_collective (Program *program, CommunicatorId communicator, StreamId stream, gint64 bytes)
{
  program_collective (program, &(CollectiveLaunch){ .communicator = communicator,
                                                    .stream = stream,
                                                    .kind = COLLECTIVE_ALL_GATHER,
                                                    .bytes = bytes,
                                                    .in_place = TRUE,
                                                    .fixed_time = SIM_TIME_NONE,
                                                    .label = { .op = TIMELINE_ALL_GATHER } });
}

static Timeline *
run_on (const Program *program, const Network *network, const EngineOptions *options)
{
  EngineResult result;

  engine_run (program, network, options, NULL, 0, &result);
  Timeline *timeline = g_ptr_array_steal_index (result.timelines, 0);
  engine_result_clear (&result);
  return timeline;
}

/* Two gathers of the same ranks, each of which alone fills the link for T after a latency of L;
 * the second comes D later. Until L + D the first has the link to itself, then each has half:
 * the first still needs 2 (T - D) and is over at L + 2 T - D; the second has D left then, alone:
 * L + 2 T. From L to L + 2 T the link is always full, so all bytes of both have passed. */
static void
two_collectives_share_a_link_fairly (void **state)
{
  (void)state;
  g_autoptr (Network) network = fixture_network (1, 2);
  GroupShape shape = network_group_shape (network, 0, 2, 1);
  CollectiveCost cost
      = network_collective (network, COLLECTIVE_ALL_GATHER, &shape, 100 * MEGABYTE, TRUE);
  SimTime transfer = cost.transfer_ps, latency = cost.latency_ps;

  assert_true (cost.intra_share == 1);
  for (guint tenths = 0; tenths < 10; tenths += 3)
    for (guint folded = 0; folded < 2; folded++)
      {
        g_autoptr (Program) program = program_new ();
        StreamId first = program_add_stream (program, "first", LANE_COMPUTE);
        StreamId second = program_add_stream (program, "second", LANE_COPY);
        CommunicatorId a = program_add_communicator (program, "a", LANE_COMM_SHARD, 2, 1);
        CommunicatorId b = program_add_communicator (program, "b", LANE_COMM_REPLICATE, 2, 1);
        SimTime late = transfer / 10 * tenths;

        program_end_of_load (program);
        priced_collective (program, a, first, 100 * MEGABYTE);
        fixture_kernel (program, second, late, 0);
        priced_collective (program, b, second, 100 * MEGABYTE);
        program_end_of_step (program, first);
        program_seal (program, 0);
        EngineOptions options = { .n_ranks = 2, .folded = folded != 0 };
        g_autoptr (Timeline) timeline = run_on (program, network, &options);

        assert_in_range (timeline_record (timeline, 0)->end, latency + 2 * transfer - late - 2,
                         latency + 2 * transfer - late + 2);
        assert_in_range (timeline_record (timeline, 2)->end, latency + 2 * transfer - 2,
                         latency + 2 * transfer + 2);
      }
}

/* Collectives of one communicator follow one another and share nothing: one pass will do. */
static void
one_communicator_shares_with_nobody (void **state)
{
  (void)state;
  g_autoptr (Network) network = fixture_network (1, 2);
  g_autoptr (Program) program = program_new ();
  StreamId compute = program_add_stream (program, "compute", LANE_COMPUTE);
  CommunicatorId all = program_add_communicator (program, "all", LANE_COMM_SHARD, 2, 1);
  EngineOptions options = { .n_ranks = 2 };
  EngineResult result;

  program_end_of_load (program);
  priced_collective (program, all, compute, MEGABYTE);
  program_end_of_step (program, compute);
  program_seal (program, 0);
  engine_run (program, network, &options, NULL, 0, &result);
  assert_false (result.used_events);
  engine_result_clear (&result);
}

/* Of two pairs that each span both nodes, and two inside one node each: node 1 at half its NICs'
 * rate slows the former as a network of such NICs would, and not the latter. */
static void
degraded_links_slow_the_rings_that_pass_them (void **state)
{
  (void)state;
  const NumberedFigure half = { 1, 0.5 };
  g_autoptr (Network) network = fixture_network (2, 2);
  g_autoptr (Network) degraded = network_degrade (network, 0.5);
  GroupShape across = network_group_shape (network, 0, 2, 2);
  GroupShape inside = network_group_shape (network, 0, 2, 1);

  for (guint events = 0; events < 2; events++)
    for (guint stride = 1; stride <= 2; stride++)
      {
        g_autoptr (Program) program = program_new ();
        StreamId compute = program_add_stream (program, "compute", LANE_COMPUTE);
        CommunicatorId pairs = program_add_communicator (program, "p", LANE_COMM_SHARD, 2, stride);
        EngineOptions options = {
          .n_ranks = 4, .degraded_nodes = &half, .n_degraded_nodes = 1, .force_events = events != 0
        };
        CollectiveCost cost = stride == 2 ? network_collective (degraded, COLLECTIVE_ALL_GATHER,
                                                                &across, 100 * MEGABYTE, TRUE)
                                          : network_collective (network, COLLECTIVE_ALL_GATHER,
                                                                &inside, 100 * MEGABYTE, TRUE);

        program_end_of_load (program);
        priced_collective (program, pairs, compute, 100 * MEGABYTE);
        program_end_of_step (program, compute);
        program_seal (program, 0);
        g_autoptr (Timeline) timeline = run_on (program, network, &options);
        assert_int_equal (timeline_record (timeline, 0)->end, cost.time_ps);
      }
}

/* ---- properties of random programs ---- */

#define N_RANDOM_PROGRAMS 300

static void
both_executors_agree_on_random_programs (void **state)
{
  (void)state;
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  const NumberedFigure slow = { 2, 1.3 };
  const NumberedFigure late = { 1, 70 };

  for (guint i = 0; i < N_RANDOM_PROGRAMS; i++)
    {
      g_autoptr (Program) program = fixture_random_program (random, 4);
      EngineOptions options = { .n_ranks = 4,
                                .compute_jitter = i % 2 ? 0.2 : 0,
                                .seed = i,
                                .gpu_spread = i % 7 ? 0 : 0.1,
                                .slow_ranks = &slow,
                                .n_slow_ranks = i % 3 ? 1 : 0,
                                .late_hosts = &late,
                                .n_late_hosts = i % 5 ? 0 : 1 };
      if (i % 4 == 0)
        program_use_single_queue (program);
      g_autoptr (Timeline) one_pass = fixture_run (program, &options, i % 4);
      options.force_events = TRUE;
      g_autoptr (Timeline) events = fixture_run (program, &options, i % 4);

      fixture_assert_same (one_pass, events);
    }
}

static void
a_folded_run_equals_the_run_of_all_ranks (void **state)
{
  (void)state;
  g_autoptr (GRand) random = g_rand_new_with_seed (2);

  for (guint i = 0; i < N_RANDOM_PROGRAMS; i++)
    {
      g_autoptr (Program) program = fixture_random_program (random, 8);
      EngineOptions options = {
        .n_ranks = 8, .folded = TRUE, .compute_slowdown = i % 3 * 0.16, .force_events = i % 2 == 0
      };
      g_autoptr (Timeline) folded = fixture_run (program, &options, 0);
      options.folded = FALSE;
      g_autoptr (Timeline) all = fixture_run (program, &options, i % 8);

      fixture_assert_same (folded, all);
    }
}

/* Records of one stream and of one communicator follow one another. */
static void
no_stream_runs_two_kernels_at_once (void **state)
{
  (void)state;
  g_autoptr (GRand) random = g_rand_new_with_seed (3);

  for (guint i = 0; i < N_RANDOM_PROGRAMS; i++)
    {
      g_autoptr (Program) program = fixture_random_program (random, 2);
      EngineOptions options = { .n_ranks = 2, .compute_slowdown = 0.2, .compute_jitter = 0.1 };
      g_autoptr (Timeline) timeline = fixture_run (program, &options, 1);
      SimTime free_from[256] = { 0 };

      for (guint32 r = 0; r < timeline->records->len; r++)
        {
          const TimelineRecord *record = timeline_record (timeline, r);

          assert_true (record->start >= free_from[record->stream]);
          assert_true (record->end >= record->start);
          free_from[record->stream] = record->end;
        }
    }
}

static void
a_seed_reproduces_and_another_differs (void **state)
{
  (void)state;
  g_autoptr (GRand) random = g_rand_new_with_seed (4);
  g_autoptr (Program) program = fixture_random_program (random, 4);
  EngineOptions options = { .n_ranks = 4, .compute_jitter = 0.2, .seed = 7 };
  g_autoptr (Timeline) first = fixture_run (program, &options, 0);
  g_autoptr (Timeline) again = fixture_run (program, &options, 0);
  options.seed = 8;
  g_autoptr (Timeline) other = fixture_run (program, &options, 0);

  fixture_assert_same (first, again);
  assert_int_not_equal (timeline_reported_time (first), timeline_reported_time (other));
}

/* 10,000 draws of exp (sigma z - sigma^2 / 2) have mean 1 (standard error
 * 0.1 / 100) and, sigma being small, a spread of about sigma. */
static void
jitter_is_log_normal_with_mean_one (void **state)
{
  (void)state;
  g_autoptr (Program) program = program_new ();
  StreamId compute = program_add_stream (program, "compute", LANE_COMPUTE);
  double sum = 0, squares = 0;
  const guint n = 10000;

  program_end_of_load (program);
  for (guint i = 0; i < n; i++)
    fixture_kernel (program, compute, 1000000, 0);
  program_end_of_step (program, compute);
  program_seal (program, 0);
  EngineOptions options = { .n_ranks = 1, .compute_jitter = 0.1, .seed = 3 };
  g_autoptr (Timeline) timeline = fixture_run (program, &options, 0);
  for (guint32 i = 0; i < n; i++)
    {
      const TimelineRecord *record = timeline_record (timeline, i);
      double factor = (double)(record->end - record->start) / 1e6;

      sum += factor;
      squares += factor * factor;
    }
  double mean = sum / n;
  assert_true (mean > 0.996 && mean < 1.004);
  double variance = squares / n - mean * mean;
  assert_true (variance > 0.009 && variance < 0.0112);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_stream_runs_its_work_in_order),
    cmocka_unit_test (work_does_not_start_before_the_host_has_enqueued_it),
    cmocka_unit_test (a_run_that_the_host_holds_up_ends_with_its_last_launch),
    cmocka_unit_test (an_event_stands_for_the_work_up_to_its_recording),
    cmocka_unit_test (a_communicator_is_first_in_first_out_in_host_order),
    cmocka_unit_test (the_host_wakes_up_late_only_where_it_blocked),
    cmocka_unit_test (a_collective_waits_for_its_last_rank),
    cmocka_unit_test (a_kernel_is_slower_beside_a_collective),
    cmocka_unit_test (a_given_time_is_not_slowed),
    cmocka_unit_test (kernels_of_two_streams_share_the_gpu),
    cmocka_unit_test (given_times_share_nothing),
    cmocka_unit_test (one_queue_lets_nothing_overtake),
    cmocka_unit_test (a_late_host_holds_up_its_group),
    cmocka_unit_test (two_collectives_share_a_link_fairly),
    cmocka_unit_test (one_communicator_shares_with_nobody),
    cmocka_unit_test (degraded_links_slow_the_rings_that_pass_them),
    cmocka_unit_test (both_executors_agree_on_random_programs),
    cmocka_unit_test (a_folded_run_equals_the_run_of_all_ranks),
    cmocka_unit_test (no_stream_runs_two_kernels_at_once),
    cmocka_unit_test (a_seed_reproduces_and_another_differs),
    cmocka_unit_test (jitter_is_log_normal_with_mean_one),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}

#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "program_fixture.h"

Network *
fixture_network (guint nodes, guint ranks_per_node)
{
  ClusterConfig cluster = { .name = (char *)"test",
                            .nodes = nodes,
                            .gpus_per_node = ranks_per_node,
                            .nics_per_node = 1,
                            .nic_bytes_per_s = 1e9,
                            .nic_efficiency = 1,
                            .ring_bytes_per_s = 1e9,
                            .intra_factor = 1,
                            .shard_copy_bytes_per_s = 1e9,
                            .efficiency = { 1, 1, 1 },
                            .nccl_channels = 1,
                            .graph_bytes_per_s = 1e9 };

  return network_new (&cluster);
}

void
fixture_kernel (Program *program, StreamId stream, SimTime time, SimTime host)
{
  program_launch (program, &(KernelLaunch){ .stream = stream,
                                            .time = time,
                                            .host = host,
                                            .n_kernels = 1,
                                            .jitter = TRUE,
                                            .label = { .op = TIMELINE_FORWARD } });
}

void
fixture_collective (Program *program, CommunicatorId communicator, StreamId stream, SimTime time,
                    SimTime host)
{
  program_collective (program, &(CollectiveLaunch){ .communicator = communicator,
                                                    .stream = stream,
                                                    .kind = COLLECTIVE_ALL_GATHER,
                                                    .bytes = 1,
                                                    .fixed_time = time,
                                                    .host = host,
                                                    .label = { .op = TIMELINE_ALL_GATHER } });
}

Timeline *
fixture_run (const Program *program, const EngineOptions *options, guint rank)
{
  g_autoptr (Network) network = fixture_network (1, options->n_ranks);
  EngineResult result;

  engine_run (program, network, options, &rank, 1, &result);
  /* The slowest rank's comes first. */
  Timeline *timeline = g_ptr_array_steal_index (
      result.timelines, options->folded || result.slowest_rank == rank ? 0 : 1);
  engine_result_clear (&result);
  return timeline;
}

#define N_RANDOM_STREAMS 4
#define N_RANDOM_EVENTS  3

static void
random_instruction (Program *program, GRand *random, const CommunicatorId *communicators,
                    gboolean *recorded)
{
  StreamId stream = (StreamId)g_rand_int_range (random, 0, N_RANDOM_STREAMS);
  EventId event = 1 + (EventId)g_rand_int_range (random, 0, N_RANDOM_EVENTS);
  SimTime time = g_rand_int_range (random, 0, 50);
  SimTime host = g_rand_boolean (random) ? g_rand_int_range (random, 0, 20) : 0;

  switch (g_rand_int_range (random, 0, 8))
    {
    case 0:
    case 1:
    case 2:
      fixture_kernel (program, stream, time, host);
      break;
    case 3:
      /* A communicator of two streams would be legal, but each keeps to its own here. */
      fixture_collective (program, communicators[stream % 2], stream, time, host);
      break;
    case 4:
      program_record (program, event, stream);
      recorded[event] = TRUE;
      break;
    case 5:
      if (recorded[event])
        program_stream_wait (program, stream, event);
      break;
    case 6:
      if (recorded[event])
        program_host_wait (program, event, time / 10, (TimelineLabel){ .op = TIMELINE_WAIT });
      break;
    default:
      program_host_busy (program, host);
      break;
    }
}

Program *
fixture_random_program (GRand *random, guint n_ranks)
{
  Program *program = program_new ();
  gboolean recorded[1 + N_RANDOM_EVENTS] = { FALSE };
  CommunicatorId communicators[2];

  for (guint i = 0; i < N_RANDOM_STREAMS; i++)
    program_add_stream (program, "s", LANE_COMPUTE);
  for (guint i = 0; i < N_RANDOM_EVENTS; i++)
    program_add_event (program);
  communicators[0] = program_add_communicator (program, "all", LANE_COMM_SHARD, n_ranks, 1);
  communicators[1]
      = program_add_communicator (program, "pairs", LANE_COMM_REPLICATE, 2, n_ranks / 2);
  program_end_of_load (program);
  for (guint step = 0; step < 2; step++)
    {
      program_host_delay (program);
      for (guint i = 0; i < 60; i++)
        random_instruction (program, random, communicators, recorded);
      for (StreamId stream = 1; stream < N_RANDOM_STREAMS; stream++)
        program_stream_wait_stream (program, 0, stream);
      program_end_of_step (program, 0);
    }
  program_seal (program, 1);
  return program;
}

void
fixture_assert_same (const Timeline *a, const Timeline *b)
{
  assert_int_equal (a->records->len, b->records->len);
  assert_int_equal (a->origin, b->origin);
  assert_int_equal (a->steps->len, b->steps->len);
  for (guint32 i = 0; i < a->records->len; i++)
    {
      const TimelineRecord *one = timeline_record (a, i);
      const TimelineRecord *other = timeline_record (b, i);

      assert_int_equal (one->start, other->start);
      assert_int_equal (one->end, other->end);
      assert_int_equal (one->peers_from, other->peers_from);
      assert_int_equal (one->waited_for, other->waited_for);
      assert_int_equal (one->waited_why, other->waited_why);
    }
  for (guint i = 0; i < a->steps->len; i++)
    assert_int_equal (g_array_index (a->steps, TimelineStep, i).end,
                      g_array_index (b->steps, TimelineStep, i).end);
}

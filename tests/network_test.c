#include <config.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "net/network.h"
#include "net/ring.h"
#include "network_fixture.h"

static void
assert_time (const ClusterConfig *cluster, CollectiveKind kind, GroupShape shape, gint64 bytes,
             gint64 time_ps)
{
  assert_int_equal (cost_of (cluster, kind, shape, bytes, FALSE).time_ps, time_ps);
}

/* 800 MB on 8 ranks are chunks of 100 MB, 500 us each at 200 GB/s. 7 steps of
 * 4 + 500 us, 30 us of base, and 100 MB of own shard at 500 GB/s: 200 us. */
static void
one_node_all_gather_takes_ranks_less_one_steps (void **state)
{
  ClusterConfig cluster = round_cluster ();
  GroupShape node = GROUP (8, 1);

  (void)state;
  assert_time (&cluster, COLLECTIVE_ALL_GATHER, node, 800000000, 3758000000);
  assert_time (&cluster, COLLECTIVE_REDUCE_SCATTER, node, 800000000, 3758000000);
}

static void
in_place_saves_the_copy_of_the_own_shard (void **state)
{
  ClusterConfig cluster = round_cluster ();
  CollectiveCost cost = cost_of (&cluster, COLLECTIVE_ALL_GATHER, GROUP (8, 1), 800000000, TRUE);

  (void)state;
  assert_int_equal (cost.time_ps, 3558000000);
  assert_int_equal (cost.protocol, PROTOCOL_SIMPLE);
}

/* Steps that reduce take 2 us instead of 4: 7 x 2 us less in a reduce-scatter, whose own
 * shard copies at 1000 GB/s in 100 us. Half of the 14 steps of an all-reduce do. */
static void
steps_that_reduce_have_a_latency_of_their_own (void **state)
{
  ClusterConfig cluster = round_cluster ();

  (void)state;
  cluster.simple_reduce_step_ps = 2000000;
  cluster.reduce_copy_bytes_per_s = 1000e9;
  assert_time (&cluster, COLLECTIVE_ALL_GATHER, GROUP (8, 1), 800000000, 3758000000);
  assert_time (&cluster, COLLECTIVE_REDUCE_SCATTER, GROUP (8, 1), 800000000, 3644000000);
  assert_time (&cluster, COLLECTIVE_ALL_REDUCE, GROUP (8, 1), 800000000, 7072000000);
}

/* 800 MB: transfer 7 x 500 + 200 us = 3700 us; with a base of 2747 us latency is
 * 2747 + 7 x 4 = 2775 us. At an exponent of 2 they are the sides of a triangle, 3 : 4 : 5. */
static void
latency_and_transfer_overlap (void **state)
{
  ClusterConfig cluster = round_cluster ();

  (void)state;
  cluster.base_ps[PROTOCOL_SIMPLE] = 2747000000;
  assert_time (&cluster, COLLECTIVE_ALL_GATHER, GROUP (8, 1), 800000000, 6475000000);
  cluster.simple_overlap = 2;
  assert_time (&cluster, COLLECTIVE_ALL_GATHER, GROUP (8, 1), 800000000, 4625000000);
}

/* 14 steps of 504 us and 30 us of base; there is no own shard to copy. */
static void
all_reduce_goes_round_twice (void **state)
{
  ClusterConfig cluster = round_cluster ();

  (void)state;
  assert_time (&cluster, COLLECTIVE_ALL_REDUCE, GROUP (8, 1), 800000000, 7086000000);
}

/* Chunks of 140 MB take 700 us, 7 of them 4900 us, whose root is 70: with 2 us^0.5
 * that adds 140 us to 30 + 7 x 704 + 280. */
static void
the_ramp_grows_with_the_root_of_the_transfer (void **state)
{
  ClusterConfig cluster = round_cluster ();

  (void)state;
  cluster.ramp = 2;
  assert_time (&cluster, COLLECTIVE_ALL_GATHER, GROUP (8, 1), 1120000000, 5378000000);
}

/* Two nodes, 1.6 GB: a chunk of 100 MB takes 1000 us at the 100 GB/s left inside
 * and 500 us through 8 NICs. 14 steps inside and 1 between nodes add up to
 * 14 x 1004 + 520 = 14576 us, but the slowest link must pass all 15 chunks:
 * 15 x 1000 + 4 + 20. Base 30, multi-node 15, copy 200. */
static void
two_nodes_are_bound_by_the_slower_link (void **state)
{
  ClusterConfig cluster = round_cluster ();

  (void)state;
  assert_time (&cluster, COLLECTIVE_ALL_GATHER, GROUP (16, 2), 1600000000, 15269000000);
}

/* 4 ranks on 4 nodes, as in HSDP's replicate groups: no step inside a node, and of
 * the 8 NICs that 8 such groups share each has one: 25 MB take 1000 us. 3 steps of
 * 1020 us, base 30, multi-node 15, copy of 25 MB 50. */
static void
sibling_groups_share_the_nics (void **state)
{
  ClusterConfig cluster = round_cluster ();
  GroupShape replicas = GROUP (4, 4);

  (void)state;
  assert_time (&cluster, COLLECTIVE_ALL_GATHER, replicas, 100000000, 3155000000);
  /* With 4 NICs each has half of one: 3 x 2020 + 95. */
  cluster.nics_per_node = 4;
  assert_time (&cluster, COLLECTIVE_ALL_GATHER, replicas, 100000000, 6155000000);
}

/* The same 4 ranks as nccl-tests would run them: each has a whole NIC, also where 8 GPUs
 * have 4, and 4 where they have 32: 250 us, 3 x 270 + 95. */
static void
a_group_alone_has_the_nics_next_to_its_gpus (void **state)
{
  ClusterConfig cluster = round_cluster ();
  GroupShape replicas = { .ranks = 4, .nodes = 4, .alone = TRUE };

  (void)state;
  assert_time (&cluster, COLLECTIVE_ALL_GATHER, replicas, 100000000, 3155000000);
  cluster.nics_per_node = 4;
  assert_time (&cluster, COLLECTIVE_ALL_GATHER, replicas, 100000000, 3155000000);
  cluster.nics_per_node = 32;
  assert_time (&cluster, COLLECTIVE_ALL_GATHER, replicas, 100000000, 905000000);
}

/* One rank a node: 3 steps of 1000 + 20 us through a whole NIC, as above. Packed under
 * leaves of 2 nodes a ring leaves each leaf once, and the uplinks of 2 nodes at 1:2 are
 * as much as one node needs; at 1:8 they are a quarter of that: 3 x 4020 + 95. Scattered
 * nodes cross the spine at every hop, at 1:2 with half of it: 3 x 2020 + 95. */
static void
oversubscribed_leaves_slow_what_crosses_the_spine (void **state)
{
  static const struct
  {
    double oversubscription;
    NodePlacement placement;
    gint64 time_ps;
  } cases[] = { { 1, NODES_PACKED, 3155000000 },
                { 2, NODES_PACKED, 3155000000 },
                { 8, NODES_PACKED, 12155000000 },
                { 1, NODES_SCATTERED, 3155000000 },
                { 2, NODES_SCATTERED, 6155000000 } };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      ClusterConfig cluster = round_cluster ();
      GroupShape shape = { .ranks = 4, .nodes = 4, .leaves = 2 };

      cluster.nodes_per_leaf = 2;
      cluster.rail_optimised = TRUE;
      cluster.oversubscription = cases[i].oversubscription;
      cluster.node_placement = cases[i].placement;
      assert_time (&cluster, COLLECTIVE_ALL_GATHER, shape, 100000000, cases[i].time_ps);
    }
}

/* One NIC of 8 alone at 1:8: with rails its leaf has 2 x 1/8 of a NIC upwards; where all
 * NICs of the 2 nodes share a leaf, 16/8 = 2 NICs, of which it needs one. */
static void
a_lone_rail_has_its_own_uplinks_only (void **state)
{
  ClusterConfig cluster = round_cluster ();
  GroupShape shape = { .ranks = 4, .nodes = 4, .leaves = 2, .alone = TRUE };

  (void)state;
  cluster.nodes_per_leaf = 2;
  cluster.oversubscription = 8;
  cluster.rail_optimised = TRUE;
  assert_time (&cluster, COLLECTIVE_ALL_GATHER, shape, 100000000, 12155000000);
  cluster.rail_optimised = FALSE;
  assert_time (&cluster, COLLECTIVE_ALL_GATHER, shape, 100000000, 3155000000);
}

/* 6 ranks on 2 nodes are 3 a node, with 3 of 8 NICs, 75 GB/s: chunks of 75 MB take
 * 750 us inside (4 steps) and 1000 us between nodes (1 step). 5 x 1000 + 24 us for
 * the slowest link against 4 x 754 + 1020; 30 + 15; copy 150. 5 ranks on 2 nodes
 * count as 3 a node: chunks of 90 MB take 1200 us between nodes, 4 x 1200 + 24
 * against 3 x 904 + 1220; copy 180. */
static void
an_uneven_group_is_judged_by_its_fullest_node (void **state)
{
  ClusterConfig cluster = round_cluster ();

  (void)state;
  assert_time (&cluster, COLLECTIVE_ALL_GATHER, GROUP (6, 2), 450000000, 5219000000);
  assert_time (&cluster, COLLECTIVE_ALL_GATHER, GROUP (5, 2), 450000000, 5049000000);
}

/* 8,000 B: NCCL's model gives LL 6.6 + 7 x 0.6 us, the others 13 us and more of
 * latency alone. A chunk of 1,000 B at a quarter of 200 GB/s takes 0.02 us:
 * 10 + 7 x 1.02, and 0.002 us for the copy. */
static void
small_messages_run_under_ll (void **state)
{
  ClusterConfig cluster = round_cluster ();
  CollectiveCost cost = cost_of (&cluster, COLLECTIVE_ALL_GATHER, GROUP (8, 1), 8000, FALSE);

  (void)state;
  assert_int_equal (cost.protocol, PROTOCOL_LL);
  assert_int_equal (cost.time_ps, 17142000);
}

/* Estimates for 8 Ampere GPUs on one node, us, S in bytes, algorithm bandwidth 8/7
 * of the bus's: LL 10.8 + S / 100228.6 (capped at 87.7 GB/s), LL128 27.3 +
 * S / 252342.9 (92 % of 240), Simple 32.2 + S / 274285.7. LL and LL128 meet at
 * 16.5 / (1 / 100228.6 - 1 / 252342.9) = 2743478 B, LL128 and Simple at 4.9 /
 * (1 / 252342.9 - 1 / 274285.7) = 15456000 B. */
static void
protocols_change_where_the_estimates_meet (void **state)
{
  static const struct
  {
    gint64 bytes;
    NcclProtocol protocol;
  } cases[] = { { 2743000, PROTOCOL_LL },
                { 2744000, PROTOCOL_LL128 },
                { 15455000, PROTOCOL_LL128 },
                { 15457000, PROTOCOL_SIMPLE } };
  ClusterConfig cluster = round_cluster ();

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_int_equal (
        cost_of (&cluster, COLLECTIVE_ALL_GATHER, GROUP (8, 1), cases[i].bytes, FALSE).protocol,
        cases[i].protocol);
}

/* 8 Blackwell GPUs, 16 channels, a graph of 720 GB/s: LL128 has 0.92 x 720 = 662.4 GB/s of
 * bus in 2.27 (16 x 73.4 is more), 16 x 34.5 = 552 in 2.29, 16 x 40 = 640 in 2.30. Simple's
 * latency is 4.9 us more, its bus 720: they meet at S x 7/8 x (1 / bus - 1 / 720) = 4.9,
 * which is 46368000, 13248000 and 32256000 B. LL, at 282 GB/s, is out by 10.9 MB. */
static void
versions_of_nccl_change_protocols_elsewhere (void **state)
{
  static const struct
  {
    NcclVersion version;
    gint64 bytes;
  } cases[] = { { NCCL_VERSION_2_27, 46368000 },
                { NCCL_VERSION_2_29, 13248000 },
                { NCCL_VERSION_2_30, 32256000 } };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      ClusterConfig cluster = round_cluster ();

      cluster.nccl_generation = NCCL_BLACKWELL;
      cluster.nccl_version = cases[i].version;
      cluster.nccl_channels = 16;
      cluster.graph_bytes_per_s = 720e9;
      cluster.ring_bytes_per_s = 720e9;
      assert_int_equal (
          cost_of (&cluster, COLLECTIVE_ALL_GATHER, GROUP (8, 1), cases[i].bytes - 1000, FALSE)
              .protocol,
          PROTOCOL_LL128);
      assert_int_equal (
          cost_of (&cluster, COLLECTIVE_ALL_GATHER, GROUP (8, 1), cases[i].bytes + 1000, FALSE)
              .protocol,
          PROTOCOL_SIMPLE);
    }
}

static void
pcie_has_no_ll128 (void **state)
{
  ClusterConfig cluster = round_cluster ();

  (void)state;
  cluster.intra_link = INTRA_PCIE;
  for (gint64 bytes = 8; bytes < (G_GINT64_CONSTANT (1) << 36); bytes *= 2)
    assert_int_not_equal (
        cost_of (&cluster, COLLECTIVE_ALL_GATHER, GROUP (8, 1), bytes, FALSE).protocol,
        PROTOCOL_LL128);
}

/* 360,000 B on 16 ranks: chunks of 22,500 B. Inside 25 GB/s: 0.9 us. Between nodes a
 * quarter of 200 GB/s would be 50, but NCCL's cap for two nodes is 22.5 GB/s: 1 us.
 * 10 + 15 + 14 x 1.9 + 6, and 0.045 us for the copy. */
static void
ll_between_nodes_is_capped (void **state)
{
  ClusterConfig cluster = round_cluster ();
  CollectiveCall call = {
    .kind = COLLECTIVE_ALL_GATHER, .shape = GROUP (16, 2), .bytes = 360000, .in_place = FALSE
  };

  (void)state;
  assert_int_equal (round (ring_time (&cluster, &call, PROTOCOL_LL).us * 1e6), 57645000);
}

/* Two nodes: with an AMD CPU NCCL takes the "Ampere" row, 22.5 GB/s for LL instead
 * of 39, and 2 us instead of 1 us for a hop inside a node: LL 6.6 + 14 x 2 + 2.7 =
 * 37.3 us of latency, LL128 14 + 14 x 2 + 4 = 46. With Intel's it is LL 23.3 and
 * LL128 44.6 (14 hops of 1.9 us). Bandwidths x 16/15: LL 24 or 41.6 GB/s, LL128
 * 0.92 x 200 = 196.3. They meet at 8.7 / (1 / 24000 - 1 / 196266.7) = 237900 B on
 * AMD, at 21.3 / (1 / 41600 - 1 / 196266.7) = 1124400 B on Intel. */
static void
the_cpu_decides_on_ll_between_nodes (void **state)
{
  ClusterConfig cluster = round_cluster ();
  GroupShape nodes = GROUP (16, 2);

  (void)state;
  assert_int_equal (cost_of (&cluster, COLLECTIVE_ALL_GATHER, nodes, 1124000, FALSE).protocol,
                    PROTOCOL_LL);
  assert_int_equal (cost_of (&cluster, COLLECTIVE_ALL_GATHER, nodes, 1125000, FALSE).protocol,
                    PROTOCOL_LL128);
  cluster.cpu = CPU_AMD;
  assert_int_equal (cost_of (&cluster, COLLECTIVE_ALL_GATHER, nodes, 237000, FALSE).protocol,
                    PROTOCOL_LL);
  assert_int_equal (cost_of (&cluster, COLLECTIVE_ALL_GATHER, nodes, 239000, FALSE).protocol,
                    PROTOCOL_LL128);
}

static void
one_rank_or_no_bytes_cost_nothing (void **state)
{
  ClusterConfig cluster = round_cluster ();

  (void)state;
  assert_time (&cluster, COLLECTIVE_ALL_REDUCE, GROUP (1, 1), 800000000, 0);
  assert_time (&cluster, COLLECTIVE_ALL_REDUCE, GROUP (8, 1), 0, 0);
}

static void
shapes_follow_from_ranks_placed_node_by_node (void **state)
{
  static const struct
  {
    guint first, ranks, stride, nodes;
  } cases[] = {
    { 0, 32, 1, 4 }, /* the whole job */
    { 8, 8, 1, 1 },  /* node 1 */
    { 3, 4, 8, 4 },  /* one rank of each node */
    { 0, 2, 16, 2 }, /* of every other node */
    { 0, 8, 4, 4 },  /* ranks 0, 4, 8, … 28: two a node */
    { 4, 4, 1, 1 },  /* half a node */
    { 6, 6, 1, 2 },  /* ranks 6 to 11 */
    { 5, 1, 1, 1 },  /* alone */
    { 5, 1, 0, 1 },
  };
  ClusterConfig cluster = round_cluster ();
  g_autoptr (Network) network = network_new (&cluster);

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GroupShape shape
          = network_group_shape (network, cases[i].first, cases[i].ranks, cases[i].stride);

      assert_int_equal (shape.ranks, cases[i].ranks);
      assert_int_equal (shape.nodes, cases[i].nodes);
    }
}

/* Nodes of 8. Groups of 12 are 8 and 4, or 4 and 8. The second of 6 is 2 and 4. Every third rank is
 * 0 3 6, 9 12 15, 18 21, or 2 5, 8 11 14, 17 20 23. */
static void
uneven_groups_have_the_nics_of_their_smallest_part (void **state)
{
  static const struct
  {
    guint first, ranks, stride, fewest;
  } cases[] = { { 0, 12, 1, 4 }, { 12, 12, 1, 4 }, { 6, 6, 1, 2 }, { 0, 6, 1, 0 }, { 0, 16, 1, 0 },
                { 4, 20, 1, 4 }, { 0, 8, 3, 2 },   { 2, 8, 3, 2 }, { 0, 2, 12, 0 } };
  ClusterConfig cluster = round_cluster ();
  g_autoptr (Network) network = network_new (&cluster);

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_int_equal (
        network_group_shape (network, cases[i].first, cases[i].ranks, cases[i].stride).fewest,
        cases[i].fewest);

  /* Two groups of 12 meet on the node in the middle, each with half of its NICs. */
  GroupShape uneven = network_group_shape (network, 0, 12, 1);
  assert_int_equal (network_groups_per_node (network, &uneven), 2);
  assert_true (
      network_collective (network, COLLECTIVE_ALL_GATHER, &uneven, 100000000, TRUE).inter_share
      <= 0.5);
}

/* 4 nodes, rank r on node r mod 4: consecutive ranks lie apart, every fourth together. */
static void
round_robin_lays_consecutive_ranks_apart (void **state)
{
  static const struct
  {
    guint ranks, stride, nodes;
  } cases[] = { { 32, 1, 4 }, { 8, 1, 4 }, { 2, 1, 2 }, { 8, 4, 1 }, { 4, 8, 1 }, { 4, 2, 2 } };
  ClusterConfig cluster = round_cluster ();
  g_autoptr (Network) network = NULL;

  (void)state;
  cluster.placement = PLACEMENT_ROUND_ROBIN;
  network = network_new (&cluster);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_int_equal (network_group_shape (network, 0, cases[i].ranks, cases[i].stride).nodes,
                      cases[i].nodes);
}

/* Nodes 0 and 1 under one leaf, 2 and 3 under the next. */
static void
groups_know_how_many_leaves_they_lie_under (void **state)
{
  ClusterConfig cluster = round_cluster ();
  g_autoptr (Network) network = NULL;

  (void)state;
  cluster.nodes_per_leaf = 2;
  network = network_new (&cluster);
  assert_int_equal (network_group_shape (network, 0, 16, 1).leaves, 1);
  assert_int_equal (network_group_shape (network, 8, 16, 1).leaves, 2);
  assert_int_equal (network_group_shape (network, 0, 2, 16).leaves, 2);
  assert_int_equal (network_lone_shape (network, 32, 4).leaves, 2);
  assert_true (network_lone_shape (network, 32, 4).alone);
}

/* Of every protocol: more bytes take longer; half of any bandwidth takes no less. */
static void
a_protocol_is_never_faster_for_more_bytes_or_less_bandwidth (void **state)
{
  const GroupShape shapes[]
      = { GROUP (2, 1), GROUP (8, 1), GROUP (16, 2), GROUP (4, 4), GROUP (32, 4) };
  ClusterConfig fast = round_cluster ();
  ClusterConfig slow_ring, slow_nics;

  (void)state;
  fast.ramp = 1.2;
  slow_ring = slow_nics = fast;
  slow_ring.ring_bytes_per_s /= 2;
  slow_nics.nic_bytes_per_s /= 2;
  for (NcclProtocol protocol = PROTOCOL_LL; protocol < N_PROTOCOLS; protocol++)
    for (guint shape = 0; shape < G_N_ELEMENTS (shapes); shape++)
      for (CollectiveKind kind = COLLECTIVE_ALL_GATHER; kind < N_COLLECTIVES; kind++)
        for (double bytes = 8; bytes < 1e11; bytes *= 3)
          {
            CollectiveCall call = { .kind = kind, .shape = shapes[shape], .bytes = bytes };
            CollectiveCall more = { .kind = kind, .shape = shapes[shape], .bytes = 1.5 * bytes };
            double us = ring_time (&fast, &call, protocol).us;

            assert_true (ring_time (&fast, &more, protocol).us > us);
            assert_true (ring_time (&slow_ring, &call, protocol).us >= us);
            assert_true (ring_time (&slow_nics, &call, protocol).us >= us);
          }
}

/* 1 B/s: a gigabyte would take years; the time stops at 10,000 s. */
static void
times_stay_within_what_an_engine_can_add_up (void **state)
{
  ClusterConfig cluster = round_cluster ();

  (void)state;
  cluster.ring_bytes_per_s = 1;
  assert_time (&cluster, COLLECTIVE_ALL_GATHER, GROUP (8, 1), 1000000000,
               G_GINT64_CONSTANT (10000000000000000));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (one_node_all_gather_takes_ranks_less_one_steps),
    cmocka_unit_test (steps_that_reduce_have_a_latency_of_their_own),
    cmocka_unit_test (latency_and_transfer_overlap),
    cmocka_unit_test (in_place_saves_the_copy_of_the_own_shard),
    cmocka_unit_test (all_reduce_goes_round_twice),
    cmocka_unit_test (the_ramp_grows_with_the_root_of_the_transfer),
    cmocka_unit_test (two_nodes_are_bound_by_the_slower_link),
    cmocka_unit_test (sibling_groups_share_the_nics),
    cmocka_unit_test (a_group_alone_has_the_nics_next_to_its_gpus),
    cmocka_unit_test (oversubscribed_leaves_slow_what_crosses_the_spine),
    cmocka_unit_test (a_lone_rail_has_its_own_uplinks_only),
    cmocka_unit_test (an_uneven_group_is_judged_by_its_fullest_node),
    cmocka_unit_test (small_messages_run_under_ll),
    cmocka_unit_test (protocols_change_where_the_estimates_meet),
    cmocka_unit_test (versions_of_nccl_change_protocols_elsewhere),
    cmocka_unit_test (pcie_has_no_ll128),
    cmocka_unit_test (ll_between_nodes_is_capped),
    cmocka_unit_test (the_cpu_decides_on_ll_between_nodes),
    cmocka_unit_test (one_rank_or_no_bytes_cost_nothing),
    cmocka_unit_test (shapes_follow_from_ranks_placed_node_by_node),
    cmocka_unit_test (uneven_groups_have_the_nics_of_their_smallest_part),
    cmocka_unit_test (round_robin_lays_consecutive_ranks_apart),
    cmocka_unit_test (groups_know_how_many_leaves_they_lie_under),
    cmocka_unit_test (a_protocol_is_never_faster_for_more_bytes_or_less_bandwidth),
    cmocka_unit_test (times_stay_within_what_an_engine_can_add_up),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

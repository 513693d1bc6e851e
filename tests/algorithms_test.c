#include <config.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "net/all_reduce.h"
#include "net/pairs.h"
#include "net/ring.h"
#include "network_fixture.h"

static void
assert_cost (const ClusterConfig *cluster, CollectiveKind kind, GroupShape shape, gint64 bytes,
             NcclAlgorithm algorithm, gint64 time_ps)
{
  CollectiveCost cost = cost_of (cluster, kind, shape, bytes, FALSE);

  assert_int_equal (cost.algorithm, algorithm);
  assert_int_equal (cost.time_ps, time_ps);
}

/* 4 nodes of 8, 920 MB: 0.46 x 200 GB/s is 92, less than half of 200 GB/s of NICs, and at
 * this size NCCL's correction is 1: 10000 us. Base 30, tree 5, 14 steps of 4, 4 hops of
 * 1.5 x 20. A ring's 62 steps of 28.75 MB at 100 GB/s take 17825 us. */
static void
a_tree_goes_up_and_down_its_levels (void **state)
{
  ClusterConfig cluster = round_cluster ();

  (void)state;
  cluster.tree_efficiency = 1;
  cluster.tree_ps = 5000000;
  cluster.tree_hop_factor = 1.5;
  assert_cost (&cluster, COLLECTIVE_ALL_REDUCE, GROUP (32, 4), 920000000, ALGORITHM_TREE,
               10211000000);
  /* The root of 10000 us is 100. */
  cluster.tree_ramp = 2;
  assert_cost (&cluster, COLLECTIVE_ALL_REDUCE, GROUP (32, 4), 920000000, ALGORITHM_TREE,
               10411000000);
}

/* 64 KiB are 2^10 x 64 B; NCCL's table corrects LL to 0.6 there: 65536 B at 92 / 3.8 x 0.6
 * GB/s take 4.511536 us. Base 10, 14 steps of 1, 2 hops of 5. A ring: 15 + 10 us, 28 steps
 * of 1 and 2 of 5, and more for the chunks. */
static void
small_trees_run_under_ll (void **state)
{
  ClusterConfig cluster = round_cluster ();
  CollectiveCost cost;

  (void)state;
  cluster.tree_efficiency = 1;
  cluster.tree_hop_factor = 1;
  cost = cost_of (&cluster, COLLECTIVE_ALL_REDUCE, GROUP (16, 2), 65536, FALSE);
  assert_int_equal (cost.algorithm, ALGORITHM_TREE);
  assert_int_equal (cost.protocol, PROTOCOL_LL);
  assert_int_equal (cost.time_ps, 38511536);
}

static void
one_node_has_no_tree (void **state)
{
  ClusterConfig cluster = round_cluster ();

  (void)state;
  cluster.tree_efficiency = 1;
  for (gint64 bytes = 8; bytes < (G_GINT64_CONSTANT (1) << 34); bytes *= 4)
    assert_int_equal (
        cost_of (&cluster, COLLECTIVE_ALL_REDUCE, GROUP (8, 1), bytes, FALSE).algorithm,
        ALGORITHM_RING);
}

/* 900 MB at 250 GB/s: 3600 us, whose root is 60. 40 of base and 2 x 60 of ramp. */
static void
switches_that_add_beat_a_ring (void **state)
{
  ClusterConfig cluster = round_cluster ();

  (void)state;
  cluster.nvls_bytes_per_s = 250e9;
  cluster.nvls_base_ps = 40000000;
  cluster.nvls_ramp = 2;
  cluster.nvls_ranks = 5;
  assert_cost (&cluster, COLLECTIVE_ALL_REDUCE, GROUP (8, 1), 900000000, ALGORITHM_NVLS,
               3760000000);
  /* 4 ranks are too few: 6 steps of 225 MB, 1125 us, and 30 + 6 x 4. */
  assert_cost (&cluster, COLLECTIVE_ALL_REDUCE, GROUP (4, 1), 900000000, ALGORITHM_RING,
               6804000000);
  /* Nor do they gather. */
  assert_int_equal (
      cost_of (&cluster, COLLECTIVE_ALL_GATHER, GROUP (8, 1), 900000000, FALSE).algorithm,
      ALGORITHM_RING);
}

/* Two nodes: the lesser of 250 and 200 GB/s, of which 80 % are 160: 576 MB take 3600 us. 40 of
 * base, 15 for two nodes, up and down one hop of 20 each, 2 x 60 of ramp. Of four nodes half
 * of the NICs' 200 GB/s count: 7200 us, 4 hops; the root is 84.852814. */
static void
switches_of_several_nodes_make_a_tree (void **state)
{
  ClusterConfig cluster = round_cluster ();

  (void)state;
  cluster.nvls_bytes_per_s = 250e9;
  cluster.nvls_base_ps = 40000000;
  cluster.nvls_tree_efficiency = 0.8;
  cluster.tree_hop_factor = 1;
  cluster.tree_ramp = 2;
  assert_cost (&cluster, COLLECTIVE_ALL_REDUCE, GROUP (16, 2), 576000000, ALGORITHM_NVLS_TREE,
               3815000000);
  assert_cost (&cluster, COLLECTIVE_ALL_REDUCE, GROUP (32, 4), 576000000, ALGORITHM_NVLS_TREE,
               7504705627);
}

/* The whole buffer goes round, in pieces: 800 MB at 200 GB/s, 30 + 7 x 4. On two nodes at the
 * 100 GB/s left, with 14 steps inside and a hop, 30 + 15 + 14 x 4 + 20. */
static void
a_broadcast_passes_its_buffer_on (void **state)
{
  ClusterConfig cluster = round_cluster ();

  (void)state;
  assert_cost (&cluster, COLLECTIVE_BROADCAST, GROUP (8, 1), 800000000, ALGORITHM_RING, 4058000000);
  assert_cost (&cluster, COLLECTIVE_BROADCAST, GROUP (16, 2), 800000000, ALGORITHM_RING,
               8121000000);
}

/* 16 ranks on 2 nodes, 160 MB: 10 MB for each other rank. 7 of them inside at 200 GB/s: 350 us.
 * 8 ranks send 8 of them out, 640 MB at 200 GB/s: 3200 us. 10 + 2 x 1 + 15 + 5 of latency.
 * One node: 8 ranks, 20 MB, 7 of them: 700 us and 12. */
static void
all_to_all_takes_the_slower_of_links_and_nics (void **state)
{
  ClusterConfig cluster = round_cluster ();

  (void)state;
  cluster.all_to_all_efficiency = 1;
  assert_cost (&cluster, COLLECTIVE_ALL_TO_ALL, GROUP (16, 2), 160000000, ALGORITHM_PAIRS,
               3232000000);
  assert_cost (&cluster, COLLECTIVE_ALL_TO_ALL, GROUP (8, 1), 160000000, ALGORITHM_PAIRS,
               712000000);
  /* Of 4 nodes under 2 leaves at 1:3 two of the three others lie beyond the leaf:
   * 24 ranks x 8 x 5 MB = 960 MB, 4800 us, 3 x 2/3 times. */
  cluster.nodes_per_leaf = 2;
  cluster.oversubscription = 3;
  cluster.rail_optimised = TRUE;
  assert_cost (&cluster, COLLECTIVE_ALL_TO_ALL,
               (GroupShape){ .ranks = 32, .nodes = 4, .leaves = 2 }, 160000000, ALGORITHM_PAIRS,
               9632000000);
}

/* 100 MB at 200 GB/s, and 12; between nodes one rank sends through a quarter of a NIC,
 * 6.25 GB/s: 16000 us and 32. */
static void
a_send_between_nodes_has_part_of_a_nic (void **state)
{
  ClusterConfig cluster = round_cluster ();

  (void)state;
  cluster.send_efficiency = 0.25;
  assert_cost (&cluster, COLLECTIVE_SEND_RECV, GROUP (8, 1), 100000000, ALGORITHM_PAIRS, 512000000);
  assert_cost (&cluster, COLLECTIVE_SEND_RECV, GROUP (16, 2), 100000000, ALGORITHM_PAIRS,
               16032000000);
}

/* ---- what links carry ---- */

static void
assert_near (double value, double wanted)
{
  if (fabs (value - wanted) > 1e-12 * fabs (wanted))
    fail_msg ("%.17g, not %.17g", value, wanted);
}

/* One node: 7 chunks of 500 us fill the links inside; 258 us are latency and copy. Two nodes:
 * 15 chunks of 1000 us inside, which are 500 us for the NICs. */
static void
a_flow_is_its_latency_and_its_transfer (void **state)
{
  ClusterConfig cluster = round_cluster ();
  CollectiveCost node = cost_of (&cluster, COLLECTIVE_ALL_GATHER, GROUP (8, 1), 800000000, FALSE);
  CollectiveCost nodes
      = cost_of (&cluster, COLLECTIVE_ALL_GATHER, GROUP (16, 2), 1600000000, FALSE);

  (void)state;
  assert_int_equal (node.transfer_ps, 3500000000);
  assert_int_equal (node.latency_ps, 258000000);
  assert_near (node.intra_share, 1);
  assert_near (node.intra_bytes, 700e6);
  assert_true (node.inter_share == 0 && node.inter_bytes == 0);
  assert_int_equal (nodes.transfer_ps, 15000000000);
  assert_int_equal (nodes.latency_ps, 269000000);
  assert_near (nodes.intra_share, 1);
  assert_near (nodes.inter_share, 0.5);
  assert_near (nodes.inter_bytes, 1500e6);
}

/* One rank a node beside seven such groups: 3 chunks through one of 8 NICs. */
static void
sibling_groups_fill_the_nics_together (void **state)
{
  ClusterConfig cluster = round_cluster ();
  CollectiveCost cost = cost_of (&cluster, COLLECTIVE_ALL_GATHER, GROUP (4, 4), 100000000, FALSE);

  (void)state;
  assert_int_equal (cost.transfer_ps, 3000000000);
  assert_near (cost.inter_share, 1.0 / 8);
  assert_true (cost.intra_share == 0);
}

/* LL at a quarter of the bandwidth puts as many bytes of flags on the link as of data. */
static void
flags_are_traffic_too (void **state)
{
  ClusterConfig cluster = round_cluster ();
  CollectiveCost cost = cost_of (&cluster, COLLECTIVE_ALL_GATHER, GROUP (8, 1), 8000, FALSE);

  (void)state;
  assert_int_equal (cost.protocol, PROTOCOL_LL);
  assert_near (cost.intra_share, 0.5);
}

static const GroupShape shapes[]
    = { { .ranks = 2, .nodes = 1 },   { .ranks = 8, .nodes = 1 },  { .ranks = 16, .nodes = 2 },
        { .ranks = 4, .nodes = 4 },   { .ranks = 32, .nodes = 4 }, { .ranks = 6, .nodes = 2 },
        { .ranks = 512, .nodes = 64 } };

static ClusterConfig
full_cluster (void)
{
  ClusterConfig cluster = round_cluster ();

  cluster.nodes = 64;
  cluster.ramp = 1.2;
  cluster.simple_overlap = 1.4;
  cluster.all_reduce_copy_bytes_per_s = 900e9;
  cluster.nvls_bytes_per_s = 150e9;
  cluster.nvls_base_ps = 50000000;
  cluster.nvls_ramp = 2;
  cluster.nvls_ranks = 5;
  cluster.nvls_tree_efficiency = 0.9;
  cluster.tree_efficiency = 0.9;
  cluster.tree_ps = 5000000;
  cluster.tree_hop_factor = 1;
  cluster.tree_ramp = 6;
  cluster.send_efficiency = 0.3;
  cluster.all_to_all_efficiency = 0.9;
  cluster.all_to_all_ramp = 5;
  return cluster;
}

/* Whatever the call: no time of its own in neither part, no link over its capacity. */
static void
no_flow_is_more_than_a_link (void **state)
{
  ClusterConfig cluster = full_cluster ();

  (void)state;
  for (CollectiveKind kind = COLLECTIVE_ALL_GATHER; kind < N_COLLECTIVES; kind++)
    for (guint shape = 0; shape < G_N_ELEMENTS (shapes); shape++)
      for (gint64 bytes = 8; bytes < (G_GINT64_CONSTANT (1) << 36); bytes *= 3)
        {
          CollectiveCost cost = cost_of (&cluster, kind, shapes[shape], bytes, FALSE);

          assert_int_equal (cost.latency_ps + cost.transfer_ps, cost.time_ps);
          assert_true (cost.latency_ps >= 0 && cost.transfer_ps >= 0);
          assert_true (cost.intra_share >= 0 && cost.intra_share <= 1);
          assert_true (cost.inter_share >= 0 && cost.inter_share <= 1);
          assert_true (cost.intra_share + cost.inter_share > 0);
          assert_true ((cost.inter_bytes > 0) == (shapes[shape].nodes > 1));
        }
}

/* ---- more is never less, while nothing else is chosen ---- */

typedef gboolean (*AllReduce) (const ClusterConfig *cluster, const CollectiveCall *call,
                               CollectiveTime *time);
typedef CollectiveTime (*Pairs) (const ClusterConfig *cluster, const CollectiveCall *call);

static void
assert_monotonic_all_reduce (const ClusterConfig *fast, const ClusterConfig *slow,
                             AllReduce time_of)
{
  for (guint shape = 0; shape < G_N_ELEMENTS (shapes); shape++)
    for (double bytes = 8; bytes < 1e11; bytes *= 3)
      {
        CollectiveCall call
            = { .kind = COLLECTIVE_ALL_REDUCE, .shape = shapes[shape], .bytes = bytes };
        CollectiveTime time, slower;

        if (time_of (fast, &call, &time) && time_of (slow, &call, &slower))
          assert_true (slower.us >= time.us);
      }
}

static void
assert_monotonic_pairs (const ClusterConfig *fast, const ClusterConfig *slow, Pairs time_of)
{
  for (guint shape = 0; shape < G_N_ELEMENTS (shapes); shape++)
    for (double bytes = 8; bytes < 1e11; bytes *= 3)
      {
        CollectiveCall call = { .shape = shapes[shape], .bytes = bytes };
        CollectiveCall more = { .shape = shapes[shape], .bytes = 1.5 * bytes };

        assert_true (time_of (slow, &call).us >= time_of (fast, &call).us);
        assert_true (time_of (fast, &more).us > time_of (fast, &call).us);
      }
}

static void
an_algorithm_is_never_faster_for_less_bandwidth (void **state)
{
  ClusterConfig fast = full_cluster ();

  (void)state;
  for (guint i = 0; i < 4; i++)
    {
      ClusterConfig slow = fast;

      if (i == 0)
        slow.ring_bytes_per_s /= 2;
      else if (i == 1)
        slow.nic_bytes_per_s /= 2;
      else if (i == 2)
        slow.nvls_bytes_per_s /= 2;
      else
        slow.hop_ps[PROTOCOL_SIMPLE] *= 2;
      assert_monotonic_all_reduce (&fast, &slow, tree_all_reduce);
      assert_monotonic_all_reduce (&fast, &slow, nvls_all_reduce);
      assert_monotonic_pairs (&fast, &slow, pairs_send_recv);
      assert_monotonic_pairs (&fast, &slow, pairs_all_to_all);
    }
}

/* ---- the same figures from elsewhere ---- */

/* An H100 cluster of about the size of the shipped one. */
static ClusterConfig
reference_cluster (void)
{
  return (ClusterConfig){ .nodes = 10,
                          .gpus_per_node = 8,
                          .nics_per_node = 8,
                          .nic_bytes_per_s = 50e9,
                          .nic_efficiency = 0.985,
                          .ring_bytes_per_s = 372e9,
                          .intra_factor = 0.86,
                          .shard_copy_bytes_per_s = 848.4e9,
                          .reduce_copy_bytes_per_s = 848.4e9,
                          .ramp = 1.186,
                          .multi_node_ps = 10000000,
                          .base_ps = { 5122000, 9731000, 12881000 },
                          .step_ps = { 1002000, 1757000, 2592000 },
                          .simple_reduce_step_ps = 2592000,
                          .hop_ps = { 4500000, 15000000, 18000000 },
                          .efficiency = { 0.3939, 0.8892, 1 },
                          .nvls_bytes_per_s = 272.9e9,
                          .nvls_base_ps = 70230000,
                          .nvls_ramp = 1.186 / 2,
                          .nvls_ranks = 5,
                          .nvls_tree_efficiency = 0.9,
                          .tree_efficiency = 0.9,
                          .tree_ps = 21000000,
                          .tree_hop_factor = 1.5,
                          .tree_ramp = 5.5,
                          .send_efficiency = 0.3,
                          .all_to_all_efficiency = 1,
                          .nccl_generation = NCCL_HOPPER,
                          .nccl_version = NCCL_VERSION_2_30,
                          .nccl_channels = 24,
                          .graph_bytes_per_s = 360e9 };
}

/* Computed by a program of others, written from the same formulas before this one. Of
 * 120,000 random calls on random clusters the two differed by 7e-16 at the most. */
static void
an_independent_program_has_the_same_times (void **state)
{
  static const struct
  {
    CollectiveKind kind;
    gint64 bytes;
    guint ranks, nodes;
    NcclAlgorithm algorithm;
    NcclProtocol protocol;
    double us;
  } cases[] = {
    { COLLECTIVE_ALL_GATHER, 4096, 8, 1, ALGORITHM_RING, PROTOCOL_LL, 12.1610625105049 },
    { COLLECTIVE_ALL_GATHER, 4194304, 8, 1, ALGORITHM_RING, PROTOCOL_LL, 37.8000107569779 },
    { COLLECTIVE_ALL_GATHER, 1073741824, 8, 1, ALGORITHM_RING, PROTOCOL_SIMPLE, 2774.43127924885 },
    { COLLECTIVE_REDUCE_SCATTER, 16777216, 4, 1, ALGORITHM_RING, PROTOCOL_SIMPLE,
      66.3235055040012 },
    { COLLECTIVE_ALL_GATHER, 1048576, 16, 2, ALGORITHM_RING, PROTOCOL_LL128, 62.8185857682895 },
    { COLLECTIVE_REDUCE_SCATTER, 268435456, 80, 10, ALGORITHM_RING, PROTOCOL_LL128,
      1193.54503801352 },
    { COLLECTIVE_ALL_GATHER, 8589934592, 80, 10, ALGORITHM_RING, PROTOCOL_SIMPLE,
      26877.7838355215 },
    { COLLECTIVE_ALL_GATHER, 67108864, 10, 10, ALGORITHM_RING, PROTOCOL_SIMPLE, 1460.67887421526 },
    { COLLECTIVE_ALL_REDUCE, 262144, 8, 1, ALGORITHM_RING, PROTOCOL_LL, 22.2807547628212 },
    { COLLECTIVE_ALL_REDUCE, 1073741824, 8, 1, ALGORITHM_NVLS, PROTOCOL_SIMPLE, 4041.98803284967 },
    { COLLECTIVE_ALL_REDUCE, 65536, 16, 2, ALGORITHM_RING, PROTOCOL_LL, 53.2701475731715 },
    { COLLECTIVE_ALL_REDUCE, 16777216, 80, 10, ALGORITHM_TREE, PROTOCOL_LL128, 333.926640665001 },
    { COLLECTIVE_ALL_REDUCE, 1073741824, 80, 10, ALGORITHM_NVLS_TREE, PROTOCOL_SIMPLE,
      6743.70185244143 },
    { COLLECTIVE_ALL_REDUCE, 1073741824, 4, 4, ALGORITHM_RING, PROTOCOL_SIMPLE, 33048.1528970233 },
    { COLLECTIVE_ALL_TO_ALL, 268435456, 80, 10, ALGORITHM_PAIRS, PROTOCOL_SIMPLE,
      4927.04550050761 },
    { COLLECTIVE_ALL_TO_ALL, 268435456, 8, 1, ALGORITHM_PAIRS, PROTOCOL_SIMPLE, 638.526602150538 },
  };
  ClusterConfig cluster = reference_cluster ();
  g_autoptr (Network) network = network_new (&cluster);

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GroupShape shape = network_lone_shape (network, cases[i].ranks, cases[i].nodes);
      CollectiveCost cost
          = network_collective (network, cases[i].kind, &shape, cases[i].bytes, FALSE);

      assert_int_equal (cost.algorithm, cases[i].algorithm);
      assert_int_equal (cost.protocol, cases[i].protocol);
      assert_true (fabs (cost.time_us / cases[i].us - 1) < 1e-12);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_tree_goes_up_and_down_its_levels),
    cmocka_unit_test (small_trees_run_under_ll),
    cmocka_unit_test (one_node_has_no_tree),
    cmocka_unit_test (switches_that_add_beat_a_ring),
    cmocka_unit_test (switches_of_several_nodes_make_a_tree),
    cmocka_unit_test (a_broadcast_passes_its_buffer_on),
    cmocka_unit_test (all_to_all_takes_the_slower_of_links_and_nics),
    cmocka_unit_test (a_send_between_nodes_has_part_of_a_nic),
    cmocka_unit_test (a_flow_is_its_latency_and_its_transfer),
    cmocka_unit_test (sibling_groups_fill_the_nics_together),
    cmocka_unit_test (flags_are_traffic_too),
    cmocka_unit_test (no_flow_is_more_than_a_link),
    cmocka_unit_test (an_algorithm_is_never_faster_for_less_bandwidth),
    cmocka_unit_test (an_independent_program_has_the_same_times),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

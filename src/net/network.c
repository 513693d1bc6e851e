#include <config.h>

#include "net/network.h"

#include <math.h>

#include "net/all_reduce.h"
#include "net/call.h"
#include "net/pairs.h"
#include "net/ring.h"

#define PICOSECONDS_PER_US 1e6

/* No single collective counts for longer than 10,000 s, so that sums of many
 * still fit into 64 bits of picoseconds. */
#define LONGEST_PS 1e16

struct _Network
{
  ClusterConfig cluster; /* without its texts */
};

const char *
network_algorithm_name (NcclAlgorithm algorithm)
{
  static const char *const names[N_ALGORITHMS] = { "Ring", "Tree", "NVLS", "NVLSTree", "Pairs" };

  return names[algorithm];
}

const char *
network_protocol_name (NcclProtocol protocol)
{
  static const char *const names[N_PROTOCOLS] = { "LL", "LL128", "Simple" };

  return names[protocol];
}

Network *
network_new (const ClusterConfig *cluster)
{
  Network *network = g_new (Network, 1);

  network->cluster = *cluster;
  network->cluster.name = NULL;
  network->cluster.fabric = NULL;
  return network;
}

void
network_free (Network *network)
{
  g_free (network);
}

/* ---- shapes ---- */

static guint
leaf_of (const ClusterConfig *cluster, guint node)
{
  return cluster->nodes_per_leaf > 0 ? node / cluster->nodes_per_leaf : 0;
}

static guint
greatest_common_divisor (guint a, guint b)
{
  while (b != 0)
    {
      guint rest = a % b;

      a = b;
      b = rest;
    }
  return a;
}

/* Rank r is on node r mod nodes: a stride comes back to its node after nodes over
 * their common divisor. */
static GroupShape
round_robin_shape (const ClusterConfig *cluster, guint ranks, guint stride)
{
  guint apart = greatest_common_divisor (MAX (stride, 1), cluster->nodes);
  guint nodes = MIN (ranks, cluster->nodes / apart);

  return (GroupShape){ .ranks = ranks,
                       .nodes = nodes,
                       .leaves = leaf_of (cluster, (nodes - 1) * apart) + 1 };
}

/* Ranks @first, @first + @stride, … to @last, several on a node: how many the node with the fewest
 * has; 0 where that is their mean. */
static guint
fewest_on_a_node (guint gpus, guint first, guint last, guint stride, const GroupShape *shape)
{
  guint on_first = (gpus - 1 - first % gpus) / stride + 1;
  guint on_last = last % gpus / stride + 1;
  guint fewest = MIN (on_first, on_last);

  if (shape->nodes == 1)
    return 0;
  if (shape->nodes > 2)
    fewest = MIN (fewest, gpus / stride);
  return fewest * shape->nodes == shape->ranks ? 0 : fewest;
}

GroupShape
network_group_shape (const Network *network, guint first, guint ranks, guint stride)
{
  const ClusterConfig *cluster = &network->cluster;
  guint gpus = cluster->gpus_per_node;
  guint first_node = first / gpus;
  guint last = first + (ranks - 1) * stride;
  guint last_node = last / gpus;
  GroupShape shape = { .ranks = ranks };

  g_assert (ranks > 0 && (ranks == 1 || stride > 0));
  if (cluster->placement == PLACEMENT_ROUND_ROBIN && cluster->nodes > 1)
    return round_robin_shape (cluster, ranks, stride);
  /* Strides of a node and more put no two on one. */
  shape.nodes = stride >= gpus ? ranks : last_node - first_node + 1;
  if (stride < gpus)
    shape.fewest = fewest_on_a_node (gpus, first, last, MAX (stride, 1), &shape);
  shape.leaves = leaf_of (cluster, last_node) - leaf_of (cluster, first_node) + 1;
  return shape;
}

guint
network_node_of_rank (const Network *network, guint rank)
{
  const ClusterConfig *cluster = &network->cluster;

  if (cluster->placement == PLACEMENT_ROUND_ROBIN && cluster->nodes > 1)
    return rank % cluster->nodes;
  return rank / cluster->gpus_per_node;
}

guint
network_groups_per_node (const Network *network, const GroupShape *shape)
{
  guint ranks_on_node
      = shape->fewest > 0 ? shape->fewest : MAX (shape->ranks / MAX (shape->nodes, 1), 1);

  return MAX (network->cluster.gpus_per_node / ranks_on_node, 1);
}

Network *
network_degrade (const Network *network, double share)
{
  Network *degraded = network_new (&network->cluster);

  degraded->cluster.nic_bytes_per_s *= share;
  return degraded;
}

GroupShape
network_lone_shape (const Network *network, guint ranks, guint nodes)
{
  return (GroupShape){ .ranks = ranks,
                       .nodes = nodes,
                       .leaves = leaf_of (&network->cluster, nodes - 1) + 1,
                       .alone = TRUE };
}

/* ---- costs ---- */

/* NCCL too takes what it thinks is fastest, and for all-reduces it thinks well. */
static CollectiveTime
all_reduce (const ClusterConfig *cluster, const CollectiveCall *call)
{
  CollectiveTime best = ring_collective (cluster, call);
  CollectiveTime other;

  if (tree_all_reduce (cluster, call, &other) && other.us < best.us)
    best = other;
  if (nvls_all_reduce (cluster, call, &other) && other.us < best.us)
    best = other;
  return best;
}

static CollectiveTime
collective_time (const ClusterConfig *cluster, const CollectiveCall *call)
{
  switch (call->kind)
    {
    case COLLECTIVE_ALL_REDUCE:
      return all_reduce (cluster, call);
    case COLLECTIVE_SEND_RECV:
      return pairs_send_recv (cluster, call);
    case COLLECTIVE_ALL_TO_ALL:
      return pairs_all_to_all (cluster, call);
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_BROADCAST:
      break;
    }
  return ring_collective (cluster, call);
}

static gint64
round_us_to_ps (double us)
{
  return (gint64)MIN (round (us * PICOSECONDS_PER_US), LONGEST_PS);
}

CollectiveCost
network_collective (const Network *network, CollectiveKind kind, const GroupShape *shape,
                    gint64 bytes, gboolean in_place)
{
  CollectiveCall call
      = { .kind = kind, .shape = *shape, .bytes = (double)bytes, .in_place = in_place };
  CollectiveTime time;
  CollectiveCost cost = { 0 };

  g_assert (shape->nodes > 0 && shape->ranks >= shape->nodes);
  if (shape->ranks == 1 || bytes <= 0)
    return cost;
  time = collective_time (&network->cluster, &call);
  cost = (CollectiveCost){ .time_ps = round_us_to_ps (time.us),
                           .time_us = time.us,
                           .algorithm = time.algorithm,
                           .protocol = time.protocol,
                           .intra_share = time.intra_share,
                           .inter_share = time.inter_share,
                           .intra_bytes = time.intra_bytes,
                           .inter_bytes = time.inter_bytes };
  cost.transfer_ps = MIN (round_us_to_ps (time.transfer_us), cost.time_ps);
  cost.latency_ps = cost.time_ps - cost.transfer_ps;
  return cost;
}

/* A cluster of round figures, and what collectives cost on it. */
#pragma once

#include "net/network.h"

/* Round figures, of no real machine: 200 GB/s around a node, 100 GB/s of it left
 * where a ring leaves the node, a NIC of 25 GB/s for each of 8 GPUs. */
static inline ClusterConfig
round_cluster (void)
{
  return (ClusterConfig){ .nodes = 4,
                          .gpus_per_node = 8,
                          .nics_per_node = 8,
                          .nic_bytes_per_s = 25e9,
                          .nic_efficiency = 1,
                          .ring_bytes_per_s = 200e9,
                          .intra_factor = 0.5,
                          .shard_copy_bytes_per_s = 500e9,
                          .reduce_copy_bytes_per_s = 500e9,
                          .ramp = 0,
                          .multi_node_ps = 15000000,
                          .base_ps = { 10000000, 20000000, 30000000 },
                          .step_ps = { 1000000, 2000000, 4000000 },
                          .simple_reduce_step_ps = 4000000,
                          .hop_ps = { 5000000, 10000000, 20000000 },
                          .efficiency = { 0.25, 0.5, 1 },
                          .nccl_generation = NCCL_AMPERE,
                          .nccl_channels = 24,
                          .graph_bytes_per_s = 240e9 };
}

#define GROUP(n_ranks, n_nodes) ((GroupShape){ .ranks = n_ranks, .nodes = n_nodes })

static inline CollectiveCost
cost_of (const ClusterConfig *cluster, CollectiveKind kind, GroupShape shape, gint64 bytes,
         gboolean in_place)
{
  g_autoptr (Network) network = network_new (cluster);

  return network_collective (network, kind, &shape, bytes, in_place);
}

static inline double
time_us (const ClusterConfig *cluster, CollectiveKind kind, GroupShape shape, gint64 bytes)
{
  return cost_of (cluster, kind, shape, bytes, FALSE).time_us;
}

/* What a collective costs on a cluster: NCCL's rings, trees and NVLS over
 * intra-node links and NICs, with a latency for each step. Built once from the
 * cluster's figures, then read-only and safe to share between threads.
 * docs/network.md has the formulas and where the constants come from. */
#pragma once

#include "config/scenario.h"

/* Algorithms, by the names that NCCL_ALGO gives them but for the last: sends and
 * receives between pairs of ranks. */
typedef enum
{
  ALGORITHM_RING,
  ALGORITHM_TREE,
  ALGORITHM_NVLS,
  ALGORITHM_NVLS_TREE,
  ALGORITHM_PAIRS,
  N_ALGORITHMS
} NcclAlgorithm;

/* "Ring", "Tree", "NVLS", "NVLSTree", "Pairs", and "LL", "LL128", "Simple", as
 * NCCL_ALGO and NCCL_PROTO take them. */
const char *network_algorithm_name (NcclAlgorithm algorithm);
const char *network_protocol_name (NcclProtocol protocol);

/* The ranks of one communicator: how many, over how many nodes. */
typedef struct
{
  guint ranks;
  guint nodes;
  guint fewest; /* of them on one node; 0: they are spread evenly */
  guint leaves; /* leaf switches over those nodes; 0 where it does not matter */
  /* FALSE: the groups that share its nodes run the same collective at the same time,
   * so each has its share of the NICs, as in a training job. TRUE: it has them to
   * itself, as in nccl-tests. */
  gboolean alone;
} GroupShape;

typedef struct _Network Network;

Network *network_new (const ClusterConfig *cluster);
void network_free (Network *network);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Network, network_free)

/* Shape of the group {first, first + stride, …} of @ranks ranks, which lie on the
 * nodes as cluster.placement says. */
GroupShape network_group_shape (const Network *network, guint first, guint ranks, guint stride);

/* Shape of @ranks ranks on @nodes nodes that have the cluster to themselves. */
GroupShape network_lone_shape (const Network *network, guint ranks, guint nodes);

guint network_node_of_rank (const Network *network, guint rank);

/* How many groups of that shape, one beside the other, share a node. */
guint network_groups_per_node (const Network *network, const GroupShape *shape);

/* The same network, its NICs at @share of their rate. The caller frees it. */
Network *network_degrade (const Network *network, double share);

/* How a collective would run. */
typedef struct
{
  gint64 time_ps;
  double time_us; /* the same before it is rounded to picoseconds */
  NcclAlgorithm algorithm;
  NcclProtocol protocol;
  /* Where the time goes. For latency_ps no link is busy, for transfer_ps the links
   * are, each to its share: of every rank's link inside its node, and of all NICs of
   * every node of the group (or its uplinks, where these are fewer), in each direction.
   * The two times add up to time_ps, so whoever lets collectives share links (max-min: the shares
   * of those that run together add up to 1 at most on every link) has time_ps for one that runs
   * alone. Latency first, then transfer. */
  gint64 latency_ps;
  gint64 transfer_ps;
  double intra_share;
  double inter_share;
  double intra_bytes; /* payload that each rank sends inside its node */
  double inter_bytes; /* payload that each node sends out */
} CollectiveCost;

/* @bytes as nccl-tests counts them: all-gather output, reduce-scatter and all-to-all
 * input, the buffer of all others. A group of one rank and an empty buffer cost nothing. */
CollectiveCost network_collective (const Network *network, CollectiveKind kind,
                                   const GroupShape *shape, gint64 bytes, gboolean in_place);

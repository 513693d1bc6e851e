/* What a collective costs on a cluster: NCCL's rings over intra-node links and
 * NICs, with a latency for each step. Built once from the cluster's figures,
 * then read-only and safe to share between threads. docs/network.md has the
 * formulas and where the constants come from. */
#pragma once

#include "config/scenario.h"

typedef enum
{
  COLLECTIVE_ALL_GATHER,
  COLLECTIVE_REDUCE_SCATTER,
  COLLECTIVE_ALL_REDUCE,
  N_COLLECTIVES
} CollectiveKind;

/* The ranks of one communicator: how many, over how many nodes. The ranks are
 * spread evenly; the groups that share their nodes run the same collective at
 * the same time, so each has its share of the NICs. */
typedef struct
{
  guint ranks;
  guint nodes;
} GroupShape;

typedef struct _Network Network;

Network *network_new (const ClusterConfig *cluster);
void network_free (Network *network);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Network, network_free)

/* Shape of the group {first, first + stride, …} of @ranks ranks, which are
 * placed node by node. */
GroupShape network_group_shape (const Network *network, guint first, guint ranks, guint stride);

/* How a collective would run. */
typedef struct
{
  gint64 time_ps;
  NcclProtocol protocol;
} CollectiveCost;

/* @bytes as nccl-tests counts them: all-gather output, reduce-scatter input,
 * all-reduce buffer. A group of one rank and an empty buffer cost nothing. */
CollectiveCost network_collective (const Network *network, CollectiveKind kind,
                                   const GroupShape *shape, gint64 bytes, gboolean in_place);

/* NCCL's ring: each rank sends a chunk of 1/ranks of the buffer to the next, so
 * often that every chunk has gone round. Most steps stay inside a node; each node
 * has one that leaves it. A broadcast sends the whole buffer round once, in pieces
 * that follow each other. */
#pragma once

#include "net/call.h"

/* Steps of a chunk on its way round. */
typedef struct
{
  double intra; /* inside a node */
  double inter; /* from node to node */
} RingSteps;

RingSteps ring_steps (CollectiveKind kind, const GroupShape *shape);

/* Under one protocol. More bytes or less bandwidth never makes it shorter. */
CollectiveTime ring_time (const ClusterConfig *cluster, const CollectiveCall *call,
                          NcclProtocol protocol);

/* Under the protocol that NCCL would choose. */
CollectiveTime ring_collective (const ClusterConfig *cluster, const CollectiveCall *call);

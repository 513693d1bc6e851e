/* One collective as the algorithms see it, and the links that its group has. */
#pragma once

#include "net/network.h"

typedef struct
{
  CollectiveKind kind;
  GroupShape shape;
  double bytes; /* as nccl-tests counts them */
  gboolean in_place;
} CollectiveCall;

/* Bandwidths that a ring of the group has at the most, before any protocol's losses. */
typedef struct
{
  double intra_bytes_per_us; /* of the links inside a node */
  double inter_bytes_per_us; /* of the group's share of a node's NICs; infinite on one node */
} GroupLinks;

GroupLinks call_links (const ClusterConfig *cluster, const GroupShape *shape);

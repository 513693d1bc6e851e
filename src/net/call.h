/* One collective as the algorithms see it, the links that its group has, and
 * what an algorithm makes of them. */
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
  double nic_share;          /* what part of all NICs of a node that is */
} GroupLinks;

GroupLinks call_links (const ClusterConfig *cluster, const GroupShape *shape);

/* Ranks of the group on the node that has most of them. */
guint call_ranks_per_node (const GroupShape *shape);

/* What a collective takes under one algorithm and protocol. */
typedef struct
{
  double us;
  /* Part of it during which the links below are busy, each to its share. */
  double transfer_us;
  double intra_share; /* of the link of each rank inside its node, each direction */
  double inter_share; /* of all NICs of each node */
  double intra_bytes; /* that each rank sends inside its node */
  double inter_bytes; /* that each node sends out */
  NcclAlgorithm algorithm;
  NcclProtocol protocol;
} CollectiveTime;

/* Bytes that a protocol puts on a link for each byte of data: LL a flag of 4 bytes
 * with every 4, LL128 one of 8 with every 120. */
double call_wire_factor (NcclProtocol protocol);

/* Latency and transfer overlap the more, the greater @exponent; 1 or less: not at all. */
double call_join (double latency_us, double transfer_us, double exponent);

double call_us_from_ps (gint64 ps);

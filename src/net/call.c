#include <config.h>

#include "net/call.h"

#include <math.h>

#define MICROSECONDS_PER_SECOND 1e6
#define PICOSECONDS_PER_US      1e6

guint
call_ranks_per_node (const GroupShape *shape)
{
  return (shape->ranks + shape->nodes - 1) / shape->nodes;
}

/* How many of a node's NICs the group has. Beside its siblings each group has a
 * part that is as large as its part of the GPUs, on the node where that is smallest. Alone it still
 * has no more than those next to its GPUs, of which none is without one. */
static double
nics_of_group (const ClusterConfig *cluster, const GroupShape *shape)
{
  guint ranks = shape->fewest > 0 ? shape->fewest : call_ranks_per_node (shape);
  double part = (double)cluster->nics_per_node * ranks / cluster->gpus_per_node;

  if (!shape->alone || cluster->nics_per_node >= cluster->gpus_per_node)
    return part;
  return MIN (cluster->nics_per_node, ranks);
}

/* What leaf switches and spine leave of @nics cards, as a number of cards. Packed
 * nodes fill leaf after leaf; a ring then leaves each leaf once, and all uplinks of
 * the leaf (of its rail, where rails have their own) are there for that. The
 * neighbours of scattered nodes sit under other leaves, beside nodes of other jobs
 * which use their part of the uplinks too. */
static double
nics_through_spine (const ClusterConfig *cluster, const GroupShape *shape, double nics)
{
  double uplink = 1 / MAX (cluster->oversubscription, 1);

  if (cluster->node_placement == NODES_SCATTERED)
    return nics * uplink;
  if (shape->leaves <= 1)
    return nics;
  if (shape->alone && !cluster->rail_optimised)
    return MIN (nics, cluster->nics_per_node * cluster->nodes_per_leaf * uplink);
  return MIN (nics, nics * cluster->nodes_per_leaf * uplink);
}

GroupLinks
call_links (const ClusterConfig *cluster, const GroupShape *shape)
{
  double ring = cluster->ring_bytes_per_s / MICROSECONDS_PER_SECOND;
  double nic = cluster->nic_bytes_per_s * cluster->nic_efficiency / MICROSECONDS_PER_SECOND;
  double nics;

  if (shape->nodes == 1)
    return (GroupLinks){ .intra_bytes_per_us = ring, .inter_bytes_per_us = INFINITY };
  g_assert (cluster->nics_per_node > 0);
  nics = nics_of_group (cluster, shape);
  return (GroupLinks){ .intra_bytes_per_us = ring * cluster->intra_factor,
                       .inter_bytes_per_us = nic * nics_through_spine (cluster, shape, nics),
                       .nic_share = nics / cluster->nics_per_node };
}

double
call_wire_factor (NcclProtocol protocol)
{
  static const double factors[N_PROTOCOLS] = { 2, 128.0 / 120.0, 1 };

  return factors[protocol];
}

double
call_join (double latency_us, double transfer_us, double exponent)
{
  if (exponent <= 1)
    return latency_us + transfer_us;
  return pow (pow (latency_us, exponent) + pow (transfer_us, exponent), 1 / exponent);
}

double
call_us_from_ps (gint64 ps)
{
  return (double)ps / PICOSECONDS_PER_US;
}

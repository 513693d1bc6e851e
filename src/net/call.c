#include "config.h"

#include "net/call.h"

#include <math.h>

#define MICROSECONDS_PER_SECOND 1e6

/* The part of a node's NICs that one group has while the groups beside it run
 * the same collective. A group that has a different number of ranks on its nodes
 * is judged by the node with the most. */
static double
nics_of_group (const ClusterConfig *cluster, const GroupShape *shape)
{
  guint ranks_per_node = (shape->ranks + shape->nodes - 1) / shape->nodes;

  return (double)cluster->nics_per_node * ranks_per_node / cluster->gpus_per_node;
}

GroupLinks
call_links (const ClusterConfig *cluster, const GroupShape *shape)
{
  double ring = cluster->ring_bytes_per_s / MICROSECONDS_PER_SECOND;
  double nic = cluster->nic_bytes_per_s * cluster->nic_efficiency / MICROSECONDS_PER_SECOND;

  if (shape->nodes == 1)
    return (GroupLinks){ .intra_bytes_per_us = ring, .inter_bytes_per_us = INFINITY };
  g_assert (cluster->nics_per_node > 0);
  return (GroupLinks){ .intra_bytes_per_us = ring * cluster->intra_factor,
                       .inter_bytes_per_us = nic * nics_of_group (cluster, shape) };
}

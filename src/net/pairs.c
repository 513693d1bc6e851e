#include <config.h>

#include "net/pairs.h"

#include <math.h>

#define BYTES_PER_US 1e-6 /* of a byte a second */

/* Two steps: there, and the word that it has arrived. */
static double
latency_us (const ClusterConfig *cluster, const GroupShape *shape)
{
  double us = call_us_from_ps (cluster->base_ps[PROTOCOL_LL])
              + 2 * call_us_from_ps (cluster->step_ps[PROTOCOL_LL]);

  if (shape->nodes > 1)
    us += call_us_from_ps (cluster->multi_node_ps) + call_us_from_ps (cluster->hop_ps[PROTOCOL_LL]);
  return us;
}

static CollectiveTime
busy_links (const ClusterConfig *cluster, const CollectiveCall *call, double intra_us,
            double inter_us)
{
  CollectiveTime time = { .transfer_us = MAX (intra_us, inter_us),
                          .algorithm = ALGORITHM_PAIRS,
                          .protocol = PROTOCOL_SIMPLE };

  time.intra_share = intra_us / time.transfer_us;
  time.us = latency_us (cluster, &call->shape) + time.transfer_us;
  return time;
}

/* The last rank of a node sends to the first of the next, over one NIC. */
CollectiveTime
pairs_send_recv (const ClusterConfig *cluster, const CollectiveCall *call)
{
  double nic = cluster->nic_bytes_per_s * cluster->nic_efficiency * BYTES_PER_US;
  gboolean has_neighbour = call_ranks_per_node (&call->shape) > 1;
  double intra = has_neighbour ? call->bytes / (cluster->ring_bytes_per_s * BYTES_PER_US) : 0;
  double inter = call->shape.nodes > 1 ? call->bytes / (nic * cluster->send_efficiency) : 0;
  CollectiveTime time = busy_links (cluster, call, intra, inter);

  time.intra_bytes = has_neighbour ? call->bytes : 0;
  if (inter > 0)
    {
      time.inter_bytes = call->bytes;
      time.inter_share
          = cluster->send_efficiency * inter / time.transfer_us / cluster->nics_per_node;
    }
  return time;
}

/* How much longer the uplinks of leaf switches take than the NICs. Of packed nodes
 * those under the same leaf need no uplink. */
static double
spine_factor (const ClusterConfig *cluster, const GroupShape *shape)
{
  double beyond_leaf = (double)shape->nodes - cluster->nodes_per_leaf;

  if (cluster->node_placement == NODES_SCATTERED)
    return MAX (1, cluster->oversubscription);
  if (shape->leaves <= 1)
    return 1;
  return MAX (1, cluster->oversubscription * beyond_leaf / (shape->nodes - 1));
}

/* All NICs of a node, in bytes a microsecond. */
static double
nics_of_node (const ClusterConfig *cluster)
{
  return cluster->nic_bytes_per_s * cluster->nic_efficiency * cluster->nics_per_node * BYTES_PER_US;
}

CollectiveTime
pairs_all_to_all (const ClusterConfig *cluster, const CollectiveCall *call)
{
  const GroupShape *shape = &call->shape;
  GroupLinks links = call_links (cluster, shape);
  double part = call->bytes / shape->ranks;
  guint ranks = call_ranks_per_node (shape);
  double intra_bytes = (ranks - 1) * part;
  double inter_bytes = shape->nodes > 1 ? (double)(shape->ranks - ranks) * part * ranks : 0;
  double intra = intra_bytes / (cluster->ring_bytes_per_s * BYTES_PER_US);
  double inter = 0;
  CollectiveTime time;

  if (inter_bytes > 0)
    inter = inter_bytes * spine_factor (cluster, shape)
            / (nics_of_node (cluster) * links.nic_share * cluster->all_to_all_efficiency);
  time = busy_links (cluster, call, intra, inter);
  time.us += cluster->all_to_all_ramp * sqrt (time.transfer_us);
  time.intra_bytes = intra_bytes;
  time.inter_bytes = inter_bytes;
  time.inter_share = links.nic_share * cluster->all_to_all_efficiency * inter / time.transfer_us;
  return time;
}

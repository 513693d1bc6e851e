#include <config.h>

#include "net/all_reduce.h"

#include <math.h>

#include "net/nccl_tuning.h"

#define BYTES_PER_US 1e-6 /* of a byte a second */

/* Of two directions a tree fills 92 %, and each byte goes up and down (NCCL's tuning.cc). */
#define TREE_OF_RING (0.5 * 0.92)

/* NCCL's tuning.cc: what LL and LL128 reach of a tree's bandwidth over nodes. */
static const double tree_protocol[N_PROTOCOLS] = { 1 / 3.8, 0.9375, 1 };

/* Of more than two nodes some have two children, whose data share the NICs. */
static double
nic_part (const GroupShape *shape)
{
  return shape->nodes == 2 ? 1 : 0.5;
}

/* Up and down the tree of nodes. */
static double
levels (const GroupShape *shape)
{
  return 2 * log2 (shape->nodes);
}

static CollectiveTime
tree_time (const ClusterConfig *cluster, const CollectiveCall *call, NcclProtocol protocol)
{
  GroupLinks links = call_links (cluster, &call->shape);
  double ring = cluster->ring_bytes_per_s * BYTES_PER_US;
  double nics = links.inter_bytes_per_us * nic_part (&call->shape);
  double bandwidth = MIN (TREE_OF_RING * ring, nics) * cluster->tree_efficiency
                     * tree_protocol[protocol] * nccl_tree_correction (call->bytes, protocol);
  double wire = call_wire_factor (protocol);
  double steps = 2.0 * (call_ranks_per_node (&call->shape) - 1);
  double hop = cluster->tree_hop_factor * call_us_from_ps (cluster->hop_ps[protocol]);
  CollectiveTime time = {
    .transfer_us = call->bytes / bandwidth,
    .intra_share = MIN (1, wire * bandwidth / (TREE_OF_RING * ring)),
    .inter_share = MIN (1, wire * bandwidth / nics) * links.nic_share,
    .intra_bytes = 2 * call->bytes,
    .inter_bytes = call->bytes / nic_part (&call->shape),
    .algorithm = ALGORITHM_TREE,
    .protocol = protocol,
  };

  time.us = call_us_from_ps (cluster->base_ps[protocol]) + call_us_from_ps (cluster->tree_ps)
            + steps * call_us_from_ps (cluster->step_ps[protocol]) + levels (&call->shape) * hop
            + time.transfer_us;
  if (protocol == PROTOCOL_SIMPLE)
    time.us += cluster->tree_ramp * sqrt (time.transfer_us);
  return time;
}

gboolean
tree_all_reduce (const ClusterConfig *cluster, const CollectiveCall *call, CollectiveTime *time)
{
  CollectiveTime best;

  if (call->shape.nodes == 1 || cluster->tree_efficiency <= 0)
    return FALSE;
  best = tree_time (cluster, call, PROTOCOL_LL);
  for (NcclProtocol protocol = PROTOCOL_LL128; protocol < N_PROTOCOLS; protocol++)
    {
      CollectiveTime other = tree_time (cluster, call, protocol);

      if (other.us < best.us)
        best = other;
    }
  *time = best;
  return TRUE;
}

static CollectiveTime
nvls_one_node (const ClusterConfig *cluster, const CollectiveCall *call)
{
  double transfer = call->bytes / (cluster->nvls_bytes_per_s * BYTES_PER_US);

  return (CollectiveTime){
    .us = call_us_from_ps (cluster->nvls_base_ps) + transfer + cluster->nvls_ramp * sqrt (transfer),
    .transfer_us = transfer,
    .intra_share = MIN (1, cluster->nvls_bytes_per_s / cluster->ring_bytes_per_s),
    .intra_bytes = call->bytes,
    .algorithm = ALGORITHM_NVLS,
    .protocol = PROTOCOL_SIMPLE,
  };
}

static CollectiveTime
nvls_tree (const ClusterConfig *cluster, const CollectiveCall *call)
{
  GroupLinks links = call_links (cluster, &call->shape);
  double nvls = cluster->nvls_bytes_per_s * BYTES_PER_US;
  double ring = cluster->ring_bytes_per_s * BYTES_PER_US;
  double nics = links.inter_bytes_per_us * nic_part (&call->shape);
  double bandwidth = MIN (nvls, nics) * cluster->nvls_tree_efficiency;
  double transfer = call->bytes / bandwidth;
  double hop = cluster->tree_hop_factor * call_us_from_ps (cluster->hop_ps[PROTOCOL_SIMPLE]);

  return (CollectiveTime){
    .us = call_us_from_ps (cluster->nvls_base_ps) + call_us_from_ps (cluster->multi_node_ps)
          + levels (&call->shape) * hop + transfer + cluster->tree_ramp * sqrt (transfer),
    .transfer_us = transfer,
    .intra_share = MIN (1, bandwidth / ring),
    .inter_share = MIN (1, bandwidth / nics) * links.nic_share,
    .intra_bytes = call->bytes,
    .inter_bytes = call->bytes / nic_part (&call->shape),
    .algorithm = ALGORITHM_NVLS_TREE,
    .protocol = PROTOCOL_SIMPLE,
  };
}

gboolean
nvls_all_reduce (const ClusterConfig *cluster, const CollectiveCall *call, CollectiveTime *time)
{
  gboolean one_node = call->shape.nodes == 1;

  if (cluster->nvls_bytes_per_s <= 0 || call_ranks_per_node (&call->shape) < cluster->nvls_ranks
      || (!one_node && cluster->nvls_tree_efficiency <= 0))
    return FALSE;
  *time = one_node ? nvls_one_node (cluster, call) : nvls_tree (cluster, call);
  return TRUE;
}

#include "config.h"

#include "net/network.h"

#include "net/call.h"
#include "net/ring.h"

struct _Network
{
  ClusterConfig cluster; /* without its name */
};

Network *
network_new (const ClusterConfig *cluster)
{
  Network *network = g_new (Network, 1);

  network->cluster = *cluster;
  network->cluster.name = NULL;
  return network;
}

void
network_free (Network *network)
{
  g_free (network);
}

GroupShape
network_group_shape (const Network *network, guint first, guint ranks, guint stride)
{
  guint gpus = network->cluster.gpus_per_node;
  guint last = first + (ranks - 1) * stride;

  g_assert (ranks > 0 && (ranks == 1 || stride > 0));
  if (stride >= gpus) /* no two on one node */
    return (GroupShape){ .ranks = ranks, .nodes = ranks };
  return (GroupShape){ .ranks = ranks, .nodes = last / gpus - first / gpus + 1 };
}

CollectiveCost
network_collective (const Network *network, CollectiveKind kind, const GroupShape *shape,
                    gint64 bytes, gboolean in_place)
{
  CollectiveCall call
      = { .kind = kind, .shape = *shape, .bytes = (double)bytes, .in_place = in_place };

  g_assert (shape->nodes > 0 && shape->ranks >= shape->nodes);
  if (shape->ranks == 1 || bytes <= 0)
    return (CollectiveCost){ .time_ps = 0, .protocol = PROTOCOL_LL };
  return ring_collective (&network->cluster, &call);
}

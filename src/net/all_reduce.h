/* All-reduce by other ways than a ring: NCCL's double binary tree over nodes, and
 * NVLS, where NVLink switches add up. */
#pragma once

#include "net/call.h"

/* The faster protocol of a tree. FALSE where there is no tree: on one node, or with
 * cluster.tree_efficiency = 0. */
gboolean tree_all_reduce (const ClusterConfig *cluster, const CollectiveCall *call,
                          CollectiveTime *time);

/* FALSE where the cluster or the group's few ranks a node have no NVLS. */
gboolean nvls_all_reduce (const ClusterConfig *cluster, const CollectiveCall *call,
                          CollectiveTime *time);

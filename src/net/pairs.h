/* Sends and receives between pairs of ranks: nccl-tests' sendrecv, where each rank
 * sends its buffer to the next, and all-to-all, where each sends a part of it to
 * every other. */
#pragma once

#include "net/call.h"

CollectiveTime pairs_send_recv (const ClusterConfig *cluster, const CollectiveCall *call);
CollectiveTime pairs_all_to_all (const ClusterConfig *cluster, const CollectiveCall *call);

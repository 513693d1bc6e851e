/* The protocol that NCCL would choose for a ring: the one with the smallest
 * estimate in NCCL's own tuning model (src/graph/tuning.cc, versions 2.26 to
 * 2.30). Its constants serve this choice only; they are too optimistic to price
 * a collective with. */
#pragma once

#include "net/call.h"

NcclProtocol nccl_choose_protocol (const ClusterConfig *cluster, const CollectiveCall *call);

/* NCCL's cap on the bandwidth of the LL protocol between nodes (llMaxBw), in bytes a microsecond.
 */
double nccl_ll_cap_bytes_per_us (NcclGeneration generation, guint nodes);

/* What a tree all-reduce of @bytes reaches of its bandwidth (treeCorrectionFactor). */
double nccl_tree_correction (double bytes, NcclProtocol protocol);

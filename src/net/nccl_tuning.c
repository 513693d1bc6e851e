#include <config.h>

#include "net/nccl_tuning.h"

#include <math.h>

#include "net/ring.h"

#define BYTES_PER_US_PER_GB_PER_S 1e3

/* Bandwidth caps, GB/s; the LL columns are one node, two nodes, more. */
typedef struct
{
  double ll[3];
  double ll128_per_channel;
} GenerationCaps;

static const GenerationCaps generation_caps[] = {
  [NCCL_VOLTA] = { { 39.0, 39.0, 20.4 }, 20.0 },
  [NCCL_AMPERE] = { { 87.7, 22.5, 19.0 }, 20.0 },
  [NCCL_HOPPER] = { { 141.0, 45.0, 35.0 }, 36.7 },
  [NCCL_BLACKWELL] = { { 282.0, 90.0, 70.0 }, 0 }, /* by version, below */
};

static const double blackwell_ll128_per_channel[] = {
  [NCCL_VERSION_2_27] = 73.4,
  [NCCL_VERSION_2_29] = 34.5,
  [NCCL_VERSION_2_30] = 40.0,
};

/* Index: 64 B, 128 B, … */
#define TREE_SIZES 23
static const double tree_corrections[N_PROTOCOLS][TREE_SIZES] = {
  { 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5,
    0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0 },
  { 1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6,
    0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0 },
  { 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5,
    0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9 },
};

/* Latencies of a ring, us, by protocol: LL, LL128, Simple. */
static const double base_us[N_PROTOCOLS] = { 6.6, 14.0, 8.4 };
static const double nvlink_hop_us[N_PROTOCOLS] = { 0.6, 1.9, 3.4 };
static const double pcie_hop_us[N_PROTOCOLS] = { 1.0, 2.5, 5.7 };
static const double network_hop_us[N_PROTOCOLS] = { 2.7, 4.0, 14.0 };

static double
cap_of (NcclGeneration generation, guint nodes)
{
  return generation_caps[generation].ll[CLAMP (nodes, 1, 3) - 1];
}

double
nccl_ll_cap_bytes_per_us (NcclGeneration generation, guint nodes)
{
  return cap_of (generation, nodes) * BYTES_PER_US_PER_GB_PER_S;
}

double
nccl_tree_correction (double bytes, NcclProtocol protocol)
{
  double size = bytes >= 64 ? floor (log2 (bytes / 64)) : TREE_SIZES;

  return size < TREE_SIZES ? tree_corrections[protocol][(guint)size] : 1;
}

static double
ll128_per_channel (const ClusterConfig *cluster)
{
  if (cluster->nccl_generation == NCCL_BLACKWELL)
    return blackwell_ll128_per_channel[cluster->nccl_version];
  return generation_caps[cluster->nccl_generation].ll128_per_channel;
}

/* Over several nodes NCCL takes the row of the CPU's vendor, not the GPU's. */
static double
ll_cap (const ClusterConfig *cluster, guint nodes)
{
  if (nodes == 1)
    return cap_of (cluster->nccl_generation, nodes);
  return cap_of (cluster->cpu == CPU_AMD ? NCCL_AMPERE : NCCL_VOLTA, nodes);
}

/* GB/s on the bus. */
static double
bus_bandwidth (const ClusterConfig *cluster, const GroupShape *shape, NcclProtocol protocol)
{
  double inter = call_links (cluster, shape).inter_bytes_per_us / BYTES_PER_US_PER_GB_PER_S;
  double graph = MIN (cluster->graph_bytes_per_s / 1e9, inter);

  if (protocol == PROTOCOL_LL)
    return MIN (ll_cap (cluster, shape->nodes), 0.5 * graph);
  if (protocol == PROTOCOL_LL128)
    return MIN (0.92 * graph, cluster->nccl_channels * ll128_per_channel (cluster));
  return graph;
}

/* A hop inside a node; with a network behind it never under the CPU's overhead. */
static double
intra_hop_us (const ClusterConfig *cluster, guint nodes, NcclProtocol protocol)
{
  const double *hops = cluster->intra_link == INTRA_PCIE ? pcie_hop_us : nvlink_hop_us;
  double overhead = cluster->cpu == CPU_AMD ? 2.0 : 1.0;

  if (nodes == 1)
    return hops[protocol];
  return MAX (hops[protocol], protocol == PROTOCOL_SIMPLE ? 3 * overhead : overhead);
}

static double
estimate_us (const ClusterConfig *cluster, const CollectiveCall *call, NcclProtocol protocol)
{
  RingSteps steps = ring_steps (call->kind, &call->shape);
  double bus = bus_bandwidth (cluster, &call->shape, protocol) * BYTES_PER_US_PER_GB_PER_S;
  double algorithm = bus;

  if (call->kind != COLLECTIVE_BROADCAST)
    algorithm = bus * call->shape.ranks / (steps.intra + steps.inter);
  return base_us[protocol] + steps.intra * intra_hop_us (cluster, call->shape.nodes, protocol)
         + steps.inter * network_hop_us[protocol] + call->bytes / algorithm;
}

NcclProtocol
nccl_choose_protocol (const ClusterConfig *cluster, const CollectiveCall *call)
{
  NcclProtocol best = PROTOCOL_LL;
  double best_us = estimate_us (cluster, call, best);

  for (NcclProtocol protocol = PROTOCOL_LL128; protocol < N_PROTOCOLS; protocol++)
    {
      double us = estimate_us (cluster, call, protocol);

      /* LL128 needs stores of 128 bytes that arrive whole, which PCIe does not promise. */
      if (protocol == PROTOCOL_LL128 && cluster->intra_link == INTRA_PCIE)
        continue;
      if (us < best_us)
        {
          best = protocol;
          best_us = us;
        }
    }
  return best;
}

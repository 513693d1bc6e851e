#include "config.h"

#include "net/ring.h"

#include <math.h>

#include "net/nccl_tuning.h"

#define PICOSECONDS_PER_US 1e6

/* No single collective counts for longer than 10,000 s, so that sums of many
 * still fit into 64 bits of picoseconds. */
#define LONGEST_PS 1e16

/* What each step costs: latency, and the time of a chunk on the link. */
typedef struct
{
  double intra_latency, intra_chunk, inter_latency, inter_chunk;
} StepTimes;

static double
us_from_ps (gint64 ps)
{
  return (double)ps / PICOSECONDS_PER_US;
}

static gint64
round_us_to_ps (double us)
{
  return (gint64)MIN (round (us * PICOSECONDS_PER_US), LONGEST_PS);
}

RingSteps
ring_steps (CollectiveKind kind, const GroupShape *shape)
{
  double rounds = kind == COLLECTIVE_ALL_REDUCE ? 2 : 1;

  return (RingSteps){ .intra = rounds * (shape->ranks - shape->nodes),
                      .inter = rounds * (shape->nodes - 1) };
}

/* LL sends a flag with every word, so between nodes it never uses more than half
 * of the bandwidth, nor more than NCCL's cap. */
static double
inter_bytes_per_us (const ClusterConfig *cluster, const CollectiveCall *call, NcclProtocol protocol)
{
  double link = call_links (cluster, &call->shape).inter_bytes_per_us;
  double reached = link * cluster->efficiency[protocol];

  if (protocol != PROTOCOL_LL)
    return reached;
  reached = MIN (reached, 0.5 * link);
  return MIN (reached, nccl_ll_cap_bytes_per_us (cluster->nccl_generation, call->shape.nodes));
}

static StepTimes
step_times (const ClusterConfig *cluster, const CollectiveCall *call, NcclProtocol protocol)
{
  RingSteps steps = ring_steps (call->kind, &call->shape);
  double chunk = call->bytes / call->shape.ranks;
  double intra = call_links (cluster, &call->shape).intra_bytes_per_us;
  StepTimes times = { 0 };

  if (steps.intra > 0)
    {
      times.intra_latency = us_from_ps (cluster->step_ps[protocol]);
      times.intra_chunk = chunk / (intra * cluster->efficiency[protocol]);
    }
  if (steps.inter > 0)
    {
      times.inter_latency = us_from_ps (cluster->hop_ps[protocol]);
      times.inter_chunk = chunk / inter_bytes_per_us (cluster, call, protocol);
    }
  return times;
}

double
ring_time_us (const ClusterConfig *cluster, const CollectiveCall *call, NcclProtocol protocol)
{
  RingSteps steps = ring_steps (call->kind, &call->shape);
  StepTimes times = step_times (cluster, call, protocol);
  double pipelined = (steps.intra + steps.inter) * MAX (times.intra_chunk, times.inter_chunk);
  double path = steps.intra * (times.intra_latency + times.intra_chunk)
                + steps.inter * (times.inter_latency + times.inter_chunk);
  double bottleneck = pipelined + times.intra_latency + times.inter_latency;
  double us = us_from_ps (cluster->base_ps[protocol]) + MAX (path, bottleneck);

  if (call->shape.nodes > 1)
    us += us_from_ps (cluster->multi_node_ps);
  if (protocol == PROTOCOL_SIMPLE)
    us += cluster->ramp * sqrt (pipelined);
  if (call->kind != COLLECTIVE_ALL_REDUCE && !call->in_place)
    us += call->bytes / call->shape.ranks / (cluster->shard_copy_bytes_per_s / 1e6);
  return us;
}

CollectiveCost
ring_collective (const ClusterConfig *cluster, const CollectiveCall *call)
{
  NcclProtocol protocol = nccl_choose_protocol (cluster, call);

  return (CollectiveCost){ .time_ps = round_us_to_ps (ring_time_us (cluster, call, protocol)),
                           .protocol = protocol };
}

#include <config.h>

#include "net/ring.h"

#include <math.h>

#include "net/nccl_tuning.h"

/* What each step costs: latency, and the time of a chunk on the link. */
typedef struct
{
  double intra_latency, intra_chunk, inter_latency, inter_chunk;
  double intra_efficiency, inter_efficiency; /* of the link that the protocol reaches */
} StepTimes;

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
inter_efficiency (const ClusterConfig *cluster, const CollectiveCall *call, double link,
                  NcclProtocol protocol)
{
  double reached = cluster->efficiency[protocol];

  if (protocol != PROTOCOL_LL)
    return reached;
  return MIN (MIN (reached, 0.5),
              nccl_ll_cap_bytes_per_us (cluster->nccl_generation, call->shape.nodes) / link);
}

/* Half of the steps of an all-reduce reduce, the others gather. */
static double
intra_latency_us (const ClusterConfig *cluster, CollectiveKind kind, NcclProtocol protocol)
{
  double gather = call_us_from_ps (cluster->step_ps[protocol]);
  double reduce = call_us_from_ps (cluster->simple_reduce_step_ps);

  if (protocol != PROTOCOL_SIMPLE)
    return gather;
  if (kind == COLLECTIVE_REDUCE_SCATTER)
    return reduce;
  return kind == COLLECTIVE_ALL_REDUCE ? (gather + reduce) / 2 : gather;
}

static StepTimes
step_times (const ClusterConfig *cluster, const CollectiveCall *call, const RingSteps *steps,
            NcclProtocol protocol)
{
  double chunk = call->bytes / call->shape.ranks;
  GroupLinks links = call_links (cluster, &call->shape);
  StepTimes times = { .intra_efficiency = cluster->efficiency[protocol] };

  if (steps->intra > 0)
    {
      times.intra_latency = intra_latency_us (cluster, call->kind, protocol);
      times.intra_chunk = chunk / (links.intra_bytes_per_us * times.intra_efficiency);
    }
  if (steps->inter > 0)
    {
      times.inter_efficiency = inter_efficiency (cluster, call, links.inter_bytes_per_us, protocol);
      times.inter_latency = call_us_from_ps (cluster->hop_ps[protocol]);
      times.inter_chunk = chunk / (links.inter_bytes_per_us * times.inter_efficiency);
    }
  return times;
}

/* Of the rank's own shard, which it has where it is. */
static double
own_shard_us (const ClusterConfig *cluster, const CollectiveCall *call)
{
  double bytes_per_s = 0;

  if (call->kind == COLLECTIVE_ALL_REDUCE)
    bytes_per_s = cluster->all_reduce_copy_bytes_per_s;
  else if (call->kind == COLLECTIVE_ALL_GATHER && !call->in_place)
    bytes_per_s = cluster->shard_copy_bytes_per_s;
  else if (call->kind == COLLECTIVE_REDUCE_SCATTER && !call->in_place)
    bytes_per_s = cluster->reduce_copy_bytes_per_s;
  return bytes_per_s > 0 ? call->bytes / call->shape.ranks / (bytes_per_s / 1e6) : 0;
}

static double
fixed_us (const ClusterConfig *cluster, const GroupShape *shape, NcclProtocol protocol)
{
  double us = call_us_from_ps (cluster->base_ps[protocol]);

  return shape->nodes > 1 ? us + call_us_from_ps (cluster->multi_node_ps) : us;
}

/* Links while the slowest of them passes chunk after chunk. */
static CollectiveTime
link_use (const ClusterConfig *cluster, const CollectiveCall *call, const StepTimes *times,
          double n_steps, NcclProtocol protocol)
{
  double slowest = MAX (times->intra_chunk, times->inter_chunk);
  double wire = call_wire_factor (protocol);
  double sent = n_steps * call->bytes / call->shape.ranks;
  CollectiveTime use = { .transfer_us = n_steps * slowest, .protocol = protocol };

  if (times->intra_chunk > 0)
    {
      use.intra_share = MIN (times->intra_efficiency * wire, 1) * times->intra_chunk / slowest;
      use.intra_bytes = sent;
    }
  if (times->inter_chunk > 0)
    {
      use.inter_share = MIN (times->inter_efficiency * wire, 1) * times->inter_chunk / slowest
                        * call_links (cluster, &call->shape).nic_share;
      use.inter_bytes = sent;
    }
  return use;
}

/* The pieces of a broadcast follow each other: the first goes all the way, the
 * slowest link passes them all. */
static CollectiveTime
broadcast_time (const ClusterConfig *cluster, const CollectiveCall *call, NcclProtocol protocol)
{
  RingSteps steps = ring_steps (call->kind, &call->shape);
  StepTimes times = step_times (cluster, call, &steps, protocol);
  CollectiveTime time = link_use (cluster, call, &times, call->shape.ranks, protocol);
  double latency = fixed_us (cluster, &call->shape, protocol) + steps.intra * times.intra_latency
                   + steps.inter * times.inter_latency;

  time.us = call_join (latency, time.transfer_us,
                       protocol == PROTOCOL_SIMPLE ? cluster->simple_overlap : 1);
  if (protocol == PROTOCOL_SIMPLE)
    time.us += cluster->ramp * sqrt (time.transfer_us);
  return time;
}

CollectiveTime
ring_time (const ClusterConfig *cluster, const CollectiveCall *call, NcclProtocol protocol)
{
  RingSteps steps = ring_steps (call->kind, &call->shape);
  StepTimes times = step_times (cluster, call, &steps, protocol);
  double overlap = protocol == PROTOCOL_SIMPLE ? cluster->simple_overlap : 1;
  double fixed = fixed_us (cluster, &call->shape, protocol);
  double copy = own_shard_us (cluster, call);
  double path, bottleneck;
  CollectiveTime time;

  if (call->kind == COLLECTIVE_BROADCAST)
    return broadcast_time (cluster, call, protocol);
  time = link_use (cluster, call, &times, steps.intra + steps.inter, protocol);
  path = call_join (fixed + steps.intra * times.intra_latency + steps.inter * times.inter_latency,
                    steps.intra * times.intra_chunk + steps.inter * times.inter_chunk + copy,
                    overlap);
  bottleneck = call_join (fixed + times.intra_latency + times.inter_latency,
                          time.transfer_us + copy, overlap);
  time.us = MAX (path, bottleneck);
  if (protocol == PROTOCOL_SIMPLE)
    time.us += cluster->ramp * sqrt (time.transfer_us);
  return time;
}

/* NCCL may keep to LL128 longer on faster cards, and be slower with it than with Simple on cards
 * of half the rate; a faster network is then taken to be as fast as the slower. */
CollectiveTime
ring_collective (const ClusterConfig *cluster, const CollectiveCall *call)
{
  CollectiveTime time = ring_time (cluster, call, nccl_choose_protocol (cluster, call));
  CollectiveTime on_slower;
  ClusterConfig slower;

  if (call->shape.nodes == 1 || time.protocol != PROTOCOL_LL128)
    return time;
  slower = *cluster;
  slower.nic_bytes_per_s /= 2;
  on_slower = ring_time (&slower, call, nccl_choose_protocol (&slower, call));
  if (on_slower.protocol != PROTOCOL_SIMPLE || on_slower.us >= time.us)
    return time;
  on_slower.inter_share /= 2;
  return on_slower;
}

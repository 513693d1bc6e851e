#include <config.h>

#include "sim/flows.h"

#include <math.h>

typedef enum
{
  FLOW_NONE,
  FLOW_LATENCY, /* or all of a collective that shares nothing */
  FLOW_MOVING
} FlowState;

/* The collective of a group. */
typedef struct
{
  guint8 state; /* FlowState */
  guint8 communicator;
  guint32 instruction;
  SimTime fires;     /* the firing that counts; others are stale */
  SimTime since;     /* when it last changed its rate */
  SimTime remaining; /* of its transfer, at full rate, as of @since */
  double rate;       /* of its own when alone */
  double fair_rate;  /* while rates are worked out */
  gboolean settled;  /* the same */
} Flow;

struct _Flows
{
  const Prepared *prepared;
  EventQueue *queue;
  guint32 first[MAX_COMMUNICATORS + 1]; /* number of a communicator's first group */
  Flow *flows;
  GArray *moving; /* guint32: numbers */
  SimTime
      unshared_since; /* links have too much, or had, and rates are not worked out yet; else NONE */
  /* Links: one a rank inside nodes, then one a node outside. In a folded run one of each, the
   * other groups of a communicator being alike: */
  guint n_links, first_inter;
  double multiplicity[MAX_COMMUNICATORS]; /* groups for which one stands on its node */
  GArray **links;                         /* by flow: guint32 */
  double *demand;                         /* by link: shares of all that move, at full rate */
  double *used, *growth;                  /* by link, while rates are worked out */
};

/* ---- laying out ---- */

static void
add_link (GArray *links, guint32 link)
{
  for (guint i = links->len; i-- > 0;)
    if (g_array_index (links, guint32, i) == link)
      return;
  g_array_append_val (links, link);
}

static GArray *
links_of (const Flows *flows, const Network *network, guint communicator, guint group)
{
  const Prepared *prepared = flows->prepared;
  GArray *links = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint first = prepared_group_first (prepared, communicator, group);

  for (guint i = 0; i < prepared->groups[communicator].ranks; i++)
    {
      guint32 rank = first + i * prepared->groups[communicator].stride;
      g_array_append_val (links, rank);
    }
  for (guint i = 0; i < prepared->groups[communicator].ranks; i++)
    add_link (links, flows->first_inter
                         + network_node_of_rank (
                             network, first + i * prepared->groups[communicator].stride));
  return links;
}

static void
lay_out_links (Flows *flows, const Network *network)
{
  const Prepared *prepared = flows->prepared;
  const Program *program = prepared->program;
  guint n_flows = flows->first[program->n_communicators];

  flows->first_inter = prepared->n_ranks;
  flows->n_links = flows->first_inter + network_node_of_rank (network, prepared->n_ranks - 1) + 1;
  flows->links = g_new0 (GArray *, n_flows + 1);
  flows->demand = g_new0 (double, flows->n_links);
  flows->used = g_new0 (double, flows->n_links);
  flows->growth = g_new0 (double, flows->n_links);
  for (guint i = 0; i < program->n_communicators; i++)
    {
      const ProgramCommunicator *communicator = &program->communicators[i];
      GroupShape shape
          = network_group_shape (network, 0, communicator->ranks, communicator->stride);

      flows->multiplicity[i] = prepared->folded ? network_groups_per_node (network, &shape) : 1;
      for (guint group = 0; group < prepared->groups[i].n; group++)
        flows->links[flows->first[i] + group] = links_of (flows, network, i, group);
    }
}

Flows *
flows_new (const Prepared *prepared, const Network *network, EventQueue *queue)
{
  Flows *flows = g_new0 (Flows, 1);
  guint n = prepared->program->n_communicators;

  flows->prepared = prepared;
  flows->queue = queue;
  for (guint i = 0; i < n; i++)
    flows->first[i + 1] = flows->first[i] + prepared->groups[i].n;
  flows->flows = g_new0 (Flow, flows->first[n] + 1);
  for (guint i = 0; i < n; i++)
    for (guint32 number = flows->first[i]; number < flows->first[i + 1]; number++)
      flows->flows[number].communicator = (guint8)i;
  flows->moving = g_array_new (FALSE, FALSE, sizeof (guint32));
  flows->unshared_since = SIM_TIME_NONE;
  if (prepared->prices.contended)
    lay_out_links (flows, network);
  return flows;
}

void
flows_free (Flows *flows)
{
  if (flows == NULL)
    return;
  for (guint32 i = 0;
       flows->links != NULL && i < flows->first[flows->prepared->program->n_communicators]; i++)
    g_array_unref (flows->links[i]);
  g_free (flows->links);
  g_free (flows->flows);
  g_array_unref (flows->moving);
  g_free (flows->demand);
  g_free (flows->used);
  g_free (flows->growth);
  g_free (flows);
}

guint32
flows_number (const Flows *flows, guint communicator, guint group)
{
  return flows->first[communicator] + group;
}

void
flows_group (const Flows *flows, guint32 number, guint *communicator, guint *group)
{
  *communicator = flows->flows[number].communicator;
  *group = number - flows->first[*communicator];
}

/* ---- shares of links ---- */

static const Price *
price_of (const Flows *flows, guint32 number)
{
  const Flow *flow = &flows->flows[number];

  return prices_of (&flows->prepared->prices, flow->communicator,
                    flows->prepared->instructions[flow->instruction].id,
                    number - flows->first[flow->communicator]);
}

/* The share of a link that a flow needs at full rate. */
static double
share_of (const Flows *flows, guint32 number, guint32 link)
{
  const Price *price = price_of (flows, number);

  return link < flows->first_inter
             ? price->intra_share
             : price->inter_share * flows->multiplicity[flows->flows[number].communicator];
}

static double
largest_share_of (const Flows *flows, guint32 number)
{
  const Price *price = price_of (flows, number);

  return MAX (price->intra_share,
              price->inter_share * flows->multiplicity[flows->flows[number].communicator]);
}

/* Puts a flow on its links or takes it off; TRUE where one of them has, or had, too much. */
static gboolean
change_demand (Flows *flows, guint32 number, double sign)
{
  const GArray *links = flows->links[number];
  gboolean too_much = FALSE;

  for (guint i = 0; i < links->len; i++)
    {
      guint32 link = g_array_index (links, guint32, i);
      double before = flows->demand[link];
      double after = before + sign * share_of (flows, number, link);

      flows->demand[link] = after;
      too_much |= MAX (before, after) > 1 + PRICES_ROUNDING;
    }
  return too_much;
}

/* ---- fair rates: all grow alike until a link is full ---- */

static Flow *
moving_flow (const Flows *flows, guint i, guint32 *number)
{
  *number = g_array_index (flows->moving, guint32, i);
  return &flows->flows[*number];
}

/* What its growth, measured on the link that it needs most of, means for each of its links. */
static void
add_growth (Flows *flows, guint32 number, double sign)
{
  double largest = largest_share_of (flows, number);

  for (guint i = 0; i < flows->links[number]->len; i++)
    {
      guint32 link = g_array_index (flows->links[number], guint32, i);
      flows->growth[link] += sign * share_of (flows, number, link) / largest;
    }
}

static void
begin_growth (Flows *flows)
{
  guint32 number;

  for (guint link = 0; link < flows->n_links; link++)
    flows->used[link] = flows->growth[link] = 0;
  for (guint i = 0; i < flows->moving->len; i++)
    {
      Flow *flow = moving_flow (flows, i, &number);

      flow->settled = largest_share_of (flows, number) <= 0;
      flow->fair_rate = flow->settled ? 1 : 0;
      if (!flow->settled)
        add_growth (flows, number, 1);
    }
}

/* How far all that are not settled can grow together, in shares of the link each needs most. */
static double
room_to_grow (const Flows *flows)
{
  double room = INFINITY;
  guint32 number;

  for (guint link = 0; link < flows->n_links; link++)
    if (flows->growth[link] > PRICES_ROUNDING)
      room = MIN (room, (1 - flows->used[link]) / flows->growth[link]);
  for (guint i = 0; i < flows->moving->len; i++)
    {
      const Flow *flow = moving_flow (flows, i, &number);
      if (!flow->settled)
        room = MIN (room, (1 - flow->fair_rate) * largest_share_of (flows, number));
    }
  return MAX (room, 0);
}

static gboolean
is_full (const Flows *flows, guint32 number)
{
  for (guint i = 0; i < flows->links[number]->len; i++)
    {
      guint32 link = g_array_index (flows->links[number], guint32, i);
      if (share_of (flows, number, link) > 0 && flows->used[link] >= 1 - PRICES_ROUNDING)
        return TRUE;
    }
  return FALSE;
}

/* TRUE where some have not settled yet. */
static gboolean
grow (Flows *flows, double by)
{
  gboolean again = FALSE;
  guint32 number;

  for (guint link = 0; link < flows->n_links; link++)
    flows->used[link] += by * flows->growth[link];
  for (guint i = 0; i < flows->moving->len; i++)
    {
      Flow *flow = moving_flow (flows, i, &number);

      if (flow->settled)
        continue;
      flow->fair_rate += by / largest_share_of (flows, number);
      flow->settled = flow->fair_rate >= 1 - PRICES_ROUNDING || is_full (flows, number);
      if (flow->fair_rate >= 1 - PRICES_ROUNDING)
        flow->fair_rate = 1;
      if (flow->settled)
        add_growth (flows, number, -1);
      again |= !flow->settled;
    }
  return again;
}

/* ---- rates in time ---- */

static void
fire_at (Flows *flows, guint32 number, SimTime when)
{
  flows->flows[number].fires = when;
  event_queue_push (flows->queue, when, number);
}

static void
change_rate (Flows *flows, guint32 number, double rate, SimTime now)
{
  Flow *flow = &flows->flows[number];
  SimTime done = flow->rate == 1 ? now - flow->since
                                 : sim_time_nearest ((double)(now - flow->since) * flow->rate);

  flow->remaining = MAX (flow->remaining - done, 0);
  flow->since = now;
  flow->rate = rate;
  fire_at (flows, number,
           now + (rate == 1 ? flow->remaining : sim_time_nearest ((double)flow->remaining / rate)));
}

static void
share_anew (Flows *flows, SimTime now)
{
  guint32 number;

  begin_growth (flows);
  while (grow (flows, room_to_grow (flows)))
    ;
  for (guint i = 0; i < flows->moving->len; i++)
    {
      const Flow *flow = moving_flow (flows, i, &number);
      if (flow->fair_rate != flow->rate)
        change_rate (flows, number, flow->fair_rate, now);
    }
}

static void
begin_to_move (Flows *flows, guint32 number, SimTime now)
{
  Flow *flow = &flows->flows[number];

  flow->state = FLOW_MOVING;
  flow->rate = 1;
  flow->since = now;
  flow->remaining = price_of (flows, number)->transfer;
  fire_at (flows, number, now + flow->remaining);
  g_array_append_val (flows->moving, number);
  if (change_demand (flows, number, 1))
    flows->unshared_since = now;
}

static void
stop_moving (Flows *flows, guint32 number, SimTime now)
{
  for (guint i = 0; i < flows->moving->len; i++)
    if (g_array_index (flows->moving, guint32, i) == number)
      {
        g_array_remove_index (flows->moving, i);
        break;
      }
  if (change_demand (flows, number, -1))
    flows->unshared_since = now;
}

/* Groups that are alike start and end together: rates are worked out once for all of a moment. */
void
flows_share (Flows *flows)
{
  const SimTime since = flows->unshared_since;

  if (since == SIM_TIME_NONE || event_queue_next (flows->queue) <= since)
    return;
  flows->unshared_since = SIM_TIME_NONE;
  share_anew (flows, since);
}

void
flows_start (Flows *flows, guint32 number, guint32 instruction, SimTime when)
{
  Flow *flow = &flows->flows[number];

  g_assert (flow->state == FLOW_NONE);
  flow->state = FLOW_LATENCY;
  flow->instruction = instruction;
  const Price *price = price_of (flows, number);
  fire_at (flows, number,
           when + price->time - (flows->prepared->prices.contended ? price->transfer : 0));
}

gboolean
flows_fire (Flows *flows, const Firing *firing)
{
  Flow *flow = &flows->flows[firing->target];

  if (flow->state == FLOW_NONE || flow->fires != firing->when)
    return FALSE; /* stale: its rate has changed since */
  if (flow->state == FLOW_LATENCY && flows->prepared->prices.contended
      && price_of (flows, firing->target)->transfer > 0)
    {
      begin_to_move (flows, firing->target, firing->when);
      return FALSE;
    }
  if (flow->state == FLOW_MOVING)
    stop_moving (flows, firing->target, firing->when);
  flow->state = FLOW_NONE;
  return TRUE;
}

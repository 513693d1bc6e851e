#include <config.h>

#include "sim/prices.h"

/* Degrees of degradation, and the network as each leaves it. */
typedef struct
{
  double share;
  Network *network;
} Level;

/* What makes two collectives cost the same. */
typedef struct
{
  guint8 communicator, kind, in_place, fixed;
  gint64 bytes;
  SimTime given;
} Kind;

typedef struct
{
  const Program *program;
  const Network *network;
  const EngineOptions *options;
  GArray *levels; /* Level */
  GArray *kinds;  /* Kind */
  GroupShape shapes[MAX_COMMUNICATORS];
  Prices *prices;
} Pricing;

/* ---- groups and the nodes that they are on ---- */

static guint
n_groups (const Pricing *pricing, guint communicator)
{
  return pricing->options->folded
             ? 1
             : pricing->options->n_ranks / pricing->program->communicators[communicator].ranks;
}

/* Groups of one communicator have the shape of the one that spans most nodes, and of these has
 * the fewest ranks on one of them. */
static GroupShape
widest_shape (const Network *network, const ProgramCommunicator *communicator, guint n_ranks)
{
  GroupShape widest = { .ranks = communicator->ranks };

  for (guint group = 0; group < n_ranks / communicator->ranks; group++)
    {
      GroupShape shape = network_group_shape (
          network, group_first_rank (communicator->ranks, communicator->stride, group),
          communicator->ranks, communicator->stride);
      if (shape.nodes > widest.nodes
          || (shape.nodes == widest.nodes && shape.fewest > 0
              && (widest.fewest == 0 || shape.fewest < widest.fewest)))
        widest = shape;
    }
  return widest;
}

/* ---- degraded links ---- */

static guint8
level_of (Pricing *pricing, double share)
{
  for (guint i = 0; i < pricing->levels->len; i++)
    if (g_array_index (pricing->levels, Level, i).share == share)
      return (guint8)i;
  g_assert (pricing->levels->len < G_MAXUINT8);

  Level level = { share, network_degrade (pricing->network, share) };
  g_array_append_val (pricing->levels, level);
  return (guint8)(pricing->levels->len - 1);
}

/* A ring is as fast as the worst of its nodes' links; inside one node none of them matters. */
static guint8
level_of_group (Pricing *pricing, guint communicator, guint group)
{
  const ProgramCommunicator *ranks = &pricing->program->communicators[communicator];
  guint first = group_first_rank (ranks->ranks, ranks->stride, group);
  double worst = 1;

  if (pricing->shapes[communicator].nodes == 1)
    return 0;
  for (guint i = 0; i < ranks->ranks; i++)
    {
      guint node = network_node_of_rank (pricing->network, first + i * ranks->stride);

      for (guint k = 0; k < pricing->options->n_degraded_nodes; k++)
        if (pricing->options->degraded_nodes[k].number == node)
          worst = MIN (worst, pricing->options->degraded_nodes[k].value);
    }
  return level_of (pricing, worst);
}

static void
find_levels (Pricing *pricing)
{
  level_of (pricing, 1);
  if (pricing->options->n_degraded_nodes == 0)
    return;
  for (guint i = 0; i < pricing->program->n_communicators; i++)
    {
      guint n = n_groups (pricing, i);
      guint8 *levels = pricing->prices->level_of_group[i] = g_new (guint8, n);

      for (guint group = 0; group < n; group++)
        levels[group] = level_of_group (pricing, i, group);
    }
}

/* ---- prices ---- */

static Price
price_on (const Pricing *pricing, const Kind *kind, const Network *network)
{
  if (kind->fixed)
    return (Price){ .time = kind->given };

  CollectiveCost cost = network_collective (
      network, kind->kind, &pricing->shapes[kind->communicator], kind->bytes, kind->in_place);
  return (Price){ cost.time_ps, cost.transfer_ps, cost.intra_share, cost.inter_share };
}

static Kind
kind_of (const Instruction *instruction)
{
  if (instruction->fixed)
    return (Kind){ .fixed = TRUE, .given = instruction->time };
  return (Kind){ .communicator = instruction->communicator,
                 .kind = instruction->detail,
                 .in_place = instruction->in_place,
                 .bytes = instruction->bytes };
}

/* Most collectives of a program are alike; each kind is priced once. */
static guint32
find_kind (Pricing *pricing, const Instruction *instruction)
{
  Kind kind = kind_of (instruction);

  for (guint i = pricing->kinds->len; i-- > 0;)
    {
      const Kind *known = &g_array_index (pricing->kinds, Kind, i);
      if (known->fixed == kind.fixed && known->given == kind.given && known->bytes == kind.bytes
          && known->communicator == kind.communicator && known->kind == kind.kind
          && known->in_place == kind.in_place)
        return i;
    }
  g_array_append_val (pricing->kinds, kind);
  for (guint level = 0; level < pricing->levels->len; level++)
    {
      Price price
          = price_on (pricing, &kind, g_array_index (pricing->levels, Level, level).network);
      g_array_append_val (pricing->prices->list, price);
    }
  return pricing->kinds->len - 1;
}

/* ---- meeting on links ---- */

/* The largest share of a link that a communicator ever needs there, all groups together. */
static double
largest_share (const Pricing *pricing, guint communicator, gboolean inter)
{
  const GroupShape *shape = &pricing->shapes[communicator];
  double largest = 0;

  for (guint i = 0; i < pricing->kinds->len; i++)
    {
      const Kind *kind = &g_array_index (pricing->kinds, Kind, i);

      if (kind->fixed || kind->communicator != communicator)
        continue;
      for (guint level = 0; level < pricing->levels->len; level++)
        {
          const Price *price
              = &g_array_index (pricing->prices->list, Price, i * pricing->levels->len + level);
          largest = MAX (largest, inter ? price->inter_share : price->intra_share);
        }
    }
  return inter ? largest * network_groups_per_node (pricing->network, shape) : largest;
}

static gboolean
is_contended (const Pricing *pricing)
{
  for (guint inter = 0; inter < 2; inter++)
    {
      double sum = 0;
      guint n_users = 0;

      for (guint i = 0; i < pricing->program->n_communicators; i++)
        {
          double share = largest_share (pricing, i, inter != 0);

          sum += share;
          n_users += share > 0;
        }
      if (n_users > 1 && sum > 1 + PRICES_ROUNDING)
        return TRUE;
    }
  return FALSE;
}

void
prices_init (Prices *prices, const Program *program, const Network *network,
             const EngineOptions *options)
{
  const Instruction *instructions = program_instructions (program);
  Pricing pricing = { .program = program,
                      .network = network,
                      .options = options,
                      .levels = g_array_new (FALSE, FALSE, sizeof (Level)),
                      .kinds = g_array_new (FALSE, FALSE, sizeof (Kind)),
                      .prices = prices };

  *prices = (Prices){ .list = g_array_new (FALSE, FALSE, sizeof (Price)),
                      .kinds = g_new (guint32, program->n_collectives + 1) };
  for (guint i = 0; i < program->n_communicators; i++)
    pricing.shapes[i] = widest_shape (network, &program->communicators[i], options->n_ranks);
  find_levels (&pricing);
  prices->n_levels = pricing.levels->len;
  for (guint32 i = 0; i < program->n_collectives; i++)
    prices->kinds[i] = find_kind (&pricing, &instructions[program_collective_at (program, i)]);
  prices->contended = is_contended (&pricing);
  for (guint i = 0; i < pricing.levels->len; i++)
    network_free (g_array_index (pricing.levels, Level, i).network);
  g_array_unref (pricing.levels);
  g_array_unref (pricing.kinds);
}

void
prices_clear (Prices *prices)
{
  g_clear_pointer (&prices->list, g_array_unref);
  g_clear_pointer (&prices->kinds, g_free);
  for (guint i = 0; i < MAX_COMMUNICATORS; i++)
    g_clear_pointer (&prices->level_of_group[i], g_free);
}

/* What the collectives of a program cost on a network: group by group, since degraded links
 * make some groups slower than others; and whether collectives may meet on a link. */
#pragma once

#include "sim/engine.h"
#include "sim/instruction.h"

#define PRICES_ROUNDING 1e-9 /* by which shares may pass 1 without being too much */

/* A collective of one group, alone on its links: first latency, for which no link is
 * busy, then transfer, for which each is to its share. */
typedef struct
{
  SimTime time; /* both together */
  SimTime transfer;
  double intra_share; /* of each rank's link inside its node */
  double inter_share; /* of all NICs of each of the group's nodes */
} Price;

typedef struct
{
  GArray *list;                              /* Price: n_levels for each kind of collective */
  guint32 *kinds;                            /* by number of a collective: index of its kind */
  guint n_levels;                            /* degrees of degradation; level 0: none */
  guint8 *level_of_group[MAX_COMMUNICATORS]; /* NULL: 0 for all */
  gboolean contended; /* collectives of two communicators can need more than a link has */
} Prices;

void prices_init (Prices *prices, const Program *program, const Network *network,
                  const EngineOptions *options);
void prices_clear (Prices *prices);

static inline const Price *
prices_of (const Prices *prices, guint8 communicator, guint32 collective, guint group)
{
  const guint8 *levels = prices->level_of_group[communicator];
  guint kind = prices->kinds[collective];

  return &g_array_index (prices->list, Price,
                         kind * prices->n_levels + (levels == NULL ? 0 : levels[group]));
}

/* The least that any group can take for a collective. */
static inline SimTime
prices_least_time (const Prices *prices, guint32 collective)
{
  guint first = prices->kinds[collective] * prices->n_levels;
  SimTime least = g_array_index (prices->list, Price, first).time;

  for (guint level = 1; level < prices->n_levels; level++)
    least = MIN (least, g_array_index (prices->list, Price, first + level).time);
  return least;
}

/* How the ranks of a run differ where each ran by itself: over the reported steps, of all
 * ranks. Plain data. */
#pragma once

#include "timeline/label.h"
#include "timeline/sim_time.h"

/* What one collective of the host program waited for: each rank from its own arrival to that of
 * the last in its group. */
typedef struct
{
  TimelineLabel label;
  guint step;   /* reported, from 0 */
  SimTime most; /* of any rank */
  double sum;   /* of all ranks, picoseconds */
} CollectiveWait;

typedef struct
{
  guint n_ranks;
  guint n_steps;       /* reported */
  SimTime *step_times; /* by rank, of all reported steps together */
  SimTime *waited;     /* by rank: inside collectives, for others */
  GArray *waits;       /* CollectiveWait, in the host's order */
} RankSpread;

void rank_spread_free (RankSpread *spread);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (RankSpread, rank_spread_free)

/* The ranks with the least and the most, the lowest of equals, and the median: of an even number
 * the lower of the two in the middle. */
typedef struct
{
  guint least, most; /* ranks */
  SimTime median;
} RankExtremes;

RankExtremes rank_extremes (const SimTime *by_rank, guint n_ranks);

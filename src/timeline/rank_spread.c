#include <config.h>

#include <stdlib.h>

#include "timeline/rank_spread.h"

void
rank_spread_free (RankSpread *spread)
{
  if (spread == NULL)
    return;
  g_free (spread->step_times);
  g_free (spread->waited);
  g_array_unref (spread->waits);
  g_free (spread);
}

static int
compare (const void *a, const void *b)
{
  const SimTime x = *(const SimTime *)a;
  const SimTime y = *(const SimTime *)b;

  return (x > y) - (x < y);
}

RankExtremes
rank_extremes (const SimTime *by_rank, guint n_ranks)
{
  g_autofree SimTime *sorted = g_memdup2 (by_rank, n_ranks * sizeof *by_rank);
  RankExtremes extremes = { 0 };

  g_assert (n_ranks > 0);
  for (guint rank = 1; rank < n_ranks; rank++)
    {
      if (by_rank[rank] < by_rank[extremes.least])
        extremes.least = rank;
      if (by_rank[rank] > by_rank[extremes.most])
        extremes.most = rank;
    }
  qsort (sorted, n_ranks, sizeof *sorted, compare);
  extremes.median = sorted[(n_ranks - 1) / 2];
  return extremes;
}

#include <config.h>

#include "study/nodes_crossing.h"

#include <math.h>

#include "config/value_list.h"
#include "study/study.h"

/* Two that differ by less count as a tie, as in a sweep. */
#define ALIKE 5e-4

#define MOST_TRIALS 32

typedef struct
{
  const CrossingSide *variant, *baseline;
} Pair;

typedef struct
{
  guint nodes;
  double lead; /* of the variant, as a share; 0: alike; NaN: one of them does not run or fit */
} Trial;

Grid *
nodes_crossing_grid (void)
{
  g_autofree char *option = g_strdup_printf ("cluster.nodes=1..%d", VALUE_LIST_MOST);
  g_autoptr (Problems) problems = problems_new ();
  Grid *grid = grid_new ();
  const gboolean added = grid_add_option (grid, option, problems);

  g_assert (added);
  return grid;
}

/* Tokens a second and GPU; NaN where it does not run or fit. */
static double
speed (const CrossingSide *side, guint nodes)
{
  const StudyOptions options = { 0 };
  g_autofree char *reason = NULL;
  double tokens_per_s = (double)NAN;
  StudyEffort effort;
  Scenario scenario;
  ReportRun run;

  if (cells_fill (side->cells, nodes - 1, side->variant, &scenario, &reason))
    {
      study_run (&scenario, &options, &run, &effort);
      if (run.figures.status == RUN_OK)
        tokens_per_s = run.figures.tokens_per_s_per_gpu;
      study_run_clear (&run);
    }
  cells_clear_scenario (&scenario);
  return tokens_per_s;
}

static Trial
try_nodes (const Pair *pair, guint nodes)
{
  const double baseline = speed (pair->baseline, nodes);
  const double gain = isnan (baseline) ? baseline : speed (pair->variant, nodes) / baseline - 1;

  return (Trial){ nodes, fabs (gain) < ALIKE ? 0 : gain };
}

/* Where every rank is simulated by itself a search far beyond would take minutes. */
static guint
most_nodes (const Pair *pair)
{
  const Scenario *variant = pair->variant->scenario, *baseline = pair->baseline->scenario;
  const gboolean folded
      = variant->simulation.ranks == RANKS_FOLDED && baseline->simulation.ranks == RANKS_FOLDED;

  return folded ? MAX (variant->cluster.nodes, NODES_CROSSING_REACH) : variant->cluster.nodes;
}

/* 1, 2, 4, ... and @most. */
static guint
try_all (const Pair *pair, guint most, Trial *trials)
{
  guint n = 0;

  for (guint nodes = 1; nodes < most; nodes *= 2)
    trials[n++] = try_nodes (pair, nodes);
  trials[n++] = try_nodes (pair, most);
  g_assert (n <= MOST_TRIALS);
  return n;
}

/* A number between two at which both run and one leads, looked for from the middle upwards, then
 * downwards; FALSE where there is none. */
static gboolean
try_between (const Pair *pair, guint low, guint high, Trial *trial)
{
  const guint middle = low + (high - low) / 2;

  for (guint nodes = middle; nodes < high; nodes++)
    if (*trial = try_nodes (pair, nodes), !isnan (trial->lead))
      return TRUE;
  for (guint nodes = middle - 1; nodes > low; nodes--)
    if (*trial = try_nodes (pair, nodes), !isnan (trial->lead))
      return TRUE;
  return FALSE;
}

/* The fewest nodes on which the one that leads at @high does, and the most below. */
static void
halve (const Pair *pair, Trial low, Trial high, NodesCrossing *crossing)
{
  Trial between;

  while (high.nodes - low.nodes > 1 && try_between (pair, low.nodes, high.nodes, &between))
    if (between.lead * high.lead > 0)
      high = between;
    else
      low = between;
  crossing->is = NODES_CROSSING_FOUND;
  crossing->below = low.nodes;
  crossing->nodes = high.nodes;
  crossing->faster_on_more = high.lead > 0;
}

static NodesCrossingCase
case_of (const Trial *trials, guint n)
{
  double most = 0;
  gboolean ran = FALSE;

  for (guint i = 0; i < n; i++)
    {
      ran = ran || !isnan (trials[i].lead);
      if (fabs (trials[i].lead) > fabs (most))
        most = trials[i].lead;
    }
  if (!ran)
    return NODES_CROSSING_UNKNOWN;
  if (most == 0)
    return NODES_CROSSING_ALIKE;
  return most > 0 ? NODES_CROSSING_ALWAYS_FASTER : NODES_CROSSING_ALWAYS_SLOWER;
}

/* Of several changes of the lead the one that is nearest to the nodes that there are, in
 * doublings; -1: none. *from is the last trial before it with a clear lead. */
static int
nearest_change (const Trial *trials, guint n, guint nodes, int *from)
{
  int nearest = -1, last = -1;
  double least = INFINITY;

  for (int i = 0; i < (int)n; i++)
    {
      if (isnan (trials[i].lead) || trials[i].lead == 0)
        continue;
      if (last >= 0 && trials[i].lead * trials[last].lead < 0)
        {
          const double away
              = fabs (log2 (sqrt ((double)trials[i].nodes * trials[last].nodes) / nodes));

          if (away < least)
            {
              least = away;
              nearest = i;
              *from = last;
            }
        }
      last = i;
    }
  return nearest;
}

void
nodes_crossing_find (const CrossingSide *variant, const CrossingSide *baseline,
                     NodesCrossing *crossing)
{
  const Pair pair = { variant, baseline };
  const guint now = variant->scenario->cluster.nodes;
  Trial trials[MOST_TRIALS];
  int from = -1, to;
  guint n;

  *crossing = (NodesCrossing){ .is = NODES_CROSSING_UNKNOWN, .now = now };
  if (now != baseline->scenario->cluster.nodes || now > VALUE_LIST_MOST)
    return;
  crossing->most = most_nodes (&pair);
  n = try_all (&pair, crossing->most, trials);
  crossing->is = case_of (trials, n);
  to = nearest_change (trials, n, now, &from);
  if (to >= 0)
    halve (&pair, trials[from], trials[to], crossing);
}

#include <config.h>

#include "report/rank_waits.h"

#include "report/json_members.h"

#define PS_PER_S 1e12

static void
add_wait (KindWait *kind, const RankSpread *spread, const CollectiveWait *wait)
{
  const double mean_s = wait->sum / PS_PER_S / spread->n_ranks;

  kind->mean_s += mean_s / spread->n_steps;
  kind->longest_s = MAX (kind->longest_s, sim_time_seconds (wait->most));
  if (mean_s <= kind->most_s)
    return;
  kind->most_s = mean_s;
  kind->most = wait->label;
}

GArray *
rank_waits_by_kind (const RankSpread *spread)
{
  KindWait kinds[N_TIMELINE_OPS][N_TIMELINE_PHASES] = { 0 };
  gboolean there[N_TIMELINE_OPS][N_TIMELINE_PHASES] = { 0 };
  GArray *list = g_array_new (FALSE, FALSE, sizeof (KindWait));

  for (guint i = 0; i < spread->waits->len; i++)
    {
      const CollectiveWait *wait = &g_array_index (spread->waits, CollectiveWait, i);

      there[wait->label.op][wait->label.phase] = TRUE;
      add_wait (&kinds[wait->label.op][wait->label.phase], spread, wait);
    }
  for (guint op = 0; op < N_TIMELINE_OPS; op++)
    for (guint phase = 0; phase < N_TIMELINE_PHASES; phase++)
      if (there[op][phase])
        {
          kinds[op][phase].op = op;
          kinds[op][phase].phase = phase;
          g_array_append_val (list, kinds[op][phase]);
        }
  return list;
}

double
rank_waits_mean_s (const RankSpread *spread)
{
  double sum_s = 0;

  for (guint rank = 0; rank < spread->n_ranks; rank++)
    sum_s += sim_time_seconds (spread->waited[rank]);
  return sum_s / spread->n_ranks / spread->n_steps;
}

/* ---- JSON ---- */

/* "fastest_rank": 3, "fastest_step_time_s": 0.51, and so on. */
static void
add_extremes (JsonBuilder *builder, const RankSpread *spread, const SimTime *by_rank,
              const char *least, const char *most, const char *what)
{
  const RankExtremes extremes = rank_extremes (by_rank, spread->n_ranks);
  const struct
  {
    const char *which;
    guint rank;
  } ends[] = { { least, extremes.least }, { most, extremes.most } };
  g_autofree char *median = g_strconcat ("median_", what, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      g_autofree char *rank = g_strconcat (ends[i].which, "_rank", NULL);
      g_autofree char *time = g_strconcat (ends[i].which, "_", what, NULL);

      json_member_count (builder, rank, ends[i].rank);
      json_member_number (builder, time,
                          sim_time_seconds (by_rank[ends[i].rank]) / spread->n_steps);
    }
  json_member_number (builder, median, sim_time_seconds (extremes.median) / spread->n_steps);
}

static void
add_kinds (JsonBuilder *builder, const RankSpread *spread)
{
  g_autoptr (GArray) kinds = rank_waits_by_kind (spread);

  json_builder_set_member_name (builder, "waiting");
  json_builder_begin_array (builder);
  for (guint i = 0; i < kinds->len; i++)
    {
      const KindWait *kind = &g_array_index (kinds, KindWait, i);

      json_builder_begin_object (builder);
      json_member_text (builder, "op", timeline_op_name (kind->op));
      json_member_text (builder, "phase", timeline_phase_name (kind->phase));
      json_member_number (builder, "mean_s", kind->mean_s);
      json_member_number (builder, "longest_s", kind->longest_s);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

void
rank_spread_add_json (JsonBuilder *builder, const RankSpread *spread)
{
  if (spread == NULL)
    return;
  json_builder_set_member_name (builder, "ranks");
  json_builder_begin_object (builder);
  json_member_count (builder, "n", spread->n_ranks);
  add_extremes (builder, spread, spread->step_times, "fastest", "slowest", "step_time_s");
  add_extremes (builder, spread, spread->waited, "least_waiting", "most_waiting", "waited_s");
  json_member_number (builder, "mean_waited_s", rank_waits_mean_s (spread));
  add_kinds (builder, spread);
  json_builder_end_object (builder);
}

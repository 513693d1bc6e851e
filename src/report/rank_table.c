/* How the ranks differ where each ran by itself: tables and files. */
#include <config.h>

#include "report/csv.h"
#include "report/format.h"
#include "report/names.h"
#include "report/rank_waits.h"
#include "report/report.h"
#include "report/text_table.h"

/* ---- tables ---- */

static void
add_ms (TextTable *table, double seconds)
{
  char buffer[FORMAT_SIZE];

  text_table_add (table, format_fixed (buffer, 3, 1e3 * seconds));
}

static void
add_rank (TextTable *table, guint rank)
{
  g_autofree char *text = g_strdup_printf ("%u", rank);

  text_table_add (table, text);
}

static double
step_s (const RankSpread *spread, SimTime time)
{
  return sim_time_seconds (time) / spread->n_steps;
}

static void
add_words (TextTable *table, const char *const *words, guint n)
{
  for (guint i = 0; i < n; i++)
    text_table_add (table, words[i]);
}

static void
add_extremes (TextTable *table, const char *what, const RankSpread *spread, const SimTime *by_rank)
{
  const RankExtremes extremes = rank_extremes (by_rank, spread->n_ranks);

  text_table_add (table, what);
  add_ms (table, step_s (spread, by_rank[extremes.least]));
  add_rank (table, extremes.least);
  add_ms (table, step_s (spread, extremes.median));
  add_ms (table, step_s (spread, by_rank[extremes.most]));
  add_rank (table, extremes.most);
}

static void
append_extremes (const RankSpread *spread, GString *text)
{
  static const char *const head[] = { "least", "rank", "median", "most", "rank" };
  g_autoptr (TextTable) table = text_table_new (6);
  g_autofree char *what = g_strdup_printf ("%u ranks, ms a step", spread->n_ranks);

  text_table_add (table, what);
  add_words (table, head, G_N_ELEMENTS (head));
  add_extremes (table, "step", spread, spread->step_times);
  add_extremes (table, "waiting for others in collectives", spread, spread->waited);
  text_table_render (table, text);
  g_string_append_c (text, '\n');
}

static void
append_kinds (const RankSpread *spread, GString *text)
{
  static const char *const head[]
      = { "waiting that collectives absorb, ms", "a rank, step", "longest", "most in", "a rank" };
  g_autoptr (TextTable) table = text_table_new (5);
  g_autoptr (GArray) kinds = rank_waits_by_kind (spread);

  add_words (table, head, G_N_ELEMENTS (head));
  for (guint i = 0; i < kinds->len; i++)
    {
      const KindWait *kind = &g_array_index (kinds, KindWait, i);
      g_autofree char *what = g_strdup_printf ("%s, %s", timeline_op_name (kind->op),
                                               timeline_phase_name (kind->phase));
      g_autofree char *unit = timeline_unit_name (kind->most.unit);

      text_table_add (table, what);
      add_ms (table, kind->mean_s);
      add_ms (table, kind->longest_s);
      text_table_add (table, kind->most_s > 0 ? unit : "-");
      add_ms (table, kind->most_s);
    }
  text_table_render (table, text);
  g_string_append_c (text, '\n');
}

void
report_append_ranks (const ReportRun *run, GString *text)
{
  if (run->spread == NULL)
    return;
  append_extremes (run->spread, text);
  append_kinds (run->spread, text);
}

static void
add_spread (TextTable *table, const char *name, const RankSpread *spread)
{
  RankExtremes steps, waits;

  text_table_add (table, name);
  if (spread == NULL)
    {
      for (guint i = 0; i < 8; i++)
        text_table_add (table, "-");
      return;
    }
  steps = rank_extremes (spread->step_times, spread->n_ranks);
  waits = rank_extremes (spread->waited, spread->n_ranks);
  add_rank (table, spread->n_ranks);
  add_ms (table, step_s (spread, spread->step_times[steps.least]));
  add_ms (table, step_s (spread, spread->step_times[steps.most]));
  add_rank (table, steps.most);
  add_ms (table, step_s (spread, spread->waited[waits.least]));
  add_rank (table, waits.least);
  add_ms (table, rank_waits_mean_s (spread));
  add_ms (table, step_s (spread, spread->waited[waits.most]));
}

void
report_append_spreads (const Report *report, const char *const *names, GString *text)
{
  static const char *const over[] = { "", "", "step ms", "", "", "waits ms", "", "", "" };
  static const char *const under[]
      = { "ranks differ", "ranks", "fastest", "slowest", "rank", "least", "rank", "mean", "most" };
  g_autoptr (TextTable) table = text_table_new (9);
  gboolean has_spread = FALSE;

  for (guint i = 0; i < report->n_entries; i++)
    has_spread |= report->entries[i].run.spread != NULL;
  if (!has_spread)
    return;
  add_words (table, over, G_N_ELEMENTS (over));
  add_words (table, under, G_N_ELEMENTS (under));
  for (guint i = 0; i < report->n_entries; i++)
    add_spread (table, names[i], report->entries[i].run.spread);
  g_string_append_c (text, '\n');
  text_table_render (table, text);
}

/* ---- files ---- */

char *
report_ranks_csv (const Report *report)
{
  g_auto (GStrv) names = variant_names (report);
  Csv csv;

  csv_begin (&csv, "variant,rank,step_time_s,waited_s");
  for (guint i = 0; i < report->n_entries; i++)
    {
      const RankSpread *spread = report->entries[i].run.spread;

      for (guint rank = 0; spread != NULL && rank < spread->n_ranks; rank++)
        {
          csv_add_text (&csv, names[i]);
          csv_add_integer (&csv, rank);
          csv_add_seconds (&csv, step_s (spread, spread->step_times[rank]));
          csv_add_seconds (&csv, step_s (spread, spread->waited[rank]));
          csv_end_row (&csv);
        }
    }
  return csv_finish (&csv);
}

static void
add_wait (Csv *csv, const char *variant, const RankSpread *spread, const CollectiveWait *wait)
{
  g_autofree char *unit = timeline_unit_name (wait->label.unit);

  csv_add_text (csv, variant);
  csv_add_integer (csv, wait->step);
  csv_add_text (csv, timeline_op_name (wait->label.op));
  csv_add_text (csv, unit);
  csv_add_text (csv, timeline_phase_name (wait->label.phase));
  csv_add_integer (csv, wait->label.micro_batch);
  csv_add_number (csv, wait->sum / 1e6 / spread->n_ranks);
  csv_add_time_us (csv, wait->most);
  csv_end_row (csv);
}

char *
report_waits_csv (const Report *report)
{
  g_auto (GStrv) names = variant_names (report);
  Csv csv;

  csv_begin (&csv, "variant,step,op,unit,phase,micro_batch,mean_wait_us,longest_wait_us");
  for (guint i = 0; i < report->n_entries; i++)
    {
      const RankSpread *spread = report->entries[i].run.spread;

      for (guint w = 0; spread != NULL && w < spread->waits->len; w++)
        add_wait (&csv, names[i], spread, &g_array_index (spread->waits, CollectiveWait, w));
    }
  return csv_finish (&csv);
}

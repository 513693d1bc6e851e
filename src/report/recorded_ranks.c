#include <config.h>

#include <math.h>

#include "report/format.h"
#include "report/recorded_tables.h"
#include "report/text_table.h"

#define MOST_RANKS 32   /* in the table */
#define WORTH      0.01 /* of the step: less waiting needs no reason */
#define PART_WORTH 0.1  /* of the waiting */

static const RecordedRank *
rank_at (const Recorded *job, guint index)
{
  return &g_array_index (job->ranks, RecordedRank, index);
}

static double
transfer_of (const RecordedRank *rank)
{
  return recorded_sum (rank->collective_s) - recorded_waiting (rank);
}

/* ---- the table ---- */

static void
add_ms (TextTable *table, double seconds)
{
  char buffer[FORMAT_SIZE];

  text_table_add (table, isnan (seconds) ? "-" : format_fixed (buffer, 3, 1e3 * seconds));
}

static void
add_rank (TextTable *table, const RecordedRank *rank)
{
  char number[FORMAT_SIZE];

  text_table_add (table, format_fixed (number, 0, rank->rank));
  add_ms (table, rank->step_time_s);
  add_ms (table, rank->compute_s);
  add_ms (table, recorded_sum (rank->exposed_s));
  add_ms (table, rank->host_bound_s);
  add_ms (table, recorded_sum (rank->collective_s));
  add_ms (table, recorded_waiting (rank));
  add_ms (table, transfer_of (rank));
}

static void
append_table (const Recorded *job, GString *text)
{
  static const char *const heads[] = { "rank",       "step ms",     "compute", "exposed",
                                       "host-bound", "collectives", "waiting", "transfer" };
  g_autoptr (TextTable) table = text_table_new (G_N_ELEMENTS (heads));

  for (guint i = 0; i < G_N_ELEMENTS (heads); i++)
    text_table_add (table, heads[i]);
  for (guint i = 0; i < MIN (job->ranks->len, MOST_RANKS); i++)
    add_rank (table, rank_at (job, i));
  text_table_render (table, text);
  if (job->ranks->len > MOST_RANKS)
    g_string_append_printf (text, "and %u ranks more\n", job->ranks->len - MOST_RANKS);
}

/* ---- who waits for whom ---- */

static int
compare_waiting (gconstpointer a, gconstpointer b)
{
  const double left = recorded_waiting (*(RecordedRank *const *)a);
  const double right = recorded_waiting (*(RecordedRank *const *)b);

  return left < right ? -1 : left > right;
}

/* RecordedRank *, the one that waits least first. */
static GPtrArray *
ranks_by_waiting (const Recorded *job)
{
  GPtrArray *ranks = g_ptr_array_sized_new (job->ranks->len);

  for (guint i = 0; i < job->ranks->len; i++)
    g_ptr_array_add (ranks, &g_array_index (job->ranks, RecordedRank, i));
  g_ptr_array_sort (ranks, compare_waiting);
  return ranks;
}

static void
append_more (GString *line, const char *what, double more_s, double of_s, gboolean *is_first)
{
  char more[FORMAT_SIZE];

  if (more_s < PART_WORTH * of_s)
    return;
  g_string_append_printf (line, "%s %s %s ms more", *is_first ? ":" : ",", what,
                          format_fixed (more, 3, 1e3 * more_s));
  *is_first = FALSE;
}

/* Whom the others wait for waits least itself, and comes late by what it has more of. */
static void
append_waiting (const Recorded *job, GString *text)
{
  g_autoptr (GPtrArray) by_waiting = ranks_by_waiting (job);
  const RecordedRank *late = g_ptr_array_index (by_waiting, 0);
  const RecordedRank *median = g_ptr_array_index (by_waiting, by_waiting->len / 2);
  const double least_s = recorded_waiting (late), median_s = recorded_waiting (median);
  g_autoptr (GString) line = g_string_new (NULL);
  gboolean is_first = TRUE;
  char least[FORMAT_SIZE], usual[FORMAT_SIZE];

  if (!late->knows_waiting || median_s <= WORTH * median->step_time_s)
    return;
  if (least_s > median_s / 2)
    g_string_append_printf (line,
                            "the ranks wait for each other in turn: none of them less than %s ms "
                            "a step, the median rank %s ms",
                            format_fixed (least, 3, 1e3 * least_s),
                            format_fixed (usual, 3, 1e3 * median_s));
  else
    {
      g_string_append_printf (line,
                              "the others wait for rank %u, which waits %s ms a step itself, rank "
                              "%u (the median) %s ms",
                              late->rank, format_fixed (least, 3, 1e3 * least_s), median->rank,
                              format_fixed (usual, 3, 1e3 * median_s));
      append_more (line, "compute", late->compute_s - median->compute_s, median_s, &is_first);
      append_more (line, "host-bound", late->host_bound_s - median->host_bound_s, median_s,
                   &is_first);
      append_more (line, "transfer", transfer_of (late) - transfer_of (median), median_s,
                   &is_first);
    }
  text_append_wrapped (text, line->str, 2);
}

void
recorded_append_ranks (const Recorded *job, GString *text)
{
  if (job->ranks->len < 2)
    return;
  append_table (job, text);
  append_waiting (job, text);
  g_string_append_c (text, '\n');
}

/* ranks.csv and waits.csv. */
#include <config.h>

#include "report/results_files.h"

#define MOST_RANK 1e9

static const ResultsColumn rank_columns[]
    = { { "variant", FALSE }, { "rank", FALSE }, { "step_time_s", FALSE }, { "waited_s", FALSE } };

/* *at becomes @value, and *of @rank, where @value is less than *at, or there was none. */
static void
keep (gboolean is_better, double value, guint rank, double *at, guint *of)
{
  if (!is_better)
    return;
  *at = value;
  *of = rank;
}

static void
add_rank (ResultsRanks *ranks, guint rank, double step_s, double waited_s)
{
  const gboolean is_first = ranks->n++ == 0;

  keep (is_first || step_s < ranks->fastest_s, step_s, rank, &ranks->fastest_s,
        &ranks->fastest_rank);
  keep (is_first || step_s > ranks->slowest_s, step_s, rank, &ranks->slowest_s,
        &ranks->slowest_rank);
  keep (is_first || waited_s < ranks->least_waited_s, waited_s, rank, &ranks->least_waited_s,
        &ranks->least_waited_rank);
  keep (is_first || waited_s > ranks->most_waited_s, waited_s, rank, &ranks->most_waited_s,
        &ranks->most_waited_rank);
  ranks->sum_waited_s += waited_s;
}

static gboolean
take_rank (const ResultsRow *row, gpointer data, GError **error)
{
  ResultsVariant *variant = results_find_variant (data, row, error);
  double rank, step_s, waited_s;

  if (variant == NULL || !results_row_number (row, 1, &rank, error)
      || !results_row_number (row, 2, &step_s, error)
      || !results_row_number (row, 3, &waited_s, error))
    return FALSE;
  if (!(rank >= 0 && rank <= MOST_RANK))
    return results_row_error (row, 1, error, "'%.80s' is no rank", row->values[1]);
  add_rank (&variant->ranks, (guint)rank, step_s, waited_s);
  return TRUE;
}

const ResultsReader results_ranks_reader = { rank_columns, G_N_ELEMENTS (rank_columns), take_rank };

static const ResultsColumn wait_columns[]
    = { { "variant", FALSE }, { "op", FALSE },           { "unit", FALSE },
        { "phase", FALSE },   { "mean_wait_us", FALSE }, { "longest_wait_us", FALSE } };

static void
wait_free (gpointer data)
{
  ResultsWait *wait = data;

  g_free (wait->op);
  g_free (wait->unit);
  g_free (wait->phase);
  g_free (wait);
}

static gboolean
take_wait (const ResultsRow *row, gpointer data, GError **error)
{
  ResultsVariant *variant = results_find_variant (data, row, error);
  ResultsWait *wait;

  if (variant == NULL)
    return FALSE;
  if (variant->waits == NULL)
    variant->waits = g_ptr_array_new_with_free_func (wait_free);
  wait = g_new0 (ResultsWait, 1);
  wait->op = g_strdup (row->values[1]);
  wait->unit = g_strdup (row->values[2]);
  wait->phase = g_strdup (row->values[3]);
  g_ptr_array_add (variant->waits, wait);
  return results_row_number (row, 4, &wait->mean_us, error)
         && results_row_number (row, 5, &wait->longest_us, error);
}

const ResultsReader results_waits_reader = { wait_columns, G_N_ELEMENTS (wait_columns), take_wait };

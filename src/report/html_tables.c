#include <config.h>

#include <math.h>
#include <string.h>

#include "report/format.h"
#include "report/html_tables.h"
#include "report/html_text.h"
#include "report/step_parts.h"

static guint
n_rows (const Results *results)
{
  return MIN (results->variants->len, HTML_MOST_ROWS);
}

static void
say_how_many (GString *page, const Results *results)
{
  if (results->variants->len > HTML_MOST_ROWS)
    html_append_format (page, "p", "The first %d of %u rows; all are in summary.csv.",
                        HTML_MOST_ROWS, results->variants->len);
}

/* ---- summary ---- */

static void
begin_summary (GString *page, const Results *results, gboolean says_why)
{
  static const char *const headers[]
      = { "result",     "step ms",     "tokens/s per GPU", "change %",      "MFU %",
          "HFU %",      "all-gathers", "reduce-scatters",  "all-reduces",   "sent GiB",
          "compute ms", "exposed ms",  "host-bound ms",    "allocated GiB", "reserved GiB" };
  g_autoptr (GPtrArray) all = g_ptr_array_new ();

  g_ptr_array_add (all, (gpointer) "variant");
  for (guint k = 0; results->keys != NULL && results->keys[k] != NULL; k++)
    g_ptr_array_add (all, results->keys[k]);
  for (guint i = 0; i < G_N_ELEMENTS (headers); i++)
    g_ptr_array_add (all, (gpointer)headers[i]);
  if (says_why)
    g_ptr_array_add (all, (gpointer) "why");
  g_ptr_array_add (all, NULL);
  html_table_begin (page, "Per rank and step; memory at its peak", (const char *const *)all->pdata);
}

/* A column of why would push a comparison's table off the page; that says it below. */
static gboolean
has_reasons (const Results *results)
{
  if (!results_is_sweep (results))
    return FALSE;
  for (guint i = 0; i < n_rows (results); i++)
    if (results_variant (results, i)->reason[0] != '\0')
      return TRUE;
  return FALSE;
}

static void
add_change (GString *page, const ResultsVariant *variant, gboolean is_baseline)
{
  if (is_baseline)
    html_cell (page, "baseline");
  else
    html_cell_number (page, "%+.1f", variant->throughput_delta_percent);
}

const char *
html_status_words (const ResultsVariant *variant)
{
  if (strcmp (variant->status, "ok") == 0)
    return "fits";
  return strcmp (variant->status, "does_not_fit") == 0 ? "does not fit" : variant->status;
}

static void
add_summary_row (GString *page, const Results *results, const ResultsVariant *variant,
                 gboolean says_why)
{
  html_row_begin (page, variant->name);
  for (guint k = 0; variant->key_values[k] != NULL; k++)
    html_cell (page, variant->key_values[k]);
  html_cell (page, html_status_words (variant));
  html_cell_number (page, "%.1f", 1e3 * variant->step_time_s);
  html_cell_number (page, "%.0f", variant->tokens_per_s_per_gpu);
  add_change (page, variant, variant->row == 0 && !results_is_sweep (results));
  html_cell_number (page, "%.1f", variant->mfu_percent);
  html_cell_number (page, "%.1f", variant->hfu_percent);
  html_cell_number (page, "%.6g", variant->all_gathers);
  html_cell_number (page, "%.6g", variant->reduce_scatters);
  html_cell_number (page, "%.6g", variant->all_reduces);
  html_cell_number (page, "%.1f", variant->comm_bytes / 0x1p30);
  html_cell_number (page, "%.1f", 1e3 * variant->compute_s);
  html_cell_number (page, "%.1f", 1e3 * variant->exposed_comm_s);
  html_cell_number (page, "%.1f", 1e3 * variant->host_bound_s);
  html_cell_number (page, "%.1f", variant->peak_allocated_bytes / 0x1p30);
  html_cell_number (page, "%.1f", variant->peak_reserved_bytes / 0x1p30);
  if (says_why)
    html_cell_text (page, variant->reason);
  html_row_end (page);
}

static void
say_why (GString *page, const Results *results)
{
  for (guint i = 0; i < n_rows (results); i++)
    {
      const ResultsVariant *variant = results_variant (results, i);

      if (variant->reason[0] != '\0')
        html_append_format (page, "p", "%s: %s, %s.", variant->name, html_status_words (variant),
                            variant->reason);
    }
}

void
html_append_summary (GString *page, const Results *results)
{
  const gboolean says_why = has_reasons (results);

  begin_summary (page, results, says_why);
  for (guint i = 0; i < n_rows (results); i++)
    add_summary_row (page, results, results_variant (results, i), says_why);
  html_table_end (page);
  if (!results_is_sweep (results))
    say_why (page, results);
  say_how_many (page, results);
}

/* ---- parts ---- */

static gboolean
has_timelines (const Results *results)
{
  for (guint i = 0; i < n_rows (results); i++)
    if (results_variant (results, i)->timeline != NULL)
      return TRUE;
  return FALSE;
}

void
html_append_parts (GString *page, const Results *results)
{
  static const struct
  {
    StepKind kind;
    const char *header;
  } columns[] = { { STEP_FORWARD, "forward" },
                  { STEP_RECOMPUTE, "recompute" },
                  { STEP_BACKWARD, "backward" },
                  { STEP_OPTIMIZER, "optimizer" },
                  { STEP_COPY, "copies" },
                  { STEP_ALL_GATHER, "exposed all-gather" },
                  { STEP_REDUCE_SCATTER, "exposed reduce-scatter" },
                  { STEP_ALL_REDUCE, "exposed all-reduce" },
                  { STEP_HOST_BOUND, "host-bound" } };
  const char *headers[G_N_ELEMENTS (columns) + 2] = { "variant" };

  if (!has_timelines (results))
    return;
  for (guint c = 0; c < G_N_ELEMENTS (columns); c++)
    headers[c + 1] = columns[c].header;
  html_table_begin (page, "Where the step goes, in ms on the compute stream", headers);
  for (guint i = 0; i < n_rows (results); i++)
    {
      const ResultsVariant *variant = results_variant (results, i);
      double parts_s[N_STEP_KINDS];

      if (!results_did_run (variant) || variant->timeline == NULL)
        continue;
      results_step_parts (variant, parts_s);
      html_row_begin (page, variant->name);
      for (guint c = 0; c < G_N_ELEMENTS (columns); c++)
        html_cell_number (page, "%.1f", 1e3 * parts_s[columns[c].kind]);
      html_row_end (page);
    }
  html_table_end (page);
}

/* ---- units ---- */

void
html_append_units (GString *page, const ResultsVariant *variant)
{
  static const char *const headers[]
      = { "unit",        "all-gathers forward",   "all-gathers backward",      "reduce-scatters",
          "all-reduces", "exposed all-gather ms", "exposed reduce-scatter ms", NULL };

  if (variant->units == NULL)
    return;
  g_string_append (page, "<details>\n");
  html_append (page, "summary", "Collectives of each FSDP unit");
  html_table_begin (page, "Per rank and step", headers);
  for (guint i = 0; i < MIN (variant->units->len, HTML_MOST_ROWS); i++)
    {
      const ResultsUnit *unit = variant->units->pdata[i];

      html_row_begin (page, unit->unit);
      html_cell_number (page, "%.6g", unit->all_gathers_forward);
      html_cell_number (page, "%.6g", unit->all_gathers_backward);
      html_cell_number (page, "%.6g", unit->reduce_scatters);
      html_cell_number (page, "%.6g", unit->all_reduces);
      html_cell_number (page, "%.3f", 1e3 * unit->all_gather_exposed_s);
      html_cell_number (page, "%.3f", 1e3 * unit->reduce_scatter_exposed_s);
      html_row_end (page);
    }
  html_table_end (page);
  g_string_append (page, "</details>\n");
}

/* ---- ranks ---- */

static gboolean
has_ranks (const Results *results)
{
  for (guint i = 0; i < n_rows (results); i++)
    if (results_variant (results, i)->ranks.n > 0)
      return TRUE;
  return FALSE;
}

void
html_append_ranks (GString *page, const Results *results)
{
  static const char *const headers[]
      = { "variant",         "ranks",           "fastest step ms",  "of rank",
          "slowest step ms", "of rank",         "least waiting ms", "of rank",
          "mean waiting ms", "most waiting ms", "of rank",          NULL };

  if (!has_ranks (results))
    return;
  html_table_begin (page,
                    "How the ranks differ, each by its own clock; waiting is in collectives, for "
                    "the last to come: who waits least sets the pace",
                    headers);
  for (guint i = 0; i < n_rows (results); i++)
    {
      const ResultsVariant *variant = results_variant (results, i);
      const ResultsRanks *ranks = &variant->ranks;

      if (ranks->n == 0)
        continue;
      html_row_begin (page, variant->name);
      html_cell_number (page, "%.0f", ranks->n);
      html_cell_number (page, "%.3f", 1e3 * ranks->fastest_s);
      html_cell_number (page, "%.0f", ranks->fastest_rank);
      html_cell_number (page, "%.3f", 1e3 * ranks->slowest_s);
      html_cell_number (page, "%.0f", ranks->slowest_rank);
      html_cell_number (page, "%.3f", 1e3 * ranks->least_waited_s);
      html_cell_number (page, "%.0f", ranks->least_waited_rank);
      html_cell_number (page, "%.3f", 1e3 * ranks->sum_waited_s / ranks->n);
      html_cell_number (page, "%.3f", 1e3 * ranks->most_waited_s);
      html_cell_number (page, "%.0f", ranks->most_waited_rank);
      html_row_end (page);
    }
  html_table_end (page);
}

void
html_append_waits (GString *page, const ResultsVariant *variant)
{
  static const char *const headers[]
      = { "collective", "unit", "phase", "mean waiting ms", "longest ms", NULL };

  if (variant->waits == NULL)
    return;
  g_string_append (page, "<details>\n");
  html_append (page, "summary", "Waiting that each collective absorbs");
  html_table_begin (page, "Of a rank, from its own arrival to that of the last", headers);
  for (guint i = 0; i < MIN (variant->waits->len, HTML_MOST_ROWS); i++)
    {
      const ResultsWait *wait = variant->waits->pdata[i];

      html_row_begin (page, wait->op);
      html_cell_text (page, wait->unit);
      html_cell_text (page, wait->phase);
      html_cell_number (page, "%.3f", wait->mean_us / 1e3);
      html_cell_number (page, "%.3f", wait->longest_us / 1e3);
      html_row_end (page);
    }
  html_table_end (page);
  g_string_append (page, "</details>\n");
}

/* Step times under many seeds, under the tables. */
#include <config.h>

#include "report/format.h"
#include "report/noise.h"
#include "report/report.h"
#include "report/text_table.h"

static void
add_fixed (TextTable *table, guint decimals, double value)
{
  char buffer[FORMAT_SIZE];

  text_table_add (table, format_fixed (buffer, decimals, value));
}

static void
add_head (TextTable *table, guint n_repeats)
{
  static const char *const over[] = { "", "step ms", "", "", "", "", "tokens/s a GPU", "" };
  static const char *const under[] = { "mean", "p50", "p99", "fastest", "slowest", "mean", "p99" };
  g_autofree char *what = g_strdup_printf ("over %u seeds", n_repeats);

  for (guint i = 0; i < G_N_ELEMENTS (over); i++)
    text_table_add (table, over[i]);
  text_table_add (table, what);
  for (guint i = 0; i < G_N_ELEMENTS (under); i++)
    text_table_add (table, under[i]);
}

static void
add_row (TextTable *table, const char *name, const ReportRun *run)
{
  const double tokens = run->facts.tokens_per_step / run->facts.n_ranks;
  const Noise *noise = run->noise;

  text_table_add (table, name);
  if (noise == NULL)
    {
      for (guint i = 0; i < 7; i++)
        text_table_add (table, "-");
      return;
    }
  add_fixed (table, 3, 1e3 * noise->mean_s);
  add_fixed (table, 3, 1e3 * noise->p50_s);
  add_fixed (table, 3, 1e3 * noise->p99_s);
  add_fixed (table, 3, 1e3 * noise->fastest_s);
  add_fixed (table, 3, 1e3 * noise->slowest_s);
  add_fixed (table, 1, tokens / noise->mean_s);
  add_fixed (table, 1, tokens / noise->p99_s);
}

void
report_append_noise (const Report *report, const char *const *names, GString *text)
{
  g_autoptr (TextTable) table = text_table_new (8);

  if (report->n_repeats == 0)
    return;
  add_head (table, report->n_repeats);
  for (guint i = 0; i < report->n_entries; i++)
    add_row (table, names[i], &report->entries[i].run);
  g_string_append_c (text, '\n');
  text_table_render (table, text);
}

/* Goodput beside raw throughput, under the tables. */
#include <config.h>

#include <math.h>

#include "report/format.h"
#include "report/goodput.h"
#include "report/report.h"
#include "report/text_table.h"

gboolean
report_has_goodput (const Report *report)
{
  for (guint i = 0; i < report->n_entries; i++)
    if (goodput_is_asked (&report->entries[i].run.facts.reliability))
      return TRUE;
  return FALSE;
}

static void
add_number (TextTable *table, guint decimals, double value)
{
  char buffer[FORMAT_SIZE];

  text_table_add (table, isfinite (value) ? format_fixed (buffer, decimals, value) : "-");
}

/* "34.5 min" */
static void
add_duration (TextTable *table, double seconds)
{
  const double of_unit = seconds >= 3600 ? 3600 : seconds >= 60 ? 60 : 1;
  const char *unit = seconds >= 3600 ? "h" : seconds >= 60 ? "min" : "s";
  char buffer[FORMAT_SIZE];
  g_autofree char *text
      = g_strdup_printf ("%s %s", format_fixed (buffer, 1, seconds / of_unit), unit);

  text_table_add (table, isfinite (seconds) ? text : "-");
}

static void
add_head (TextTable *table)
{
  static const char *const over[]
      = { "", "failures", "job fails", "checkpoint", "effective", "tokens/s", "tokens/s" };
  static const char *const under[]
      = { "with failures and restarts", "a day", "every", "every", "%", "raw", "effective" };

  for (guint i = 0; i < G_N_ELEMENTS (over); i++)
    text_table_add (table, over[i]);
  for (guint i = 0; i < G_N_ELEMENTS (under); i++)
    text_table_add (table, under[i]);
}

void
report_append_goodput (const Report *report, const char *const *names, GString *text)
{
  g_autoptr (TextTable) table = text_table_new (7);

  if (!report_has_goodput (report))
    return;
  add_head (table);
  for (guint i = 0; i < report->n_entries; i++)
    {
      const ReportRun *run = &report->entries[i].run;
      const Goodput goodput = goodput_of (&run->facts, &run->figures);

      text_table_add (table, names[i]);
      add_number (table, 2, goodput.failures_per_day);
      add_duration (table, goodput.mtbf_s);
      add_duration (table, goodput.interval_s);
      add_number (table, 1, 100 * goodput.ratio);
      add_number (table, 0, run->figures.tokens_per_s);
      add_number (table, 0, goodput.ratio * run->figures.tokens_per_s);
    }
  g_string_append_c (text, '\n');
  text_table_render (table, text);
}

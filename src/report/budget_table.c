/* Days, GPU hours and money under the tables. */
#include <config.h>

#include "config/units.h"
#include "report/format.h"
#include "report/report.h"
#include "report/text_table.h"

/* Three digits at least, and no decimals that nobody reads. */
static void
add_amount (TextTable *table, double value)
{
  char buffer[FORMAT_SIZE];
  const char *text = format_fixed (buffer, value >= 1000 ? 0 : value >= 10 ? 1 : 2, value);

  text_table_add (table, g_str_equal (text, "NaN") ? "-" : text);
}

static void
add_head (TextTable *table, const Budget *budget)
{
  g_autofree char *tokens = units_format (UNIT_KIND_TOKENS, budget->tokens);
  g_autofree char *what = g_strdup_printf ("%s tokens", tokens);
  char buffer[FORMAT_SIZE];
  g_autofree char *cost
      = g_strdup_printf ("cost at %s", format_real (buffer, "%.6g", budget->price_per_gpu_hour));

  text_table_add (table, what);
  text_table_add (table, "days");
  text_table_add (table, "GPU hours");
  if (budget->price_per_gpu_hour > 0)
    text_table_add (table, cost);
}

void
report_append_budget (const Report *report, const char *const *names, GString *text)
{
  const Budget *budget = &report->budget;
  const gboolean priced = budget->price_per_gpu_hour > 0;
  g_autoptr (TextTable) table = text_table_new (priced ? 4 : 3);

  if (budget->tokens <= 0)
    return;
  add_head (table, budget);
  for (guint i = 0; i < report->n_entries; i++)
    {
      const ReportRun *run = &report->entries[i].run;
      const Expense expense = budget_spend (budget, &run->facts, &run->figures);

      text_table_add (table, names[i]);
      add_amount (table, expense.days);
      add_amount (table, expense.gpu_hours);
      if (priced)
        add_amount (table, expense.cost);
    }
  g_string_append_c (text, '\n');
  text_table_render (table, text);
  if (report_has_goodput (report))
    g_string_append (text, "with failures and restarts\n");
}

#include <config.h>

#include "report/budget.h"

#include "report/goodput.h"

Expense
budget_spend (const Budget *budget, const RunFacts *facts, const Figures *figures)
{
  const double tokens_per_s = goodput_of (facts, figures).ratio * figures->tokens_per_s;
  Expense expense = { .days = budget->tokens / tokens_per_s / SECONDS_PER_DAY };

  expense.gpu_hours = expense.days * 24 * facts->n_ranks;
  expense.cost = expense.gpu_hours * budget->price_per_gpu_hour;
  return expense;
}

const char *
budget_columns (const Budget *budget)
{
  if (budget->tokens <= 0)
    return "";
  return budget->price_per_gpu_hour > 0 ? ",days,gpu_hours,cost" : ",days,gpu_hours";
}

void
budget_add_fields (const Budget *budget, const RunFacts *facts, const Figures *figures, Csv *csv)
{
  const Expense expense = budget_spend (budget, facts, figures);

  if (budget->tokens <= 0)
    return;
  csv_add_number (csv, expense.days);
  csv_add_number (csv, expense.gpu_hours);
  if (budget->price_per_gpu_hour > 0)
    csv_add_number (csv, expense.cost);
}

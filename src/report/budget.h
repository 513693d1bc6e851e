/* What a whole training run takes: days, GPU hours, money. */
#pragma once

#include "report/csv.h"
#include "report/figures.h"

#define SECONDS_PER_DAY 86400.0

/* As the user asked for it; 0 where it was not asked for. */
typedef struct
{
  double tokens;             /* to train on */
  double price_per_gpu_hour; /* in whatever money; needs tokens */
} Budget;

/* NaN where the figures have no throughput. */
typedef struct
{
  double days, gpu_hours, cost;
} Expense;

/* days = tokens / (tokens a second) / 86400, failures and restarts included where they count
 * (report/goodput.h); GPU hours = days x 24 x ranks. */
Expense budget_spend (const Budget *budget, const RunFacts *facts, const Figures *figures);

/* "", or what follows the last column of a header: ",days,gpu_hours,cost". */
const char *budget_columns (const Budget *budget);
void budget_add_fields (const Budget *budget, const RunFacts *facts, const Figures *figures,
                        Csv *csv);

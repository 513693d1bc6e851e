/* Rows of summary.csv, one by one. */
#pragma once

#include "report/budget.h"
#include "report/report.h"

/* The header's names, those of @budget at the end. The caller frees it. */
char *summary_columns (const Budget *budget);

/* The fields of one row, without its end. */
void summary_add_fields (Csv *csv, const char *variant, const ReportScenario *scenario,
                         const ReportRun *run, const Budget *budget);

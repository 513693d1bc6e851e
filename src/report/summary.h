/* Rows of summary.csv, one by one. */
#pragma once

#include "report/report.h"

/* What rows hold behind their own columns, in this order. */
typedef struct
{
  Budget budget;
  gboolean has_noise;   /* ReportRun.noise */
  gboolean has_goodput; /* failures and restarts */
} SummaryExtras;

/* The header's names, those of @extras at the end. The caller frees it. */
char *summary_columns (const SummaryExtras *extras);

/* The fields of one row, without its end. */
void summary_add_fields (Csv *csv, const char *variant, const ReportScenario *scenario,
                         const ReportRun *run, const SummaryExtras *extras);

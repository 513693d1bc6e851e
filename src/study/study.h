/* One call from scenario to result, through the stations of the house. */
#pragma once

#include "report/report.h"

typedef struct
{
  const guint *ranks; /* whose timelines are wanted besides the slowest */
  guint n_ranks;
  gboolean all_ranks;
} StudyOptions;

/* Simulates one variant. Always fills @run: a variant that PyTorch refuses gets
 * a status and a reason. @run borrows @scenario; study_run_clear() it. */
void study_run (const Scenario *scenario, const StudyOptions *options, ReportRun *run);
void study_run_clear (ReportRun *run);

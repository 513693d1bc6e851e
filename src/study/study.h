/* One call from scenario to result, through the stations of the house. */
#pragma once

#include "report/report.h"

typedef struct
{
  const guint
      *ranks; /* whose timelines are wanted besides the slowest; each below the job's ranks */
  guint n_ranks;
  gboolean all_ranks;
} StudyOptions;

/* What a simulation took, for messages; it decides no result. */
typedef struct
{
  guint n_instructions;    /* of the host program; 0 where it was refused */
  guint n_simulated_ranks; /* 1 where one rank stood for all */
  gboolean used_events;
} StudyEffort;

/* Simulates one variant. Always fills @run and *effort: a variant that PyTorch
 * refuses gets a status and a reason. @run borrows @scenario; study_run_clear() it. */
void study_run (const Scenario *scenario, const StudyOptions *options, ReportRun *run,
                StudyEffort *effort);
void study_run_clear (ReportRun *run);

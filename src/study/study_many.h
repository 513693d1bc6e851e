/* Many variants at once, on several threads. Each is simulated by itself, so
 * that the results are the same for any number of threads. */
#pragma once

#include "study/study.h"
#include "study/study_pool.h"

typedef struct
{
  const Scenario *scenario;
  ReportRun *run;     /* filled */
  StudyEffort effort; /* filled */
  gint64 wall_us;     /* filled: time that it took */
} StudyJob;

/* Simulates all of @jobs on at most @n_threads threads. @progress may be NULL. */
void study_run_many (StudyJob *jobs, guint n_jobs, const StudyOptions *options, guint n_threads,
                     StudyProgress progress, gpointer data);

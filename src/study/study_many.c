#include <config.h>

#include "study/study_many.h"

typedef struct
{
  StudyJob *jobs;
  const StudyOptions *options;
} Work;

static void
run_job (guint index, gpointer data)
{
  const Work *work = data;
  StudyJob *job = &work->jobs[index];
  const gint64 begin_us = g_get_monotonic_time ();

  study_run (job->scenario, work->options, job->run, &job->effort);
  job->wall_us = g_get_monotonic_time () - begin_us;
}

void
study_run_many (StudyJob *jobs, guint n_jobs, const StudyOptions *options, guint n_threads,
                StudyProgress progress, gpointer data)
{
  Work work = { jobs, options };

  study_pool_run (n_jobs, n_threads, run_job, &work, progress, data);
}

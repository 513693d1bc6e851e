#include "config.h"

#include "study/study_many.h"

#define PROGRESS_INTERVAL_US (G_USEC_PER_SEC / 5)

/* What the threads share. */
typedef struct
{
  const StudyOptions *options;
  GMutex mutex;
  GCond job_done;
  guint n_done; /* under the mutex */
} Crew;

static void
work (gpointer data, gpointer user_data)
{
  StudyJob *job = data;
  Crew *crew = user_data;
  const gint64 begin_us = g_get_monotonic_time ();

  study_run (job->scenario, crew->options, job->run, &job->effort);
  job->wall_us = g_get_monotonic_time () - begin_us;
  g_mutex_lock (&crew->mutex);
  crew->n_done++;
  g_cond_signal (&crew->job_done);
  g_mutex_unlock (&crew->mutex);
}

static void
await (Crew *crew, guint n_jobs, StudyProgress progress, gpointer data)
{
  g_mutex_lock (&crew->mutex);
  while (crew->n_done < n_jobs)
    {
      const gint64 until_us = g_get_monotonic_time () + PROGRESS_INTERVAL_US;

      g_cond_wait_until (&crew->job_done, &crew->mutex, until_us);
      if (progress != NULL)
        progress (crew->n_done, n_jobs, data);
    }
  g_mutex_unlock (&crew->mutex);
}

void
study_run_many (StudyJob *jobs, guint n_jobs, const StudyOptions *options, guint n_threads,
                StudyProgress progress, gpointer data)
{
  Crew crew = { .options = options };
  GThreadPool *pool;

  g_mutex_init (&crew.mutex);
  g_cond_init (&crew.job_done);
  pool = g_thread_pool_new (work, &crew, (gint)MIN (n_threads, n_jobs), FALSE, NULL);
  for (guint i = 0; i < n_jobs; i++)
    g_thread_pool_push (pool, &jobs[i], NULL);
  await (&crew, n_jobs, progress, data);
  g_thread_pool_free (pool, FALSE, TRUE);
  g_cond_clear (&crew.job_done);
  g_mutex_clear (&crew.mutex);
}

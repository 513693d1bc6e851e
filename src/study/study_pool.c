#include <config.h>

#include "study/study_pool.h"

#define PROGRESS_INTERVAL_US (G_USEC_PER_SEC / 5)

/* What the threads share. */
typedef struct
{
  void (*work) (guint index, gpointer data);
  gpointer data;
  GMutex mutex;
  GCond piece_done;
  guint n_done; /* under the mutex */
} Crew;

/* @number: from 1, since a thread pool takes no NULL. */
static void
do_piece (gpointer number, gpointer user_data)
{
  Crew *crew = user_data;

  crew->work (GPOINTER_TO_UINT (number) - 1, crew->data);
  g_mutex_lock (&crew->mutex);
  crew->n_done++;
  g_cond_signal (&crew->piece_done);
  g_mutex_unlock (&crew->mutex);
}

static void
await (Crew *crew, guint n, StudyProgress progress, gpointer data)
{
  g_mutex_lock (&crew->mutex);
  while (crew->n_done < n)
    {
      const gint64 until_us = g_get_monotonic_time () + PROGRESS_INTERVAL_US;

      g_cond_wait_until (&crew->piece_done, &crew->mutex, until_us);
      if (progress != NULL)
        progress (crew->n_done, n, data);
    }
  g_mutex_unlock (&crew->mutex);
}

void
study_pool_run (guint n, guint n_threads, void (*work) (guint index, gpointer data), gpointer data,
                StudyProgress progress, gpointer progress_data)
{
  Crew crew = { .work = work, .data = data };
  GThreadPool *pool;

  if (n == 0)
    return;
  g_mutex_init (&crew.mutex);
  g_cond_init (&crew.piece_done);
  pool = g_thread_pool_new (do_piece, &crew, (gint)MIN (n_threads, n), FALSE, NULL);
  for (guint i = 0; i < n; i++)
    g_thread_pool_push (pool, GUINT_TO_POINTER (i + 1), NULL);
  await (&crew, n, progress, progress_data);
  g_thread_pool_free (pool, FALSE, TRUE);
  g_cond_clear (&crew.piece_done);
  g_mutex_clear (&crew.mutex);
}

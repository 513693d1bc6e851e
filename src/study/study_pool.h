/* Many independent pieces of work on several threads. */
#pragma once

#include <glib.h>

/* Called on the caller's thread, after each piece and a few times a second between. */
typedef void (*StudyProgress) (guint n_done, guint n_jobs, gpointer data);

/* Calls @work for 0 to @n - 1, on at most @n_threads threads. @progress may be NULL. */
void study_pool_run (guint n, guint n_threads, void (*work) (guint index, gpointer data),
                     gpointer data, StudyProgress progress, gpointer progress_data);

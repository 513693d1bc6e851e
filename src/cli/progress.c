#include <config.h>

#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#define SHOWN_AFTER_US G_USEC_PER_SEC
#define LINE_WIDTH     72

void
progress_begin (Progress *progress, const char *command, const char *what, gboolean quiet)
{
  *progress = (Progress){ .command = command,
                          .what = what,
                          .begin_us = g_get_monotonic_time (),
                          .is_wanted = !quiet && isatty (STDERR_FILENO) };
}

void
progress_show (Progress *progress, gsize n_done, gsize n_all, gsize n_failed)
{
  const double elapsed_us = (double)(g_get_monotonic_time () - progress->begin_us);
  const gsize n_here = n_done - progress->n_before;
  g_autofree char *failed = n_failed > 0 ? g_strdup_printf (", %zu failed", n_failed) : NULL;
  g_autofree char *left = NULL;
  g_autofree char *line = NULL;

  if (!progress->is_wanted || elapsed_us < SHOWN_AFTER_US)
    return;
  if (n_here > 0)
    left = g_strdup_printf (", %.0f s left", elapsed_us / (double)n_here * (double)(n_all - n_done)
                                                 / G_USEC_PER_SEC);
  line = g_strdup_printf ("%s: %zu/%zu %s%s%s", progress->command, n_done, n_all, progress->what,
                          failed != NULL ? failed : "", left != NULL ? left : "");
  fprintf (stderr, "\r%-*s", LINE_WIDTH, line);
  progress->is_shown = TRUE;
}

void
progress_end (Progress *progress)
{
  if (progress->is_shown)
    fprintf (stderr, "\r%*s\r", LINE_WIDTH, "");
  progress->is_shown = FALSE;
}

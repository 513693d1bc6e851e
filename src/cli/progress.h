/* One line on standard error, only on a terminal and only past one second. */
#pragma once

#include <glib.h>

typedef struct
{
  const char *command;
  const char *what; /* "variants" */
  gint64 begin_us;
  gsize n_before; /* done before it began */
  gboolean is_wanted;
  gboolean is_shown;
} Progress;

void progress_begin (Progress *progress, const char *command, const char *what, gboolean quiet);
/* "sweep: 37/120 rows, 2 failed, 8 s left" */
void progress_show (Progress *progress, gsize n_done, gsize n_all, gsize n_failed);
void progress_end (Progress *progress); /* wipes the line */

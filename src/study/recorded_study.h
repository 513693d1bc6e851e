/* From trace files to recorded jobs: which files belong together, whose rank is the
 * slowest, and what the reports show. */
#pragma once

#include "interop/trace_recording.h"
#include "report/recorded.h"

typedef struct
{
  const char *const *paths; /* NULL-terminated; at least one */
  const char *folder;       /* for timeline.csv, or NULL */
  void (*progress) (const char *path, guint64 n_bytes, gpointer data); /* or NULL */
  gpointer progress_data;
  TraceWindowFunc window; /* sees every window of every track, in order; or NULL */
  gpointer window_data;
} RecordedOptions;

/* Recorded, a job each: files of several ranks of one job are one, all others one each.
 * NULL where one is no trace (TRACE_ERROR) or cannot be read or written (G_FILE_ERROR). */
GPtrArray *recorded_study (const RecordedOptions *options, GError **error);

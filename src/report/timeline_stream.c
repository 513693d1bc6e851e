#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "report/files.h"
#include "report/timeline_csv.h"

struct _TimelineStream
{
  char *path, *unfinished;
  FILE *file;
  int error; /* errno of the first failure; 0: none */
};

static void
set_error (const TimelineStream *stream, int code, GError **error)
{
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), "cannot write %s: %s",
               stream->path, g_strerror (code));
}

static void
stream_free (TimelineStream *stream)
{
  g_free (stream->path);
  g_free (stream->unfinished);
  g_free (stream);
}

TimelineStream *
timeline_stream_open (const char *folder, GError **error)
{
  TimelineStream *stream;
  int descriptor;

  if (!files_make_folder (folder, error))
    return NULL;
  stream = g_new0 (TimelineStream, 1);
  stream->path = g_build_filename (folder, "timeline.csv", NULL);
  stream->unfinished = g_strconcat (stream->path, ".XXXXXX", NULL);
  descriptor = g_mkstemp_full (stream->unfinished, O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor < 0)
    {
      set_error (stream, errno, error);
      stream_free (stream);
      return NULL;
    }
  stream->file = fdopen (descriptor, "w");
  g_assert (stream->file != NULL);
  fputs (TIMELINE_CSV_HEADER "\n", stream->file);
  return stream;
}

void
timeline_stream_add (TimelineStream *stream, const char *variant, SimTime origin,
                     const Timeline *window)
{
  Csv csv = { .text = g_string_new (NULL) };
  g_autofree char *rows = NULL;

  for (guint32 i = 0; i < window->records->len; i++)
    if (!timeline_record (window, i)->is_carried)
      timeline_csv_add (&csv, variant, window->rank, origin, timeline_record (window, i));
  rows = csv_finish (&csv);
  if (fputs (rows, stream->file) == EOF && stream->error == 0)
    stream->error = errno;
}

gboolean
timeline_stream_close (TimelineStream *stream, GError **error)
{
  int code = stream->error;

  if (fflush (stream->file) != 0 && code == 0)
    code = errno;
  if (fclose (stream->file) != 0 && code == 0)
    code = errno;
  if (code == 0 && g_rename (stream->unfinished, stream->path) != 0)
    code = errno;
  if (code != 0)
    {
      g_unlink (stream->unfinished);
      set_error (stream, code, error);
    }
  stream_free (stream);
  return code == 0;
}

void
timeline_stream_discard (TimelineStream *stream)
{
  fclose (stream->file);
  g_unlink (stream->unfinished);
  stream_free (stream);
}

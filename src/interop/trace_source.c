#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "interop/trace_source.h"

/* zlib hands reads of at least twice this through to a plain file, without copying. */
#define UNPACK_BYTES (64 * 1024)

struct _TraceSource
{
  gzFile file;
  char *fault;
};

static void
set_file_error (GError **error, const char *path, int code)
{
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), "cannot read %s: %s", path,
               g_strerror (code));
}

TraceSource *
trace_source_open (const char *path, GError **error)
{
  const int descriptor
      = strcmp (path, "-") == 0 ? dup (STDIN_FILENO) : open (path, O_RDONLY | O_CLOEXEC);
  TraceSource *source;

  if (descriptor < 0)
    {
      set_file_error (error, path, errno);
      return NULL;
    }
  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    {
      close (descriptor);
      set_file_error (error, path, EISDIR);
      return NULL;
    }
  source = g_new0 (TraceSource, 1);
  source->file = gzdopen (descriptor, "rb");
  g_assert (source->file != NULL);
  gzbuffer (source->file, UNPACK_BYTES);
  return source;
}

void
trace_source_close (TraceSource *source)
{
  if (source == NULL)
    return;
  gzclose (source->file);
  g_free (source->fault);
  g_free (source);
}

static void
note_fault (TraceSource *source)
{
  const int read_errno = errno;
  int code = Z_OK;
  const char *message = gzerror (source->file, &code);

  if (code == Z_OK || code == Z_STREAM_END || source->fault != NULL)
    return;
  if (code == Z_BUF_ERROR)
    source->fault = g_strdup ("is cut off: its gzip data end too early");
  else if (code == Z_ERRNO)
    source->fault = g_strdup_printf ("cannot be read on: %s", g_strerror (read_errno));
  else
    source->fault = g_strdup_printf ("is damaged: %s", message);
}

gsize
trace_source_read (TraceSource *source, guchar *buffer, gsize size)
{
  int n_bytes;

  if (source->fault != NULL)
    return 0;
  errno = 0;
  n_bytes = gzread (source->file, buffer, (unsigned int)MIN (size, G_MAXINT));
  if (n_bytes < (int)size)
    note_fault (source);
  return n_bytes < 0 ? 0 : (gsize)n_bytes;
}

const char *
trace_source_fault (const TraceSource *source)
{
  return source->fault;
}

#include <config.h>

#include "config/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* For the first writer of a pipe, and for the next byte. */
#define WRITER_WITHIN_MS 1000
#define BYTE_WITHIN_MS   30000

G_DEFINE_QUARK (fsdpsim - text - file - error - quark, text_file_error)

static gboolean
fail (int code, GError **error)
{
  g_set_error_literal (error, G_FILE_ERROR, g_file_error_from_errno (code), g_strerror (code));
  return FALSE;
}

/* Until there is something to read, or an end. */
static gboolean
wait_for_input (int descriptor, int within_ms, GError **error)
{
  struct pollfd input = { .fd = descriptor, .events = POLLIN };
  int n;

  do
    n = poll (&input, 1, within_ms);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    return fail (errno, error);
  if (n > 0)
    return TRUE;
  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_PIPE, "nothing to read within %d s",
               within_ms / 1000);
  return FALSE;
}

static gboolean
is_pipe (int descriptor)
{
  struct stat status;

  return fstat (descriptor, &status) == 0 && S_ISFIFO (status.st_mode);
}

/* Up to a byte more than is allowed, into @text. A pipe that no one has opened for
 * writing yet looks as if it were at its end. */
static gboolean
read_some (int descriptor, GString *text, GError **error)
{
  gboolean waited = FALSE;

  while (text->len <= TEXT_FILE_MAX_BYTES)
    {
      char piece[16384];
      ssize_t n = read (descriptor, piece, MIN (sizeof piece, TEXT_FILE_MAX_BYTES + 1 - text->len));

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0 && errno != EAGAIN)
        return fail (errno, error);
      if (n == 0 && (text->len > 0 || waited || !is_pipe (descriptor)))
        break;
      if (n <= 0 && !wait_for_input (descriptor, n < 0 ? BYTE_WITHIN_MS : WRITER_WITHIN_MS, error))
        return FALSE;
      waited = n == 0;
      g_string_append_len (text, piece, MAX (n, 0));
    }
  return TRUE;
}

char *
text_file_read (const char *path, gsize *length, GError **error)
{
  gboolean standard_input = strcmp (path, "-") == 0;
  int descriptor
      = standard_input ? STDIN_FILENO : open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  g_autoptr (GString) text = g_string_new (NULL);
  gboolean done;

  if (descriptor < 0)
    {
      fail (errno, error);
      return NULL;
    }
  done = read_some (descriptor, text, error);
  if (!standard_input)
    close (descriptor);
  if (!done)
    return NULL;
  if (text->len > TEXT_FILE_MAX_BYTES)
    {
      g_set_error_literal (error, TEXT_FILE_ERROR, TEXT_FILE_ERROR_TOO_LARGE, "larger than 1 MiB");
      return NULL;
    }
  *length = text->len;
  return g_string_free (g_steal_pointer (&text), FALSE);
}

#include "config.h"

#include "config/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static gboolean
fail (int code, GError **error)
{
  g_set_error_literal (error, G_FILE_ERROR, g_file_error_from_errno (code), g_strerror (code));
  return FALSE;
}

/* Up to @capacity bytes of it. */
static gboolean
read_some (int descriptor, char *buffer, gsize capacity, gsize *length, GError **error)
{
  *length = 0;
  while (*length < capacity)
    {
      ssize_t n = read (descriptor, buffer + *length, capacity - *length);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return fail (errno, error);
      if (n == 0)
        break;
      *length += (gsize)n;
    }
  return TRUE;
}

char *
text_file_read (const char *path, gsize *length, GError **error)
{
  gboolean standard_input = strcmp (path, "-") == 0;
  int descriptor = standard_input ? STDIN_FILENO : open (path, O_RDONLY | O_CLOEXEC);
  g_autofree char *buffer = NULL;
  gboolean done;

  if (descriptor < 0)
    {
      fail (errno, error);
      return NULL;
    }
  buffer = g_malloc (TEXT_FILE_MAX_BYTES + 2);
  done = read_some (descriptor, buffer, TEXT_FILE_MAX_BYTES + 1, length, error);
  if (!standard_input)
    close (descriptor);
  if (!done)
    return NULL;
  if (*length > TEXT_FILE_MAX_BYTES)
    {
      g_set_error_literal (error, G_FILE_ERROR, G_FILE_ERROR_NOSPC, "larger than 1 MiB");
      return NULL;
    }
  buffer[*length] = '\0';
  return g_realloc (g_steal_pointer (&buffer), *length + 1);
}

#include <config.h>

#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

gboolean
output_write (const char *text, GError **error)
{
  const size_t length = strlen (text);
  int code;

  if (fwrite (text, 1, length, stdout) == length && fflush (stdout) == 0)
    return TRUE;
  code = errno;
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code),
               "cannot write standard output: %s", g_strerror (code));
  return FALSE;
}

void
output_message (const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  fprintf (stderr, "fsdpsim: %s\n", text);
}

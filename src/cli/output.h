/* Standard output carries a command's result and nothing else; messages go to
 * standard error. */
#pragma once

#include <glib.h>

/* Writes all of @text to standard output and through to where it leads, so that
 * a full disk or a closed pipe is noticed: an error of G_FILE_ERROR. */
gboolean output_write (const char *text, GError **error);

/* One line on standard error, led by the program's name. */
void output_message (const char *format, ...) G_GNUC_PRINTF (1, 2);

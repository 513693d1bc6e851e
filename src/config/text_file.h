/* Small text files read whole. */
#pragma once

#include <glib.h>

#define TEXT_FILE_MAX_BYTES (1024 * 1024)

#define TEXT_FILE_ERROR (text_file_error_quark ())
GQuark text_file_error_quark (void);

typedef enum
{
  TEXT_FILE_ERROR_TOO_LARGE /* over TEXT_FILE_MAX_BYTES */
} TextFileError;

/* The bytes of a file, or of standard input for "-", with a NUL behind them.
 * Devices and pipes that never end, that nothing writes to or that fall silent
 * are no danger: so much is read and so long is waited. Sets a G_FILE_ERROR where
 * it cannot be read, or a TEXT_FILE_ERROR; the message does not name the file.
 * The caller frees it. */
char *text_file_read (const char *path, gsize *length, GError **error);

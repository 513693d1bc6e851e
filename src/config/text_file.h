/* Small text files read whole. */
#pragma once

#include <glib.h>

#define TEXT_FILE_MAX_BYTES (1024 * 1024)

/* The bytes of a file, or of standard input for "-", with a NUL behind them, in
 * one bounded read: devices and pipes that never end are no danger. Sets a
 * G_FILE_ERROR; the message does not name the file. The caller frees it. */
char *text_file_read (const char *path, gsize *length, GError **error);

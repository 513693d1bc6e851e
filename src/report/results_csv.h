/* Reading the CSV files that this program writes, row by row, as RFC 4180. Every
 * error names file and line. */
#pragma once

#include "timeline/sim_time.h"

#define RESULTS_ERROR (results_error_quark ())
GQuark results_error_quark (void);

typedef enum
{
  RESULTS_ERROR_BAD
} ResultsError;

/* A column that the reader wants, by the name in the header. */
typedef struct
{
  const char *name;
  gboolean is_optional;
} ResultsColumn;

/* One row, valid during the call that it is handed to. */
typedef struct
{
  const char *file;
  guint line; /* on which the row begins, from 1 */
  const ResultsColumn *columns;
  const char *const *values; /* one a wanted column; NULL where the file has no such column */
  const GPtrArray *header;   /* all names of the file, as they stand */
  const GPtrArray *fields;   /* all values of the row */
} ResultsRow;

typedef gboolean (*ResultsRowFunc) (const ResultsRow *row, gpointer data, GError **error);

typedef struct
{
  const ResultsColumn *columns;
  guint n_columns;
  ResultsRowFunc take_row; /* may set a GError and return FALSE, which ends the reading */
} ResultsReader;

/* Hands @data to take_row() with each row. @file is only named in messages.
 * RESULTS_ERROR, or what take_row() sets. */
gboolean results_read_text (const char *file, const char *text, gsize length,
                            const ResultsReader *reader, gpointer data, GError **error);

/* A regular file, in pieces. G_FILE_ERROR where it cannot be read. */
gboolean results_read_file (const char *path, const ResultsReader *reader, gpointer data,
                            GError **error);

/* The whole of a regular file, as long as it is no longer than @max_bytes. The caller frees it. */
char *results_load_file (const char *path, gsize max_bytes, gsize *length, GError **error);

/* RESULTS_ERROR at the row, about one column. Returns FALSE. */
gboolean results_row_error (const ResultsRow *row, guint column, GError **error, const char *format,
                            ...) G_GNUC_PRINTF (4, 5);

/* A decimal number; NaN for "NaN" and for a missing optional column. */
gboolean results_row_number (const ResultsRow *row, guint column, double *value, GError **error);

/* Microseconds to picoseconds. */
gboolean results_row_time (const ResultsRow *row, guint column, SimTime *time, GError **error);

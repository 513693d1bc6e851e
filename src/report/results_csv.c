#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csv.h>

#include "report/results_csv.h"

#define MAX_FIELD_BYTES (1024 * 1024)
#define MAX_COLUMNS     1000
#define CHUNK_BYTES     (64 * 1024)
#define MAX_TIME_US     4e12 /* so that differences fit 64 bits of picoseconds */

G_DEFINE_QUARK (fsdpsim_results_error, results_error)

typedef struct
{
  const char *file;
  const ResultsReader *reader;
  gpointer data;
  struct csv_parser parser;
  GPtrArray *header; /* NULL before it was read */
  GPtrArray *fields; /* of the row so far */
  int *places;       /* of each wanted column in the file, or -1 */
  const char **values;
  guint line, row_line; /* of the bytes now read, and where the row began */
  GError *error;        /* the first */
} Reading;

static void fail (Reading *reading, guint line, const char *format, ...) G_GNUC_PRINTF (3, 4);

static void
fail (Reading *reading, guint line, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list arguments;

  if (reading->error != NULL)
    return;
  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (&reading->error, RESULTS_ERROR, RESULTS_ERROR_BAD, "%s:%u: %s", reading->file, line,
               text);
}

/* ---- rows ---- */

static int
find_column (const GPtrArray *header, const char *name)
{
  for (guint i = 0; i < header->len; i++)
    if (strcmp (g_ptr_array_index (header, i), name) == 0)
      return (int)i;
  return -1;
}

static void
take_header (Reading *reading)
{
  const ResultsReader *reader = reading->reader;

  reading->header = g_steal_pointer (&reading->fields);
  reading->fields = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < reader->n_columns; i++)
    {
      reading->places[i] = find_column (reading->header, reader->columns[i].name);
      if (reading->places[i] < 0 && !reader->columns[i].is_optional)
        fail (reading, reading->row_line, "the header has no column %s", reader->columns[i].name);
    }
}

static void
take_row (Reading *reading)
{
  const ResultsReader *reader = reading->reader;
  const ResultsRow row = { .file = reading->file,
                           .line = reading->row_line,
                           .columns = reader->columns,
                           .values = reading->values,
                           .header = reading->header,
                           .fields = reading->fields };

  if (reading->fields->len != reading->header->len)
    {
      fail (reading, reading->row_line, "%u fields, where the header has %u", reading->fields->len,
            reading->header->len);
      return;
    }
  for (guint i = 0; i < reader->n_columns; i++)
    reading->values[i]
        = reading->places[i] < 0 ? NULL : g_ptr_array_index (reading->fields, reading->places[i]);
  reader->take_row (&row, reading->data, &reading->error);
}

static void
on_field (void *bytes, size_t length, void *data)
{
  Reading *reading = data;

  if (reading->error != NULL)
    return;
  if (!g_utf8_validate (bytes, (gssize)length, NULL))
    fail (reading, reading->line, "field %u is no UTF-8 text", reading->fields->len + 1);
  else if (reading->fields->len >= MAX_COLUMNS)
    fail (reading, reading->line, "more than %d fields", MAX_COLUMNS);
  else
    g_ptr_array_add (reading->fields, g_strndup (bytes, length));
}

static void
on_row (int character, void *data)
{
  Reading *reading = data;

  (void)character;
  if (reading->error == NULL && reading->fields->len > 0)
    {
      if (reading->header == NULL)
        take_header (reading);
      else
        take_row (reading);
      g_ptr_array_set_size (reading->fields, 0);
    }
  reading->row_line = reading->line + 1;
}

/* ---- bytes ---- */

/* White space belongs to a field. */
static int
is_no_space (unsigned char character)
{
  (void)character;
  return 0;
}

static void
reading_init (Reading *reading, const char *file, const ResultsReader *reader, gpointer data)
{
  *reading = (Reading){ .file = file, .reader = reader, .data = data, .line = 1, .row_line = 1 };
  if (csv_init (&reading->parser, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL) != 0)
    g_error ("no memory for a CSV parser");
  csv_set_space_func (&reading->parser, is_no_space);
  reading->fields = g_ptr_array_new_with_free_func (g_free);
  reading->places = g_new0 (int, reader->n_columns);
  reading->values = g_new0 (const char *, reader->n_columns);
}

static void
reading_clear (Reading *reading)
{
  csv_free (&reading->parser);
  g_clear_pointer (&reading->header, g_ptr_array_unref);
  g_ptr_array_unref (reading->fields);
  g_free (reading->places);
  g_free (reading->values);
}

/* Line by line, so that the parser's callbacks know where they are. */
static gboolean
feed (Reading *reading, const char *bytes, gsize length)
{
  while (length > 0 && reading->error == NULL)
    {
      const char *end = memchr (bytes, '\n', length);
      const gsize piece = end == NULL ? length : (gsize)(end + 1 - bytes);

      if (csv_parse (&reading->parser, bytes, piece, on_field, on_row, reading) != piece)
        fail (reading, reading->line, "%s", "a quotation mark where none may stand");
      if (csv_get_buffer_size (&reading->parser) > MAX_FIELD_BYTES + CHUNK_BYTES)
        fail (reading, reading->row_line, "a field of more than %d bytes", MAX_FIELD_BYTES);
      if (end != NULL)
        reading->line++;
      bytes += piece;
      length -= piece;
    }
  return reading->error == NULL;
}

static gboolean
finish (Reading *reading, GError **error)
{
  if (reading->error == NULL && csv_fini (&reading->parser, on_field, on_row, reading) != 0)
    fail (reading, reading->row_line, "%s", "a quotation mark that is never closed");
  if (reading->error == NULL && reading->header == NULL)
    fail (reading, 1, "%s", "an empty file, where a header was expected");
  if (reading->error == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&reading->error));
  return FALSE;
}

gboolean
results_read_text (const char *file, const char *text, gsize length, const ResultsReader *reader,
                   gpointer data, GError **error)
{
  Reading reading;
  gboolean read;

  reading_init (&reading, file, reader, data);
  feed (&reading, text, length);
  read = finish (&reading, error);
  reading_clear (&reading);
  return read;
}

/* ---- files ---- */

static gboolean
set_file_error (const char *path, int code, GError **error)
{
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), "cannot read %s: %s", path,
               g_strerror (code));
  return FALSE;
}

/* Of a regular file; a pipe could keep the program waiting for ever. */
static int
open_regular (const char *path, GError **error)
{
  const int descriptor = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status;

  if (descriptor < 0)
    {
      set_file_error (path, errno, error);
      return -1;
    }
  if (fstat (descriptor, &status) == 0 && S_ISREG (status.st_mode))
    return descriptor;
  close (descriptor);
  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "cannot read %s: not a regular file", path);
  return -1;
}

gboolean
results_read_file (const char *path, const ResultsReader *reader, gpointer data, GError **error)
{
  const int descriptor = open_regular (path, error);
  g_autofree char *chunk = g_malloc (CHUNK_BYTES);
  gboolean is_read = FALSE;
  Reading reading;
  ssize_t n;

  if (descriptor < 0)
    return FALSE;
  reading_init (&reading, path, reader, data);
  do
    n = read (descriptor, chunk, CHUNK_BYTES);
  while ((n < 0 && errno == EINTR) || (n > 0 && feed (&reading, chunk, (gsize)n)));
  if (n < 0)
    set_file_error (path, errno, error);
  else
    is_read = finish (&reading, error);
  reading_clear (&reading);
  close (descriptor);
  return is_read;
}

char *
results_load_file (const char *path, gsize max_bytes, gsize *length, GError **error)
{
  const int descriptor = open_regular (path, error);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *chunk = g_malloc (CHUNK_BYTES);
  ssize_t n;

  if (descriptor < 0)
    return NULL;
  do
    {
      n = read (descriptor, chunk, CHUNK_BYTES);
      if (n > 0)
        g_string_append_len (text, chunk, n);
    }
  while ((n < 0 && errno == EINTR) || (n > 0 && text->len <= max_bytes));
  if (n < 0 || text->len > max_bytes)
    set_file_error (path, n < 0 ? errno : EFBIG, error);
  close (descriptor);
  if (n < 0 || text->len > max_bytes)
    return NULL;
  *length = text->len;
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* ---- values ---- */

gboolean
results_row_error (const ResultsRow *row, guint column, GError **error, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, RESULTS_ERROR, RESULTS_ERROR_BAD, "%s:%u: %s: %s", row->file, row->line,
               row->columns[column].name, text);
  return FALSE;
}

gboolean
results_row_number (const ResultsRow *row, guint column, double *value, GError **error)
{
  const char *text = row->values[column];
  char *end = NULL;

  *value = (double)NAN;
  if (text == NULL || strcmp (text, "NaN") == 0)
    return TRUE;
  if (text[0] != '\0' && text[strspn (text, "0123456789+-.eE")] == '\0')
    *value = g_ascii_strtod (text, &end);
  if (end != NULL && *end == '\0' && isfinite (*value))
    return TRUE;
  return results_row_error (row, column, error, "'%.40s' is no number", text);
}

gboolean
results_row_time (const ResultsRow *row, guint column, SimTime *time, GError **error)
{
  double time_us;

  if (!results_row_number (row, column, &time_us, error))
    return FALSE;
  if (!(fabs (time_us) <= MAX_TIME_US))
    return results_row_error (row, column, error, "'%.40s' is no time", row->values[column]);
  *time = (SimTime)llround (time_us * (double)PICOSECONDS_PER_MICROSECOND);
  return TRUE;
}

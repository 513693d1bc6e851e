#include <config.h>

#include <string.h>

#include <csv.h>

#include "report/csv.h"
#include "report/format.h"

void
csv_begin (Csv *csv, const char *header)
{
  csv->text = g_string_new (header);
  g_string_append_c (csv->text, '\n');
  csv->in_row = FALSE;
}

void
csv_begin_rows (Csv *csv)
{
  csv->text = g_string_sized_new (512);
  csv->in_row = FALSE;
}

static void
add (Csv *csv, const char *field)
{
  if (csv->in_row)
    g_string_append_c (csv->text, ',');
  g_string_append (csv->text, field);
  csv->in_row = TRUE;
}

void
csv_add_text (Csv *csv, const char *text)
{
  const gsize length = strlen (text);
  gsize quoted_length, old_length;

  if (strpbrk (text, ",\"\r\n") == NULL)
    {
      add (csv, text);
      return;
    }
  add (csv, "");
  quoted_length = csv_write2 (NULL, 0, text, length, CSV_QUOTE);
  old_length = csv->text->len;
  g_string_set_size (csv->text, old_length + quoted_length);
  csv_write2 (csv->text->str + old_length, quoted_length, text, length, CSV_QUOTE);
}

void
csv_add_integer (Csv *csv, gint64 value)
{
  char buffer[FORMAT_SIZE];

  g_snprintf (buffer, sizeof buffer, "%" G_GINT64_FORMAT, value);
  add (csv, buffer);
}

void
csv_add_number (Csv *csv, double value)
{
  char buffer[FORMAT_SIZE];

  add (csv, format_real (buffer, "%.12g", value));
}

void
csv_add_seconds (Csv *csv, double value)
{
  char buffer[FORMAT_SIZE];

  add (csv, format_real (buffer, "%.12f", value));
}

void
csv_add_bytes (Csv *csv, double value)
{
  char buffer[FORMAT_SIZE];

  add (csv, format_real (buffer, "%.0f", value));
}

void
csv_add_time_us (Csv *csv, SimTime time)
{
  char buffer[FORMAT_SIZE];

  add (csv, format_time_us (buffer, time));
}

void
csv_end_row (Csv *csv)
{
  g_string_append_c (csv->text, '\n');
  csv->in_row = FALSE;
}

char *
csv_finish (Csv *csv)
{
  return g_string_free (g_steal_pointer (&csv->text), FALSE);
}

#include <config.h>

#include "config/csv_table.h"

#include <string.h>

#include <csv.h>

#define BYTE_ORDER_MARK "\xEF\xBB\xBF"

typedef struct
{
  gsize text;  /* into the pool */
  gsize begin; /* into the source: behind the comma or line end before it */
} Field;

struct _CsvTable
{
  char *name;
  char *source; /* a copy, for places */
  gsize length;
  GString *pool; /* fields, each with a NUL behind it */
  GArray *fields;
  GArray *rows; /* guint: the first field of each */
  /* while reading */
  gsize at;
  gsize begin;
  guint line;
  gboolean row_is_open;
};

static void
open_row (CsvTable *table)
{
  if (!table->row_is_open)
    g_array_append_val (table->rows, table->fields->len);
  table->row_is_open = TRUE;
}

static void
take_field (void *bytes, size_t n, void *data)
{
  CsvTable *table = data;
  Field field = { table->pool->len, table->begin };

  open_row (table);
  g_array_append_val (table->fields, field);
  g_string_append_len (table->pool, bytes, (gssize)n);
  g_string_append_c (table->pool, '\0');
  table->begin = table->at + 1;
}

static void
take_row (int terminator, void *data)
{
  CsvTable *table = data;

  (void)terminator;
  table->row_is_open = FALSE;
  table->begin = table->at + 1;
}

static void
note_here (const CsvTable *table, const char *message, Problems *problems)
{
  Place place = { .file = table->name, .line = table->line };

  problems_add (problems, &place, NULL, NULL, "%s", message);
}

/* One byte at a time, so that places of fields are known. */
static gboolean
parse (CsvTable *table, Problems *problems)
{
  struct csv_parser parser;
  gboolean good = TRUE;

  csv_init (&parser, CSV_STRICT | CSV_STRICT_FINI);
  for (; good && table->at < table->length; table->at++)
    {
      good = csv_parse (&parser, table->source + table->at, 1, take_field, take_row, table) == 1;
      if (good && table->source[table->at] == '\n')
        {
          table->line++;
          if (!table->row_is_open)
            table->begin = table->at + 1;
        }
    }
  if (!good)
    note_here (table, "a quote inside an unquoted field, or text behind a closing quote", problems);
  else if (csv_fini (&parser, take_field, take_row, table) != 0)
    {
      note_here (table, "a quoted field that is not closed", problems);
      good = FALSE;
    }
  csv_free (&parser);
  return good;
}

CsvTable *
csv_table_read (const char *name, const char *text, gsize length, Problems *problems)
{
  g_autoptr (CsvTable) table = g_new0 (CsvTable, 1);

  if (length >= strlen (BYTE_ORDER_MARK)
      && memcmp (text, BYTE_ORDER_MARK, strlen (BYTE_ORDER_MARK)) == 0)
    {
      text += strlen (BYTE_ORDER_MARK);
      length -= strlen (BYTE_ORDER_MARK);
    }
  table->name = g_strdup (name);
  table->source = g_strndup (text, length);
  table->length = length;
  table->pool = g_string_sized_new (length + 1);
  table->fields = g_array_new (FALSE, FALSE, sizeof (Field));
  table->rows = g_array_new (FALSE, FALSE, sizeof (guint));
  problems_meet_file (problems, name);
  if (!g_utf8_validate (text, (gssize)length, NULL)) /* nor is it with a NUL */
    {
      note_here (table, "not UTF-8 text", problems);
      return NULL;
    }
  table->line = 1;
  return parse (table, problems) ? g_steal_pointer (&table) : NULL;
}

void
csv_table_free (CsvTable *table)
{
  if (table == NULL)
    return;
  g_free (table->name);
  g_free (table->source);
  g_string_free (table->pool, TRUE);
  g_array_unref (table->fields);
  g_array_unref (table->rows);
  g_free (table);
}

guint
csv_table_n_rows (const CsvTable *table)
{
  return table->rows->len;
}

static guint
first_field (const CsvTable *table, guint row)
{
  if (row >= table->rows->len)
    return table->fields->len;
  return g_array_index (table->rows, guint, row);
}

guint
csv_table_n_fields (const CsvTable *table, guint row)
{
  return first_field (table, row + 1) - first_field (table, row);
}

const char *
csv_table_field (const CsvTable *table, guint row, guint field)
{
  g_assert (field < csv_table_n_fields (table, row));
  return table->pool->str
         + g_array_index (table->fields, Field, first_field (table, row) + field).text;
}

Place
csv_table_place (const CsvTable *table, guint row, guint field)
{
  guint n_fields = csv_table_n_fields (table, row);
  guint index = first_field (table, row) + MIN (field, n_fields - 1);
  gsize begin = g_array_index (table->fields, Field, index).begin;
  gsize line = 0, end;
  guint n_lines = 1;

  for (gsize at = 0; at < begin; at++)
    if (table->source[at] == '\n')
      {
        line = at + 1;
        n_lines++;
      }
  end = line + strcspn (table->source + line, "\r\n");
  begin += strspn (table->source + begin, " \t");
  return (Place){ .file = table->name,
                  .line = n_lines,
                  .column = (guint)((field < n_fields ? MIN (begin, end) : end) - line) + 1,
                  .text = g_strndup (table->source + line, end - line) };
}

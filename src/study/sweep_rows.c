#include <config.h>

#include "study/sweep_rows.h"

#include <string.h>

#include "config/csv_table.h"

/* Behind the end of the row that begins at @at; 0 where it has none. */
static gsize
row_end (const char *text, gsize length, gsize at)
{
  gboolean quoted = FALSE;

  for (; at < length; at++)
    if (text[at] == '"')
      quoted = !quoted;
    else if (text[at] == '\n' && !quoted)
      return at + 1;
  return 0;
}

static gboolean
find_status_column (const CsvTable *table, guint *column)
{
  for (*column = 0; *column < csv_table_n_fields (table, 0); (*column)++)
    if (strcmp (csv_table_field (table, 0, *column), "status") == 0)
      return TRUE;
  return FALSE;
}

static gboolean
read_status (const CsvTable *table, guint row, guint column, RunStatus *status)
{
  if (column >= csv_table_n_fields (table, row))
    return FALSE;
  for (*status = RUN_OK; *status <= RUN_FAILED; (*status)++)
    if (strcmp (csv_table_field (table, row, column), run_status_name (*status)) == 0)
      return TRUE;
  return FALSE;
}

GArray *
sweep_rows_read (const char *text, gsize length)
{
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (CsvTable) table = csv_table_read ("summary.csv", text, length, problems);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (SweepRow));
  gsize at = row_end (text, length, 0);
  guint column;

  if (table == NULL || csv_table_n_rows (table) == 0 || !find_status_column (table, &column))
    return NULL;
  for (guint i = 1; i < csv_table_n_rows (table); i++)
    {
      const gsize end = row_end (text, length, at);
      SweepRow row = { .text = text + at, .length = end - at - 1 };

      if (end == 0 || !read_status (table, i, column, &row.status))
        return NULL;
      g_array_append_val (rows, row);
      at = end;
    }
  return at == length ? g_steal_pointer (&rows) : NULL;
}

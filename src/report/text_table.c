#include <config.h>

#include <string.h>

#include "report/text_table.h"

typedef struct
{
  char *text;
  gboolean is_wide;
} Cell;

struct _TextTable
{
  guint n_columns;
  GArray *cells; /* Cell */
};

static void
clear_cell (gpointer cell)
{
  g_free (((Cell *)cell)->text);
}

TextTable *
text_table_new (guint n_columns)
{
  TextTable *table = g_new0 (TextTable, 1);

  table->n_columns = n_columns;
  table->cells = g_array_new (FALSE, FALSE, sizeof (Cell));
  g_array_set_clear_func (table->cells, clear_cell);
  return table;
}

void
text_table_free (TextTable *table)
{
  if (table == NULL)
    return;
  g_array_unref (table->cells);
  g_free (table);
}

static void
add_cell (TextTable *table, const char *text, gboolean is_wide)
{
  Cell cell = { g_strdup (text), is_wide };

  g_array_append_val (table->cells, cell);
}

void
text_table_add (TextTable *table, const char *text)
{
  add_cell (table, text, FALSE);
}

void
text_table_add_wide (TextTable *table, const char *text)
{
  add_cell (table, text, TRUE);
}

guint
text_width (const char *text)
{
  guint width = 0;

  for (; *text != '\0'; text = g_utf8_next_char (text))
    {
      gunichar letter = g_utf8_get_char (text);

      if (!g_unichar_iszerowidth (letter))
        width += g_unichar_iswide (letter) ? 2 : 1;
    }
  return width;
}

static guint *
measure_columns (const TextTable *table)
{
  guint *widths = g_new0 (guint, table->n_columns);

  for (guint i = 0; i < table->cells->len; i++)
    {
      const Cell *cell = &g_array_index (table->cells, Cell, i);
      guint *width = &widths[i % table->n_columns];

      if (!cell->is_wide)
        *width = MAX (*width, text_width (cell->text));
    }
  return widths;
}

static void
pad (GString *text, guint from, guint to)
{
  for (; from < to; from++)
    g_string_append_c (text, ' ');
}

static void
render_row (const TextTable *table, const Cell *cells, const guint *widths, GString *text)
{
  guint used = text_width (cells[0].text); /* columns of this line so far */
  guint end = widths[0];

  g_string_append (text, cells[0].text);
  for (guint c = 1; c < table->n_columns; c++)
    {
      const guint width = text_width (cells[c].text);

      end += 2 + widths[c];
      if (width == 0)
        continue;
      pad (text, used, end - MIN (end, width));
      g_string_append (text, cells[c].text);
      used = MAX (used + width, end);
    }
  g_string_append_c (text, '\n');
}

void
text_table_render (const TextTable *table, GString *text)
{
  g_autofree guint *widths = measure_columns (table);

  g_assert (table->cells->len % table->n_columns == 0);
  for (guint i = 0; i < table->cells->len; i += table->n_columns)
    render_row (table, &g_array_index (table->cells, Cell, i), widths, text);
}

void
text_append_wrapped (GString *text, const char *words, guint indent)
{
  g_auto (GStrv) parts = g_strsplit (words, " ", -1);
  guint used = 0;

  for (guint i = 0; parts[i] != NULL; i++)
    {
      const guint width = text_width (parts[i]);

      if (i > 0 && used + 1 + width > TEXT_WIDTH)
        {
          g_string_append_c (text, '\n');
          pad (text, 0, indent);
          used = indent;
        }
      else if (i > 0)
        {
          g_string_append_c (text, ' ');
          used++;
        }
      g_string_append (text, parts[i]);
      used += width;
    }
  g_string_append_c (text, '\n');
}

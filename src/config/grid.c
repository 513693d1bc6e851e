#include <config.h>

#include "config/grid.h"
#include "config/csv_table.h"
#include "config/keys_unknown.h"
#include "config/value_list.h"

#include <string.h>

typedef struct
{
  guint first_key;
  guint n_keys;
  GPtrArray *values; /* char *; n_keys a row */
  gsize stride;      /* cells between two of its rows */
  gboolean is_list;
} Axis;

struct _Grid
{
  GPtrArray *keys;  /* const KeyInfo * */
  GArray *key_axis; /* guint: the axis of each key */
  GArray *axes;     /* Axis */
  gsize n_cells;
};

static void
axis_clear (gpointer data)
{
  g_ptr_array_unref (((Axis *)data)->values);
}

Grid *
grid_new (void)
{
  Grid *grid = g_new0 (Grid, 1);

  grid->keys = g_ptr_array_new ();
  grid->key_axis = g_array_new (FALSE, FALSE, sizeof (guint));
  grid->axes = g_array_new (FALSE, FALSE, sizeof (Axis));
  g_array_set_clear_func (grid->axes, axis_clear);
  grid->n_cells = 1;
  return grid;
}

void
grid_free (Grid *grid)
{
  if (grid == NULL)
    return;
  g_ptr_array_unref (grid->keys);
  g_array_unref (grid->key_axis);
  g_array_unref (grid->axes);
  g_free (grid);
}

static guint
axis_n_rows (const Axis *axis)
{
  g_assert (axis->n_keys > 0);
  return axis->values->len / axis->n_keys;
}

static const Axis *
grid_axis (const Grid *grid, guint index)
{
  return &g_array_index (grid->axes, Axis, index);
}

/* ---- adding an axis ---- */

static gboolean
add_key (Grid *grid, const KeyInfo *key, const Place *place, Problems *problems)
{
  const guint axis = grid->axes->len;

  if (g_ptr_array_find (grid->keys, key, NULL))
    {
      problems_add (problems, place, key->section, key->key, "varied twice");
      return FALSE;
    }
  g_ptr_array_add (grid->keys, (gpointer)key);
  g_array_append_val (grid->key_axis, axis);
  return TRUE;
}

/* The axis of the last @n_keys keys; takes @values. */
static gboolean
add_axis (Grid *grid, guint n_keys, GPtrArray *values, gboolean is_list, const Place *place,
          Problems *problems)
{
  const Axis axis = { grid->keys->len - n_keys, n_keys, values, 1, is_list };
  const guint n_rows = axis_n_rows (&axis);
  const gboolean fits = n_rows <= GRID_MOST_CELLS / grid->n_cells;

  for (guint i = 0; fits && i < grid->axes->len; i++)
    g_array_index (grid->axes, Axis, i).stride *= n_rows;
  g_array_append_val (grid->axes, axis);
  if (fits)
    grid->n_cells *= n_rows;
  else
    problems_add (problems, place, NULL, NULL,
                  "over %d cells; fewer values would do, or several sweeps", GRID_MOST_CELLS);
  return fits;
}

gboolean
grid_add_list (Grid *grid, const KeyInfo *key, const char *list, const Place *place,
               Problems *problems)
{
  GPtrArray *values = g_ptr_array_new_with_free_func (g_free);
  gboolean good = value_list_read (key, list, place, values, problems);

  good = good && add_key (grid, key, place, problems);
  if (good)
    return add_axis (grid, 1, values, TRUE, place, problems);
  g_ptr_array_unref (values);
  return FALSE;
}

gboolean
grid_add_option (Grid *grid, const char *option, Problems *problems)
{
  Place place = { .file = "--vary", .column = 1, .text = option };
  const char *equals = strchr (option, '=');
  g_autofree char *name = g_strndup (option, equals != NULL ? (gsize)(equals - option) : 0);
  const KeyInfo *key;
  g_autofree char *message = NULL;

  g_strstrip (name);
  if (!g_utf8_validate (option, -1, NULL) || equals == NULL)
    {
      problems_add (problems, &place, NULL, NULL, "expected SECTION.KEY=V1,V2,…");
      return FALSE;
    }
  key = keys_find_dotted (name);
  if (key == NULL)
    {
      message = unknown_dotted_message (name);
      problems_add (problems, &place, NULL, name, "%s", message);
      return FALSE;
    }
  place.column = (guint)(equals - option) + 2;
  return grid_add_list (grid, key, equals + 1, &place, problems);
}

/* ---- a file of points ---- */

static gboolean
add_point_key (Grid *grid, const CsvTable *table, guint column, Problems *problems)
{
  g_autofree char *name = g_strdup (csv_table_field (table, 0, column));
  const KeyInfo *key = keys_find_dotted (g_strstrip (name));
  Place place = csv_table_place (table, 0, column);
  g_autofree char *line G_GNUC_UNUSED = (char *)place.text; /* freed with this scope */
  g_autofree char *message = NULL;

  if (key != NULL)
    return add_key (grid, key, &place, problems);
  message = unknown_dotted_message (name);
  problems_add (problems, &place, NULL, name, "%s", message);
  return FALSE;
}

static gboolean
add_point (GPtrArray *values, const CsvTable *table, guint row, Problems *problems)
{
  const guint n = csv_table_n_fields (table, row), n_wanted = csv_table_n_fields (table, 0);

  if (n != n_wanted)
    {
      Place place = csv_table_place (table, row, n_wanted);
      g_autofree char *line G_GNUC_UNUSED = (char *)place.text; /* freed with this scope */

      problems_add (problems, &place, NULL, NULL, "%u value%s for %u key%s", n, n == 1 ? "" : "s",
                    n_wanted, n_wanted == 1 ? "" : "s");
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (values, g_strstrip (g_strdup (csv_table_field (table, row, i))));
  return TRUE;
}

gboolean
grid_add_points (Grid *grid, const char *name, const char *text, gsize length, Problems *problems)
{
  g_autoptr (CsvTable) table = csv_table_read (name, text, length, problems);
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (g_free);
  const Place whole = { .file = name };
  guint n_rows, n_keys;
  gboolean good = TRUE;

  if (table == NULL)
    return FALSE;
  n_rows = csv_table_n_rows (table);
  if (n_rows < 2)
    {
      problems_add (problems, &whole, NULL, NULL,
                    "no points; expected a header of keys such as cluster.nodes, then a row a "
                    "point");
      return FALSE;
    }
  n_keys = csv_table_n_fields (table, 0);
  for (guint i = 0; i < n_keys; i++)
    good &= add_point_key (grid, table, i, problems);
  for (guint row = 1; row < n_rows && !problems_are_enough (problems); row++)
    good &= add_point (values, table, row, problems);
  return good && add_axis (grid, n_keys, g_steal_pointer (&values), FALSE, &whole, problems);
}

/* ---- reading it ---- */

guint
grid_n_keys (const Grid *grid)
{
  return grid->keys->len;
}

const KeyInfo *
grid_key (const Grid *grid, guint index)
{
  return g_ptr_array_index (grid->keys, index);
}

gsize
grid_n_cells (const Grid *grid)
{
  return grid->n_cells;
}

static const Axis *
axis_of (const Grid *grid, guint key)
{
  return grid_axis (grid, g_array_index (grid->key_axis, guint, key));
}

guint
grid_n_values (const Grid *grid, guint key)
{
  return axis_n_rows (axis_of (grid, key));
}

const char *
grid_nth_value (const Grid *grid, guint key, guint n)
{
  const Axis *axis = axis_of (grid, key);

  return g_ptr_array_index (axis->values, n * axis->n_keys + (key - axis->first_key));
}

const char *
grid_value (const Grid *grid, gsize cell, guint key)
{
  const Axis *axis = axis_of (grid, key);

  return grid_nth_value (grid, key, (guint)(cell / axis->stride % axis_n_rows (axis)));
}

gboolean
grid_is_list (const Grid *grid, guint key)
{
  return axis_of (grid, key)->is_list;
}

char *
grid_describe (const Grid *grid)
{
  GString *text = g_string_new (NULL);

  for (guint a = 0; a < grid->axes->len; a++)
    {
      const Axis *axis = grid_axis (grid, a);

      g_string_append_printf (text, "%u keys, %u values\n", axis->n_keys, axis->values->len);
      for (guint k = 0; k < axis->n_keys; k++)
        g_string_append_printf (text, "%s.%s\n", grid_key (grid, axis->first_key + k)->section,
                                grid_key (grid, axis->first_key + k)->key);
      for (guint i = 0; i < axis->values->len; i++)
        {
          const char *value = g_ptr_array_index (axis->values, i);

          g_string_append_printf (text, "%zu:%s\n", strlen (value), value);
        }
    }
  return g_string_free (text, FALSE);
}

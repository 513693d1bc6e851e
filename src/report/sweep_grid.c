#include <config.h>

#include <math.h>
#include <string.h>

#include "report/sweep_grid.h"

#define MOST_NAMED 3 /* keys that a subtitle has room for */

/* ---- distinct texts ---- */

typedef const char *(*TextOfRow) (const ResultsVariant *variant, guint key);

static const char *
name_of_row (const ResultsVariant *variant, guint key)
{
  (void)key;
  return variant->name;
}

static const char *
value_of_row (const ResultsVariant *variant, guint key)
{
  return variant->key_values[key];
}

/* The texts in order of appearance; *indexes receives that of each row. */
static GPtrArray *
distinct (const Results *results, TextOfRow text_of, guint key, guint32 **indexes)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *texts = g_ptr_array_new ();

  *indexes = g_new (guint32, results->variants->len);
  for (guint i = 0; i < results->variants->len; i++)
    {
      const char *text = text_of (results_variant (results, i), key);
      gpointer index;

      if (!g_hash_table_lookup_extended (seen, text, NULL, &index))
        {
          index = GUINT_TO_POINTER (texts->len);
          g_hash_table_insert (seen, (gpointer)text, index);
          g_ptr_array_add (texts, (gpointer)text);
        }
      (*indexes)[i] = GPOINTER_TO_UINT (index);
    }
  return texts;
}

/* ---- axes ---- */

/* All of one unit, and above 0, so that they can stand on a logarithmic axis. */
static double *
numbers_of (const GPtrArray *texts)
{
  g_autofree double *numbers = g_new (double, texts->len);
  const char *unit = NULL;

  for (guint i = 0; i < texts->len; i++)
    {
      char *end;

      numbers[i] = g_ascii_strtod (texts->pdata[i], &end);
      if (end == texts->pdata[i] || !isfinite (numbers[i]) || numbers[i] <= 0
          || (unit != NULL && strcmp (unit, end) != 0))
        return NULL;
      unit = end;
    }
  return g_steal_pointer (&numbers);
}

static gint
compare_numbers (gconstpointer a, gconstpointer b, gpointer numbers)
{
  const double number_a = ((const double *)numbers)[*(const guint32 *)a];
  const double number_b = ((const double *)numbers)[*(const guint32 *)b];

  return (number_a > number_b) - (number_a < number_b);
}

static void
sort_axis (SweepAxis *axis, guint n_rows)
{
  const guint n = axis->values->len;
  g_autofree guint32 *order = g_new (guint32, n);
  g_autofree guint32 *place = g_new (guint32, n);
  g_autofree double *numbers = g_steal_pointer (&axis->numbers);
  GPtrArray *sorted = g_ptr_array_new ();

  axis->numbers = g_new (double, n);
  for (guint32 i = 0; i < n; i++)
    order[i] = i;
  g_qsort_with_data (order, (gint)n, sizeof *order, compare_numbers, numbers);
  for (guint32 i = 0; i < n; i++)
    {
      place[order[i]] = i;
      axis->numbers[i] = numbers[order[i]];
      g_ptr_array_add (sorted, axis->values->pdata[order[i]]);
    }
  for (guint i = 0; i < n_rows; i++)
    axis->value_rows[i] = place[axis->value_rows[i]];
  g_ptr_array_unref (axis->values);
  axis->values = sorted;
}

static void
axis_free (gpointer data)
{
  SweepAxis *axis = data;

  g_ptr_array_unref (axis->values);
  g_free (axis->numbers);
  g_free (axis->value_rows);
  g_free (axis);
}

static void
add_axis (SweepGrid *grid, guint key)
{
  SweepAxis *axis = g_new0 (SweepAxis, 1);

  axis->key = key;
  axis->name = grid->results->keys[key];
  axis->values = distinct (grid->results, value_of_row, key, &axis->value_rows);
  if (axis->values->len < 2)
    {
      axis_free (axis);
      return;
    }
  axis->numbers = numbers_of (axis->values);
  if (axis->numbers != NULL)
    sort_axis (axis, grid->results->variants->len);
  g_ptr_array_add (grid->axes, axis);
}

SweepGrid *
sweep_grid_new (const Results *results)
{
  SweepGrid *grid = g_new0 (SweepGrid, 1);

  grid->results = results;
  grid->axes = g_ptr_array_new_with_free_func (axis_free);
  grid->variants = distinct (results, name_of_row, 0, &grid->variant_rows);
  for (guint k = 0; results->keys[k] != NULL; k++)
    add_axis (grid, k);
  return grid;
}

void
sweep_grid_free (SweepGrid *grid)
{
  if (grid == NULL)
    return;
  g_ptr_array_unref (grid->axes);
  g_ptr_array_unref (grid->variants);
  g_free (grid->variant_rows);
  g_free (grid);
}

/* ---- the best ---- */

static gboolean
is_better (const ResultsVariant *variant, const ResultsVariant *than)
{
  if (than == NULL)
    return TRUE;
  if (results_fits (variant) != results_fits (than))
    return results_fits (variant);
  if (results_fits (variant))
    return variant->tokens_per_s_per_gpu > than->tokens_per_s_per_gpu;
  return results_did_run (variant) && !results_did_run (than);
}

const ResultsVariant **
sweep_grid_best (const SweepGrid *grid, const SweepAxis *x, const SweepAxis *y)
{
  const guint n_x = x->values->len, n_y = y != NULL ? y->values->len : 1;
  const ResultsVariant **best
      = g_new0 (const ResultsVariant *, (gsize)grid->variants->len *n_x *n_y);

  for (guint i = 0; i < grid->results->variants->len; i++)
    {
      const guint row = grid->variant_rows[i] * n_y + (y != NULL ? y->value_rows[i] : 0);
      const ResultsVariant **place = &best[(gsize)row * n_x + x->value_rows[i]];

      if (is_better (results_variant (grid->results, i), *place))
        *place = results_variant (grid->results, i);
    }
  return best;
}

const SweepAxis *
sweep_grid_main_axis (const SweepGrid *grid)
{
  const SweepAxis *best = NULL;

  for (guint i = 0; i < grid->axes->len; i++)
    {
      const SweepAxis *axis = sweep_grid_axis (grid, i);

      if (strcmp (axis->name, "cluster.nodes") == 0)
        return axis;
      if (best == NULL || (axis->numbers != NULL) > (best->numbers != NULL)
          || ((axis->numbers != NULL) == (best->numbers != NULL)
              && axis->values->len > best->values->len))
        best = axis;
    }
  return best;
}

/* ---- words ---- */

static const char *
short_name (const SweepAxis *axis)
{
  const char *dot = strrchr (axis->name, '.');

  return dot != NULL ? dot + 1 : axis->name;
}

char *
sweep_grid_best_of (const SweepGrid *grid, const SweepAxis *x, const SweepAxis *y)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint n = 0;

  for (guint i = 0; i < grid->axes->len; i++)
    {
      const SweepAxis *axis = sweep_grid_axis (grid, i);

      if (axis != x && axis != y)
        g_string_append_printf (text, "%s%s", n++ == 0 ? "; best of " : ", ", short_name (axis));
    }
  if (n > MOST_NAMED)
    return g_strdup_printf ("; best of %u other keys", n);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* A word such as FULL_SHARD says by itself what it is about. */
static gboolean
speaks_for_itself (const char *value)
{
  return g_ascii_isupper (value[0]);
}

char *
sweep_grid_words (const SweepGrid *grid, const ResultsVariant *row)
{
  GString *text = g_string_new (grid->variants->len > 1 || grid->axes->len == 0 ? row->name : NULL);

  for (guint i = 0; i < grid->axes->len; i++)
    {
      const SweepAxis *axis = sweep_grid_axis (grid, i);
      const char *value = row->key_values[axis->key];

      if (strcmp (value, "auto") == 0)
        continue;
      if (text->len > 0)
        g_string_append_c (text, ' ');
      if (!speaks_for_itself (value))
        g_string_append_printf (text, "%s=", short_name (axis));
      g_string_append (text, value);
    }
  return g_string_free (text, FALSE);
}

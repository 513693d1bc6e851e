#include <config.h>

#include <math.h>
#include <string.h>

#include "report/csv.h"
#include "report/files.h"
#include "report/format.h"
#include "report/names.h"
#include "report/plot_curves.h"
#include "report/plot_pareto.h"
#include "report/plot_sweep.h"
#include "report/plot_text.h"

#define MOST_HEATMAPS  8  /* variants that get one */
#define MOST_COLUMNS   20 /* cells with room for their text */
#define MOST_CELL_ROWS 30

typedef struct
{
  const SweepGrid *grid;
  const SweepAxis *x, *y;
  const ResultsVariant **best; /* as sweep_grid_best() */
  double least, most;          /* MFU of all variants, so that colours compare */
} Heatmap;

static const ResultsVariant *
cell (const Heatmap *heatmap, guint variant, guint x, guint y)
{
  return heatmap
      ->best[((gsize)variant * heatmap->y->values->len + y) * heatmap->x->values->len + x];
}

static void
find_range (Heatmap *heatmap)
{
  const gsize n
      = (gsize)heatmap->grid->variants->len * heatmap->x->values->len * heatmap->y->values->len;

  heatmap->least = (double)INFINITY;
  heatmap->most = 0;
  for (gsize i = 0; i < n; i++)
    if (heatmap->best[i] != NULL && results_fits (heatmap->best[i]))
      {
        heatmap->least = MIN (heatmap->least, heatmap->best[i]->mfu_percent);
        heatmap->most = MAX (heatmap->most, heatmap->best[i]->mfu_percent);
      }
}

static const char *
cell_words (const ResultsVariant *row)
{
  if (row == NULL)
    return "";
  return strcmp (row->status, "does_not_fit") == 0 ? "OOM" : row->status;
}

/* CSV: x,y,mfu_percent,text. */
static char *
cells_csv (const Heatmap *heatmap, guint variant)
{
  char number[FORMAT_SIZE];
  Csv csv;

  csv_begin (&csv, "x,y,mfu_percent,text");
  for (guint y = 0; y < heatmap->y->values->len; y++)
    for (guint x = 0; x < heatmap->x->values->len; x++)
      {
        const ResultsVariant *row = cell (heatmap, variant, x, y);
        const gboolean fits = row != NULL && results_fits (row);

        csv_add_integer (&csv, x + 1);
        csv_add_integer (&csv, y + 1);
        csv_add_number (&csv, fits ? row->mfu_percent : (double)NAN);
        csv_add_text (&csv, fits ? format_fixed (number, 1, row->mfu_percent) : cell_words (row));
        csv_end_row (&csv);
      }
  return csv_finish (&csv);
}

static void
set_axis (GString *script, const char *array, const char *name, const SweepAxis *axis)
{
  g_auto (GStrv) texts = g_new0 (char *, axis->values->len + 1);

  for (guint i = 0; i < axis->values->len; i++)
    texts[i] = plot_text_shorten (axis->values->pdata[i], 18);
  plot_text_set_array (script, array, (const char *const *)texts);
  plot_text_set (script, name, axis->name);
}

static gboolean
add_heatmap (Pictures *pictures, const Heatmap *heatmap, guint variant, const char *file,
             GError **error)
{
  const char *variant_name = heatmap->grid->variants->pdata[variant];
  g_autofree char *name = g_strdup_printf ("mfu-%s", file);
  g_autofree char *data_name = g_strdup_printf ("mfu-%s.csv", file);
  g_autofree char *title
      = g_strdup_printf ("%s: %s", picture_title (pictures->results), variant_name);
  g_autofree char *best_of = sweep_grid_best_of (heatmap->grid, heatmap->x, heatmap->y);
  g_autofree char *subtitle
      = g_strdup_printf ("MFU in percent; OOM: does not fit in memory%s", best_of);
  g_autofree char *stamp = picture_stamp (pictures->results, 0, pictures->results->variants->len);
  g_autofree char *data = cells_csv (heatmap, variant);
  GString *script = picture_begin (pictures, name, title, subtitle, stamp);

  plot_text_set (script, "data", data_name);
  set_axis (script, "columns", "x_name", heatmap->x);
  set_axis (script, "rows", "y_name", heatmap->y);
  plot_text_set_number (script, "n_columns", heatmap->x->values->len);
  plot_text_set_number (script, "n_rows", heatmap->y->values->len);
  plot_text_set_number (script, "least", heatmap->least);
  plot_text_set_number (script, "most", heatmap->most);
  if (files_write (pictures->folder, data_name, data, error))
    return picture_end (pictures, script, "heatmap", error);
  g_string_free (script, TRUE);
  return FALSE;
}

/* The first axis beside the main one. */
static const SweepAxis *
other_axis (const SweepGrid *grid, const SweepAxis *main)
{
  const guint first = sweep_grid_axis (grid, 0) == main ? 1 : 0;

  return sweep_grid_axis (grid, first);
}

static gboolean
add_heatmaps (Pictures *pictures, const SweepGrid *grid, GError **error)
{
  Heatmap heatmap = { .grid = grid, .x = sweep_grid_main_axis (grid) };
  g_autofree const char **names = g_new0 (const char *, grid->variants->len + 1);
  g_auto (GStrv) files = NULL;
  gboolean is_added = TRUE;

  heatmap.y = other_axis (grid, heatmap.x);
  if (heatmap.x->values->len > MOST_COLUMNS || heatmap.y->values->len > MOST_CELL_ROWS)
    return TRUE;
  for (guint i = 0; i < grid->variants->len; i++)
    names[i] = grid->variants->pdata[i];
  files = file_names (names);
  heatmap.best = sweep_grid_best (grid, heatmap.x, heatmap.y);
  find_range (&heatmap);
  for (guint i = 0; is_added && i < MIN (grid->variants->len, MOST_HEATMAPS); i++)
    is_added = add_heatmap (pictures, &heatmap, i, files[i], error);
  g_free (heatmap.best);
  return is_added;
}

gboolean
plot_sweep_add (Pictures *pictures, GError **error)
{
  g_autoptr (SweepGrid) grid = NULL;

  if (!results_is_sweep (pictures->results))
    return TRUE;
  grid = sweep_grid_new (pictures->results);
  if (results_is_plan (pictures->results) && !plot_pareto_add (pictures, grid, error))
    return FALSE;
  if (grid->axes->len > 0 && !plot_curves_add (pictures, grid, error))
    return FALSE;
  return results_is_plan (pictures->results) || grid->axes->len < 2
         || add_heatmaps (pictures, grid, error);
}

#include <config.h>

#include <math.h>

#include "report/csv.h"
#include "report/files.h"
#include "report/format.h"
#include "report/plot_pareto.h"
#include "report/plot_text.h"

#define AXIS_PIXELS  1080 /* as in plots/pareto.gp */
#define LABEL_PIXELS 76   /* of "512 GPUs", with air */
#define LOG_FROM     4    /* the ratio of the ends from which x is logarithmic */
#define BEST_LENGTH  110  /* characters of the best settings in the subtitle */

/* Time along x, what it takes along y: in days and cost or GPU hours where the plan was
 * given tokens, else in tokens a second and GPU hours of a billion of them. */
typedef struct
{
  const Results *results;
  gboolean has_days, has_cost;
  double x_first, x_last, least, most;
} Front;

static double
x_of (const Front *front, const ResultsVariant *row)
{
  return front->has_days ? row->days : row->tokens_per_s;
}

static double
y_of (const Front *front, const ResultsVariant *row)
{
  if (front->has_days)
    return front->has_cost ? row->cost : row->gpu_hours;
  return row->gpus / row->tokens_per_s * 1e9 / 3600;
}

static void
front_init (Front *front, const Results *results)
{
  const ResultsVariant *best = results_variant (results, 0);

  *front = (Front){ .results = results,
                    .has_days = isfinite (best->days),
                    .has_cost = isfinite (best->cost),
                    .x_first = (double)INFINITY,
                    .least = (double)INFINITY };
  for (guint i = 0; i < results->variants->len; i++)
    {
      const ResultsVariant *row = results_variant (results, i);

      front->x_first = MIN (front->x_first, x_of (front, row));
      front->x_last = MAX (front->x_last, x_of (front, row));
      front->least = MIN (front->least, y_of (front, row));
      front->most = MAX (front->most, y_of (front, row));
    }
}

/* ---- points ---- */

static gboolean
is_logarithmic (const Front *front)
{
  return front->x_last >= LOG_FROM * front->x_first;
}

static double
pixel_of (const Front *front, const ResultsVariant *row)
{
  const double first = front->x_first, last = front->x_last, x = x_of (front, row);

  if (!(last > first))
    return 0;
  return AXIS_PIXELS
         * (is_logarithmic (front) ? log (x / first) / log (last / first)
                                   : (x - first) / (last - first));
}

static gint
compare_places (gconstpointer a, gconstpointer b, gpointer front)
{
  const ResultsVariant *row_a = *(ResultsVariant *const *)a, *row_b = *(ResultsVariant *const *)b;
  const double x_a = x_of (front, row_a), x_b = x_of (front, row_b);

  if ((row_a->on_front != 0) != (row_b->on_front != 0))
    return row_a->on_front != 0 ? -1 : 1;
  return (x_a > x_b) - (x_a < x_b);
}

static const char *
kind_of (const ResultsVariant *row)
{
  if (row->meets_limits == 0)
    return "late";
  if (row->row == 0)
    return "best";
  return row->on_front != 0 ? "front" : "other";
}

/* Those on the front, from left to right, and behind them the others. */
static GPtrArray *
sorted_rows (const Front *front)
{
  GPtrArray *rows = g_ptr_array_new ();

  for (guint i = 0; i < front->results->variants->len; i++)
    g_ptr_array_add (rows, results_variant (front->results, i));
  g_ptr_array_sort_with_data (rows, compare_places, (gpointer)front);
  return rows;
}

/* CSV: x,y,kind,on_front,text; a text of the front's points where there is room for it. */
static char *
points_csv (const Front *front)
{
  g_autoptr (GPtrArray) rows = sorted_rows (front);
  double free_from = -(double)INFINITY;
  Csv csv;

  csv_begin (&csv, "x,y,kind,on_front,text");
  for (guint i = 0; i < rows->len; i++)
    {
      const ResultsVariant *row = rows->pdata[i];
      const gboolean is_named = row->on_front != 0 && pixel_of (front, row) >= free_from;
      char number[FORMAT_SIZE];
      g_autofree char *text
          = is_named ? g_strdup_printf ("%s GPUs", format_fixed (number, 0, row->gpus)) : NULL;

      if (is_named)
        free_from = pixel_of (front, row) + LABEL_PIXELS;
      csv_add_number (&csv, x_of (front, row));
      csv_add_number (&csv, y_of (front, row));
      csv_add_text (&csv, kind_of (row));
      csv_add_integer (&csv, row->on_front != 0);
      csv_add_text (&csv, is_named ? text : " ");
      csv_end_row (&csv);
    }
  return csv_finish (&csv);
}

/* ---- the picture ---- */

static guint
count_late (const Results *results)
{
  guint n = 0;

  for (guint i = 0; i < results->variants->len; i++)
    n += results_variant (results, i)->meets_limits == 0;
  return n;
}

static char *
subtitle_of (const Front *front, const SweepGrid *grid)
{
  const ResultsVariant *best = results_variant (front->results, 0);
  g_autofree char *words = sweep_grid_words (grid, best);
  g_autofree char *short_words = plot_text_shorten (words, BEST_LENGTH);

  return g_strdup_printf ("best: %s%s", short_words,
                          best->meets_limits == 0 ? " (misses a limit)" : "");
}

gboolean
plot_pareto_add (Pictures *pictures, const SweepGrid *grid, GError **error)
{
  g_autofree char *subtitle = NULL, *stamp = NULL, *data = NULL;
  GString *script;
  Front front;

  front_init (&front, pictures->results);
  subtitle = subtitle_of (&front, grid);
  stamp = picture_stamp (pictures->results, 0, pictures->results->variants->len);
  data = points_csv (&front);
  script = picture_begin (pictures, "pareto", picture_title (pictures->results), subtitle, stamp);
  plot_text_set (script, "data", "pareto.csv");
  plot_text_set (script, "x_name", front.has_days ? "days of training" : "tokens/s of all GPUs");
  plot_text_set (script, "y_name",
                 !front.has_days  ? "GPU hours of a billion tokens"
                 : front.has_cost ? "cost"
                                  : "GPU hours");
  plot_text_set_number (script, "x_first", front.x_first);
  plot_text_set_number (script, "x_last", front.x_last);
  plot_text_set_number (script, "log_x", is_logarithmic (&front));
  plot_text_set_number (script, "least", front.least);
  plot_text_set_number (script, "most", front.most);
  plot_text_set_number (script, "n_late", count_late (pictures->results));
  if (files_write (pictures->folder, "pareto.csv", data, error))
    return picture_end (pictures, script, "pareto", error);
  g_string_free (script, TRUE);
  return FALSE;
}

#include <config.h>

#include <math.h>
#include <string.h>

#include "report/csv.h"
#include "report/files.h"
#include "report/plot_curves.h"
#include "report/plot_text.h"

#define MOST_LINES   8
#define LABEL_LENGTH 26   /* characters of a name at the end of its line */
#define LABEL_GAP    0.05 /* between names, of the height of the picture */
#define AXIS_PIXELS  930  /* as in plots/curve.gp */
#define LOG_FROM     8    /* the ratio of the ends from which an axis is logarithmic */

typedef enum
{
  CURVE_THROUGHPUT, /* tokens/s per GPU */
  CURVE_SCALING,    /* tokens/s, against the ideal */
  CURVE_DELTAS      /* percent against the first variant */
} CurveKind;

typedef struct
{
  const SweepGrid *grid;
  const SweepAxis *axis;
  const ResultsVariant **best; /* as sweep_grid_best() */
  guint n_lines;
  CurveKind kind;
  gboolean log_x, log_y;
  double least, most; /* of all values */
} Curves;

/* ---- values ---- */

static const ResultsVariant *
row_at (const Curves *curves, guint line, guint x)
{
  return curves->best[line * curves->axis->values->len + x];
}

static double
position (const Curves *curves, guint x)
{
  return curves->axis->numbers != NULL ? curves->axis->numbers[x] : x + 1.0;
}

/* NaN where nothing fits. */
static double
value_at (const Curves *curves, guint line, guint x)
{
  const ResultsVariant *row = row_at (curves, line, x), *first = row_at (curves, 0, x);

  if (row == NULL || !results_fits (row))
    return (double)NAN;
  switch (curves->kind)
    {
    case CURVE_THROUGHPUT:
      return row->tokens_per_s_per_gpu;
    case CURVE_SCALING:
      return row->tokens_per_s;
    default:
      return first != NULL && results_fits (first)
                 ? 100 * (row->tokens_per_s_per_gpu / first->tokens_per_s_per_gpu - 1)
                 : (double)NAN;
    }
}

static void
find_range (Curves *curves)
{
  const guint n_x = curves->axis->values->len;

  curves->least = (double)INFINITY;
  curves->most = -(double)INFINITY;
  for (guint line = 0; line < curves->n_lines; line++)
    for (guint x = 0; x < n_x; x++)
      if (isfinite (value_at (curves, line, x)))
        {
          curves->least = MIN (curves->least, value_at (curves, line, x));
          curves->most = MAX (curves->most, value_at (curves, line, x));
        }
  if (curves->kind != CURVE_SCALING)
    curves->least = MIN (curves->least, 0);
  curves->log_x = curves->axis->numbers != NULL
                  && curves->axis->numbers[n_x - 1] >= LOG_FROM * curves->axis->numbers[0];
  curves->log_y = curves->kind == CURVE_SCALING && curves->log_x;
}

/* ---- names at the ends of lines ---- */

typedef struct
{
  guint line;
  guint last;    /* value of the axis at which it ends */
  double height; /* 0 to 1 */
} EndLabel;

/* Those that end at the same value together, from the lowest. */
static gint
compare_labels (gconstpointer a, gconstpointer b)
{
  const EndLabel *label_a = a, *label_b = b;

  if (label_a->last != label_b->last)
    return label_a->last < label_b->last ? -1 : 1;
  return (label_a->height > label_b->height) - (label_a->height < label_b->height);
}

static double
height_of (const Curves *curves, double value)
{
  if (curves->log_y)
    return log (value / curves->least) / log (curves->most / curves->least);
  return (value - curves->least) / (curves->most - curves->least);
}

/* FALSE where the line has no value. */
static gboolean
find_end (const Curves *curves, guint line, EndLabel *label)
{
  for (guint x = curves->axis->values->len; x-- > 0;)
    if (isfinite (value_at (curves, line, x)))
      {
        *label = (EndLabel){ line, x, height_of (curves, value_at (curves, line, x)) };
        return TRUE;
      }
  return FALSE;
}

/* Moves labels of lines that end together apart, upwards and then down from the top. */
static void
spread (EndLabel *labels, guint n)
{
  for (guint i = 1; i < n; i++)
    if (labels[i].last == labels[i - 1].last)
      labels[i].height = MAX (labels[i].height, labels[i - 1].height + LABEL_GAP);
  for (guint i = n; i-- > 0;)
    {
      const gboolean is_top = i + 1 == n || labels[i + 1].last != labels[i].last;

      labels[i].height = MIN (labels[i].height, is_top ? 1 : labels[i + 1].height - LABEL_GAP);
    }
}

/* CSV: line,x,height,name; x is NaN for lines that reach the end of the axis. */
static char *
labels_csv (const Curves *curves)
{
  EndLabel labels[MOST_LINES] = { 0 };
  guint n = 0;
  Csv csv;

  for (guint line = 0; line < curves->n_lines; line++)
    n += find_end (curves, line, &labels[n]);
  qsort (labels, n, sizeof *labels, compare_labels);
  spread (labels, n);
  csv_begin (&csv, "line,x,height,name");
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name
          = plot_text_shorten (curves->grid->variants->pdata[labels[i].line], LABEL_LENGTH);
      const gboolean reaches_end = labels[i].last + 1 == curves->axis->values->len;

      csv_add_integer (&csv, labels[i].line + 1);
      csv_add_number (&csv, reaches_end ? (double)NAN : position (curves, labels[i].last));
      csv_add_number (&csv, labels[i].height);
      csv_add_text (&csv, g_strdelimit (name, "\"\n\r", '\''));
      csv_end_row (&csv);
    }
  return csv_finish (&csv);
}

/* ---- files ---- */

/* CSV: line,x,y, and where a line has nothing that fits, its mark: which of those at that x. */
static char *
points_csv (const Curves *curves)
{
  Csv csv;

  csv_begin (&csv, "line,x,y,no_fit");
  for (guint line = 0; line < curves->n_lines; line++)
    for (guint x = 0; x < curves->axis->values->len; x++)
      {
        const ResultsVariant *row = row_at (curves, line, x);

        csv_add_integer (&csv, line + 1);
        csv_add_number (&csv, position (curves, x));
        csv_add_number (&csv, value_at (curves, line, x));
        csv_add_integer (&csv, row != NULL && !results_fits (row));
        csv_end_row (&csv);
      }
  return csv_finish (&csv);
}

static double
place_on_axis (const Curves *curves, guint x)
{
  const double first = position (curves, 0);
  const double last = position (curves, curves->axis->values->len - 1);

  return curves->log_x ? log (position (curves, x) / first) / log (last / first)
                       : (position (curves, x) - first) / (last - first);
}

/* set xtics: the swept values, as far as there is room for their texts. */
static void
set_tics (GString *script, const Curves *curves)
{
  double free_from = -1000;

  g_string_append (script, "set xtics ()\n");
  for (guint x = 0; x < curves->axis->values->len; x++)
    {
      g_autofree char *text = plot_text_shorten (curves->axis->values->pdata[x], 24);
      const double half = 4.0 * (double)g_utf8_strlen (text, -1) + 4;
      const double at = AXIS_PIXELS * place_on_axis (curves, x);

      if (at - half < free_from)
        continue;
      free_from = at + half;
      plot_text_set (script, "tic_text", text);
      plot_text_set_number (script, "tic_at", position (curves, x));
      g_string_append (script, "set xtics add (tic_text tic_at)\n");
    }
}

static const char *
file_of (CurveKind kind)
{
  static const char *const names[] = { "throughput", "scaling", "deltas" };

  return names[kind];
}

static char *
subtitle_of (const Curves *curves)
{
  static const char *const words[] = { "tokens/s per GPU", "tokens/s of all GPUs",
                                       "tokens/s per GPU against the first variant" };
  const guint n_variants = curves->grid->variants->len;
  g_autofree char *best_of = sweep_grid_best_of (curves->grid, curves->axis, NULL);
  g_autofree char *shown
      = n_variants > MOST_LINES
            ? g_strdup_printf ("; the first %d of %u variants", MOST_LINES, n_variants)
            : g_strdup ("");

  return g_strdup_printf (
      "%s over %s%s%s%s", words[curves->kind], curves->axis->name, best_of,
      curves->kind == CURVE_SCALING ? "; dashed: in proportion to the nodes" : "", shown);
}

static guint
count_marks (const Curves *curves)
{
  guint n = 0;

  for (guint line = 0; line < curves->n_lines; line++)
    for (guint x = 0; x < curves->axis->values->len; x++)
      n += row_at (curves, line, x) != NULL && !results_fits (row_at (curves, line, x));
  return n;
}

/* What the best line has at the smallest number of nodes; the ideal grows with them. */
static double
ideal_from (const Curves *curves)
{
  double from = 0;

  for (guint line = 0; curves->kind == CURVE_SCALING && line < curves->n_lines; line++)
    if (isfinite (value_at (curves, line, 0)))
      from = MAX (from, value_at (curves, line, 0));
  return from;
}

static gboolean
add_curves (Pictures *pictures, Curves *curves, CurveKind kind, GError **error)
{
  g_autofree char *subtitle = NULL, *stamp = NULL, *points = NULL, *labels = NULL;
  g_autofree char *points_name = g_strconcat (file_of (kind), ".csv", NULL);
  g_autofree char *labels_name = g_strconcat (file_of (kind), "-names.csv", NULL);
  GString *script;

  curves->kind = kind;
  find_range (curves);
  if (!(curves->most > curves->least))
    return TRUE;
  subtitle = subtitle_of (curves);
  stamp = picture_stamp (pictures->results, 0, pictures->results->variants->len);
  points = points_csv (curves);
  labels = labels_csv (curves);
  script = picture_begin (pictures, file_of (kind), picture_title (pictures->results), subtitle,
                          stamp);
  plot_text_set (script, "kind", file_of (kind));
  plot_text_set (script, "data", points_name);
  plot_text_set (script, "names", labels_name);
  plot_text_set (script, "key_name", curves->axis->name);
  plot_text_set_number (script, "n_lines", curves->n_lines);
  plot_text_set_number (script, "log_x", curves->log_x);
  plot_text_set_number (script, "log_y", curves->log_y);
  plot_text_set_number (script, "x_first", position (curves, 0));
  plot_text_set_number (script, "x_last", position (curves, curves->axis->values->len - 1));
  plot_text_set_number (script, "least", curves->least);
  plot_text_set_number (script, "most", curves->most);
  plot_text_set_number (script, "n_marks", count_marks (curves));
  plot_text_set_number (script, "ideal_from", ideal_from (curves));
  set_tics (script, curves);
  if (files_write (pictures->folder, points_name, points, error)
      && files_write (pictures->folder, labels_name, labels, error))
    return picture_end (pictures, script, "curve", error);
  g_string_free (script, TRUE);
  return FALSE;
}

gboolean
plot_curves_add (Pictures *pictures, const SweepGrid *grid, GError **error)
{
  Curves curves = { .grid = grid, .axis = sweep_grid_main_axis (grid) };
  gboolean is_added;

  curves.best = sweep_grid_best (grid, curves.axis, NULL);
  curves.n_lines = MIN (grid->variants->len, MOST_LINES);
  is_added = add_curves (pictures, &curves, CURVE_THROUGHPUT, error)
             && (strcmp (curves.axis->name, "cluster.nodes") != 0
                 || add_curves (pictures, &curves, CURVE_SCALING, error))
             && (curves.n_lines < 2 || add_curves (pictures, &curves, CURVE_DELTAS, error));
  g_free (curves.best);
  return is_added;
}

#include <config.h>

#include <math.h>
#include <string.h>

#include "report/csv.h"
#include "report/files.h"
#include "report/format.h"
#include "report/plot_bars.h"
#include "report/plot_text.h"
#include "report/step_parts.h"
#include "report/sweep_grid.h"

#define MOST_ROWS         60 /* bars of one picture */
#define MOST_SWEEP_ROWS   40 /* of a sweep, which has other pictures */
#define NAME_LENGTH       44 /* characters of a name beside its bar */
#define SWEEP_NAME_LENGTH 72
#define PIXELS_A_GLYPH    7.4
/* Of names and bars together: width in plots/NAME.gp less margins. */
#define ROW_WIDTH 1200
/* Parts of a step that are wide enough to be seen, and named in the legend. */
#define SEEN_FROM 0.0005

static guint
n_rows_of (const Results *results, guint first)
{
  return MIN (results->variants->len - first, MOST_ROWS);
}

/* ---- names beside the bars ---- */

static char **
row_names (const Results *results, guint first)
{
  const gboolean is_sweep = results_is_sweep (results);
  g_autoptr (SweepGrid) grid = is_sweep ? sweep_grid_new (results) : NULL;
  const guint n = n_rows_of (results, first);
  char **names = g_new0 (char *, n + 1);

  for (guint i = 0; i < n; i++)
    {
      const ResultsVariant *variant = results_variant (results, first + i);
      g_autofree char *words = is_sweep ? sweep_grid_words (grid, variant) : NULL;

      names[i] = is_sweep ? plot_text_shorten (words, SWEEP_NAME_LENGTH)
                          : plot_text_shorten (variant->name, NAME_LENGTH);
    }
  return names;
}

static double
width_of (const char *const *texts)
{
  glong longest = 0;

  for (; *texts != NULL; texts++)
    longest = MAX (longest, g_utf8_strlen (*texts, -1));
  return 20 + PIXELS_A_GLYPH * (double)longest;
}

static double
names_width (char **names)
{
  return MAX (80, width_of ((const char *const *)names));
}

static void
set_rows (GString *script, char **names)
{
  const guint n = g_strv_length (names);

  plot_text_set_array (script, "names", (const char *const *)names);
  plot_text_set_number (script, "n_rows", n);
  plot_text_set_number (script, "row_height", n > 12 ? 26 : 40);
  plot_text_set_number (script, "names_width", names_width (names));
}

/* What stands in place of a bar, in so many pixels. */
static char *
no_bar_text (const ResultsVariant *variant, double pixels)
{
  g_autofree char *text = g_strconcat (variant->status, variant->reason[0] != '\0' ? ": " : "",
                                       variant->reason, NULL);

  return plot_text_shorten (text, (guint)(pixels / PIXELS_A_GLYPH));
}

static gboolean
does_not_fit (const ResultsVariant *variant)
{
  return strcmp (variant->status, "does_not_fit") == 0;
}

static char *
shown_of (const Results *results, guint first)
{
  const guint n = results->variants->len - first;

  return n <= MOST_ROWS ? g_strdup ("") : g_strdup_printf ("; the first %d of %u", MOST_ROWS, n);
}

/* ---- deltas ---- */

static char *
delta_text (const ResultsVariant *variant, double pixels)
{
  const double percent = variant->throughput_delta_percent;
  char number[FORMAT_SIZE];

  if (!isfinite (percent))
    return results_did_run (variant) ? g_strdup ("the baseline did not run")
                                     : no_bar_text (variant, pixels);
  return g_strdup_printf ("%s%s %%%s", percent < 0 ? "−" : "+",
                          format_fixed (number, 1, fabs (percent)),
                          does_not_fit (variant) ? ", does not fit" : "");
}

static const char *
delta_kind (const ResultsVariant *variant)
{
  if (!isfinite (variant->throughput_delta_percent))
    return "none";
  if (does_not_fit (variant))
    return "does_not_fit";
  return variant->throughput_delta_percent < 0 ? "loss" : "gain";
}

typedef struct
{
  double least, most; /* percent, with 0 between */
  GPtrArray *texts;   /* beyond the bars */
} DeltaRange;

static char *
deltas_csv (const Results *results, double pixels, DeltaRange *range)
{
  Csv csv;

  csv_begin (&csv, "row,throughput_delta_percent,text,kind");
  for (guint i = 1; i <= n_rows_of (results, 1); i++)
    {
      const ResultsVariant *variant = results_variant (results, i);
      const double percent = variant->throughput_delta_percent;
      char *text = delta_text (variant, pixels);

      csv_add_integer (&csv, i);
      csv_add_number (&csv, percent);
      csv_add_text (&csv, g_strdelimit (text, "\"\n\r", '\''));
      csv_add_text (&csv, delta_kind (variant));
      csv_end_row (&csv);
      if (isfinite (percent))
        {
          range->least = MIN (range->least, percent);
          range->most = MAX (range->most, percent);
          g_ptr_array_add (range->texts, g_steal_pointer (&text));
        }
      g_free (text);
    }
  g_ptr_array_add (range->texts, NULL);
  return csv_finish (&csv);
}

static char *
deltas_subtitle (const Results *results)
{
  const ResultsVariant *baseline = results_variant (results, 0);
  g_autofree char *name = plot_text_shorten (baseline->name, NAME_LENGTH);
  g_autofree char *shown = shown_of (results, 1);
  char number[FORMAT_SIZE];

  if (!results_did_run (baseline))
    return g_strdup_printf ("against %s, which did not run%s", name, shown);
  return g_strdup_printf ("throughput against %s, which has %s tokens/s per GPU%s", name,
                          format_fixed (number, 0, baseline->tokens_per_s_per_gpu), shown);
}

gboolean
plot_deltas_add (Pictures *pictures, GError **error)
{
  const Results *results = pictures->results;
  DeltaRange range = { 0 };
  g_auto (GStrv) names = NULL;
  g_autofree char *subtitle = NULL, *stamp = NULL, *data = NULL;
  GString *script;

  if (results->variants->len < 2 || results_is_sweep (results))
    return TRUE;
  range.texts = g_ptr_array_new_with_free_func (g_free);
  names = row_names (results, 1);
  subtitle = deltas_subtitle (results);
  stamp = picture_stamp (results, 0, results->variants->len);
  data = deltas_csv (results, ROW_WIDTH - names_width (names), &range);
  script = picture_begin (pictures, "deltas", picture_title (results), subtitle, stamp);
  g_string_append (script, "data = \"deltas.csv\"\n");
  set_rows (script, names);
  plot_text_set_number (script, "texts_width", width_of ((const char *const *)range.texts->pdata));
  plot_text_set_number (script, "least", range.least);
  plot_text_set_number (script, "most", range.most > range.least ? range.most : 1);
  g_ptr_array_unref (range.texts);
  if (files_write (pictures->folder, "deltas.csv", data, error))
    return picture_end (pictures, script, "deltas", error);
  g_string_free (script, TRUE);
  return FALSE;
}

/* ---- breakdown ---- */

static void
add_part (Csv *csv, guint row, const char *kind, double from_ms, double to_ms, const char *text)
{
  csv_add_integer (csv, row);
  csv_add_text (csv, kind);
  csv_add_number (csv, from_ms);
  csv_add_number (csv, to_ms);
  csv_add_text (csv, text);
  csv_end_row (csv);
}

static char *
step_text (const ResultsVariant *variant)
{
  g_autofree char *step = plot_text_ms (variant->step_time_s);

  return g_strconcat (step, does_not_fit (variant) ? ", does not fit" : "", NULL);
}

static void
add_row (Csv *csv, guint row, const ResultsVariant *variant, double pixels,
         gboolean present[N_STEP_KINDS])
{
  double parts_s[N_STEP_KINDS], from_ms = 0;
  g_autofree char *text = NULL;

  if (!results_did_run (variant))
    {
      text = g_strdelimit (no_bar_text (variant, pixels), "\"\n\r", '\'');
      add_part (csv, row, "none", 0, 0, text);
      return;
    }
  results_step_parts (variant, parts_s);
  for (guint part = 0; part < N_STEP_KINDS; part++)
    {
      const double to_ms = from_ms + 1e3 * parts_s[part];

      if (!(parts_s[part] > 0))
        continue;
      add_part (csv, row, step_kind_name (part), from_ms, to_ms, "");
      present[part] |= parts_s[part] > SEEN_FROM * variant->step_time_s;
      from_ms = to_ms;
    }
  text = step_text (variant);
  add_part (csv, row, "total", 0, 1e3 * variant->step_time_s, text);
}

static double
longest_ms (const Results *results)
{
  double longest = 0;

  for (guint i = 0; i < n_rows_of (results, 0); i++)
    if (results_did_run (results_variant (results, i)))
      longest = MAX (longest, 1e3 * results_variant (results, i)->step_time_s);
  return longest > 0 ? longest : 1;
}

gboolean
plot_breakdown_add (Pictures *pictures, GError **error)
{
  const Results *results = pictures->results;
  g_auto (GStrv) names = row_names (results, 0);
  g_autofree char *stamp = picture_stamp (results, 0, n_rows_of (results, 0));
  g_autofree char *shown = shown_of (results, 0), *data = NULL, *subtitle = NULL;
  g_autoptr (GString) kinds = g_string_new (NULL);
  gboolean present[N_STEP_KINDS] = { FALSE };
  GString *script;
  Csv csv;

  if (results_is_plan (results)
      || (results_is_sweep (results) && results->variants->len > MOST_SWEEP_ROWS))
    return TRUE;
  csv_begin (&csv, "row,kind,from_ms,to_ms,text");
  for (guint i = 0; i < n_rows_of (results, 0); i++)
    add_row (&csv, i + 1, results_variant (results, i), ROW_WIDTH - names_width (names), present);
  data = csv_finish (&csv);
  for (guint part = 0; part < N_STEP_KINDS; part++)
    if (present[part])
      g_string_append_printf (kinds, " %s", step_kind_name (part));
  subtitle = g_strdup_printf ("where the step goes, seen from the compute stream%s", shown);
  script = picture_begin (pictures, "breakdown", picture_title (results), subtitle, stamp);
  g_string_append (script, "data = \"breakdown.csv\"\n");
  set_rows (script, names);
  plot_text_set (script, "present", kinds->str);
  plot_text_set_number (script, "longest_ms", longest_ms (results));
  if (files_write (pictures->folder, "breakdown.csv", data, error))
    return picture_end (pictures, script, "breakdown", error);
  g_string_free (script, TRUE);
  return FALSE;
}

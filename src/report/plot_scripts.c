#include "config.h"

#include <math.h>
#include <string.h>

#include "config/data.h"
#include "report/csv.h"
#include "report/format.h"
#include "report/names.h"
#include "report/plot_scripts.h"
#include "report/plot_text.h"
#include "report/plot_timeline.h"
#include "timeline/exposure.h"

#define NAME_LENGTH 30 /* characters of a variant's name that stand beside its bar */

typedef struct
{
  const Results *results;
  const char *folder;
  GPtrArray *pictures; /* char * */
} Drawing;

static gboolean write_file (const Drawing *drawing, const char *text, GError **error,
                            const char *format, ...) G_GNUC_PRINTF (4, 5);

static gboolean
write_file (const Drawing *drawing, const char *text, GError **error, const char *format, ...)
{
  g_autofree char *name = NULL, *path = NULL;
  va_list arguments;

  va_start (arguments, format);
  name = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  path = g_build_filename (drawing->folder, name, NULL);
  if (g_file_set_contents_full (path, text, -1,
                                G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_ONLY_EXISTING,
                                0666, error))
    return TRUE;
  g_prefix_error (error, "cannot write %s: ", path);
  return FALSE;
}

/* ---- what every script begins and ends with ---- */

static char *
stamp_of (const ResultsVariant *variant)
{
  return g_strdup_printf ("fsdpsim %s · %s · scenario %.12s", variant->version, variant->scenario,
                          variant->scenario_sha256);
}

static GString *
begin_script (const char *picture, const char *title, const char *subtitle, const char *stamp)
{
  GString *script = g_string_new ("# Run in this folder: gnuplot draw-");

  g_string_append_printf (script, "%s.gp\nif (!exists(\"format\")) format = \"svg\"\n", picture);
  g_string_append_printf (script, "if (!exists(\"output\")) output = \"%s.\" . format\n", picture);
  plot_text_set (script, "title", title);
  plot_text_set (script, "subtitle", subtitle);
  plot_text_set (script, "stamp", stamp);
  return script;
}

/* Takes @script and @picture. */
static gboolean
end_script (Drawing *drawing, char *picture, GString *script, const char *shipped, GError **error)
{
  gboolean is_written;

  g_string_append_printf (script, "load \"%s.gp\"\n", shipped);
  is_written = write_file (drawing, script->str, error, "draw-%s.gp", picture);
  g_string_free (script, TRUE);
  g_ptr_array_add (drawing->pictures, picture);
  return is_written;
}

static char **
short_names (const Results *results)
{
  char **names = g_new0 (char *, results->variants->len + 1);

  for (guint i = 0; i < results->variants->len; i++)
    names[i] = plot_text_shorten (results_variant (results, i)->name, NAME_LENGTH);
  return names;
}

/* ---- timeline ---- */

static char *
timeline_subtitle (const ResultsVariant *variant)
{
  g_autofree char *step = plot_text_seconds (variant->step_time_s);
  char exposed[FORMAT_SIZE], mfu[FORMAT_SIZE];

  return g_strdup_printf (
      "step %s; %s %% of it compute idles for exposed communication; MFU %s %%; rank %u", step,
      format_fixed (exposed, 1, 100 * variant->exposed_comm_s / variant->step_time_s),
      format_fixed (mfu, 1, variant->mfu_percent), variant->rank);
}

static gboolean
add_timeline (Drawing *drawing, const ResultsVariant *variant, const char *file_name,
              GError **error)
{
  g_autofree char *title = g_strdup_printf ("%s: %s", variant->scenario, variant->name);
  g_autofree char *subtitle = timeline_subtitle (variant), *stamp = stamp_of (variant);
  g_autofree char *boxes = plot_timeline_boxes (variant), *memory = plot_timeline_memory (variant);
  char *picture = g_strdup_printf ("timeline-%s", file_name);
  GString *script = begin_script (picture, title, subtitle, stamp);

  g_string_append_printf (script, "boxes = \"boxes-%s.csv\"\nmemory = \"memory-%s.csv\"\n",
                          file_name, file_name);
  plot_timeline_script (variant, script);
  return write_file (drawing, boxes, error, "boxes-%s.csv", file_name)
         && write_file (drawing, memory, error, "memory-%s.csv", file_name)
         && end_script (drawing, picture, script, "timeline", error);
}

static gboolean
add_timelines (Drawing *drawing, GError **error)
{
  const Results *results = drawing->results;
  g_autofree const char **names = g_new0 (const char *, results->variants->len + 1);
  g_auto (GStrv) files = NULL;

  for (guint i = 0; i < results->variants->len; i++)
    names[i] = results_variant (results, i)->name;
  files = file_names (names);
  for (guint i = 0; i < results->variants->len; i++)
    if (plot_timeline_exists (results_variant (results, i))
        && !add_timeline (drawing, results_variant (results, i), files[i], error))
      return FALSE;
  return TRUE;
}

/* ---- deltas ---- */

static char *
deltas_csv (const Results *results, double *least, double *most)
{
  Csv csv;

  *least = *most = 0;
  csv_begin (&csv, "row,throughput_delta_percent,status");
  for (guint i = 1; i < results->variants->len; i++)
    {
      const ResultsVariant *variant = results_variant (results, i);
      const double percent = variant->throughput_delta_percent;

      csv_add_integer (&csv, i);
      csv_add_number (&csv, percent);
      csv_add_text (&csv, variant->status);
      csv_end_row (&csv);
      if (isfinite (percent))
        {
          *least = MIN (*least, percent);
          *most = MAX (*most, percent);
        }
    }
  return csv_finish (&csv);
}

static gboolean
add_deltas (Drawing *drawing, GError **error)
{
  const Results *results = drawing->results;
  const ResultsVariant *baseline = results_variant (results, 0);
  g_auto (GStrv) names = short_names (results);
  g_autofree char *title
      = g_strdup_printf ("%s: throughput against %s", baseline->scenario, names[0]);
  g_autofree char *stamp = stamp_of (baseline);
  g_autofree char *subtitle = NULL, *data = NULL;
  char number[FORMAT_SIZE];
  double least, most;
  GString *script;

  if (results->variants->len < 2)
    return TRUE;
  subtitle = g_strdup_printf ("%s: %s tokens/s per GPU", names[0],
                              format_fixed (number, 0, baseline->tokens_per_s_per_gpu));
  data = deltas_csv (results, &least, &most);
  script = begin_script ("deltas", title, subtitle, stamp);
  g_string_append (script, "data = \"deltas.csv\"\n");
  plot_text_set_array (script, "names", (const char *const *)names + 1);
  plot_text_set_number (script, "n_rows", results->variants->len - 1);
  plot_text_set_number (script, "least", least);
  plot_text_set_number (script, "most", most > least ? most : 1);
  return write_file (drawing, data, error, "deltas.csv")
         && end_script (drawing, g_strdup ("deltas"), script, "deltas", error);
}

/* ---- the whole ---- */

static gboolean
copy_shipped (const Drawing *drawing, GError **error)
{
  static const char *const shipped[] = { "style", "timeline", "deltas", "breakdown" };

  for (guint i = 0; i < G_N_ELEMENTS (shipped); i++)
    {
      g_autofree char *path = data_find (DATA_PLOT, shipped[i]), *text = NULL;

      if (path == NULL)
        {
          g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
                       "cannot find plots/%s.gp among the program's data", shipped[i]);
          return FALSE;
        }
      if (!g_file_get_contents (path, &text, NULL, error)
          || !write_file (drawing, text, error, "%s.gp", shipped[i]))
        return FALSE;
    }
  return TRUE;
}

GPtrArray *
plot_scripts_write (const Results *results, const char *folder, GError **error)
{
  Drawing drawing = { results, folder, g_ptr_array_new_with_free_func (g_free) };

  if (copy_shipped (&drawing, error) && add_timelines (&drawing, error)
      && add_deltas (&drawing, error))
    return drawing.pictures;
  g_ptr_array_unref (drawing.pictures);
  return NULL;
}

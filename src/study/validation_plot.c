#include <config.h>

#include "study/validation_plot.h"

#include <math.h>

#include "report/csv.h"
#include "report/files.h"
#include "report/format.h"
#include "report/plot_scripts.h"
#include "report/plot_text.h"
#include "study/error_figures.h"

#define DATA "validation.csv"

static gboolean
is_drawn (const Prediction *prediction)
{
  return !isnan (prediction_error (prediction, METRIC_TOKENS_PER_S_PER_GPU));
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* Names of the GPUs of runs that are drawn, sorted. Borrows them. */
static GPtrArray *
gpus_of (const Validation *validation)
{
  GPtrArray *gpus = g_ptr_array_new ();

  for (guint i = 0; i < validation->n; i++)
    {
      const char *gpu = validation->predictions[i].run->settings.gpu;

      if (is_drawn (&validation->predictions[i])
          && !g_ptr_array_find_with_equal_func (gpus, gpu, g_str_equal, NULL))
        g_ptr_array_add (gpus, (gpointer)gpu);
    }
  g_ptr_array_sort (gpus, compare_names);
  return gpus;
}

static char *
data_of (const Validation *validation, GPtrArray *gpus)
{
  Csv csv;

  csv_begin (&csv, "gpu,measured,predicted,error_percent");
  for (guint i = 0; i < validation->n; i++)
    {
      const Prediction *prediction = &validation->predictions[i];
      guint gpu;

      if (!is_drawn (prediction))
        continue;
      g_ptr_array_find_with_equal_func (gpus, prediction->run->settings.gpu, g_str_equal, &gpu);
      csv_add_integer (&csv, gpu + 1);
      csv_add_number (&csv, prediction->measured[METRIC_TOKENS_PER_S_PER_GPU]);
      csv_add_number (&csv, prediction->predicted[METRIC_TOKENS_PER_S_PER_GPU]);
      csv_add_number (&csv, 100 * prediction_error (prediction, METRIC_TOKENS_PER_S_PER_GPU));
      csv_end_row (&csv);
    }
  return csv_finish (&csv);
}

static char *
describe_errors (const Validation *validation)
{
  ErrorFigures figures;
  char mean[FORMAT_SIZE], median[FORMAT_SIZE], p90[FORMAT_SIZE];

  error_figures_measure (validation, NULL, validation->n, METRIC_TOKENS_PER_S_PER_GPU, &figures);
  return g_strdup_printf ("%u runs; mean absolute error %s %%, median %s %%, 90th percentile %s %%",
                          figures.n, format_fixed (mean, 1, 100 * figures.values[ERROR_MEAN]),
                          format_fixed (median, 1, 100 * figures.values[ERROR_MEDIAN]),
                          format_fixed (p90, 1, 100 * figures.values[ERROR_P90]));
}

static void
set_range (const Validation *validation, GString *script)
{
  double least = INFINITY, most = 0;

  for (guint i = 0; i < validation->n; i++)
    {
      const Prediction *prediction = &validation->predictions[i];
      const double measured = prediction->measured[METRIC_TOKENS_PER_S_PER_GPU];
      const double predicted = prediction->predicted[METRIC_TOKENS_PER_S_PER_GPU];

      if (!is_drawn (prediction))
        continue;
      least = MIN (least, MIN (measured, predicted));
      most = MAX (most, MAX (measured, predicted));
    }
  plot_text_set_number (script, "least", least);
  plot_text_set_number (script, "most", most);
}

gboolean
validation_plot_write (const Validation *validation, const char *name, const char *folder,
                       GError **error)
{
  g_autoptr (GPtrArray) gpus = gpus_of (validation);
  g_autofree char *plots = g_build_filename (folder, "plots", NULL);
  g_autofree char *data = data_of (validation, gpus);
  g_autofree char *subtitle = describe_errors (validation);
  g_autofree char *base = g_path_get_basename (name);
  g_autofree char *stamp = g_strdup_printf (PACKAGE_STRING ", %s", base);
  GString *script;

  if (gpus->len == 0)
    return TRUE;
  script = plot_script_begin (PLOT_OF_VALIDATION,
                              "Throughput of published FSDP runs, predicted against measured",
                              subtitle, stamp);
  plot_text_set (script, "data", DATA);
  plot_text_set_number (script, "n_gpus", gpus->len);
  set_range (validation, script);
  g_ptr_array_add (gpus, NULL);
  plot_text_set_array (script, "gpus", (const char *const *)gpus->pdata);
  return files_make_folder (plots, error) && files_write (plots, DATA, data, error)
         && plot_script_end (plots, PLOT_OF_VALIDATION, script, error);
}

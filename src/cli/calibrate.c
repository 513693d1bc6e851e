#include <config.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/published_tables.h"
#include "report/files.h"
#include "study/calibration_report.h"
#include "study/validation_report.h"

static void
show_progress (guint n_done, guint n_all, gpointer data)
{
  progress_show (data, MIN (n_done, n_all), n_all, 0);
}

static gboolean
write_files (const Calibration *calibration, const char *name, const char *folder, GError **error)
{
  g_auto (GStrv) paths = calibration_files (calibration);
  g_autofree char *csv = calibration_csv (calibration);
  g_autofree char *held_back = validation_csv (&calibration->crossed);

  if (!files_make_folder (folder, error))
    return FALSE;
  for (guint i = 0; paths[i] != NULL; i++)
    {
      g_autofree char *text = calibration_file (calibration, paths[i], name);
      g_autofree char *file = g_path_get_basename (paths[i]);

      if (!files_write (folder, file, text, error))
        return FALSE;
    }
  return files_write (folder, "calibration.csv", csv, error)
         && files_write (folder, "held_back.csv", held_back, error);
}

static char *
format (const Calibration *calibration, const char *name, Format format)
{
  if (format == FORMAT_CSV)
    return calibration_csv (calibration);
  if (format == FORMAT_JSON)
    return calibration_json (calibration, name);
  return calibration_table (calibration, name);
}

static ExitCode
report (const Calibration *calibration, const char *name, const Options *options, GError **error)
{
  g_autofree char *text = format (calibration, name, options->format);

  if (options->folder != NULL && !write_files (calibration, name, options->folder, error))
    return EXIT_INPUT_OUTPUT;
  if (!output_write (text, error))
    return EXIT_INPUT_OUTPUT;
  if (options->folder != NULL && !options->quiet)
    output_message ("files are in %s", options->folder);
  return EXIT_DONE;
}

static ExitCode
calibrate (const Options *options, GError **error)
{
  const char *path = g_ptr_array_index (options->arguments, 0);
  g_autoptr (PublishedTable) table = published_tables_load (path, options->quality, error);
  const CalibrationOptions how
      = { .n_folds = options->n_folds, .seed = options->seed, .n_threads = options->n_jobs };
  Calibration calibration;
  Progress progress;
  ExitCode code;

  if (table == NULL)
    return EXIT_BAD_INPUT;
  progress_begin (&progress, "calibrate", "simulations of all runs", options->quiet);
  calibration_run (table, &how, show_progress, &progress, &calibration);
  progress_end (&progress);
  code = report (&calibration, path, options, error);
  calibration_clear (&calibration);
  return code;
}

const Command calibrate_command = {
  .name = "calibrate",
  .arguments = "CSV",
  .summary = "Fit GPU and software files to measured runs, with cross-validation",
  .examples = "  fsdpsim calibrate runs.csv -o fitted\n"
              "  fsdpsim calibrate runs.csv --quality A --folds source\n",
  .min_arguments = 1,
  .max_arguments = 1,
  .options
  = OPTION_OUTPUT | OPTION_FORMAT | OPTION_JOBS | OPTION_QUALITY | OPTION_SEED | OPTION_FOLDS,
  .run = calibrate,
};

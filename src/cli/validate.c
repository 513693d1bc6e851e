#include <config.h>

#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/published_tables.h"
#include "cli/requirements.h"
#include "config/suggest.h"
#include "report/files.h"
#include "study/published_scenario.h"
#include "study/validation_plot.h"
#include "study/validation_report.h"

static void
show_progress (guint n_done, guint n_jobs, gpointer data)
{
  progress_show (data, n_done, n_jobs, 0);
}

/* ---- --scenario ---- */

static const PublishedRun *
find_run (const PublishedTable *table, const char *id, GError **error)
{
  const guint n = published_n_runs (table);
  g_autofree const char **ids = g_new0 (const char *, n + 1);
  const char *nearest;

  for (guint i = 0; i < n; i++)
    {
      ids[i] = published_run (table, i)->result.id;
      if (strcmp (ids[i], id) == 0)
        return published_run (table, i);
    }
  nearest = suggest_nearest (id, ids);
  g_set_error (error, CLI_ERROR, EXIT_BAD_INPUT, "--scenario %s: no run has this id%s%s%s", id,
               nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
               nearest != NULL ? "'?" : "");
  return NULL;
}

static ExitCode
print_scenario (const PublishedTable *table, const char *id, GError **error)
{
  const PublishedRun *run = find_run (table, id, error);
  g_autoptr (GError) unmapped = NULL;
  g_autofree char *scenario = NULL;
  g_autofree char *text = NULL;

  if (run == NULL)
    return EXIT_BAD_INPUT;
  if (run->unreadable == NULL)
    scenario = published_scenario (&run->settings, &unmapped);
  if (scenario == NULL)
    {
      g_set_error (error, CLI_ERROR, EXIT_BAD_INPUT, "--scenario %s: cannot be mapped: %s", id,
                   run->unreadable != NULL ? run->unreadable : unmapped->message);
      return EXIT_BAD_INPUT;
    }
  text = g_strconcat ("# ", id, " of ", run->result.source, "\n[scenario]\ntitle = ", id, ", ",
                      run->result.model, "\n", scenario, NULL);
  output_write (text, error);
  return EXIT_DONE;
}

/* ---- predicting all ---- */

static gboolean
write_files (const Validation *validation, const char *name, const char *folder, GError **error)
{
  g_autofree char *csv = validation_csv (validation);
  g_autofree char *json = validation_json (validation, name);

  return files_make_folder (folder, error) && files_write (folder, "validation.csv", csv, error)
         && files_write (folder, "validation.json", json, error)
         && validation_plot_write (validation, name, folder, error);
}

static char *
format (const Validation *validation, const char *name, Format format)
{
  if (format == FORMAT_CSV)
    return validation_csv (validation);
  if (format == FORMAT_JSON)
    return validation_json (validation, name);
  return validation_table (validation, name);
}

static ExitCode
answer (const GArray *requirements, const Validation *validation)
{
  g_autofree char *missed = requirements_missed (requirements, validation);

  if (missed == NULL)
    return EXIT_DONE;
  g_strchomp (missed);
  output_message ("missed: %s", missed);
  return EXIT_ANSWER_IS_NO;
}

static ExitCode
report (const Validation *validation, const char *name, const GArray *requirements,
        const Options *options, GError **error)
{
  g_autofree char *text = format (validation, name, options->format);
  g_autofree char *reasons = validation_reasons (validation);
  ExitCode code;

  if (options->folder != NULL && !write_files (validation, name, options->folder, error))
    return EXIT_INPUT_OUTPUT;
  if (!output_write (text, error))
    return EXIT_INPUT_OUTPUT;
  if (options->folder != NULL && !options->quiet)
    output_message ("files are in %s", options->folder);
  if (reasons != NULL && options->format == FORMAT_CSV)
    output_message ("%s", g_strchomp (reasons));
  code = answer (requirements, validation);
  if (code == EXIT_DONE && reasons != NULL
      && validation_count_unpredicted (validation) == validation->n)
    {
      output_message ("%s: none of its runs can be predicted", name);
      return EXIT_BAD_INPUT;
    }
  return code;
}

static ExitCode
validate_table (const PublishedTable *table, const char *name, const Options *options,
                GError **error)
{
  g_autoptr (GArray) requirements = requirements_parse (options->require, error);
  Validation validation;
  Progress progress;
  ExitCode code;

  if (requirements == NULL)
    return EXIT_USAGE;
  progress_begin (&progress, "validate", "runs", options->quiet);
  validation_run (table, options_overrides (options), options->n_jobs, show_progress, &progress,
                  &validation);
  progress_end (&progress);
  code = report (&validation, name, requirements, options, error);
  validation_clear (&validation);
  return code;
}

static ExitCode
validate (const Options *options, GError **error)
{
  const char *path = options->arguments->len > 0 ? g_ptr_array_index (options->arguments, 0) : NULL;
  g_autoptr (PublishedTable) table = published_tables_load (path, options->quality, error);

  if (table == NULL)
    return EXIT_BAD_INPUT;
  if (options->run_id != NULL)
    return print_scenario (table, options->run_id, error);
  return validate_table (table, path != NULL ? path : "the shipped tables", options, error);
}

const Command validate_command = {
  .name = "validate",
  .arguments = "[CSV]",
  .summary = "Predict runs that others published, and say how far off that is",
  .examples = "  fsdpsim validate\n"
              "  fsdpsim validate -o out && fsdpsim plot out\n"
              "  fsdpsim validate --quality A --require mean=3%,rank=0.99\n"
              "  fsdpsim validate --scenario TT-002 | fsdpsim run -\n",
  .min_arguments = 0,
  .max_arguments = 1,
  .options = OPTION_SET | OPTION_OUTPUT | OPTION_FORMAT | OPTION_JOBS | OPTION_QUALITY
             | OPTION_REQUIRE | OPTION_RUN_ID,
  .run = validate,
};

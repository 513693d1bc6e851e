#include <config.h>

#include <stdio.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/output.h"
#include "report/files.h"
#include "study/recorded_study.h"

#define PROGRESS_AFTER_US G_USEC_PER_SEC

/* ---- progress ---- */

typedef struct
{
  gint64 begin_us;
  gboolean is_shown;
} Progress;

static void
show_progress (const char *path, guint64 n_bytes, gpointer data)
{
  Progress *progress = data;
  g_autofree char *name = NULL;

  if (g_get_monotonic_time () - progress->begin_us < PROGRESS_AFTER_US)
    return;
  name = g_path_get_basename (path);
  fprintf (stderr, "\rtrace: %.40s, %u MB ", name, (guint)(n_bytes / 1000000));
  progress->is_shown = TRUE;
}

/* ---- the result ---- */

static void
print_warnings (const GPtrArray *jobs)
{
  for (guint i = 0; i < jobs->len; i++)
    {
      const Recorded *job = g_ptr_array_index (jobs, i);

      for (guint f = 0; f < job->files->len; f++)
        {
          const RecordedFile *file = g_ptr_array_index (job->files, f);

          for (guint w = 0; w < file->warnings->len; w++)
            output_message ("%s: %s", file->path,
                            (const char *)g_ptr_array_index (file->warnings, w));
        }
    }
}

static gboolean
write_files (const GPtrArray *jobs, const char *folder, GError **error)
{
  static const struct
  {
    const char *name;
    char *(*write) (const GPtrArray *jobs);
  } files[] = {
    { "per_unit.csv", recorded_per_unit_csv }, { "collectives.csv", recorded_collectives_csv },
    { "ranks.csv", recorded_ranks_csv },       { "steps.csv", recorded_steps_csv },
    { "deltas.csv", recorded_deltas_csv },     { "report.json", recorded_json },
    { "summary.csv", recorded_summary_csv }, /* last: where it stands, the others do */
  };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *text = files[i].write (jobs);

      if (!files_write (folder, files[i].name, text, error))
        return FALSE;
    }
  return TRUE;
}

static char *
format_jobs (const GPtrArray *jobs, Format format)
{
  if (format == FORMAT_CSV)
    return recorded_per_unit_csv (jobs);
  if (format == FORMAT_JSON)
    return recorded_json (jobs);
  return recorded_table (jobs);
}

static char **
paths_of (const Options *options)
{
  char **paths = g_new0 (char *, options->arguments->len + 1);

  for (guint i = 0; i < options->arguments->len; i++)
    paths[i] = g_strdup (g_ptr_array_index (options->arguments, i));
  return paths;
}

static ExitCode
trace (const Options *options, GError **error)
{
  Progress progress = { .begin_us = g_get_monotonic_time () };
  const gboolean shows = !options->quiet && isatty (STDERR_FILENO);
  g_auto (GStrv) paths = paths_of (options);
  const RecordedOptions study = {
    .paths = (const char *const *)paths,
    .folder = options->folder,
    .progress = shows ? show_progress : NULL,
    .progress_data = &progress,
  };
  g_autoptr (GPtrArray) jobs = recorded_study (&study, error);
  g_autofree char *text = NULL;

  if (progress.is_shown)
    fprintf (stderr, "\r%*s\r", 70, "");
  if (jobs == NULL)
    return EXIT_BAD_INPUT;
  if (!options->quiet)
    print_warnings (jobs);
  if (options->folder != NULL && !write_files (jobs, options->folder, error))
    return EXIT_INPUT_OUTPUT;
  text = format_jobs (jobs, options->format);
  if (!output_write (text, error))
    return EXIT_INPUT_OUTPUT;
  if (options->folder != NULL && !options->quiet)
    output_message ("files are in %s", options->folder);
  return EXIT_DONE;
}

const Command trace_command = {
  .name = "trace",
  .arguments = "FILE...",
  .summary = "Read profiler traces: collectives by unit and phase, redundant and exposed ones",
  .examples
  = "  fsdpsim run llama2-7b-2xdgx-a100 -q -o out >run.txt; fsdpsim trace out/trace-naive.json\n"
    "  fsdpsim trace out/trace-naive.json -o traced -f json\n",
  .min_arguments = 1,
  .max_arguments = G_MAXUINT,
  .options = OPTION_OUTPUT | OPTION_FORMAT,
  .run = trace,
};

#include <config.h>

#include "cli/sweep_session.h"

#include <string.h>

#include "cli/output.h"
#include "cli/progress.h"
#include "config/csv_table.h"
#include "report/report.h"
#include "study/sweep_rows.h"

#define MOST_NAMED 10 /* rows that are not ok */

typedef struct
{
  Sweep *sweep;
  const Options *options;
  SweepFolder *folder; /* NULL without -o */
  gsize n_rows, n_done, n_failed;
  char **texts; /* by row; NULL: not done, or printed and not needed any more */
  gboolean *is_done;
  gsize n_printed; /* -f csv goes out as it comes */
  Progress progress;
  GError *error;
} Session;

/* ---- rows as they come ---- */

static void
keep_row (gsize row, char *text, RunStatus status, gpointer data)
{
  Session *session = data;

  if (session->texts[row] != NULL)
    {
      g_free (text); /* a journal that holds a row twice */
      return;
    }
  session->texts[row] = text;
  session->n_done++;
  session->n_failed += status != RUN_OK;
}

static void
resume_row (gsize row, char *text, RunStatus status, gpointer data)
{
  Session *session = data;

  session->is_done[row] = TRUE;
  keep_row (row, text, status, data);
}

static void
take_row (gsize row, char *text, RunStatus status, gpointer data)
{
  Session *session = data;

  if (session->folder != NULL)
    sweep_folder_add (session->folder, row, text, status);
  keep_row (row, text, status, data);
}

/* All that follow on what is printed. */
static gboolean
print_rows (Session *session)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (; session->n_printed < session->n_rows && session->texts[session->n_printed] != NULL;
       session->n_printed++)
    {
      g_string_append (text, session->texts[session->n_printed]);
      g_string_append_c (text, '\n');
    }
  return text->len == 0 || output_write (text->str, &session->error);
}

static gboolean
tick (gpointer data)
{
  Session *session = data;

  if (session->error != NULL)
    return FALSE;
  progress_show (&session->progress, session->n_done, session->n_rows, session->n_failed);
  if (session->options->format == FORMAT_CSV && !print_rows (session))
    return FALSE;
  return session->folder == NULL || sweep_folder_flush (session->folder, &session->error);
}

/* ---- begin and end ---- */

static gboolean
open_folder (Session *session)
{
  g_autofree char *why = NULL;

  if (session->options->folder == NULL)
    return TRUE;
  session->folder = sweep_folder_open (session->options->folder, session->sweep, resume_row,
                                       session, &why, &session->error);
  if (session->folder == NULL)
    return FALSE;
  session->progress.n_before = session->n_done;
  if (why != NULL && !session->options->quiet)
    output_message ("%s held rows %s: all are run anew", session->options->folder, why);
  else if (session->n_done > 0 && !session->options->quiet)
    output_message ("%zu of %zu rows are in %s already", session->n_done, session->n_rows,
                    session->options->folder);
  return TRUE;
}

static gboolean
print_header (Session *session)
{
  g_autofree char *header = g_strconcat (sweep_columns (session->sweep), "\n", NULL);

  return session->options->format != FORMAT_CSV || output_write (header, &session->error);
}

static char *
join_rows (const Session *session)
{
  GString *text = g_string_new (sweep_columns (session->sweep));

  g_string_append_c (text, '\n');
  for (gsize row = 0; row < session->n_rows; row++)
    {
      g_string_append (text, session->texts[row]);
      g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}

/* Rows that are not ok, by name and reason; returns their number. */
static guint
name_failed (const char *summary, gboolean quiet)
{
  g_autoptr (GArray) rows = sweep_rows_read (summary, strlen (summary));
  const gsize header_length = strcspn (summary, "\n");
  guint n = 0;

  for (guint i = 0; rows != NULL && i < rows->len; i++)
    {
      const SweepRow *row = &g_array_index (rows, SweepRow, i);
      g_autofree char *one = NULL;
      g_autofree char *words = NULL;

      if (row->status == RUN_OK || n++ >= MOST_NAMED || quiet)
        continue;
      one = g_strdup_printf ("%.*s\n%.*s\n", (int)header_length, summary, (int)row->length,
                             row->text);
      words = report_sweep_failure (one);
      output_message ("%s", words);
    }
  if (n > MOST_NAMED && !quiet)
    output_message ("%u more rows are not ok", n - MOST_NAMED);
  return n;
}

ExitCode
sweep_session_print (const char *summary, const Options *options, GError **error)
{
  g_autofree char *text = NULL;

  if (options->format == FORMAT_TABLE)
    text = report_sweep_table (summary);
  else if (options->format == FORMAT_JSON)
    text = report_sweep_json (summary);
  if (!output_write (text != NULL ? text : summary, error))
    return EXIT_INPUT_OUTPUT;
  return name_failed (summary, options->quiet) > 0 ? EXIT_ANSWER_IS_NO : EXIT_DONE;
}

static ExitCode
finish (Session *session)
{
  g_autofree char *summary = join_rows (session);
  const Options *options = session->options;
  ExitCode code = session->n_failed > 0 ? EXIT_ANSWER_IS_NO : EXIT_DONE;

  if (session->folder != NULL && !sweep_folder_finish (session->folder, summary, &session->error))
    return EXIT_INPUT_OUTPUT;
  if (options->format != FORMAT_CSV)
    code = sweep_session_print (summary, options, &session->error);
  else if (session->n_failed > 0 && !options->quiet)
    name_failed (summary, FALSE);
  if (session->error == NULL && session->folder != NULL && !options->quiet)
    output_message ("files are in %s", options->folder);
  return code;
}

static void
session_clear (Session *session)
{
  sweep_folder_free (session->folder);
  for (gsize row = 0; row < session->n_rows; row++)
    g_free (session->texts[row]);
  g_free (session->texts);
  g_free (session->is_done);
}

ExitCode
sweep_session_run (Sweep *sweep, const Options *options, GError **error)
{
  const SweepListener listener = { take_row, tick };
  Session session = { .sweep = sweep, .options = options, .n_rows = sweep_n_rows (sweep) };
  const gint64 begin_us = g_get_monotonic_time ();
  ExitCode code = EXIT_INPUT_OUTPUT;

  session.texts = g_new0 (char *, session.n_rows + 1);
  session.is_done = g_new0 (gboolean, session.n_rows + 1);
  progress_begin (&session.progress, "sweep", "rows", options->quiet);
  if (open_folder (&session) && print_header (&session))
    sweep_run (sweep, session.is_done, options->n_jobs, &listener, &session);
  progress_end (&session.progress);
  if (options->verbose)
    output_message ("%.0f rows a second",
                    (double)(session.n_done - session.progress.n_before) * G_USEC_PER_SEC
                        / (double)MAX (g_get_monotonic_time () - begin_us, 1));
  if (session.error == NULL)
    code = finish (&session);
  if (session.error != NULL)
    g_propagate_error (error, session.error);
  session_clear (&session);
  return code;
}

#include <config.h>

#include <string.h>

#include <glib/gstdio.h>

#include "report/files.h"
#include "report/plot_scripts.h"
#include "report/plots.h"
#include "report/svg.h"

G_DEFINE_QUARK (fsdpsim_plot_error, plot_error)

/* ---- gnuplot ---- */

static gboolean
set_no_gnuplot (const char *folder, const GError *reason, GError **error)
{
  g_set_error (error, PLOT_ERROR, PLOT_ERROR_NO_GNUPLOT,
               "cannot start %s: %s; scripts and data are in %s: "
               "install gnuplot (Debian: gnuplot-nox), then run the same command again",
               GNUPLOT, reason->message, folder);
  return FALSE;
}

/* What gnuplot said, in one line. */
static gboolean
set_failed (const char *script, const char *said, GError **error)
{
  g_autofree char *line = g_strdelimit (g_strdup (said), "\n\r\t", ' ');

  g_set_error (error, PLOT_ERROR, PLOT_ERROR_FAILED, "gnuplot failed on %s: %.500s", script,
               g_strstrip (line));
  return FALSE;
}

/* Whatever the user's locale and ~/.gnuplot say, the same picture. */
static gboolean
run_gnuplot (const char *folder, const char *script, const char *settings, GError **error)
{
  const char *arguments[] = { GNUPLOT, "--default-settings", "-e", settings, script, NULL };
  g_auto (GStrv) environment = g_environ_setenv (g_get_environ (), "LC_ALL", "C.UTF-8", TRUE);
  g_autofree char *said = NULL;
  g_autoptr (GError) reason = NULL;
  int status;

  if (!g_spawn_sync (folder, (char **)arguments, environment,
                     G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &said,
                     &status, &reason))
    return set_no_gnuplot (folder, reason, error);
  return g_spawn_check_wait_status (status, NULL) ? TRUE : set_failed (script, said, error);
}

/* ---- pictures ---- */

/* gnuplot does not notice a full disk; a picture that is whole has its end. */
static gboolean
is_whole (const char *text, gsize length, const char *terminal)
{
  const char *mark = strcmp (terminal, "svg") == 0   ? "</svg>"
                     : strcmp (terminal, "png") == 0 ? "IEND"
                                                     : "%%EOF";

  return length > 32 && memmem (text + length - 32, 32, mark, strlen (mark)) != NULL;
}

/* The same bytes from the same data: no time of day. */
static void
remove_date (char *text, gsize length)
{
  static const char mark[] = "/CreationDate (D:";
  static const char date[] = "19700101000000";
  char *found = memmem (text, length, mark, strlen (mark));

  if (found != NULL && (gsize)(text + length - found) > strlen (mark) + strlen (date))
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the text goes on behind it */
    memcpy (found + strlen (mark), date, strlen (date));
}

/* Puts what gnuplot left in one file into another, whole. */
static gboolean
put_in_place (const char *from, const char *to, const char *terminal, const char *title,
              GError **error)
{
  g_autofree char *text = NULL;
  gsize length;

  if (!g_file_get_contents (from, &text, &length, NULL) || !is_whole (text, length, terminal))
    {
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_IO, "cannot write %s: is the disk full?", to);
      return FALSE;
    }
  if (strcmp (terminal, "svg") == 0)
    {
      char *finished = svg_finish (text, title);

      g_free (text);
      text = finished;
      length = strlen (text);
    }
  else
    remove_date (text, length);
  if (g_file_set_contents_full (to, text, (gssize)length, G_FILE_SET_CONTENTS_CONSISTENT, 0666,
                                error))
    return TRUE;
  g_prefix_error (error, "cannot write %s: ", to);
  return FALSE;
}

/* One picture, to be drawn beside others. */
typedef struct
{
  const char *folder, *terminal;
  const Picture *picture;
  char *path;
  GError *error;
} Job;

/* Under another name, until it is whole. */
static void
draw (gpointer data, gpointer unused)
{
  Job *job = data;
  g_autofree char *unfinished
      = g_strdup_printf ("unfinished-%s.%s", job->picture->name, job->terminal);
  g_autofree char *unfinished_path = g_build_filename (job->folder, unfinished, NULL);
  g_autofree char *settings
      = g_strdup_printf ("format = \"%s\"; output = \"%s\"", job->terminal, unfinished);
  g_autofree char *script = g_strdup_printf ("draw-%s.gp", job->picture->name);
  g_autofree char *file = g_strdup_printf ("%s.%s", job->picture->name, job->terminal);

  (void)unused;
  job->path = g_build_filename (job->folder, file, NULL);
  if (run_gnuplot (job->folder, script, settings, &job->error))
    put_in_place (unfinished_path, job->path, job->terminal, job->picture->title, &job->error);
  g_unlink (unfinished_path);
}

static void
job_clear (gpointer data)
{
  Job *job = data;

  g_free (job->path);
  g_clear_error (&job->error);
}

/* The paths, in order, or the first error. */
static char **
collect (const GArray *jobs, GError **error)
{
  g_autoptr (GStrvBuilder) paths = g_strv_builder_new ();

  for (guint i = 0; i < jobs->len; i++)
    {
      Job *job = &g_array_index (jobs, Job, i);

      if (job->error != NULL)
        {
          g_propagate_error (error, g_steal_pointer (&job->error));
          return NULL;
        }
      g_strv_builder_add (paths, job->path);
    }
  return g_strv_builder_end (paths);
}

/* All at once, as many as there are processors. */
static char **
draw_all (const char *folder, const char *terminal, const GPtrArray *pictures, GError **error)
{
  g_autoptr (GArray) jobs = g_array_new (FALSE, TRUE, sizeof (Job));
  GThreadPool *pool = g_thread_pool_new (draw, NULL, (gint)g_get_num_processors (), FALSE, error);

  g_array_set_clear_func (jobs, job_clear);
  g_array_set_size (jobs, pictures->len);
  for (guint i = 0; pool != NULL && i < pictures->len; i++)
    {
      Job *job = &g_array_index (jobs, Job, i);

      *job = (Job){ .folder = folder, .picture = pictures->pdata[i], .terminal = terminal };
      g_thread_pool_push (pool, job, NULL);
    }
  if (pool == NULL)
    return NULL;
  g_thread_pool_free (pool, FALSE, TRUE);
  return collect (jobs, error);
}

/* What `validate -o` leaves, has its script already. */
static gboolean
is_of_validation (const char *folder, const char *plots)
{
  g_autofree char *summary = g_build_filename (folder, "summary.csv", NULL);
  g_autofree char *script = g_build_filename (plots, "draw-" PLOT_OF_VALIDATION ".gp", NULL);

  return !g_file_test (summary, G_FILE_TEST_EXISTS) && g_file_test (script, G_FILE_TEST_EXISTS);
}

static GPtrArray *
write_scripts (const char *folder, const char *plots, gboolean is_svg, GError **error)
{
  g_autoptr (Results) results = results_read (folder, error);

  if (results == NULL || !files_make_folder (plots, error))
    return NULL;
  return plot_scripts_write (results, plots, is_svg, error);
}

gboolean
plots_draw (const char *folder, const char *terminal, char ***written, GError **error)
{
  g_autofree char *plots = g_build_filename (folder, "plots", NULL);
  Picture validation = { .name = (char *)PLOT_OF_VALIDATION,
                         .title = (char *)"Throughput, predicted against measured" };
  g_autoptr (GPtrArray) pictures = NULL;
  g_auto (GStrv) paths = NULL;

  if (is_of_validation (folder, plots))
    {
      pictures = g_ptr_array_new ();
      g_ptr_array_add (pictures, &validation);
    }
  else
    pictures = write_scripts (folder, plots, strcmp (terminal, "svg") == 0, error);
  if (pictures == NULL)
    return FALSE;
  paths = draw_all (plots, terminal, pictures, error);
  if (paths == NULL)
    return FALSE;
  if (written != NULL)
    *written = g_steal_pointer (&paths);
  return TRUE;
}

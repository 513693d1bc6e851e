#include "config.h"

#include <errno.h>
#include <string.h>

#include <glib/gstdio.h>

#include "report/plot_scripts.h"
#include "report/plots.h"

G_DEFINE_QUARK (fsdpsim_plot_error, plot_error)

static gboolean
make_folder (const char *folder, GError **error)
{
  int code;

  if (g_mkdir_with_parents (folder, 0777) == 0)
    return TRUE;
  code = errno;
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), "cannot make the folder %s: %s",
               folder, g_strerror (code));
  return FALSE;
}

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
is_whole (const char *path, const char *terminal)
{
  const char *mark = strcmp (terminal, "svg") == 0   ? "</svg>"
                     : strcmp (terminal, "png") == 0 ? "IEND"
                                                     : "%%EOF";
  g_autofree char *text = NULL;
  gsize length;

  return g_file_get_contents (path, &text, &length, NULL) && length > 32
         && memmem (text + length - 32, 32, mark, strlen (mark)) != NULL;
}

static gboolean
set_not_whole (const char *path, GError **error)
{
  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_IO, "cannot write %s: is the disk full?", path);
  return FALSE;
}

static gboolean
put_in_place (const char *from, const char *to, GError **error)
{
  int code;

  if (g_rename (from, to) == 0)
    return TRUE;
  code = errno;
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), "cannot write %s: %s", to,
               g_strerror (code));
  return FALSE;
}

/* Draws under another name, and renames what is whole. */
static gboolean
draw (const char *folder, const char *picture, const char *terminal, char **path, GError **error)
{
  g_autofree char *unfinished = g_strdup_printf ("unfinished-%s.%s", picture, terminal);
  g_autofree char *unfinished_path = g_build_filename (folder, unfinished, NULL);
  g_autofree char *settings
      = g_strdup_printf ("format = \"%s\"; output = \"%s\"", terminal, unfinished);
  g_autofree char *script = g_strdup_printf ("draw-%s.gp", picture);
  g_autofree char *name = g_strdup_printf ("%s.%s", picture, terminal);
  gboolean is_drawn;

  *path = g_build_filename (folder, name, NULL);
  is_drawn = run_gnuplot (folder, script, settings, error)
             && (is_whole (unfinished_path, terminal) || set_not_whole (*path, error))
             && put_in_place (unfinished_path, *path, error);
  if (!is_drawn)
    g_unlink (unfinished_path);
  return is_drawn;
}

gboolean
plots_draw (const char *folder, const char *terminal, char ***written, GError **error)
{
  g_autofree char *plots = g_build_filename (folder, "plots", NULL);
  g_autoptr (Results) results = results_read (folder, error);
  g_autoptr (GPtrArray) pictures = NULL;
  g_autoptr (GStrvBuilder) paths = g_strv_builder_new ();

  if (results == NULL || !make_folder (plots, error))
    return FALSE;
  pictures = plot_scripts_write (results, plots, error);
  if (pictures == NULL)
    return FALSE;
  for (guint i = 0; i < pictures->len; i++)
    {
      g_autofree char *path = NULL;

      if (!draw (plots, pictures->pdata[i], terminal, &path, error))
        return FALSE;
      g_strv_builder_add (paths, path);
    }
  if (written != NULL)
    *written = g_strv_builder_end (paths);
  return TRUE;
}

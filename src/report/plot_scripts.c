#include <config.h>

#include <string.h>

#include "config/data.h"
#include "report/plot_bars.h"
#include "report/files.h"
#include "report/plot_scripts.h"
#include "report/plot_sweep.h"
#include "report/plot_text.h"
#include "report/plot_timeline.h"

static void
picture_free (gpointer data)
{
  Picture *picture = data;

  g_free (picture->name);
  g_free (picture->title);
  g_free (picture);
}

GString *
plot_script_begin (const char *name, const char *title, const char *subtitle, const char *stamp)
{
  g_autofree char *short_title = plot_text_shorten (title, 100);
  GString *script = g_string_new ("# In this folder: gnuplot draw-");

  g_string_append_printf (script, "%s.gp\nif (!exists(\"format\")) format = \"svg\"\n", name);
  g_string_append_printf (script, "if (!exists(\"output\")) output = \"%s.\" . format\n", name);
  plot_text_set (script, "title", short_title);
  plot_text_set (script, "subtitle", subtitle);
  plot_text_set (script, "stamp", stamp);
  return script;
}

GString *
picture_begin (Pictures *pictures, const char *name, const char *title, const char *subtitle,
               const char *stamp)
{
  Picture *picture = g_new0 (Picture, 1);

  picture->name = g_strdup (name);
  picture->title = g_strdup_printf ("%s: %s", title, subtitle);
  g_ptr_array_add (pictures->list, picture);
  return plot_script_begin (name, title, subtitle, stamp);
}

gboolean
picture_end (const Pictures *pictures, GString *script, const char *shipped, GError **error)
{
  const Picture *picture = pictures->list->pdata[pictures->list->len - 1];
  g_autofree char *file = g_strdup_printf ("draw-%s.gp", picture->name);
  g_autofree char *plain = NULL;
  gboolean is_written;

  g_string_append_printf (script, "load \"%s.gp\"\n", shipped);
  plain = pictures->is_svg ? g_strdup (script->str) : plot_text_without_wide (script->str);
  is_written = files_write (pictures->folder, file, plain, error);
  g_string_free (script, TRUE);
  return is_written;
}

char *
picture_stamp (const Results *results, guint first, guint n)
{
  const ResultsVariant *variant = results_variant (results, first);
  g_autofree char *scenario = plot_text_shorten (variant->scenario, 60);
  guint n_others = 0;

  for (guint i = first + 1; i < first + n; i++)
    n_others
        += strcmp (results_variant (results, i)->scenario_sha256, variant->scenario_sha256) != 0;
  return g_strdup_printf ("fsdpsim %.20s · %s · sha256 %.12s%s", variant->version, scenario,
                          variant->scenario_sha256, n_others > 0 ? " and others" : "");
}

const char *
picture_title (const Results *results)
{
  return results->title != NULL && results->title[0] != '\0'
             ? results->title
             : results_variant (results, 0)->scenario;
}

/* Those of @shipped, NULL-terminated. */
static gboolean
copy_shipped (const char *folder, const char *const *shipped, GError **error)
{
  for (guint i = 0; shipped[i] != NULL; i++)
    {
      g_autofree char *name = g_strconcat (shipped[i], ".gp", NULL);
      g_autofree char *path = data_find (DATA_PLOT, shipped[i]), *text = NULL;

      if (path == NULL)
        {
          g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
                       "cannot find plots/%s among the program's data", name);
          return FALSE;
        }
      if (!g_file_get_contents (path, &text, NULL, error)
          || !files_write (folder, name, text, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
plot_script_end (const char *folder, const char *name, GString *script, GError **error)
{
  const char *const shipped[] = { "style", name, NULL };
  g_autofree char *file = g_strdup_printf ("draw-%s.gp", name);
  gboolean is_written;

  g_string_append_printf (script, "load \"%s.gp\"\n", name);
  is_written
      = files_write (folder, file, script->str, error) && copy_shipped (folder, shipped, error);
  g_string_free (script, TRUE);
  return is_written;
}

GPtrArray *
plot_scripts_write (const Results *results, const char *folder, gboolean is_svg, GError **error)
{
  static const char *const shipped[] = { "style", "timeline", "memory", "deltas", "breakdown",
                                         "curve", "heatmap",  "pareto", NULL };
  Pictures pictures = { results, folder, is_svg, g_ptr_array_new_with_free_func (picture_free) };

  if (copy_shipped (folder, shipped, error) && plot_deltas_add (&pictures, error)
      && plot_sweep_add (&pictures, error) && plot_breakdown_add (&pictures, error)
      && plot_timelines_add (&pictures, error))
    return pictures.list;
  g_ptr_array_unref (pictures.list);
  return NULL;
}

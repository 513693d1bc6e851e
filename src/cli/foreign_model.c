#include <config.h>

#include "cli/foreign_model.h"

#include <string.h>

#include "cli/exit_codes.h"
#include "cli/output.h"
#include "cli/scenarios.h"
#include "config/text_file.h"

/* Sets a G_FILE_ERROR or TEXT_FILE_ERROR where the file cannot be read. */
static gboolean
read_file (const char *path, HfModel *model, Problems *problems, GError **error)
{
  gsize length;
  g_autofree char *text = text_file_read (path, &length, error);

  if (text == NULL)
    {
      g_prefix_error (error, "cannot read '%s': ", path);
      return FALSE;
    }
  return hf_config_read (path, text, length, model, problems);
}

gboolean
foreign_model_read (const char *path, const char *text, gsize length, HfModel *model,
                    GError **error)
{
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (GError) failure = NULL;
  gboolean done = text != NULL ? hf_config_read (path, text, length, model, problems)
                               : read_file (path, model, problems, &failure);

  if (done)
    return TRUE;
  if (failure != NULL)
    g_set_error_literal (error, CLI_ERROR,
                         failure->domain == G_FILE_ERROR ? EXIT_INPUT_OUTPUT : EXIT_BAD_INPUT,
                         failure->message);
  else
    scenarios_are_right (problems, error);
  return FALSE;
}

void
foreign_model_say_notes (const char *path, const HfModel *model)
{
  for (guint i = 0; i < model->notes->len; i++)
    output_message ("%s: %s", path, (char *)g_ptr_array_index (model->notes, i));
}

/* The first of all mistakes, without the lines that show it. */
static void
set_first (const Problems *problems, const char *path, GError **error)
{
  g_autofree char *all = problems_format (problems, "");
  guint n_more = problems_count (problems) - 1;

  *strchr (all, '\n') = '\0';
  if (n_more > 0)
    g_set_error (error, CLI_ERROR, EXIT_BAD_INPUT,
                 "%s (and %u more; 'fsdpsim import %s' shows all)", all, n_more, path);
  else
    g_set_error_literal (error, CLI_ERROR, EXIT_BAD_INPUT, all);
}

static char *
load (const char *path, gboolean quiet, GError **error)
{
  g_autoptr (Problems) problems = problems_new ();
  HfModel model;
  char *text;

  if (!read_file (path, &model, problems, error))
    {
      if (problems_count (problems) > 0)
        set_first (problems, path, error);
      return NULL;
    }
  if (!quiet)
    foreign_model_say_notes (path, &model);
  text = g_steal_pointer (&model.text);
  hf_model_clear (&model);
  return text;
}

char *
foreign_model_load (const char *path, GError **error)
{
  return load (path, FALSE, error);
}

char *
foreign_model_load_quietly (const char *path, GError **error)
{
  return load (path, TRUE, error);
}

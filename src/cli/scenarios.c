#include <config.h>

#include "cli/scenarios.h"

#include <string.h>

#include "cli/exit_codes.h"
#include "cli/foreign_model.h"

gboolean
scenarios_are_right (const Problems *problems, GError **error)
{
  g_autofree char *text = NULL;

  if (problems_count (problems) == 0)
    return TRUE;
  text = problems_format (problems, "fsdpsim: ");
  g_set_error_literal (error, CLI_ERROR,
                       problems_has_io (problems) ? EXIT_INPUT_OUTPUT : EXIT_BAD_INPUT, text);
  return FALSE;
}

static gboolean
reads_input_once (const Options *options, GError **error)
{
  guint n = 0;

  for (guint i = 0; i < options->arguments->len; i++)
    n += strcmp (g_ptr_array_index (options->arguments, i), "-") == 0;
  if (n <= 1)
    return TRUE;
  g_set_error (error, CLI_ERROR, EXIT_USAGE, "standard input ('-') can be read only once");
  return FALSE;
}

GPtrArray *
scenarios_load (const Options *options, GError **error)
{
  const ScenarioOptions how
      = { .overrides = options_overrides (options),
          .load_foreign_model = options->quiet ? foreign_model_load_quietly : foreign_model_load };
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func ((GDestroyNotify)scenario_file_free);
  g_autoptr (Problems) problems = problems_new ();

  if (!reads_input_once (options, error))
    return NULL;
  for (guint i = 0; i < options->arguments->len; i++)
    {
      ScenarioFile *file
          = scenario_file_load (g_ptr_array_index (options->arguments, i), &how, problems);

      if (file != NULL)
        g_ptr_array_add (files, file);
    }
  return scenarios_are_right (problems, error) ? g_steal_pointer (&files) : NULL;
}

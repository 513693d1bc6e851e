#include <config.h>

#include "cli/command.h"
#include "cli/output.h"
#include "report/plots.h"

static ExitCode
plot (const Options *options, GError **error)
{
  const char *folder = g_ptr_array_index (options->arguments, 0);
  g_auto (GStrv) written = NULL;
  g_autofree char *list = NULL;
  g_autofree char *text = NULL;

  if (!plots_draw (folder, options->terminal, &written, error))
    return exit_code_of_error (*error);
  list = g_strjoinv ("\n", written);
  text = g_strconcat (list, "\n", NULL);
  output_write (text, error);
  return EXIT_DONE;
}

const Command plot_command = {
  .name = "plot",
  .arguments = "DIR",
  .summary = "Draw the results in a folder that -o wrote; print the pictures' paths",
  .examples = "  fsdpsim compare llama2-7b-2xdgx-a100 -o out && fsdpsim plot out\n"
              "  fsdpsim run llama2-7b-2xdgx-a100 -o out && fsdpsim plot out --terminal pdf\n",
  .min_arguments = 1,
  .max_arguments = 1,
  .options = OPTION_TERMINAL,
  .run = plot,
};

#include <config.h>

#include "cli/command.h"
#include "cli/output.h"
#include "report/html.h"

static ExitCode
report (const Options *options, GError **error)
{
  const char *folder = g_ptr_array_index (options->arguments, 0);
  g_autofree char *path = NULL;
  g_autofree char *lacks = NULL;
  g_autofree char *text = NULL;

  if (!html_write (folder, &path, &lacks, error))
    return exit_code_of_error (*error);
  if (lacks != NULL && !options->quiet)
    output_message ("the page has tables only: %s (Debian: apt-get install gnuplot-nox)", lacks);
  text = g_strconcat (path, "\n", NULL);
  output_write (text, error);
  return EXIT_DONE;
}

const Command report_command = {
  .name = "report",
  .arguments = "DIR",
  .summary = "Make one HTML page of the results in a folder that -o wrote",
  .examples = "  fsdpsim compare llama2-7b-2xdgx-a100 -o out && fsdpsim report out\n"
              "  fsdpsim run llama2-7b-2xdgx-a100 -o out && fsdpsim report out\n",
  .min_arguments = 1,
  .max_arguments = 1,
  .options = 0,
  .run = report,
};

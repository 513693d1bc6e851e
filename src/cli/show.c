#include <config.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/scenarios.h"

static ExitCode
show (const Options *options, GError **error)
{
  g_autoptr (GPtrArray) files = scenarios_load (options, error);
  g_autofree char *text = NULL;

  if (files == NULL)
    return EXIT_BAD_INPUT;
  text = scenario_file_show (g_ptr_array_index (files, 0));
  output_write (text, error);
  return EXIT_DONE;
}

const Command show_command = {
  .name = "show",
  .arguments = "SCENARIO",
  .summary = "Print the effective scenario, each value with its origin",
  .examples = "  fsdpsim show llama2-7b-2xdgx-a100\n"
              "  fsdpsim show llama2-7b-2xdgx-a100 -s cluster.nodes=4 | fsdpsim run -\n",
  .min_arguments = 1,
  .max_arguments = 1,
  .options = OPTION_SET | OPTION_SEED,
  .run = show,
};

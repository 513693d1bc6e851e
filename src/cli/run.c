#include <config.h>

#include "cli/command.h"
#include "cli/selection.h"

static ExitCode
run (const Options *options, GError **error)
{
  Selection selection;
  ExitCode code;

  if (!selection_load_one (&selection, options, error))
    return EXIT_BAD_INPUT;
  selection_simulate (&selection, options, "run");
  selection_repeat (&selection, options, "run");
  if (options->format != FORMAT_CSV || options->folder != NULL)
    selection_explain (&selection, options);
  code = selection_report (&selection, options, report_run_table, error);
  selection_clear (&selection);
  return code;
}

const Command run_command = {
  .name = "run",
  .arguments = "SCENARIO",
  .summary = "Look at one variant in depth: timeline, memory, critical path",
  .examples = "  fsdpsim run llama2-7b-2xdgx-a100\n"
              "  fsdpsim run llama2-7b-2xdgx-a100 -s training.micro_batch=2 -o out\n",
  .min_arguments = 1,
  .max_arguments = 1,
  .options = OPTION_SET | OPTION_OUTPUT | OPTION_FORMAT | OPTION_SEED | OPTION_RANKS
             | OPTION_VARIANT | OPTION_BUDGET | OPTION_REPEAT,
  .run = run,
};

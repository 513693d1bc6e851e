#include <config.h>

#include "cli/command.h"
#include "cli/selection.h"

static ExitCode
compare (const Options *options, GError **error)
{
  Selection selection;
  ExitCode code;

  if (!selection_load (&selection, options, error))
    return EXIT_BAD_INPUT;
  selection_simulate (&selection, options, "compare");
  selection_repeat (&selection, options, "compare");
  if (options->break_even)
    selection_break_even (&selection, options);
  code = selection_report (&selection, options, report_comparison_table, error);
  selection_clear (&selection);
  return code;
}

const Command compare_command = {
  .name = "compare",
  .arguments = "SCENARIO [SCENARIO...]",
  .summary = "Put every variant side by side, with deltas against the first",
  .examples = "  fsdpsim compare llama2-7b-2xdgx-a100\n"
              "  fsdpsim compare llama2-7b-2xdgx-a100 -s cluster.nodes=8 -o out -f csv\n",
  .min_arguments = 1,
  .max_arguments = G_MAXUINT,
  .options = OPTION_SET | OPTION_OUTPUT | OPTION_FORMAT | OPTION_JOBS | OPTION_SEED | OPTION_RANKS
             | OPTION_BUDGET | OPTION_REPEAT | OPTION_BREAK_EVEN,
  .run = compare,
};

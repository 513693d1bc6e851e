#include <config.h>

#include "cli/exit_codes.h"

#include <gio/gio.h>

#include "interop/nccl_tests.h"
#include "interop/trace_parser.h"
#include "report/plots.h"
#include "report/results_csv.h"
#include "study/sweep_folder.h"

G_DEFINE_QUARK (fsdpsim_cli_error, cli_error)

ExitCode
exit_code_of_error (const GError *error)
{
  if (error->domain == CLI_ERROR)
    return (ExitCode)error->code;
  if (error->domain == G_OPTION_ERROR)
    return EXIT_USAGE;
  if (error->domain == RESULTS_ERROR || error->domain == SWEEP_ERROR
      || error->domain == NCCL_TESTS_ERROR || error->domain == TRACE_ERROR)
    return EXIT_BAD_INPUT;
  if (error->domain == G_FILE_ERROR || error->domain == G_IO_ERROR || error->domain == PLOT_ERROR)
    return EXIT_INPUT_OUTPUT;
  return EXIT_BUG;
}

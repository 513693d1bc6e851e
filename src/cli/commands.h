/* From a command line to the command it names, and back to an exit status. */
#pragma once

#include "cli/exit_codes.h"

ExitCode commands_run (int argc, char **argv);

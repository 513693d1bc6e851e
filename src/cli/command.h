/* One command of the program: what it is called, what it takes, what it does. */
#pragma once

#include "cli/exit_codes.h"
#include "cli/options.h"

typedef struct
{
  const char *name;
  const char *arguments; /* as the usage line shows them */
  const char *summary;   /* one line */
  const char *examples;  /* the end of its --help; each line works as pasted */
  guint min_arguments, max_arguments;
  OptionSet options; /* that mean something to it */
  /* Prints the result. What it returns counts where *error stays NULL: EXIT_DONE
   * or EXIT_ANSWER_IS_NO. */
  ExitCode (*run) (const Options *options, GError **error);
} Command;

extern const Command compare_command;
extern const Command run_command;
extern const Command sweep_command;
extern const Command plan_command;
extern const Command net_command;
extern const Command plot_command;
extern const Command report_command;
extern const Command show_command;
extern const Command list_command;
extern const Command validate_command;
extern const Command calibrate_command;
extern const Command import_command;
extern const Command trace_command;
extern const Command check_command;

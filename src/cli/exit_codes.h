/* What the program's exit status says, and the errors that lead to it. */
#pragma once

#include <glib.h>

typedef enum
{
  EXIT_DONE = 0,
  EXIT_ANSWER_IS_NO = 1, /* done: a variant does not fit, or PyTorch refuses it */
  EXIT_USAGE = 2,
  EXIT_BAD_INPUT = 3,
  EXIT_INPUT_OUTPUT = 4, /* cannot read or write */
  EXIT_BUG = 70
} ExitCode;

/* An error of this domain has an ExitCode as its code. A message that ends with
 * a newline is printed as it stands; others get the program's name before them. */
#define CLI_ERROR (cli_error_quark ())
GQuark cli_error_quark (void);

/* The exit code that any error of the house leads to. */
ExitCode exit_code_of_error (const GError *error);

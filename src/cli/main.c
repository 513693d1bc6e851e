#include "config.h"

#include <locale.h>
#include <signal.h>
#include <unistd.h>

#include "cli/commands.h"

/* A failed assertion is a bug of the program, and its exit status says so. */
static void
exit_for_bug (int number)
{
  (void)number;
  _exit (EXIT_BUG);
}

int
main (int argc, char **argv)
{
  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C");
  signal (SIGPIPE, SIG_IGN); /* a closed pipe is a write error, with a message */
  signal (SIGABRT, exit_for_bug);
  g_set_prgname ("fsdpsim");
  return (int)commands_run (argc, argv);
}

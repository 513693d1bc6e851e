#include <config.h>

#include <fcntl.h>
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

/* Where a standard stream is closed, the next file would be opened in its place and
 * messages would end in it: something takes the place that cannot be written, or read. */
static void
hold_closed_streams (void)
{
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
    if (fcntl (stream, F_GETFD) < 0)
      open ("/dev/null", (stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_NOCTTY);
}

int
main (int argc, char **argv)
{
  hold_closed_streams ();
  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C");
  signal (SIGPIPE, SIG_IGN); /* a closed pipe is a write error, with a message */
  signal (SIGXFSZ, SIG_IGN); /* so is a file that the system lets grow no further */
  signal (SIGABRT, exit_for_bug);
  g_set_prgname ("fsdpsim");
  return (int)commands_run (argc, argv);
}

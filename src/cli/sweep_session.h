/* One run of a sweep as the user sees it: rows on standard output and in a folder,
 * progress, and what went wrong. */
#pragma once

#include "cli/exit_codes.h"
#include "cli/options.h"
#include "study/sweep_folder.h"

/* EXIT_ANSWER_IS_NO where a row is not ok. */
ExitCode sweep_session_run (Sweep *sweep, const Options *options, GError **error);

/* Prints rows that are there, as -f asks; the same exit code. */
ExitCode sweep_session_print (const char *summary, const Options *options, GError **error);

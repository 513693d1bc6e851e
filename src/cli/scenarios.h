/* Reading the scenario files that a command line names. */
#pragma once

#include "cli/options.h"
#include "config/scenario.h"

/* ScenarioFile of each argument, under the overrides of -s. NULL and CLI_ERROR,
 * with every mistake of all the files, where one is wrong or cannot be read. */
GPtrArray *scenarios_load (const Options *options, GError **error);

/* FALSE and a CLI_ERROR with all of @problems, where there are any. */
gboolean scenarios_are_right (const Problems *problems, GError **error);

/* The other tables of `net`. */
#pragma once

#include "cli/options.h"

/* Errors against the measurements in options->against, of the cluster that is named or of
 * all that ship. NULL where the file is no such table. The caller frees it. */
char *net_errors_table (const Options *options, GError **error);

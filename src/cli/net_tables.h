/* What else `net` prints. */
#pragma once

#include "cli/options.h"

/* Errors against the measurements in options->against, of the cluster that is named or of
 * all that ship. NULL where the file is no such table. The caller frees it. */
char *net_errors_table (const Options *options, GError **error);

/* A cluster file fitted to the nccl-tests output in options->calibrate. NULL where that is
 * none. The caller frees it. */
char *net_calibration (const Options *options, GError **error);

/* A calibration as text for people, and as files that scenarios can name. The caller frees each. */
#pragma once

#include "study/calibration.h"

/* Parameters before and after, with their range over the folds; errors of the start, of the
 * fit, and of runs that were held back. @name: of the table. */
char *calibration_table (const Calibration *calibration, const char *name);

/* file,section,key,start,fitted,low,high,runs: a row for each parameter. */
char *calibration_csv (const Calibration *calibration);

char *calibration_json (const Calibration *calibration, const char *name);

/* Paths of the files whose parameters were fitted, NULL-terminated; g_strfreev() it. */
char **calibration_files (const Calibration *calibration);
/* One of them as a file that stands on the old one. @name: of the table. */
char *calibration_file (const Calibration *calibration, const char *path, const char *name);

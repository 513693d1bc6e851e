/* From the runs that were held back to the 90 % intervals of GPU files. */
#pragma once

#include "study/calibration_runs.h"

/* Adds a parameter for each error key of a file that enough runs depend on, and counts how many
 * held-back runs are inside an interval that the other folds give. After all folds. */
void calibration_add_errors (const CalibrationRuns *runs, Calibration *calibration);

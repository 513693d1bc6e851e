/* The runs of a calibration with their scenarios loaded, and which parameters each
 * depends on. */
#pragma once

#include "study/calibration.h"

#define CALIBRATED_KEYS 13
#define NO_PARAMETER    G_MAXUINT
#define ALL_FOLDS       G_MAXUINT

const KeyInfo *calibrated_key (guint index);
/* How far a value is expected to be off, as the standard deviation of its logarithm. */
double calibrated_deviation (const KeyInfo *key);

typedef struct _CalibrationRuns CalibrationRuns;

/* Those of @table that can be predicted and were measured. *parameters: a GArray of
 * CalibratedParameter, for the caller. */
CalibrationRuns *calibration_runs_new (const PublishedTable *table,
                                       const CalibrationOptions *options, GArray **parameters);
void calibration_runs_free (CalibrationRuns *runs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CalibrationRuns, calibration_runs_free)

guint calibration_runs_n (const CalibrationRuns *runs);
guint calibration_runs_n_folds (const CalibrationRuns *runs);
/* Runs of one source are in one fold, or else those of one model, length, GPU, number of GPUs and
 * checkpointing. */
guint calibration_runs_fold (const CalibrationRuns *runs, guint run);
/* Its row in the table, and the scenario as the files have it. */
guint calibration_runs_row (const CalibrationRuns *runs, guint run);
const Scenario *calibration_runs_scenario (const CalibrationRuns *runs, guint run);
/* The file in which its value of a key stands, or NULL where none says it. */
const char *calibration_runs_origin (const CalibrationRuns *runs, guint run, const KeyInfo *key);
/* Index of the parameter that a run has for a key, or NO_PARAMETER. */
guint calibration_runs_parameter (const CalibrationRuns *runs, guint run, guint key);

/* Logarithms of predicted over measured throughput, by run; @values by parameter. */
void calibration_runs_evaluate (const CalibrationRuns *runs, const double *values, double *logs);
/* Into the places of @validation, which is of the whole table, the predictions of one fold, or of
 * ALL_FOLDS. */
void calibration_runs_predict (const CalibrationRuns *runs, const double *values, guint fold,
                               Validation *validation);

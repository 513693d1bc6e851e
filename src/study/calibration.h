/* Parameters of GPU and software files, fitted to published runs: each belongs to
 * the file in which its value stands, and to every run that reads it there. Folds
 * of runs are held back in turn, to see how far the fit carries to runs that it
 * has not seen. */
#pragma once

#include "config/keys.h"
#include "study/validation.h"

typedef struct
{
  const KeyInfo *key;
  char *file;        /* path */
  guint n_runs;      /* that depend on it */
  double start;      /* the file's */
  double value;      /* fitted */
  double low, high;  /* over the folds */
  gboolean is_moved; /* FALSE: no run depends on it */
} CalibratedParameter;

typedef struct
{
  GArray *parameters; /* CalibratedParameter, by file and key */
  Validation start;   /* as the files are */
  Validation fitted;  /* all runs by parameters that were fitted to all */
  Validation crossed; /* each by parameters that were fitted to the other folds */
  guint n_folds;
  guint n_judged, n_inside; /* held-back runs, and those inside the interval of the other folds */
} Calibration;

typedef struct
{
  guint n_folds; /* 0: one for each source */
  guint64 seed;  /* of the folds */
  guint n_threads;
} CalibrationOptions;

/* @progress is told of simulations. */
void calibration_run (const PublishedTable *table, const CalibrationOptions *options,
                      StudyProgress progress, gpointer data, Calibration *calibration);
void calibration_clear (Calibration *calibration);

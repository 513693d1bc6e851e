/* How far predictions are off, over groups of runs. */
#pragma once

#include "study/validation.h"

typedef enum
{
  ERROR_SIGNED_MEAN,
  ERROR_MEAN, /* of absolute errors, as all below */
  ERROR_MEDIAN,
  ERROR_P90,
  ERROR_WORST,
  ERROR_RANK, /* Spearman's correlation of predicted and measured */
  N_ERROR_FIGURES
} ErrorFigure;

const char *error_figure_name (ErrorFigure figure); /* "signed_mean", "mean", "median", … */

typedef struct
{
  guint n;                        /* runs with a prediction and a measurement */
  double values[N_ERROR_FIGURES]; /* NaN where n is 0; of the rank, below 2 */
} ErrorFigures;

/* @indices: of predictions; NULL: all. */
void error_figures_measure (const Validation *validation, const guint *indices, guint n,
                            Metric metric, ErrorFigures *figures);

/* Runs that share something: all, a quality, a GPU or a source. */
typedef struct
{
  const char *kind; /* "all", "quality", "gpu", "source" */
  char *name;
  ErrorFigures metrics[N_METRICS];
} ErrorGroup;

/* The repository or paper that a run is from: its source up to the first blank, without the
 * path in a repository. The caller frees it. */
char *error_source_of (const PublishedRun *run);

/* All first, then the others by name; a GArray of ErrorGroup. */
GArray *error_groups_new (const Validation *validation);

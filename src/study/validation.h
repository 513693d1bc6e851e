/* Published runs as this program predicts them, and how far off it is. */
#pragma once

#include "config/scenario.h"
#include "study/published.h"
#include "study/study_pool.h"

/* What of a run is predicted. */
typedef enum
{
  METRIC_TOKENS_PER_S_PER_GPU,
  METRIC_PEAK_MEMORY_GIB,
  N_METRICS
} Metric;

const char *metric_name (Metric metric); /* "tokens_per_s_per_gpu", "peak_memory_gib" */

typedef struct
{
  const PublishedRun *run;    /* borrowed from the table */
  char *reason;               /* why there is no prediction; NULL where there is one */
  double measured[N_METRICS]; /* NaN: not published */
  double predicted[N_METRICS];
  gboolean fits;
  guint retries; /* of the allocator in a step: near out of memory */
} Prediction;

typedef struct
{
  Prediction *predictions; /* in the order of the table */
  guint n;
} Validation;

/* Predicts every run of @table. @overrides: "section.key=value", NULL-terminated, laid over every
 * run's scenario, or NULL. The result is the same for any number of threads. */
void validation_run (const PublishedTable *table, const char *const *overrides, guint n_threads,
                     StudyProgress progress, gpointer data, Validation *validation);
/* All of @table, none predicted yet. */
void validation_init (const PublishedTable *table, Validation *validation);
void validation_clear (Validation *validation);

/* The scenario of a run, or NULL and why there is none; the caller frees *reason. */
ScenarioFile *validation_load_scenario (const PublishedRun *run, const char *const *overrides,
                                        char **reason);
/* Fills in what @scenario gives. */
void validation_predict_scenario (const Scenario *scenario, Prediction *prediction);

/* Predicted over measured, less one; NaN where either is missing. */
double prediction_error (const Prediction *prediction, Metric metric);

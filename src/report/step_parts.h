/* Where the step of a row of results goes, seen from the compute stream. */
#pragma once

#include "report/results.h"

/* In the order in which bars are stacked. */
typedef enum
{
  STEP_COMPUTE, /* undivided: there is no timeline */
  STEP_FORWARD,
  STEP_RECOMPUTE,
  STEP_BACKWARD,
  STEP_OPTIMIZER, /* clipping too */
  STEP_COPY,      /* and whatever else ran on the compute stream */
  STEP_ALL_GATHER,
  STEP_REDUCE_SCATTER,
  STEP_ALL_REDUCE,
  STEP_EXPOSED, /* undivided */
  STEP_HOST_BOUND,
  N_STEP_KINDS
} StepKind;

const char *step_kind_name (StepKind kind); /* as in plots/style.gp */

/* Seconds a step, by exposure_spans() of the timeline where there is one, else as
 * summary.csv has it. @variant did run. Sum to its step time. */
void results_step_parts (const ResultsVariant *variant, double parts_s[N_STEP_KINDS]);

/* What a variant gains or costs against a baseline, and where that comes from. */
#pragma once

#include "report/figures.h"

/* The parts of a step, which sum to it. */
typedef enum
{
  PART_EXPOSED_ALL_GATHER,
  PART_EXPOSED_REDUCE_SCATTER,
  PART_EXPOSED_ALL_REDUCE,
  PART_FORWARD,
  PART_RECOMPUTE,
  PART_BACKWARD,
  PART_OPTIMIZER, /* clipping too */
  PART_COPIES,    /* and whatever else ran on the compute stream */
  PART_HOST_BOUND,
  N_STEP_PARTS
} StepPart;

const char *step_part_words (StepPart part); /* "exposed all-gather" */
void step_parts (const Figures *figures, double parts_s[N_STEP_PARTS]);

/* Variant minus baseline; NaN where either did not run. */
typedef struct
{
  double step_time_s;
  double throughput_percent; /* of tokens a second and GPU */
  double all_gathers, reduce_scatters, all_reduces;
  double exposed_comm_s;
  double peak_allocated_bytes;
  double parts_s[N_STEP_PARTS]; /* sum to step_time_s */
} Deltas;

void deltas_measure (const Figures *variant, const Figures *baseline, Deltas *deltas);

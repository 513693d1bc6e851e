/* What noise costs on average: step times of the same run under many seeds. */
#pragma once

#include "report/csv.h"
#include "report/figures.h"

typedef struct
{
  guint n;                     /* seeds: that of the run and those after it */
  double mean_s, p50_s, p99_s; /* step time, quantiles between the two nearest */
  double fastest_s, slowest_s;
} Noise;

#define NOISE_COLUMNS                                                                              \
  ",repeats,step_time_mean_s,step_time_p50_s,step_time_p99_s,tokens_per_s_mean,tokens_per_s_p50,"  \
  "tokens_per_s_p99"

/* @noise NULL: of a run that there was none of. Throughputs are tokens of a step over the step time
 * of the same name: what a long run gets, and what half and 99 % of all steps reach. */
void noise_add_fields (const Noise *noise, const RunFacts *facts, Csv *csv);

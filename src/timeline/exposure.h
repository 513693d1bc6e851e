/* Where the reported steps went, seen from the compute stream. An instant at
 * which it works is compute. An idle instant belongs to the collective running
 * then (all-gather before reduce-scatter before all-reduce), else to a running
 * copy, which counts with the host, else to the host. The four sum to the time
 * of the reported steps, to the picosecond. */
#pragma once

#include "timeline/timeline.h"

typedef struct
{
  SimTime total;
  SimTime compute;
  SimTime exposed[N_TIMELINE_OPS]; /* by collective: TIMELINE_ALL_GATHER, … */
  SimTime host_bound;
  SimTime busy[N_TIMELINE_OPS]; /* of the compute stream, by op: forward, recompute, … */
} Exposure;

/* @per_record, where not NULL, has room for one time a record of @timeline and
 * receives the exposed time of each collective; 0 for everything else. */
void exposure_measure (const Timeline *timeline, Exposure *exposure, SimTime *per_record);

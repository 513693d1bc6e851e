/* Where the reported steps went, seen from the compute stream. An instant at
 * which it works is compute. An idle instant belongs to the collective running
 * then (all-gather before reduce-scatter before all-reduce before any other), else
 * to a running copy, which counts with the host, else to the host. The parts sum to
 * the time of the reported steps, to the picosecond.
 *
 * Only records of the reported steps count, cut to the window from the origin to
 * the end of the last step, so that the rule gives the same from timeline.csv. */
#pragma once

#include "timeline/timeline.h"

typedef struct
{
  SimTime total;
  SimTime compute;
  SimTime exposed[N_TIMELINE_OPS]; /* by collective: TIMELINE_ALL_GATHER, … */
  SimTime host_bound;
  SimTime copies;               /* the part of host_bound during which a copy ran */
  SimTime busy[N_TIMELINE_OPS]; /* of the compute stream, by op: forward, recompute, …; sums to
                                   compute */
} Exposure;

/* All collectives together. */
static inline SimTime
exposure_exposed (const Exposure *exposure)
{
  return exposure->total - exposure->compute - exposure->host_bound;
}

/* A stretch of the window during which nothing began or ended. */
typedef struct
{
  SimTime start;
  SimTime end;
  guint32 record; /* to which it belongs: of those with the same claim the one issued first; or
                     RECORD_NONE */
  gboolean is_compute;
  TimelineOp op; /* the collective that is exposed; of compute and copies their own op; WAIT: the
                    host alone */
} ExposureSpan;

/* @per_record, where not NULL, has room for one time a record of @timeline and
 * receives how long each was exposed on a communication lane; 0 for everything
 * else. Work on such a lane that is no collective and no copy, as clipping's
 * scalar all-reduce, is exposed as all-reduce. */
void exposure_measure (const Timeline *timeline, Exposure *exposure, SimTime *per_record);

/* Adds part by part. */
void exposure_add (Exposure *sum, const Exposure *exposure);

/* The whole window as spans without gaps, in order of time; g_array_unref() it. */
GArray *exposure_spans (const Timeline *timeline);

/* exposure_measure() from the spans of a timeline of @n_records. */
void exposure_of_spans (const GArray *spans, guint n_records, Exposure *exposure,
                        SimTime *per_record);

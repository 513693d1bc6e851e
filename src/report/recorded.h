/* A recorded run, as profiler traces tell it: the program's figures from timelines that
 * come window by window, and what only a recording can tell: how far steps differ, where
 * the longest gaps are, what of a collective was waiting for other ranks. */
#pragma once

#include <math.h>

#include "report/report.h"
#include "timeline/exposure.h"

#define RECORDED_GAPS 5

/* Collectives of one kind, unit, phase and micro-batch, per step. */
typedef struct
{
  TimelineLabel label;
  double n, bytes, seconds, waiting_s, exposed_s;
  double redundant; /* of n: all-gathers of a unit that this backward had gathered already */
} RecordedCollective;

/* A unit that a backward pass gathers more than once, per step. */
typedef struct
{
  guint32 unit;
  guint16 micro_batch;
  double gathers;            /* of the backward pass */
  double gathers_exposed_s;  /* of all of them */
  double redundant;          /* those beyond the first */
  double seconds, exposed_s; /* of the redundant ones */
} RecordedRedundancy;

/* A stretch in which the GPU had nothing to do but copies, at most. */
typedef struct
{
  SimTime start; /* after the first step's beginning */
  SimTime length;
  guint step;
  gboolean has_before, has_after;
  TimelineLabel before, after; /* work on the compute stream, or an exposed collective */
} RecordedGap;

/* One step of the slowest rank. */
typedef struct
{
  SimTime start; /* after the first step's beginning */
  Exposure exposure;
} RecordedStep;

/* One rank, per step. */
typedef struct
{
  guint rank;
  guint n_steps;
  double step_time_s, shortest_s, longest_s;
  double compute_s, host_bound_s, copies_s; /* copies are a part of host_bound */
  double collective_n[N_TIMELINE_OPS], collective_s[N_TIMELINE_OPS];
  double waiting_s[N_TIMELINE_OPS], exposed_s[N_TIMELINE_OPS];
  gboolean knows_waiting;
} RecordedRank;

/* Sums over the windows of one rank. */
typedef struct _RecordedTrack RecordedTrack;

/* @in_depth: collectives, redundancies and gaps too, not the rank's figures alone. */
RecordedTrack *recorded_track_new (guint rank, gboolean knows_waiting, gboolean in_depth);
void recorded_track_free (RecordedTrack *track);
/* The next window; @ends_step: the last of its step. */
void recorded_track_add (RecordedTrack *track, const Timeline *window, gboolean ends_step);
guint recorded_track_n_steps (const RecordedTrack *track);
SimTime recorded_track_total (const RecordedTrack *track);
/* For other ranks, inside collectives. */
SimTime recorded_track_waited (const RecordedTrack *track);

/* One trace file. */
typedef struct
{
  char *path;
  char *gpu;               /* or NULL */
  gint64 rank, world_size; /* -1: not told */
  guint64 n_bytes, n_events, n_kernels, n_copies;
  GPtrArray *kinds; /* char *, "160 all-gather", of NCCL's kernels */
  guint64 n_nccl_kernels;
  guint64 n_host_collectives; /* in the host's own records */
  GPtrArray *warnings;        /* char * */
} RecordedFile;

/* The traces of one job. */
typedef struct
{
  char *name;
  GPtrArray *files;          /* RecordedFile */
  const char *steps_by;      /* in words: "profiler steps" */
  const char *units_by;      /* in words: "FSDP's annotations" */
  gboolean has_units;        /* of collectives */
  gboolean has_kernel_units; /* and of kernels */
  GArray *ranks;             /* RecordedRank, in order; empty where no GPU worked */
  guint slowest;             /* index of ranks, whose is all below */
  RunFacts facts;
  Figures figures;                       /* memory -1 where not known */
  char *scenario_name, *scenario_sha256; /* fsdpsim's, or "" */
  ReportScenario scenario;               /* of those */
  GArray *collectives;  /* RecordedCollective by unit, micro-batch, phase and kind */
  GArray *redundancies; /* RecordedRedundancy by micro-batch and unit */
  GArray *gaps;         /* RecordedGap, the longest first */
  GArray *steps;        /* RecordedStep, in order */
} Recorded;

Recorded *recorded_new (const char *name);
void recorded_free (Recorded *recorded);
RecordedFile *recorded_add_file (Recorded *recorded, const char *path);
/* The next rank's figures. */
void recorded_add_rank (Recorded *recorded, const RecordedTrack *track);
/* Fills in what is the slowest rank's. Facts not known are NaN. */
void recorded_finish (Recorded *recorded, const RecordedTrack *slowest, const RunFacts *facts);

static inline double
recorded_sum (const double values[N_TIMELINE_OPS])
{
  double sum = 0;

  for (guint op = 0; op < N_TIMELINE_OPS; op++)
    sum += values[op];
  return sum;
}

/* Waiting for other ranks inside collectives; NaN where it is not known. */
static inline double
recorded_waiting (const RecordedRank *rank)
{
  return rank->knows_waiting ? recorded_sum (rank->waiting_s) : (double)NAN;
}

/* ---- tables and files; @jobs is of Recorded, the first the baseline ---- */

char *recorded_table (const GPtrArray *jobs);
char *recorded_json (const GPtrArray *jobs);
/* As of a simulated run. */
char *recorded_per_unit_csv (const GPtrArray *jobs);
char *recorded_summary_csv (const GPtrArray *jobs);
char *recorded_deltas_csv (const GPtrArray *jobs);
/* A row for each rank read, and for each kind of collective of a unit, phase and micro-batch. */
char *recorded_ranks_csv (const GPtrArray *jobs);
char *recorded_collectives_csv (const GPtrArray *jobs);
/* A row for each step of the slowest rank. */
char *recorded_steps_csv (const GPtrArray *jobs);

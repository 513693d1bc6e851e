/* Runs a host program on all ranks. Two executors read the same program: the
 * one-pass evaluator goes instruction by instruction over all ranks at once,
 * wherever no duration depends on what runs beside it; the event engine runs
 * everything. Where both apply they agree to the last picosecond. */
#pragma once

#include "sim/program.h"
#include "timeline/rank_spread.h"

/* A figure of one rank or node. */
typedef struct
{
  guint number;
  double value;
} NumberedFigure;

typedef struct
{
  guint n_ranks;           /* of the job */
  gboolean folded;         /* one rank stands for all, which must be alike */
  double compute_slowdown; /* a kernel runs at 1/(1+this) of its rate while a collective runs on its
                              GPU, and kernels of several streams share the GPU equally; 0: nothing
                              slows anything */
  double compute_jitter;   /* sigma of a log-normal factor on each jittered kernel run */
  double gpu_spread;       /* sigma of a log-normal factor that a GPU keeps */
  guint64 seed;
  const NumberedFigure *slow_ranks; /* how many times as long their kernels take */
  guint n_slow_ranks;
  const NumberedFigure *late_hosts; /* picoseconds that each program_host_delay() takes there */
  guint n_late_hosts;
  const NumberedFigure *degraded_nodes; /* share of their NICs' rate that is left */
  guint n_degraded_nodes;
  gboolean force_events; /* the event engine, though one pass would do */
} EngineOptions;

typedef struct
{
  guint slowest_rank;   /* whose reported steps end last; the lowest of equals */
  gboolean used_events; /* which executor ran */
  GPtrArray *timelines; /* Timeline of the slowest rank, then of the others observed; owned */
  RankSpread *spread;   /* of all ranks; owned; NULL of a folded run */
} EngineResult;

/* @network prices collectives without a fixed time. @observed: ranks whose
 * timelines are wanted besides the slowest's, each once. A folded run has one
 * timeline, of rank 0. */
void engine_run (const Program *program, const Network *network, const EngineOptions *options,
                 const guint *observed, guint n_observed, EngineResult *result);
void engine_result_clear (EngineResult *result);

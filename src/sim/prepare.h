/* A sealed program with everything that a run needs worked out beforehand: the
 * time of each collective, the factor of each rank, the noise of each kernel. */
#pragma once

#include "sim/engine.h"
#include "sim/instruction.h"

typedef struct
{
  const Program *program;
  const Instruction *instructions;
  guint n;
  guint n_ranks;            /* simulated: 1 in a folded run */
  SimTime *collective_time; /* by instruction */
  double *rank_factor;      /* by rank; NULL: all 1 */
  double jitter;
  guint64 seed;
  double slowdown;
  struct
  {
    guint ranks, stride; /* 1, 1 in a folded run */
  } groups[MAX_COMMUNICATORS];
} Prepared;

/* Times that a run found out for one observed rank: of a LAUNCH its duration
 * there, of a COLLECTIVE its end; 0 for all else. By instruction. */
typedef struct
{
  guint rank;
  SimTime *times;
} Observation;

/* When each rank's warm-up ended (0 without warm-up) and its last step; by rank. */
typedef struct
{
  SimTime *origin;
  SimTime *end;
} StepEnds;

void prepare_run (const Program *program, const Network *network, const EngineOptions *options,
                  Prepared *prepared);
void prepared_clear (Prepared *prepared);

/* Device time of a LAUNCH on @rank when nothing runs beside it. */
SimTime prepared_kernel_time_noisy (const Prepared *prepared, guint32 index, guint rank);

static inline SimTime
prepared_kernel_time (const Prepared *prepared, guint32 index, guint rank)
{
  if (prepared->rank_factor == NULL && prepared->jitter <= 0)
    return prepared->instructions[index].time;
  return prepared_kernel_time_noisy (prepared, index, rank);
}

/* ---- the two executors; each fills @ends and the times of @observed ---- */

void one_pass_run (const Prepared *prepared, StepEnds *ends, Observation *observed,
                   guint n_observed);
void event_engine_run (const Prepared *prepared, StepEnds *ends, Observation *observed,
                       guint n_observed);

/* Goes through the program once more for one rank whose times are known, and
 * writes down what ran when and why. */
Timeline *replay_record (const Prepared *prepared, const Observation *observation);

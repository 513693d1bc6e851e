/* A sealed program with everything that a run needs worked out beforehand: the
 * time of each collective, the factor of each rank, the noise of each kernel. */
#pragma once

#include "sim/engine.h"
#include "sim/instruction.h"
#include "sim/prices.h"

typedef struct
{
  const Program *program;
  const Instruction *instructions;
  guint n;
  guint n_ranks; /* simulated: 1 in a folded run */
  gboolean folded;
  Prices prices;
  gsize *first_end; /* by collective: where its ends begin, one for each group */
  gsize n_ends;
  double *rank_factor; /* by rank; NULL: all 1 */
  SimTime *host_delay; /* by rank; NULL: all 0 */
  double jitter;
  guint64 seed;
  double slowdown;
  struct
  {
    guint ranks, stride; /* 1, 1 in a folded run */
    guint n;             /* groups */
  } groups[MAX_COMMUNICATORS];
} Prepared;

/* Times that a run found out for one observed rank: of a LAUNCH its duration
 * there, of a COLLECTIVE its end, by instruction. */
typedef struct
{
  guint rank;
  SimTime *times;
  SimTime *met; /* when the last of its ranks had come; by collective */
} Observation;

Observation observation_new (const Prepared *prepared, guint rank);
void observation_clear (Observation *observation);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Observation, observation_clear)

/* When each rank's warm-up ended (0 without warm-up) and its last step; by rank. And when
 * each group ended each collective, which is all that one rank can know of the others. */
typedef struct
{
  SimTime *origin;
  SimTime *end;
  SimTime *met;         /* when the last of the group had come; see Prepared.first_end */
  SimTime *collectives; /* when it was over; the same */
  /* NULL in a folded run. */
  SimTime *waited;       /* by rank: for others, in collectives of the reported steps */
  SimTime *longest_wait; /* of each group in each collective */
  double *wait_sum;      /* of all ranks of the group, picoseconds */
} RunTimes;

void prepare_run (const Program *program, const Network *network, const EngineOptions *options,
                  Prepared *prepared);
void prepared_clear (Prepared *prepared);

void run_times_init (RunTimes *times, const Prepared *prepared);
void run_times_clear (RunTimes *times);

/* All of @group have come to the collective at @index, when @arrivals says, by rank; returns when
 * the last did. */
SimTime run_times_meet (RunTimes *times, const Prepared *prepared, guint32 index, guint group,
                        const SimTime *arrivals);

/* How the ranks differed; NULL of a folded run. */
RankSpread *run_times_spread (const RunTimes *times, const Prepared *prepared);

/* The group of @rank among those of a communicator. */
static inline guint
prepared_group (const Prepared *prepared, guint communicator, guint rank)
{
  guint stride = prepared->groups[communicator].stride;
  guint block = prepared->groups[communicator].ranks * stride;

  return rank / block * stride + rank % block % stride;
}

/* The first of its ranks; the others follow, each a stride further. */
static inline guint
prepared_group_first (const Prepared *prepared, guint communicator, guint group)
{
  return group_first_rank (prepared->groups[communicator].ranks,
                           prepared->groups[communicator].stride, group);
}

/* Where the times of @rank's group stand in those of a collective. */
static inline gsize
prepared_end_index (const Prepared *prepared, guint32 index, guint rank)
{
  return prepared->first_end[prepared->instructions[index].id]
         + prepared_group (prepared, prepared->instructions[index].communicator, rank);
}

/* What is left of the collective's time once all are there, where nothing shares its links. */
static inline SimTime
prepared_collective_time (const Prepared *prepared, guint32 index, guint group)
{
  const Instruction *instruction = &prepared->instructions[index];

  return prices_of (&prepared->prices, instruction->communicator, instruction->id, group)->time;
}

/* Device time of a LAUNCH on @rank when nothing runs beside it. */
SimTime prepared_kernel_time_noisy (const Prepared *prepared, guint32 index, guint rank);

static inline SimTime
prepared_kernel_time (const Prepared *prepared, guint32 index, guint rank)
{
  if (prepared->rank_factor == NULL && prepared->jitter <= 0)
    return prepared->instructions[index].time;
  return prepared_kernel_time_noisy (prepared, index, rank);
}

/* ---- the two executors; each fills @times ---- */

void one_pass_run (const Prepared *prepared, RunTimes *times);
/* @only, where there is one rank: what it sees is written down at once. Else NULL. */
void event_engine_run (const Prepared *prepared, const Network *network, RunTimes *times,
                       Observation *only);

/* What one rank saw of a run that is over. */
void one_pass_observe (const Prepared *prepared, const RunTimes *times, Observation *observation);
void event_engine_observe (const Prepared *prepared, const RunTimes *times,
                           Observation *observation);

/* Goes through the program once more for one rank whose times are known, and
 * writes down what ran when and why. Without @observation, for the rank of a folded
 * run, which waits for nobody: this is then its one pass. */
Timeline *replay_record (const Prepared *prepared, const Observation *observation);

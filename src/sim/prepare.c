#include <config.h>

#include <math.h>
#include <string.h>

#include "sim/prepare.h"

/* SplitMix64's finalizer (Steele, Lea, Flood 2014, "Fast splittable pseudorandom
 * number generators"): a bijection that mixes every bit of its input. */
static guint64
mix (guint64 x)
{
  x ^= x >> 30;
  x *= G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  x ^= x >> 27;
  x *= G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return x ^ (x >> 31);
}

/* In (0, 1): never 0, so that its logarithm is finite. */
static double
uniform (guint64 bits)
{
  return ((double)(bits >> 11) + 0.5) * 0x1p-53;
}

/* A standard normal number that depends on nothing but seed, rank and
 * instruction (Box-Muller). */
static double
normal (guint64 seed, guint rank, guint32 index)
{
  guint64 key = mix (mix (seed + G_GUINT64_CONSTANT (0x9e3779b97f4a7c15))
                     ^ (((guint64)rank << 32) | index));
  double radius = sqrt (-2.0 * log (uniform (key)));

  return radius * cos (2.0 * G_PI * uniform (mix (key + G_GUINT64_CONSTANT (0x9e3779b97f4a7c15))));
}

/* With mean 1, so that noise as such makes no kernel dearer. */
static double
log_normal (double sigma, guint64 seed, guint rank, guint32 index)
{
  return exp (sigma * normal (seed, rank, index) - 0.5 * sigma * sigma);
}

SimTime
prepared_kernel_time_noisy (const Prepared *prepared, guint32 index, guint rank)
{
  const Instruction *instruction = &prepared->instructions[index];
  double factor = prepared->rank_factor == NULL ? 1.0 : prepared->rank_factor[rank];
  double sigma = prepared->jitter;

  if (instruction->jitter && sigma > 0)
    factor *= log_normal (sigma, prepared->seed, rank, index);
  return sim_time_nearest ((double)instruction->time * factor);
}

/* What makes one GPU slower than another for the whole of the run. */
static void
set_rank_factors (Prepared *prepared, const EngineOptions *options)
{
  double sigma = options->gpu_spread;

  if (options->n_slow_ranks == 0 && sigma <= 0)
    return;
  prepared->rank_factor = g_new (double, prepared->n_ranks);
  for (guint rank = 0; rank < prepared->n_ranks; rank++)
    prepared->rank_factor[rank]
        = sigma > 0 ? log_normal (sigma, prepared->seed, rank, INSTRUCTION_NONE) : 1.0;
  for (guint i = 0; i < options->n_slow_ranks; i++)
    prepared->rank_factor[options->slow_ranks[i].number] *= options->slow_ranks[i].value;
}

static void
set_host_delays (Prepared *prepared, const EngineOptions *options)
{
  if (options->n_late_hosts == 0)
    return;
  prepared->host_delay = g_new0 (SimTime, prepared->n_ranks);
  for (guint i = 0; i < options->n_late_hosts; i++)
    prepared->host_delay[options->late_hosts[i].number]
        = sim_time_nearest (options->late_hosts[i].value);
}

static void
place_ends (Prepared *prepared)
{
  const Program *program = prepared->program;

  prepared->first_end = g_new (gsize, program->n_collectives + 1);
  for (guint i = 0; i < program->n_collectives; i++)
    {
      const guint32 index = program_collective_at (program, i);

      prepared->first_end[i] = prepared->n_ends;
      prepared->n_ends += prepared->groups[prepared->instructions[index].communicator].n;
    }
}

void
prepare_run (const Program *program, const Network *network, const EngineOptions *options,
             Prepared *prepared)
{
  g_assert (program->sealed);
  *prepared = (Prepared){ .program = program,
                          .instructions = program_instructions (program),
                          .n = program->n_instructions,
                          .n_ranks = options->folded ? 1 : options->n_ranks,
                          .folded = options->folded,
                          .jitter = options->compute_jitter,
                          .seed = options->seed,
                          .slowdown = options->compute_slowdown };
  for (guint i = 0; i < program->n_communicators; i++)
    {
      const ProgramCommunicator *communicator = &program->communicators[i];
      g_assert (options->n_ranks % (communicator->ranks * communicator->stride) == 0);
      prepared->groups[i].ranks = options->folded ? 1 : communicator->ranks;
      prepared->groups[i].stride = options->folded ? 1 : communicator->stride;
      prepared->groups[i].n = prepared->n_ranks / prepared->groups[i].ranks;
    }
  place_ends (prepared);
  prices_init (&prepared->prices, program, network, options);
  set_rank_factors (prepared, options);
  set_host_delays (prepared, options);
}

void
prepared_clear (Prepared *prepared)
{
  prices_clear (&prepared->prices);
  g_clear_pointer (&prepared->first_end, g_free);
  g_clear_pointer (&prepared->rank_factor, g_free);
  g_clear_pointer (&prepared->host_delay, g_free);
}

void
run_times_init (RunTimes *times, const Prepared *prepared)
{
  times->origin = g_new0 (SimTime, prepared->n_ranks);
  times->end = g_new0 (SimTime, prepared->n_ranks);
  times->met = g_new0 (SimTime, prepared->n_ends + 1);
  times->collectives = g_new0 (SimTime, prepared->n_ends + 1);
  times->waited = prepared->folded ? NULL : g_new0 (SimTime, prepared->n_ranks);
  times->longest_wait = prepared->folded ? NULL : g_new0 (SimTime, prepared->n_ends + 1);
  times->wait_sum = prepared->folded ? NULL : g_new0 (double, prepared->n_ends + 1);
}

void
run_times_clear (RunTimes *times)
{
  g_clear_pointer (&times->origin, g_free);
  g_clear_pointer (&times->end, g_free);
  g_clear_pointer (&times->met, g_free);
  g_clear_pointer (&times->collectives, g_free);
  g_clear_pointer (&times->waited, g_free);
  g_clear_pointer (&times->longest_wait, g_free);
  g_clear_pointer (&times->wait_sum, g_free);
}

/* Sums are of doubles, in the order of ranks: a whole number of picoseconds could overflow. */
SimTime
run_times_meet (RunTimes *times, const Prepared *prepared, guint32 index, guint group,
                const SimTime *arrivals)
{
  const Instruction *instruction = &prepared->instructions[index];
  const guint communicator = instruction->communicator;
  const guint ranks = prepared->groups[communicator].ranks;
  const gsize stride = prepared->groups[communicator].stride;
  const guint first_rank = prepared_group_first (prepared, communicator, group);
  const gsize end = prepared->first_end[instruction->id] + group;
  SimTime first, last;
  double sum = 0;

  arrivals += first_rank;
  first = last = arrivals[0];
  for (gsize i = 1; i < ranks; i++)
    {
      first = MIN (first, arrivals[i * stride]);
      last = MAX (last, arrivals[i * stride]);
    }
  times->met[end] = last;
  if (times->waited == NULL || index < program_first_reported (prepared->program))
    return last;
  for (gsize i = 0; i < ranks; i++)
    {
      const SimTime wait = last - arrivals[i * stride];

      times->waited[first_rank + i * stride] += wait;
      sum += (double)wait;
    }
  times->longest_wait[end] = last - first;
  times->wait_sum[end] = sum;
  return last;
}

static CollectiveWait
collective_wait (const RunTimes *times, const Prepared *prepared, guint32 index, guint step)
{
  const Instruction *instruction = &prepared->instructions[index];
  const gsize first = prepared->first_end[instruction->id];
  CollectiveWait wait = { .label = instruction->label, .step = step };

  for (gsize i = first; i < first + prepared->groups[instruction->communicator].n; i++)
    {
      wait.most = MAX (wait.most, times->longest_wait[i]);
      wait.sum += times->wait_sum[i];
    }
  return wait;
}

RankSpread *
run_times_spread (const RunTimes *times, const Prepared *prepared)
{
  RankSpread *spread;
  guint step = 0;

  if (times->waited == NULL)
    return NULL;
  spread = g_new (RankSpread, 1);
  *spread = (RankSpread){
    .n_ranks = prepared->n_ranks,
    .n_steps = prepared->program->n_steps - prepared->program->n_warmup_steps,
    .step_times = g_new (SimTime, prepared->n_ranks),
    .waited = g_memdup2 (times->waited, prepared->n_ranks * sizeof (SimTime)),
    .waits = g_array_new (FALSE, FALSE, sizeof (CollectiveWait)),
  };
  for (guint rank = 0; rank < prepared->n_ranks; rank++)
    spread->step_times[rank] = times->end[rank] - times->origin[rank];
  for (guint32 i = program_first_reported (prepared->program); i < prepared->n; i++)
    if (prepared->instructions[i].kind == PROGRAM_COLLECTIVE)
      {
        const CollectiveWait wait = collective_wait (times, prepared, i, step);

        g_array_append_val (spread->waits, wait);
      }
    else if (prepared->instructions[i].kind == PROGRAM_END_OF_STEP)
      step++;
  return spread;
}

Observation
observation_new (const Prepared *prepared, guint rank)
{
  return (Observation){ rank, g_new (SimTime, prepared->n + 1),
                        g_new (SimTime, prepared->program->n_collectives + 1) };
}

void
observation_clear (Observation *observation)
{
  g_clear_pointer (&observation->times, g_free);
  g_clear_pointer (&observation->met, g_free);
}

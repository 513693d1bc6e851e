#include <config.h>

#include "sim/prepare.h"

/* The event engine is for durations that depend on what runs beside. */
static gboolean
needs_events (const Prepared *prepared, const EngineOptions *options)
{
  return options->force_events || options->compute_slowdown > 0 || prepared->prices.contended;
}

/* Whose last step ends last. */
static guint
slowest_rank (const RunTimes *times, guint n_ranks)
{
  guint slowest = 0;

  for (guint rank = 1; rank < n_ranks; rank++)
    if (times->end[rank] > times->end[slowest])
      slowest = rank;
  return slowest;
}

static Timeline *
observe_rank (const Prepared *prepared, const RunTimes *times, gboolean events, guint rank)
{
  g_auto (Observation) observation = observation_new (prepared, rank);

  if (events)
    event_engine_observe (prepared, times, &observation);
  else
    one_pass_observe (prepared, times, &observation);
  return replay_record (prepared, &observation);
}

/* The timeline of a folded run's rank, which is observed as it runs. */
static Timeline *
run_folded (const Prepared *prepared, const Network *network, RunTimes *times, EngineResult *result)
{
  g_auto (Observation) only = { 0 };

  if (!result->used_events)
    return replay_record (prepared, NULL);
  only = observation_new (prepared, 0);
  event_engine_run (prepared, network, times, &only);
  return replay_record (prepared, &only);
}

/* Returns the timeline of the slowest rank. */
static Timeline *
run_all (const Prepared *prepared, const Network *network, RunTimes *times, EngineResult *result)
{
  if (result->used_events)
    event_engine_run (prepared, network, times, NULL);
  else
    one_pass_run (prepared, times);
  result->slowest_rank = slowest_rank (times, prepared->n_ranks);
  result->spread = run_times_spread (times, prepared);
  return observe_rank (prepared, times, result->used_events, result->slowest_rank);
}

void
engine_run (const Program *program, const Network *network, const EngineOptions *options,
            const guint *observed, guint n_observed, EngineResult *result)
{
  Prepared prepared;
  RunTimes times;

  prepare_run (program, network, options, &prepared);
  run_times_init (&times, &prepared);
  *result = (EngineResult){
    .used_events = needs_events (&prepared, options),
    .timelines = g_ptr_array_new_with_free_func ((GDestroyNotify)timeline_free),
  };
  g_ptr_array_add (result->timelines, options->folded
                                          ? run_folded (&prepared, network, &times, result)
                                          : run_all (&prepared, network, &times, result));
  for (guint i = 0; i < n_observed && !options->folded; i++)
    if (observed[i] != result->slowest_rank)
      g_ptr_array_add (result->timelines,
                       observe_rank (&prepared, &times, result->used_events, observed[i]));
  run_times_clear (&times);
  prepared_clear (&prepared);
}

void
engine_result_clear (EngineResult *result)
{
  g_clear_pointer (&result->timelines, g_ptr_array_unref);
  g_clear_pointer (&result->spread, rank_spread_free);
}

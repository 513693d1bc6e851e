#include "config.h"

#include "sim/prepare.h"

gboolean
engine_one_pass_applies (const EngineOptions *options)
{
  return options->compute_slowdown <= 0;
}

static void
execute (const Prepared *prepared, gboolean events, StepEnds *ends, Observation *observed,
         guint n_observed)
{
  if (events)
    event_engine_run (prepared, ends, observed, n_observed);
  else
    one_pass_run (prepared, ends, observed, n_observed);
}

/* The rank whose last step ends last, and how much the ranks differ. */
static void
rank_by_end (const StepEnds *ends, guint n_ranks, EngineResult *result)
{
  result->slowest_rank = 0;
  result->fastest = result->slowest = ends->end[0] - ends->origin[0];
  for (guint rank = 1; rank < n_ranks; rank++)
    {
      SimTime time = ends->end[rank] - ends->origin[rank];

      if (ends->end[rank] > ends->end[result->slowest_rank])
        result->slowest_rank = rank;
      result->fastest = MIN (result->fastest, time);
      result->slowest = MAX (result->slowest, time);
    }
}

/* Runs with the wanted ranks under observation and writes down their timelines. */
static void
observe_ranks (const Prepared *prepared, StepEnds *ends, const guint *ranks, guint n_ranks,
               EngineResult *result)
{
  g_autofree Observation *observed = g_new0 (Observation, n_ranks);

  for (guint i = 0; i < n_ranks; i++)
    observed[i] = (Observation){ ranks[i], g_new0 (SimTime, prepared->n + 1) };
  execute (prepared, result->used_events, ends, observed, n_ranks);
  for (guint i = 0; i < n_ranks; i++)
    {
      g_ptr_array_add (result->timelines, replay_record (prepared, &observed[i]));
      g_free (observed[i].times);
    }
}

void
engine_run (const Program *program, const Network *network, const EngineOptions *options,
            const guint *observed, guint n_observed, EngineResult *result)
{
  Prepared prepared;
  const guint first_rank = 0;

  prepare_run (program, network, options, &prepared);
  g_autofree SimTime *origin = g_new0 (SimTime, prepared.n_ranks);
  g_autofree SimTime *end = g_new0 (SimTime, prepared.n_ranks);
  StepEnds ends = { origin, end };
  *result = (EngineResult){
    .used_events = options->force_events || !engine_one_pass_applies (options),
    .timelines = g_ptr_array_new_with_free_func ((GDestroyNotify)timeline_free),
  };
  if (options->folded)
    {
      observed = &first_rank;
      n_observed = 1;
    }
  if (n_observed == 0) /* which rank is the slowest shows only afterwards */
    {
      execute (&prepared, result->used_events, &ends, NULL, 0);
      rank_by_end (&ends, prepared.n_ranks, result);
      observed = &result->slowest_rank;
      n_observed = 1;
    }
  observe_ranks (&prepared, &ends, observed, n_observed, result);
  rank_by_end (&ends, prepared.n_ranks, result);
  prepared_clear (&prepared);
}

void
engine_result_clear (EngineResult *result)
{
  g_clear_pointer (&result->timelines, g_ptr_array_unref);
}

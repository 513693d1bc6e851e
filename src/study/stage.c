#include <config.h>

#include "study/stage.h"

#include "fsdp/runtime.h"

/* The engine's own form of a list; the caller frees it. */
static NumberedFigure *
numbered_figures (const NumberedList *list)
{
  NumberedFigure *figures = g_new (NumberedFigure, list->n);

  for (guint i = 0; i < list->n; i++)
    figures[i] = (NumberedFigure){ list->items[i].number, list->items[i].value };
  return figures;
}

/* Somebody who asks for single ranks gets them all simulated. */
static EngineOptions
engine_options (const Scenario *scenario, const StudyOptions *options, const Stage *stage)
{
  const SimulationConfig *simulation = &scenario->simulation;

  return (EngineOptions){
    .n_ranks = scenario_ranks (scenario),
    .folded = simulation->ranks == RANKS_FOLDED && !options->all_ranks && options->n_ranks == 0,
    .compute_slowdown = simulation->compute_slowdown,
    .compute_jitter = simulation->compute_jitter,
    .gpu_spread = simulation->gpu_spread,
    .seed = simulation->seed,
    .slow_ranks = stage->slow,
    .n_slow_ranks = simulation->stragglers.n,
    .late_hosts = stage->late,
    .n_late_hosts = simulation->late_hosts.n,
    .degraded_nodes = stage->degraded,
    .n_degraded_nodes = simulation->degraded_links.n,
    .force_events = simulation->engine == ENGINE_EVENTS,
  };
}

gboolean
stage_init (Stage *stage, const Scenario *scenario, const StepCost *cost,
            const StudyOptions *options, GError **error)
{
  Program *program = fsdp_program (scenario, cost, error);

  if (program == NULL)
    return FALSE;
  *stage = (Stage){
    .program = program,
    .network = network_new (&scenario->cluster),
    .slow = numbered_figures (&scenario->simulation.stragglers),
    .late = numbered_figures (&scenario->simulation.late_hosts),
    .degraded = numbered_figures (&scenario->simulation.degraded_links),
  };
  stage->options = engine_options (scenario, options, stage);
  return TRUE;
}

void
stage_clear (Stage *stage)
{
  program_free (stage->program);
  network_free (stage->network);
  g_free (stage->slow);
  g_free (stage->late);
  g_free (stage->degraded);
}

#include <config.h>

#include "study/study.h"

#include "cost/step_cost.h"
#include "fsdp/runtime.h"
#include "sim/engine.h"
#include "study/step_error.h"

/* ---- facts that reports need beside a timeline ---- */

static double
recomputed_flops_per_token (const Scenario *scenario, const StepCost *cost)
{
  const double tokens = (double)scenario->training.micro_batch * scenario->training.seq_len;
  double flops = 0;

  for (guint block = 0; block < scenario->model.layers; block++)
    if (checkpoint_has_block (&scenario->checkpoint, block))
      flops
          += cost_recompute (scenario, &cost->kinds[model_kind_of_block (&scenario->model, block)])
                 ->flops;
  return flops / tokens;
}

static void
gather_facts (const Scenario *scenario, const StepCost *cost, RunFacts *facts)
{
  const TrainingConfig *training = &scenario->training;
  const guint last
      = training->last_micro_batch > 0 ? training->last_micro_batch : training->micro_batch;
  const double sequences = (double)training->micro_batch * (training->grad_accum - 1) + last;

  *facts = (RunFacts){
    .n_ranks = scenario_ranks (scenario),
    .peak_flops = cost_peak_flops (scenario),
    .tokens_per_step = sequences * training->seq_len * scenario_ranks (scenario),
    .model_flops_per_token = cost->model_flops_per_token,
    .hardware_flops_per_token
    = cost->model_flops_per_token + recomputed_flops_per_token (scenario, cost),
    .capacity_bytes = scenario->gpu.memory_bytes - scenario->gpu.reserved_memory_bytes,
    .step_error = step_error (scenario),
    .expandable_segments = scenario->software.expandable_segments,
  };
}

/* ---- the engine ---- */

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
engine_options (const Scenario *scenario, const StudyOptions *options, const NumberedFigure *slow,
                const NumberedFigure *late, const NumberedFigure *degraded)
{
  const SimulationConfig *simulation = &scenario->simulation;

  return (EngineOptions){
    .n_ranks = scenario_ranks (scenario),
    .folded = simulation->ranks == RANKS_FOLDED && !options->all_ranks && options->n_ranks == 0,
    .compute_slowdown = simulation->compute_slowdown,
    .compute_jitter = simulation->compute_jitter,
    .gpu_spread = simulation->gpu_spread,
    .seed = simulation->seed,
    .slow_ranks = slow,
    .n_slow_ranks = simulation->stragglers.n,
    .late_hosts = late,
    .n_late_hosts = simulation->late_hosts.n,
    .degraded_nodes = degraded,
    .n_degraded_nodes = simulation->degraded_links.n,
    .force_events = simulation->engine == ENGINE_EVENTS,
  };
}

/* Ranks in the order in which files hold them, without repetition: guint. */
static GArray *
wanted_ranks (const Scenario *scenario, const StudyOptions *options)
{
  const guint n_ranks = scenario_ranks (scenario);
  GArray *wanted = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autofree gboolean *seen = g_new0 (gboolean, n_ranks);
  const guint n = options->all_ranks ? n_ranks : options->n_ranks;

  for (guint i = 0; i < n; i++)
    {
      const guint rank = options->all_ranks ? i : options->ranks[i];

      g_assert (rank < n_ranks);
      if (!seen[rank])
        g_array_append_val (wanted, rank);
      seen[rank] = TRUE;
    }
  return wanted;
}

/* The timelines wanted, the slowest rank's first. */
static GPtrArray *
simulate (const Program *program, const Scenario *scenario, const StudyOptions *options,
          StudyEffort *effort)
{
  g_autoptr (Network) network = network_new (&scenario->cluster);
  g_autofree NumberedFigure *slow = numbered_figures (&scenario->simulation.stragglers);
  g_autofree NumberedFigure *late = numbered_figures (&scenario->simulation.late_hosts);
  g_autofree NumberedFigure *degraded = numbered_figures (&scenario->simulation.degraded_links);
  g_autoptr (GArray) ranks = wanted_ranks (scenario, options);
  const EngineOptions engine = engine_options (scenario, options, slow, late, degraded);
  EngineResult result;
  GPtrArray *timelines;

  engine_run (program, network, &engine, (const guint *)(const void *)ranks->data, ranks->len,
              &result);
  effort->n_simulated_ranks = engine.folded ? 1 : engine.n_ranks;
  effort->used_events = result.used_events;
  timelines = g_ptr_array_ref (result.timelines);
  engine_result_clear (&result);
  return timelines;
}

void
study_run (const Scenario *scenario, const StudyOptions *options, ReportRun *run,
           StudyEffort *effort)
{
  g_autoptr (Program) program = NULL;
  g_autoptr (GError) error = NULL;
  StepCost cost;

  *run = (ReportRun){ .scenario = scenario };
  *effort = (StudyEffort){ 0 };
  step_cost_new (scenario, &cost);
  gather_facts (scenario, &cost, &run->facts);
  program = fsdp_program (scenario, &cost, &error);
  if (program == NULL)
    {
      figures_refuse (&run->figures, RUN_REFUSED, error->message);
      return;
    }
  effort->n_instructions = program_n_instructions (program);
  run->timelines = simulate (program, scenario, options, effort);
  if (effort->used_events && scenario->simulation.engine == ENGINE_ONE_PASS)
    {
      g_clear_pointer (&run->timelines, g_ptr_array_unref);
      figures_refuse (&run->figures, RUN_FAILED,
                      "simulation.engine = one_pass cannot follow collectives of several "
                      "communicators that share links; take engine = auto");
      return;
    }
  figures_measure (g_ptr_array_index (run->timelines, 0), &run->facts, &run->figures);
}

void
study_run_clear (ReportRun *run)
{
  g_clear_pointer (&run->what_if, g_free);
  figures_clear (&run->figures);
  g_clear_pointer (&run->timelines, g_ptr_array_unref);
}

#include <config.h>

#include "study/study.h"

#include "cost/step_cost.h"
#include "study/stage.h"
#include "study/step_error.h"

/* ---- facts that reports need beside a timeline ---- */

static double
recomputed_flops_per_token (const Scenario *scenario, const StepCost *cost)
{
  const double tokens
      = scenario->training.micro_batch * (double)scenario_tokens_of_sequence (scenario);
  double flops = 0;

  for (guint block = 0; block < scenario->model.layers; block++)
    if (checkpoint_has_block (&scenario->checkpoint, block)
        && scenario_trains_block (scenario, block))
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
    .tokens_per_step
    = sequences * (double)scenario_tokens_of_sequence (scenario) * scenario_ranks (scenario),
    .model_flops_per_token = cost->model_flops_per_token,
    .hardware_flops_per_token
    = cost->model_flops_per_token + recomputed_flops_per_token (scenario, cost),
    .capacity_bytes = scenario->gpu.memory_bytes - scenario->gpu.reserved_memory_bytes,
    .step_error = step_error (scenario),
    .expandable_segments = scenario->software.expandable_segments,
    .reliability = scenario->reliability,
    .params = cost->params.total + cost->adapters,
    .trained_params = cost->trained_params,
  };
}

/* ---- the engine ---- */

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

/* The timelines wanted, the slowest rank's first, and how the ranks differ. */
static void
simulate (const Stage *stage, const StudyOptions *options, ReportRun *run, StudyEffort *effort)
{
  g_autoptr (GArray) ranks = wanted_ranks (run->scenario, options);
  EngineResult result;

  engine_run (stage->program, stage->network, &stage->options,
              (const guint *)(const void *)ranks->data, ranks->len, &result);
  effort->n_instructions = program_n_instructions (stage->program);
  effort->n_simulated_ranks = stage->options.folded ? 1 : stage->options.n_ranks;
  effort->used_events = result.used_events;
  run->timelines = g_steal_pointer (&result.timelines);
  run->spread = g_steal_pointer (&result.spread);
  engine_result_clear (&result);
}

void
study_run (const Scenario *scenario, const StudyOptions *options, ReportRun *run,
           StudyEffort *effort)
{
  g_autoptr (GError) error = NULL;
  StepCost cost;
  Stage stage;

  *run = (ReportRun){ .scenario = scenario };
  *effort = (StudyEffort){ 0 };
  step_cost_new (scenario, &cost);
  gather_facts (scenario, &cost, &run->facts);
  if (!stage_init (&stage, scenario, &cost, options, &error))
    {
      figures_refuse (&run->figures, RUN_REFUSED, error->message);
      return;
    }
  simulate (&stage, options, run, effort);
  stage_clear (&stage);
  if (effort->used_events && scenario->simulation.engine == ENGINE_ONE_PASS)
    {
      g_clear_pointer (&run->timelines, g_ptr_array_unref);
      g_clear_pointer (&run->spread, rank_spread_free);
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
  g_clear_pointer (&run->noise, g_free);
  g_clear_pointer (&run->spread, rank_spread_free);
  figures_clear (&run->figures);
  g_clear_pointer (&run->timelines, g_ptr_array_unref);
}

/* Runs one executor many times over the host program of a shipped scenario, for
 * bench.sh to count machine instructions: engine_bench one_pass|events folded|all RUNS.
 * Prints the number of host-program instructions times simulated ranks. */
#include <config.h>

#include "cost/step_cost.h"
#include "fsdp/runtime.h"
#include "sim/engine.h"

#include <stdlib.h>
#include <string.h>

#define SCENARIO "llama2-7b-2xdgx-a100"

static void
run_often (const Scenario *scenario, gboolean force_events, gboolean folded, guint64 runs)
{
  g_autoptr (Network) network = network_new (&scenario->cluster);
  const EngineOptions options = {
    .n_ranks = scenario_ranks (scenario),
    .folded = folded,
    .force_events = force_events,
  };
  StepCost cost;
  g_autoptr (Program) program = NULL;

  step_cost_new (scenario, &cost);
  program = fsdp_program (scenario, &cost, NULL);
  g_assert (program != NULL);
  for (guint64 i = 0; i < runs; i++)
    {
      EngineResult result;

      engine_run (program, network, &options, NULL, 0, &result);
      g_assert (result.used_events == force_events);
      engine_result_clear (&result);
    }
  g_print ("%u\n", program_n_instructions (program) * (folded ? 1 : options.n_ranks));
}

int
main (int argc, char **argv)
{
  static const char *const overrides[] = { "simulation.compute_slowdown=0%", NULL };
  const ScenarioOptions options = { .overrides = overrides };
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (ScenarioFile) file = NULL;

  if (argc != 4)
    {
      g_printerr ("Usage: engine_bench one_pass|events folded|all RUNS\n");
      return 2;
    }
  file = scenario_file_load (SCENARIO, &options, problems);
  if (file == NULL)
    {
      g_autofree char *text = problems_format (problems, "engine_bench: ");

      g_printerr ("%s", text);
      return 3;
    }
  run_often (scenario_file_variant (file, 0), strcmp (argv[1], "events") == 0,
             strcmp (argv[2], "folded") == 0, g_ascii_strtoull (argv[3], NULL, 10));
  return 0;
}

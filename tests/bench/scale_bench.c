/* Runs a scenario's first variant over many ranks, each with its own clock, and times it beside a
 * bare binary-heap loop of as many operations as the ranks would take to be events:
 *
 *   scale_bench NAME RANKS one_pass|events [HEAP_OPERATIONS_A_RANK]
 *
 * Prints: ranks, milliseconds of the simulation, of the heap loop, their ratio, bytes a rank. */
#include <config.h>

#include "cost/step_cost.h"
#include "fsdp/runtime.h"
#include "sim/engine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define DEFAULT_OPERATIONS 225
#define GPUS_PER_NODE      8

/* ---- the yardstick: as little as an event can cost ---- */

typedef struct
{
  gint64 when;
  guint64 target;
} Bare;

static void
sift_down (Bare *heap, guint n)
{
  const Bare top = heap[0];
  guint hole = 0;

  for (guint child = 1; child < n; child = 2 * hole + 1)
    {
      if (child + 1 < n && heap[child + 1].when < heap[child].when)
        child++;
      if (heap[child].when >= top.when)
        break;
      heap[hole] = heap[child];
      hole = child;
    }
  heap[hole] = top;
}

/* One pending event a rank: the earliest goes back in a little later, so many times. */
static double
heap_loop_ms (guint n_ranks, guint operations)
{
  g_autofree Bare *heap = g_new (Bare, n_ranks);
  guint64 random = 1;
  gint64 begin;

  for (guint i = 0; i < n_ranks; i++)
    heap[i] = (Bare){ i, i };
  begin = g_get_monotonic_time ();
  for (guint64 i = (guint64)n_ranks * operations; i > 0; i--)
    {
      random = random * G_GUINT64_CONSTANT (6364136223846793005) + 1442695040888963407U;
      heap[0].when += (gint64)(random >> 44);
      sift_down (heap, n_ranks);
    }
  g_assert (heap[0].when > 0);
  return (double)(g_get_monotonic_time () - begin) / 1000.0;
}

/* ---- the simulation ---- */

static double
simulation_ms (const Scenario *scenario, gboolean events)
{
  g_autoptr (Network) network = network_new (&scenario->cluster);
  const EngineOptions options = {
    .n_ranks = scenario_ranks (scenario),
    .compute_slowdown = events ? scenario->simulation.compute_slowdown : 0,
    .compute_jitter = scenario->simulation.compute_jitter,
    .seed = scenario->simulation.seed,
    .force_events = events,
  };
  gint64 begin = g_get_monotonic_time ();
  EngineResult result;
  StepCost cost;
  g_autoptr (Program) program = NULL;

  step_cost_new (scenario, &cost);
  program = fsdp_program (scenario, &cost, NULL);
  g_assert (program != NULL);
  engine_run (program, network, &options, NULL, 0, &result);
  g_assert (result.slowest > 0);
  engine_result_clear (&result);
  return (double)(g_get_monotonic_time () - begin) / 1000.0;
}

static ScenarioFile *
load (const char *name, const char *nodes)
{
  g_autofree char *set_nodes = g_strconcat ("cluster.nodes=", nodes, NULL);
  const char *const overrides[] = { set_nodes, "simulation.compute_jitter=3%", NULL };
  const ScenarioOptions options = { .overrides = overrides };
  g_autoptr (Problems) problems = problems_new ();
  ScenarioFile *file = scenario_file_load (name, &options, problems);

  if (file == NULL)
    {
      g_autofree char *text = problems_format (problems, "scale_bench: ");

      g_printerr ("%s", text);
    }
  return file;
}

int
main (int argc, char **argv)
{
  g_autoptr (ScenarioFile) file = NULL;
  g_autofree char *nodes = NULL;
  struct rusage before, after;

  if (argc < 4 || argc > 5)
    {
      g_printerr ("Usage: scale_bench SCENARIO RANKS one_pass|events [OPERATIONS]\n");
      return 2;
    }
  guint n_ranks = (guint)g_ascii_strtoull (argv[2], NULL, 10);
  guint operations = argc == 5 ? (guint)g_ascii_strtoull (argv[4], NULL, 10) : DEFAULT_OPERATIONS;
  nodes = g_strdup_printf ("%u", n_ranks / GPUS_PER_NODE);
  file = load (argv[1], nodes);
  if (file == NULL)
    return 3;
  getrusage (RUSAGE_SELF, &before);
  double simulated
      = simulation_ms (scenario_file_variant (file, 0), strcmp (argv[3], "events") == 0);
  getrusage (RUSAGE_SELF, &after);
  double bare = heap_loop_ms (n_ranks, operations);
  g_print (
      "%7u ranks  %9.1f ms  heap loop %9.1f ms  ratio %6.2f  %8ld KiB more, %6ld bytes a rank\n",
      n_ranks, simulated, bare, simulated / bare, after.ru_maxrss - before.ru_maxrss,
      (after.ru_maxrss - before.ru_maxrss) * 1024 / n_ranks);
  return 0;
}

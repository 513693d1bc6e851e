/* Runs a scenario's first variant, naively checkpointed under FULL_SHARD, over many ranks, each
 * with its own clock, and times it beside a bare binary-heap loop of as many operations as the
 * ranks would take to be events:
 *
 *   scale_bench NAME RANKS one_pass|events [HEAP_OPERATIONS_A_RANK]
 *
 * Or the event queue alone beside that loop, at the same number of pending events:
 *
 *   scale_bench queue PENDING
 *
 * Times are the processor's, not the wall's, so that a busy machine spoils less. */
#include <config.h>

#include "cost/step_cost.h"
#include "fsdp/runtime.h"
#include "sim/engine.h"
#include "sim/event_queue.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define DEFAULT_OPERATIONS 225
#define GPUS_PER_NODE      8
#define QUEUE_OPERATIONS   4000000

static double
processor_ms (void)
{
  struct timespec time;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

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

/* Until an event fires again. */
static inline gint64
delay (guint64 *random)
{
  *random = *random * G_GUINT64_CONSTANT (6364136223846793005) + 1442695040888963407U;
  return (gint64)(*random >> 44);
}

/* The earliest of @n_pending events goes back in a little later, @operations times. */
static double
heap_loop_ms (guint n_pending, guint64 operations)
{
  g_autofree Bare *heap = g_new (Bare, n_pending);
  guint64 random = 1;
  double begin;

  for (guint i = 0; i < n_pending; i++)
    heap[i] = (Bare){ i, i };
  begin = processor_ms ();
  for (guint64 i = operations; i > 0; i--)
    {
      heap[0].when += delay (&random);
      sift_down (heap, n_pending);
    }
  g_assert (heap[0].when > 0);
  return processor_ms () - begin;
}

/* The same with the engine's own queue, which keeps a total order and checks it. */
static double
queue_ms (guint n_pending, guint64 operations)
{
  EventQueue queue;
  Firing firing;
  guint64 random = 1;
  double begin;

  event_queue_init (&queue, n_pending);
  for (guint i = 0; i < n_pending; i++)
    event_queue_push (&queue, i, i);
  begin = processor_ms ();
  for (guint64 i = operations; i > 0; i--)
    {
      event_queue_pop (&queue, &firing);
      event_queue_push (&queue, firing.when + delay (&random), firing.target);
    }
  begin = processor_ms () - begin;
  event_queue_clear (&queue);
  return begin;
}

static int
compare_queue (guint n_pending)
{
  double bare = G_MAXDOUBLE, own = G_MAXDOUBLE;

  for (guint run = 0; run < 5; run++)
    {
      bare = MIN (bare, heap_loop_ms (n_pending, QUEUE_OPERATIONS));
      own = MIN (own, queue_ms (n_pending, QUEUE_OPERATIONS));
    }
  g_print ("%7u pending  bare heap %6.1f ns  event queue %6.1f ns an event  rate %4.2f of bare\n",
           n_pending, 1e6 * bare / QUEUE_OPERATIONS, 1e6 * own / QUEUE_OPERATIONS, bare / own);
  return 0;
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
  double begin = processor_ms ();
  EngineResult result;
  StepCost cost;
  g_autoptr (Program) program = NULL;

  step_cost_new (scenario, &cost);
  program = fsdp_program (scenario, &cost, NULL);
  g_assert (program != NULL);
  engine_run (program, network, &options, NULL, 0, &result);
  g_assert (result.spread->step_times[result.slowest_rank] > 0);
  engine_result_clear (&result);
  return processor_ms () - begin;
}

static ScenarioFile *
load (const char *name, const char *nodes)
{
  g_autofree char *set_nodes = g_strconcat ("cluster.nodes=", nodes, NULL);
  const char *const overrides[] = { set_nodes, "simulation.compute_jitter=3%",
                                    "activation_checkpointing.method=torch.utils.checkpoint",
                                    "fsdp.sharding_strategy=FULL_SHARD", NULL };
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
  struct rusage usage;

  if (argc == 3 && strcmp (argv[1], "queue") == 0)
    return compare_queue ((guint)g_ascii_strtoull (argv[2], NULL, 10));
  if (argc < 4 || argc > 5)
    {
      g_printerr ("Usage: scale_bench SCENARIO RANKS one_pass|events [OPERATIONS]\n"
                  "       scale_bench queue PENDING\n");
      return 2;
    }
  guint n_ranks = (guint)g_ascii_strtoull (argv[2], NULL, 10);
  guint operations = argc == 5 ? (guint)g_ascii_strtoull (argv[4], NULL, 10) : DEFAULT_OPERATIONS;
  nodes = g_strdup_printf ("%u", n_ranks / GPUS_PER_NODE);
  file = load (argv[1], nodes);
  if (file == NULL)
    return 3;
  double simulated
      = simulation_ms (scenario_file_variant (file, 0), strcmp (argv[3], "events") == 0);
  getrusage (RUSAGE_SELF, &usage);
  double bare = heap_loop_ms (n_ranks, (guint64)n_ranks * operations);
  g_print ("%7u ranks  %9.1f ms  heap loop %9.1f ms  ratio %6.2f  %6.1f MiB in all\n", n_ranks,
           simulated, bare, simulated / bare, (double)usage.ru_maxrss / 1024);
  return 0;
}

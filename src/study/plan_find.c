#include <config.h>

#include "study/plan_find.h"

#include "study/study.h"

#define TOKENS_STEP 128
#define MOST_NODES  4096 /* where --gpus does not say */

typedef struct
{
  ScenarioFile *file;
  guint variant;
  FindWhat what;
  const PlanLimits *limits;
} Find;

/* ---- one value ---- */

static char *
write_option (const Find *find, guint value)
{
  static const char *const keys[] = { [FIND_MICRO_BATCH] = "training.micro_batch",
                                      [FIND_SEQ_LEN] = "training.seq_len",
                                      [FIND_NODES] = "cluster.nodes" };

  return g_strdup_printf ("%s=%u", keys[find->what], value);
}

static void
take_figures (const Find *find, const ReportRun *run, FindProbe *probe)
{
  const Figures *figures = &run->figures;
  const MemoryPeak *peak = &figures->memory.peaks[figures->memory.phase];

  probe->is_possible = figures_did_run (figures);
  probe->capacity_bytes = run->facts.capacity_bytes;
  if (!probe->is_possible)
    {
      probe->reason = g_strdup (figures->reason);
      return;
    }
  probe->reason = g_strdup ("");
  probe->allocated_bytes = figures->peak_allocated_bytes;
  probe->reserved_bytes = figures->peak_reserved_bytes;
  probe->fits = figures->peak_reserved_bytes
                <= plan_usable_bytes (probe->capacity_bytes, find->limits->headroom);
  probe->phase = figures->memory.phase;
  probe->unit = peak->unit;
  for (MemoryKind kind = 0; kind < N_MEMORY_KINDS; kind++)
    if (peak->by_kind[kind] > peak->by_kind[probe->owner])
      probe->owner = kind;
}

static FindProbe
try_value (const Find *find, guint value)
{
  g_autofree char *option = write_option (find, value);
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (Grid) grid = grid_new ();
  g_autoptr (Cells) cells = NULL;
  const StudyOptions options = { 0 };
  FindProbe probe = { .value = value };
  StudyEffort effort;
  Scenario scenario;
  ReportRun run;

  if (!grid_add_option (grid, option, problems))
    {
      probe.reason = problems_summary (problems);
      return probe;
    }
  cells = cells_new (find->file, grid);
  if (cells_fill (cells, 0, find->variant, &scenario, &probe.reason))
    {
      study_run (&scenario, &options, &run, &effort);
      take_figures (find, &run, &probe);
      study_run_clear (&run);
    }
  cells_clear_scenario (&scenario);
  return probe;
}

static void
probe_clear (FindProbe *probe)
{
  g_clear_pointer (&probe->reason, g_free);
}

/* Takes @probe in place of what was there. */
static void
put (FindProbe *place, FindProbe probe)
{
  probe_clear (place);
  *place = probe;
}

/* ---- the search: memory grows with batch and length, and shrinks with nodes ---- */

static guint
step_of (const Find *find)
{
  return find->what == FIND_SEQ_LEN ? TOKENS_STEP : 1;
}

/* Doubles as long as it fits, then halves what is between. */
static void
find_largest (const Find *find, FindResult *result)
{
  const guint step = step_of (find);
  guint fits = 0, fails = 1;

  for (;;)
    {
      put (&result->next, try_value (find, fails * step));
      if (!result->next.fits)
        break;
      put (&result->best, result->next);
      result->next = (FindProbe){ 0 };
      fits = fails;
      fails *= 2;
    }
  while (fails - fits > 1)
    {
      const guint middle = fits + (fails - fits) / 2;
      FindProbe probe = try_value (find, middle * step);

      put (probe.fits ? &result->best : &result->next, probe);
      if (probe.fits)
        fits = middle;
      else
        fails = middle;
    }
  result->found = fits > 0;
}

static guint
most_nodes (const Find *find)
{
  const guint per_node = scenario_file_variant (find->file, find->variant)->cluster.gpus_per_node;

  return find->limits->max_gpus > 0 ? find->limits->max_gpus / per_node : MOST_NODES;
}

static void
find_fewest (const Find *find, FindResult *result)
{
  const guint most = most_nodes (find);
  guint fails = 0, fits = 1;

  for (;;)
    {
      put (&result->best, try_value (find, MIN (fits, MAX (most, 1))));
      if (result->best.fits || fits >= most)
        break;
      put (&result->next, result->best);
      result->best = (FindProbe){ 0 };
      fails = fits;
      fits *= 2;
    }
  fits = result->best.value;
  result->found = result->best.fits;
  while (result->found && fits - fails > 1)
    {
      const guint middle = fails + (fits - fails) / 2;
      FindProbe probe = try_value (find, middle);

      put (probe.fits ? &result->best : &result->next, probe);
      if (probe.fits)
        fits = middle;
      else
        fails = middle;
    }
}

void
plan_find (ScenarioFile *file, guint variant, FindWhat what, const PlanLimits *limits,
           FindResult *result)
{
  const Find find = { file, variant, what, limits };

  g_assert (what != FIND_NOTHING);
  *result = (FindResult){ .what = what, .headroom = limits->headroom };
  if (what == FIND_NODES)
    find_fewest (&find, result);
  else
    find_largest (&find, result);
  if (!result->found && what != FIND_NODES) /* what came nearest is the least */
    {
      put (&result->best, result->next);
      result->next = (FindProbe){ 0 };
    }
}

void
find_result_clear (FindResult *result)
{
  probe_clear (&result->best);
  probe_clear (&result->next);
}

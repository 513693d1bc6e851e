#include <config.h>

#include "study/plan.h"

#include <string.h>

#include "cost/step_cost.h"
#include "report/goodput.h"
#include "study/plan_memory.h"
#include "study/study.h"

/* Of more micro-batches than this the time is reckoned up from the last two. */
#define SIMULATED_MICRO_BATCHES 4
#define MOST_CHOICES            20

/* A gain of less is none. */
#define IDLE_GAIN 0.0005

struct _Plan
{
  ScenarioFile *file;
  guint variant;
  PlanLimits limits;
  PlanSpace space;
  Cells *cells;
  PlanCandidate *candidates; /* by cell */
  guint *chains;             /* the first job of each chain, and behind the last one their end */
  guint n_chains;
  GArray *choices; /* PlanChoice */
};

static void
choice_clear (gpointer data)
{
  PlanChoice *choice = data;

  study_run_clear (&choice->run);
  cells_clear_scenario (&choice->scenario);
}

/* Jobs of one chain differ by their micro-batch alone, which grows: where one does not fit,
 * neither do those behind it. */
static void
find_chains (Plan *plan)
{
  const GArray *jobs = plan->space.jobs;

  plan->chains = g_new (guint, jobs->len + 1);
  for (guint j = 0; j < jobs->len; j++)
    {
      const PlanJob *job = &g_array_index (jobs, PlanJob, j);

      if (j == 0 || job->nodes != job[-1].nodes || job->micro_batch <= job[-1].micro_batch)
        plan->chains[plan->n_chains++] = j;
    }
  plan->chains[plan->n_chains] = jobs->len;
}

Plan *
plan_new (ScenarioFile *file, guint variant, const PlanLimits *limits, const char *const *vary,
          Problems *problems)
{
  g_autoptr (Plan) plan = g_new0 (Plan, 1);

  plan->file = file;
  plan->variant = variant;
  plan->limits = *limits;
  plan->choices = g_array_new (FALSE, FALSE, sizeof (PlanChoice));
  g_array_set_clear_func (plan->choices, choice_clear);
  if (!plan_space_init (&plan->space, file, variant, limits, vary, problems))
    return NULL;
  plan->cells = cells_new (file, plan->space.grid);
  if (!cells_check_sources (plan->cells, problems))
    return NULL;
  plan->candidates = g_new0 (PlanCandidate, grid_n_cells (plan->space.grid));
  find_chains (plan);
  return g_steal_pointer (&plan);
}

void
plan_free (Plan *plan)
{
  if (plan == NULL)
    return;
  g_array_unref (plan->choices);
  cells_free (plan->cells);
  plan_space_clear (&plan->space);
  g_free (plan->candidates);
  g_free (plan->chains);
  g_free (plan);
}

const Grid *
plan_grid (const Plan *plan)
{
  return plan->space.grid;
}

gboolean
plan_counts_failures (const Plan *plan)
{
  for (guint k = 0; k < grid_n_keys (plan_grid (plan)); k++)
    if (g_str_equal (grid_key (plan_grid (plan), k)->section, "reliability"))
      return TRUE;
  return goodput_is_asked (&scenario_file_variant (plan->file, plan->variant)->reliability);
}

const PlanLimits *
plan_limits (const Plan *plan)
{
  return &plan->limits;
}

void
plan_fill (const Plan *plan, gsize cell, Scenario *scenario)
{
  g_autofree char *reason = NULL;
  const gboolean good = cells_fill (plan->cells, cell, plan->variant, scenario, &reason);

  g_assert (good);
}

const PlanCandidate *
plan_candidate (const Plan *plan, gsize cell)
{
  return &plan->candidates[cell];
}

const PlanChoice *
plan_choices (const Plan *plan, guint *n)
{
  *n = plan->choices->len;
  return (const PlanChoice *)(const void *)plan->choices->data;
}

char *
plan_write_scenario (const Plan *plan, const PlanChoice *choice)
{
  return cells_show (plan->cells, choice->cell, plan->variant);
}

/* ---- one candidate ---- */

static gint64
usable_bytes (const Plan *plan, const GpuConfig *gpu)
{
  return plan_usable_bytes (gpu->memory_bytes - gpu->reserved_memory_bytes, plan->limits.headroom);
}

/* A hybrid over one group of all ranks is no hybrid. */
static gboolean
is_alike (const Scenario *scenario)
{
  const FsdpConfig *fsdp = &scenario->fsdp;
  const gboolean hybrid
      = fsdp->strategy == STRATEGY_HYBRID_SHARD || fsdp->strategy == STRATEGY_HYBRID_SHARD_ZERO2;

  return fsdp->api != API_DDP && hybrid && fsdp->shard_group_size >= scenario_ranks (scenario);
}

static gboolean
is_too_big (const Plan *plan, const Scenario *scenario)
{
  StepCost cost;

  step_cost_new (scenario, &cost);
  return plan_memory_at_least (scenario, &cost) > usable_bytes (plan, &scenario->gpu);
}

/* A step of so many micro-batches; FALSE where it is refused. */
static gboolean
simulate (const Scenario *scenario, guint grad_accum, double *step_time_s, gint64 *reserved_bytes)
{
  const StudyOptions options = { 0 };
  Scenario shorter = *scenario; /* shallow */
  StudyEffort effort;
  ReportRun run;
  gboolean did_run;

  shorter.training.grad_accum = grad_accum;
  study_run (&shorter, &options, &run, &effort);
  did_run = figures_did_run (&run.figures);
  *step_time_s = run.figures.step_time_s;
  *reserved_bytes = MAX (*reserved_bytes, run.figures.peak_reserved_bytes);
  study_run_clear (&run);
  return did_run;
}

/* Each micro-batch more takes as long as the last one did. */
static gboolean
measure (const Scenario *scenario, PlanCandidate *candidate)
{
  const guint n = scenario->training.grad_accum;
  double shorter_s;

  candidate->is_exact = n <= SIMULATED_MICRO_BATCHES || scenario->training.last_micro_batch > 0;
  if (candidate->is_exact)
    return simulate (scenario, n, &candidate->step_time_s, &candidate->reserved_bytes);
  if (!simulate (scenario, SIMULATED_MICRO_BATCHES - 1, &shorter_s, &candidate->reserved_bytes)
      || !simulate (scenario, SIMULATED_MICRO_BATCHES, &candidate->step_time_s,
                    &candidate->reserved_bytes))
    return FALSE;
  candidate->step_time_s += (n - SIMULATED_MICRO_BATCHES) * (candidate->step_time_s - shorter_s);
  return TRUE;
}

static double
tokens_per_step (const Scenario *scenario)
{
  return scenario->training.micro_batch * (double)scenario_tokens_of_sequence (scenario)
         * scenario->training.grad_accum * scenario_ranks (scenario);
}

static void
judge (const Plan *plan, const Scenario *scenario, PlanCandidate *candidate)
{
  candidate->n_ranks = scenario_ranks (scenario);
  if (is_alike (scenario))
    candidate->verdict = PLAN_ALIKE;
  else if (is_too_big (plan, scenario))
    candidate->verdict = PLAN_TOO_BIG;
  else if (!measure (scenario, candidate))
    candidate->verdict = PLAN_IMPOSSIBLE;
  else
    candidate->verdict = candidate->reserved_bytes <= usable_bytes (plan, &scenario->gpu)
                             ? PLAN_FITS
                             : PLAN_DOES_NOT_FIT;
  candidate->tokens_per_s
      = goodput_expect (&scenario->reliability, candidate->n_ranks, candidate->step_time_s).ratio
        * tokens_per_step (scenario) / candidate->step_time_s;
}

static void
evaluate (const Plan *plan, gsize cell)
{
  PlanCandidate *candidate = &plan->candidates[cell];
  g_autofree char *reason = NULL;
  Scenario scenario;

  if (cells_fill (plan->cells, cell, plan->variant, &scenario, &reason))
    judge (plan, &scenario, candidate);
  else
    candidate->verdict = PLAN_IMPOSSIBLE;
  cells_clear_scenario (&scenario);
}

/* FALSE where it is over the memory; what is impossible is not. */
static gboolean
try_cell (const Plan *plan, gsize cell)
{
  evaluate (plan, cell);
  return plan->candidates[cell].verdict != PLAN_TOO_BIG
         && plan->candidates[cell].verdict != PLAN_DOES_NOT_FIT;
}

/* The candidates of one chain that agree in all but the job, and with their shards on the host
 * those jobs that do not fit without. */
static void
work (guint index, gpointer data)
{
  const Plan *plan = data;
  const PlanSpace *space = &plan->space;
  const guint chain = (guint)(index / space->n_on_gpu);
  gboolean fits = TRUE, fits_on_host = space->n_on_gpu < space->n_rest;

  for (guint job = plan->chains[chain]; job < plan->chains[chain + 1]; job++)
    {
      const gsize cell = job * space->n_rest + index % space->n_on_gpu;
      const gsize on_host = cell + space->n_on_gpu;

      fits = fits && try_cell (plan, cell);
      if (fits && fits_on_host)
        plan->candidates[on_host].verdict = PLAN_NOT_NEEDED;
      else if (!fits)
        fits_on_host = fits_on_host && try_cell (plan, on_host);
    }
}

/* ---- ranking ---- */

static double
per_gpu (const PlanCandidate *candidate)
{
  return candidate->tokens_per_s / candidate->n_ranks;
}

static gboolean
meets_limits (const PlanLimits *limits, const PlanCandidate *candidate)
{
  const double seconds = limits->tokens / candidate->tokens_per_s;
  const double cost = seconds / 3600 * candidate->n_ranks * limits->price_per_gpu_hour;

  return (limits->deadline_s <= 0 || seconds <= limits->deadline_s)
         && (limits->budget <= 0 || cost <= limits->budget);
}

/* With a deadline the cheapest that meets it, else the fastest that the budget allows. Equal
 * ones: fewer GPUs, then less memory, then the order of the grid. */
static gboolean
is_better (const Plan *plan, gsize a, gsize b)
{
  const PlanCandidate *x = &plan->candidates[a], *y = &plan->candidates[b];
  const gboolean x_meets = meets_limits (&plan->limits, x);
  const gboolean y_meets = meets_limits (&plan->limits, y);
  const gboolean by_cost = plan->limits.deadline_s > 0;
  const double x_value = by_cost && x_meets ? per_gpu (x) : x->tokens_per_s;
  const double y_value = by_cost && y_meets ? per_gpu (y) : y->tokens_per_s;

  if (x_meets != y_meets)
    return x_meets;
  if (x_value != y_value)
    return x_value > y_value;
  if (x->n_ranks != y->n_ranks)
    return x->n_ranks < y->n_ranks;
  if (x->reserved_bytes != y->reserved_bytes)
    return x->reserved_bytes < y->reserved_bytes;
  return a < b;
}

static gint
compare_cells (gconstpointer a, gconstpointer b, gpointer data)
{
  const gsize x = *(const gsize *)a, y = *(const gsize *)b;

  return x == y ? 0 : is_better (data, x, y) ? -1 : 1;
}

static gint
compare_speed (gconstpointer a, gconstpointer b, gpointer data)
{
  const Plan *plan = data;
  const gsize x = *(const gsize *)a, y = *(const gsize *)b;
  const double faster = plan->candidates[x].tokens_per_s - plan->candidates[y].tokens_per_s;
  const double cheaper = per_gpu (&plan->candidates[x]) - per_gpu (&plan->candidates[y]);

  if (faster != 0)
    return faster > 0 ? -1 : 1;
  if (cheaper != 0)
    return cheaper > 0 ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* All of a cell's values but those of prefetch, which often makes no difference. */
static char *
name_without_prefetch (const Plan *plan, gsize cell)
{
  const Grid *grid = plan->space.grid;
  GString *name = g_string_new (NULL);

  for (guint k = 0; k < grid_n_keys (grid); k++)
    if (strstr (grid_key (grid, k)->key, "_prefetch") == NULL)
      g_string_append_printf (name, "%s\n", grid_value (grid, cell, k));
  return g_string_free (name, FALSE);
}

/* Of cells that differ in prefetch alone the first leads, or one that is really faster. */
static void
find_idle (Plan *plan)
{
  g_autoptr (GHashTable) leaders = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (gsize cell = 0; cell < grid_n_cells (plan->space.grid); cell++)
    {
      PlanCandidate *candidate = &plan->candidates[cell], *leader;
      g_autofree char *name = NULL;

      if (candidate->verdict != PLAN_FITS)
        continue;
      name = name_without_prefetch (plan, cell);
      leader = g_hash_table_lookup (leaders, name);
      candidate->is_idle
          = leader != NULL && candidate->tokens_per_s <= leader->tokens_per_s * (1 + IDLE_GAIN);
      if (candidate->is_idle)
        continue;
      if (leader != NULL)
        leader->is_idle = TRUE;
      g_hash_table_replace (leaders, g_steal_pointer (&name), candidate);
    }
}

/* Cells that fit, the best first. */
static GArray *
ranked_cells (Plan *plan)
{
  GArray *cells = g_array_new (FALSE, FALSE, sizeof (gsize));

  for (gsize cell = 0; cell < grid_n_cells (plan->space.grid); cell++)
    if (plan->candidates[cell].verdict == PLAN_FITS && !plan->candidates[cell].is_idle)
      g_array_append_val (cells, cell);
  g_array_sort_with_data (cells, compare_cells, plan);
  return cells;
}

/* Cells than which none is both faster and cheaper: gsize to itself. */
static GHashTable *
find_front (Plan *plan, const GArray *fitting)
{
  g_autoptr (GArray) by_speed = g_array_copy ((GArray *)fitting);
  GHashTable *front = g_hash_table_new (g_direct_hash, g_direct_equal);
  double cheapest = 0;

  g_array_sort_with_data (by_speed, compare_speed, plan);
  for (guint i = 0; i < by_speed->len; i++)
    {
      const gsize cell = g_array_index (by_speed, gsize, i);

      if (per_gpu (&plan->candidates[cell]) <= cheapest)
        continue;
      cheapest = per_gpu (&plan->candidates[cell]);
      g_hash_table_add (front, GSIZE_TO_POINTER (cell));
    }
  return front;
}

gboolean
plan_best_other (const Plan *plan, gsize cell, const guint *keys, guint n_keys, gsize *other)
{
  gboolean found = FALSE;

  for (gsize c = 0; c < grid_n_cells (plan->space.grid); c++)
    {
      gboolean differs = FALSE;

      if (plan->candidates[c].verdict != PLAN_FITS || (found && !is_better (plan, c, *other)))
        continue;
      for (guint k = 0; k < n_keys; k++)
        differs |= !g_str_equal (grid_value (plan->space.grid, c, keys[k]),
                                 grid_value (plan->space.grid, cell, keys[k]));
      if (!differs)
        continue;
      *other = c;
      found = TRUE;
    }
  return found;
}

/* ---- the chosen ones, simulated to the end ---- */

typedef struct
{
  Plan *plan;
  PlanChoice *choices;
} Finish;

static void
finish_one (guint index, gpointer data)
{
  const Finish *finish = data;
  const Plan *plan = finish->plan;
  PlanChoice *choice = &finish->choices[index];
  const Budget budget = { plan->limits.tokens, plan->limits.price_per_gpu_hour };
  const StudyOptions options = { 0 };
  g_autofree char *reason = NULL;
  StudyEffort effort;

  cells_fill (plan->cells, choice->cell, plan->variant, &choice->scenario, &reason);
  study_run (&choice->scenario, &options, &choice->run, &effort);
  g_clear_pointer (&choice->run.timelines, g_ptr_array_unref);
  choice->job = g_array_index (plan->space.jobs, PlanJob, choice->cell / plan->space.n_rest);
  choice->expense = budget_spend (&budget, &choice->run.facts, &choice->run.figures);
}

/* What was reckoned up is now known. */
static void
take_exact (Plan *plan, const PlanChoice *choice)
{
  PlanCandidate *candidate = &plan->candidates[choice->cell];
  const Figures *figures = &choice->run.figures;

  candidate->step_time_s = figures->step_time_s;
  candidate->tokens_per_s = goodput_of (&choice->run.facts, figures).ratio * figures->tokens_per_s;
  candidate->reserved_bytes = figures->peak_reserved_bytes;
  candidate->is_exact = TRUE;
  if (figures->peak_reserved_bytes > usable_bytes (plan, &choice->scenario.gpu))
    candidate->verdict = PLAN_DOES_NOT_FIT;
}

static gint
compare_choices (gconstpointer a, gconstpointer b, gpointer data)
{
  return compare_cells (&((const PlanChoice *)a)->cell, &((const PlanChoice *)b)->cell, data);
}

/* Moves what does not fit after all out of the list. */
static void
drop_misfits (Plan *plan)
{
  for (guint i = plan->choices->len; i-- > 0;)
    if (plan->candidates[g_array_index (plan->choices, PlanChoice, i).cell].verdict != PLAN_FITS)
      g_array_remove_index (plan->choices, i);
}

static void
choose (Plan *plan, guint n_threads)
{
  g_autoptr (GArray) ranked = ranked_cells (plan);
  g_autoptr (GHashTable) front = find_front (plan, ranked);
  Finish finish = { .plan = plan };

  for (guint i = 0; i < ranked->len; i++)
    {
      PlanChoice choice = { .cell = g_array_index (ranked, gsize, i) };

      if (i < MOST_CHOICES || g_hash_table_contains (front, GSIZE_TO_POINTER (choice.cell)))
        g_array_append_val (plan->choices, choice);
    }
  finish.choices = (PlanChoice *)(void *)plan->choices->data;
  study_pool_run (plan->choices->len, n_threads, finish_one, &finish, NULL, NULL);
  for (guint i = 0; i < plan->choices->len; i++)
    take_exact (plan, &finish.choices[i]);
  drop_misfits (plan);
  g_array_sort_with_data (plan->choices, compare_choices, plan);
}

/* Among the chosen, all of which are exact now. */
static void
mark_choices (Plan *plan)
{
  g_autoptr (GArray) cells = g_array_new (FALSE, FALSE, sizeof (gsize));
  g_autoptr (GHashTable) front = NULL;

  for (guint i = 0; i < plan->choices->len; i++)
    g_array_append_val (cells, g_array_index (plan->choices, PlanChoice, i).cell);
  front = find_front (plan, cells);
  for (guint i = 0; i < plan->choices->len; i++)
    {
      PlanChoice *choice = &g_array_index (plan->choices, PlanChoice, i);

      choice->run.scenario = &choice->scenario;
      choice->is_on_front = g_hash_table_contains (front, GSIZE_TO_POINTER (choice->cell));
      choice->meets_limits = meets_limits (&plan->limits, &plan->candidates[choice->cell]);
    }
}

void
plan_run (Plan *plan, guint n_threads, StudyProgress progress, gpointer data)
{
  study_pool_run ((guint)(plan->n_chains * plan->space.n_on_gpu), n_threads, work, plan, progress,
                  data);
  find_idle (plan);
  choose (plan, n_threads);
  mark_choices (plan);
}

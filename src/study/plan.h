/* The settings that train soonest or cheapest among those that fit: every candidate
 * is checked, ruled out by memory where that needs no simulation, or simulated. */
#pragma once

#include "report/report.h"
#include "study/plan_space.h"
#include "study/study_pool.h"

typedef enum
{
  PLAN_NOT_REACHED,  /* a smaller micro-batch does not fit already */
  PLAN_NOT_NEEDED,   /* has its shards on the host, and fits without that, which is faster */
  PLAN_IMPOSSIBLE,   /* settings that contradict each other, or that PyTorch refuses */
  PLAN_ALIKE,        /* the same as another candidate by another name */
  PLAN_TOO_BIG,      /* what it keeps for certain is over the memory */
  PLAN_DOES_NOT_FIT, /* simulated */
  PLAN_FITS
} PlanVerdict;

/* One cell of the grid. */
typedef struct
{
  PlanVerdict verdict;
  guint n_ranks;
  double step_time_s;  /* of what was simulated */
  double tokens_per_s; /* that failures leave, where they count */
  gint64 reserved_bytes;
  gboolean is_exact; /* FALSE: its many micro-batches were reckoned up from fewer */
  gboolean is_idle;  /* its prefetch gains nothing over that of another; it is not shown */
} PlanCandidate;

/* A candidate that was simulated to the end. */
typedef struct
{
  gsize cell;
  PlanJob job;
  Scenario scenario; /* owned */
  ReportRun run;     /* of it; without timelines */
  Expense expense;
  gboolean meets_limits; /* deadline and budget */
  gboolean is_on_front;  /* none is both faster and cheaper */
} PlanChoice;

typedef struct _Plan Plan;

/* Borrows @file. NULL where @problems says what is wrong. @vary: see plan_space_init(). */
Plan *plan_new (ScenarioFile *file, guint variant, const PlanLimits *limits,
                const char *const *vary, Problems *problems);
void plan_free (Plan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Plan, plan_free)

void plan_run (Plan *plan, guint n_threads, StudyProgress progress, gpointer data);

const Grid *plan_grid (const Plan *plan);
const PlanLimits *plan_limits (const Plan *plan);
/* Of a candidate that is not impossible; cells_clear_scenario() it. */
void plan_fill (const Plan *plan, gsize cell, Scenario *scenario);
const PlanCandidate *plan_candidate (const Plan *plan, gsize cell);

/* Whether failures and restarts count. */
gboolean plan_counts_failures (const Plan *plan);

/* The best, and those on the front; the best first. Some only where anything fits. */
const PlanChoice *plan_choices (const Plan *plan, guint *n);

/* The best candidate that differs from @cell in at least one of @keys, whatever else it has;
 * FALSE: none fits. Best by what plan_choices() are ranked by. */
gboolean plan_best_other (const Plan *plan, gsize cell, const guint *keys, guint n_keys,
                          gsize *other);

/* The scenario of a choice as a file; the caller frees it. */
char *plan_write_scenario (const Plan *plan, const PlanChoice *choice);

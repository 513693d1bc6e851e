/* The variants of a scenario over the cells of a grid: a row of CSV each. What
 * goes wrong in a cell is its row's status and reason. Rows are the same for any
 * number of threads. */
#pragma once

#include "config/cells.h"
#include "report/budget.h"
#include "study/sweep_identity.h"

typedef struct _Sweep Sweep;

/* Shard @shard, from 1, of @n_shards. Each row runs again under @n_repeats seeds, 0 for none.
 * Borrows @file and @grid. */
Sweep *sweep_new (ScenarioFile *file, const Grid *grid, const Budget *budget, guint n_repeats,
                  guint shard, guint n_shards);
void sweep_free (Sweep *sweep);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Sweep, sweep_free)

/* Notes the listed model, cluster and GPU files that are not to be had. */
gboolean sweep_check_sources (Sweep *sweep, Problems *problems);

const SweepIdentity *sweep_identity (const Sweep *sweep);
/* The varied keys, then the columns of summary.csv; without the line's end. */
const char *sweep_columns (const Sweep *sweep);
/* Of this shard: the variants of its first cell, of its second, … */
gsize sweep_n_rows (const Sweep *sweep);

/* Simulates one row; its text is without the line's end and the caller's to free. For any
 * thread. */
char *sweep_row (Sweep *sweep, gsize row, RunStatus *status);

/* "cluster.nodes=4 training.micro_batch=2, variant naive". The caller frees it. */
char *sweep_describe_row (const Sweep *sweep, gsize row);

/* Both are called on the caller's thread. */
typedef struct
{
  /* A row is done, in whatever order; takes @text. */
  void (*take_row) (gsize row, char *text, RunStatus status, gpointer data);
  /* Several times a second. FALSE: run no more rows. */
  gboolean (*tick) (gpointer data);
} SweepListener;

/* Runs all rows but those with @is_done[row], on @n_threads threads. */
void sweep_run (Sweep *sweep, const gboolean *is_done, guint n_threads,
                const SweepListener *listener, gpointer data);

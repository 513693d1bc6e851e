/* The rows of a sweep as a grid: keys with their values, variants, and the best row
 * at each place. */
#pragma once

#include "report/results.h"

/* A key that takes more than one value. */
typedef struct
{
  guint key;           /* into Results.keys */
  const char *name;    /* borrowed, as all texts here */
  GPtrArray *values;   /* const char *, as written; ascending where they are numbers */
  double *numbers;     /* the same as numbers above 0, or NULL: some are none, or units differ */
  guint32 *value_rows; /* of each row of Results the index of its value */
} SweepAxis;

typedef struct
{
  const Results *results;
  GPtrArray *axes;       /* SweepAxis */
  GPtrArray *variants;   /* const char *, in the order of summary.csv */
  guint32 *variant_rows; /* of each row of Results the index of its variant */
} SweepGrid;

SweepGrid *sweep_grid_new (const Results *results);
void sweep_grid_free (SweepGrid *grid);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SweepGrid, sweep_grid_free)

/* Of the rows of one variant at one value of @x, and of @y where it is not NULL: the
 * one with the most tokens a second and GPU of those that fit; where none fits the
 * first that ran, else the first; NULL where there is no such row. A table of one
 * row each place, [(variant x n_y + y) x n_x + x]; g_free() it. */
const ResultsVariant **sweep_grid_best (const SweepGrid *grid, const SweepAxis *x,
                                        const SweepAxis *y);

/* The axis that curves run along: nodes where they vary, else the one with the most
 * numbers, else the one with the most values. */
const SweepAxis *sweep_grid_main_axis (const SweepGrid *grid);

static inline const SweepAxis *
sweep_grid_axis (const SweepGrid *grid, guint index)
{
  return g_ptr_array_index (grid->axes, index);
}

/* "; best of KEY, KEY" for the axes that are neither @x nor @y, or how many they are. The caller
 * frees it. */
char *sweep_grid_best_of (const SweepGrid *grid, const SweepAxis *x, const SweepAxis *y);

/* The settings of a row in few words: "nodes=8 FULL_SHARD" of cluster.nodes and
 * fsdp.sharding_strategy, and its variant where there are several. The caller frees it. */
char *sweep_grid_words (const SweepGrid *grid, const ResultsVariant *row);

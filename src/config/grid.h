/* The cells of a sweep: axes laid across each other, the last one fastest. An axis
 * is one key with a list of values, or a file of points: several keys with rows of
 * values that belong together. */
#pragma once

#include "config/keys.h"

/* So many rows of results are held in memory. */
#define GRID_MOST_CELLS 4000000

typedef struct _Grid Grid;

Grid *grid_new (void); /* one cell, which sets nothing */
void grid_free (Grid *grid);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Grid, grid_free)

/* Each adds an axis, or notes what is wrong and returns FALSE. */
gboolean grid_add_list (Grid *grid, const KeyInfo *key, const char *list, const Place *place,
                        Problems *problems);
/* @option: "section.key=V1,V2", as --vary takes it. */
gboolean grid_add_option (Grid *grid, const char *option, Problems *problems);
/* CSV: a header of keys, then a row a point. A value that its key does not take is no
 * mistake here: its cell cannot be simulated, and that is its result. */
gboolean grid_add_points (Grid *grid, const char *name, const char *text, gsize length,
                          Problems *problems);

guint grid_n_keys (const Grid *grid);
const KeyInfo *grid_key (const Grid *grid, guint index);
gsize grid_n_cells (const Grid *grid);
/* The value of one key in one cell, as it was written. */
const char *grid_value (const Grid *grid, gsize cell, guint key);

/* The values of a key along its axis. */
guint grid_n_values (const Grid *grid, guint key);
const char *grid_nth_value (const Grid *grid, guint key, guint n);
/* FALSE: it is one of a file of points. */
gboolean grid_is_list (const Grid *grid, guint key);

/* All that decides what the cells are, as one text: equal for equal grids. The caller frees it. */
char *grid_describe (const Grid *grid);

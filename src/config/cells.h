/* The variants of a scenario file with the values of a grid's cells laid on top, one
 * after another: what is read from files is read once. May be used by several
 * threads at a time. */
#pragma once

#include "config/grid.h"
#include "config/scenario.h"

typedef struct _Cells Cells;

/* Borrows both. */
Cells *cells_new (ScenarioFile *file, const Grid *grid);
void cells_free (Cells *cells);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Cells, cells_free)

/* Notes the listed model, cluster and GPU files that are not to be had. Those that a file of points
 * names are the affair of their cells. */
gboolean cells_check_sources (Cells *cells, Problems *problems);

/* The figures in all files that cells name, as one text: a change of such a file shows in it. The
 * caller frees it. */
char *cells_describe_sources (Cells *cells);

/* Fills @scenario; cells_clear_scenario() it in any case. FALSE where the cell's values go
 * neither with their keys nor with the rest of the scenario: *reason says why. */
gboolean cells_fill (Cells *cells, gsize cell, guint variant, Scenario *scenario, char **reason);
void cells_clear_scenario (Scenario *scenario);

/* The cell as a scenario file of its own, without variants, which runs alike. Only of a cell that
 * cells_fill() fills. The caller frees it. */
char *cells_show (Cells *cells, gsize cell, guint variant);

/* Whether a variant sets a key that the grid varies too: the grid's values stand. */
gboolean cells_override_variants (const ScenarioFile *file, const Grid *grid, guint *variant,
                                  const KeyInfo **key);

/* Adds what [sweep] lists to @grid, an axis a key. */
gboolean scenario_file_add_sweep (const ScenarioFile *file, Grid *grid, Problems *problems);

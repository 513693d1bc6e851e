/* Lines over a key of a sweep. */
#pragma once

#include "report/plot_scripts.h"
#include "report/sweep_grid.h"

gboolean plot_curves_add (Pictures *pictures, const SweepGrid *grid, GError **error);

/* The picture of a plan: what its best settings take, in time against money. */
#pragma once

#include "report/plot_scripts.h"
#include "report/sweep_grid.h"

/* @grid: of the results of @pictures, which are a plan's. */
gboolean plot_pareto_add (Pictures *pictures, const SweepGrid *grid, GError **error);

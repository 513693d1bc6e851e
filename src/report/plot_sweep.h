/* Pictures of a sweep. */
#pragma once

#include "report/plot_scripts.h"

/* Throughput along one key, a line a variant; scaling with the ideal where the key is
 * the number of nodes; throughput against the first variant; and where two keys vary
 * a heatmap of MFU a variant. Nothing for what is no sweep. */
gboolean plot_sweep_add (Pictures *pictures, GError **error);

/* Pictures with a bar for each variant. */
#pragma once

#include "report/plot_scripts.h"

/* Throughput against the first variant; nothing where there is but one. */
gboolean plot_deltas_add (Pictures *pictures, GError **error);
/* Where the step goes. */
gboolean plot_breakdown_add (Pictures *pictures, GError **error);

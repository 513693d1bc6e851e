/* Pictures of each variant's timeline and memory. */
#pragma once

#include "report/plot_scripts.h"

gboolean plot_timelines_add (Pictures *pictures, GError **error);

/* Memory over time: the panel below a timeline, and a picture of its own. */
#pragma once

#include "report/plot_scripts.h"

/* CSV: time_ms, then for each owner what it and those below it hold, in GiB, from
 * one time to another; a row at both ends of each level. The caller frees it. */
char *plot_memory_csv (const ResultsVariant *variant, SimTime from, SimTime to);

/* What a timeline's panel shows: the step, or, where the peak lies outside since the host runs
 * ahead and may be through before time 0, all that the host does in a step, by its clock. */
void plot_memory_panel_span (const ResultsVariant *variant, SimTime *from, SimTime *to);

/* Appends the variables of a timeline's panel. */
void plot_memory_set (GString *script, const ResultsVariant *variant);

/* The picture memory-FILE; nothing where no memory is known. */
gboolean plot_memory_add (Pictures *pictures, const ResultsVariant *variant, const char *file,
                          GError **error);

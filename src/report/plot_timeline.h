/* The picture of one variant's timeline and memory. */
#pragma once

#include "report/results.h"

/* Whether there is anything to draw. */
gboolean plot_timeline_exists (const ResultsVariant *variant);

/* CSV: lane,from_ms,to_ms,kind,text. The caller frees it. */
char *plot_timeline_boxes (const ResultsVariant *variant);

/* CSV: time_ms and stacked levels in GiB. The caller frees it. */
char *plot_timeline_memory (const ResultsVariant *variant);

/* Appends the variables that plots/timeline.gp wants, but for those of every picture. */
void plot_timeline_script (const ResultsVariant *variant, GString *script);

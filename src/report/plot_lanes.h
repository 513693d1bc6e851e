/* The lanes of a timeline as boxes. */
#pragma once

#include "report/results.h"

/* Names of the lanes that hold anything after time 0, from the top: host, compute, comm.*, copy.
 * Borrowed strings. */
GPtrArray *plot_lanes (const Timeline *timeline);

/* CSV: lane,from_ms,to_ms,kind,text; what of it lies between two times, cut to them.
 * Compute's lane tells where it idles while a collective runs. Where a lane holds
 * more boxes than pixels, half pixels show each kind in its share. The caller frees it. */
char *plot_lanes_csv (const Timeline *timeline, SimTime from, SimTime to);

/* The kinds of boxes there are, in words of plots/style.gp. The caller frees it. */
char *plot_lanes_kinds (const Timeline *timeline);

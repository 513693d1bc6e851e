/* How each file of a folder of results is read; for results.c alone. */
#pragma once

#include "report/results.h"

extern const ResultsReader results_summary_reader;
extern const ResultsReader results_deltas_reader;
extern const ResultsReader results_units_reader;
extern const ResultsReader results_ranks_reader;
extern const ResultsReader results_waits_reader;
extern const ResultsReader results_timeline_reader;
extern const ResultsReader results_memory_reader;

/* The variant that a row is about, by the first wanted column; NULL and an error
 * where summary.csv has no such variant. */
ResultsVariant *results_find_variant (const Results *results, const ResultsRow *row,
                                      GError **error);

void results_variant_free (gpointer variant);

/* After the last row of timeline.csv: where the reported steps end. */
void results_finish_timelines (Results *results);

/* The title and the capacities of report.json. */
gboolean results_take_details (Results *results, const char *name, const char *text, gsize length,
                               GError **error);

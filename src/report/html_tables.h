/* The tables of the page that fsdpsim report writes. */
#pragma once

#include "report/results.h"

/* Rows that a table shows at most; it says so where there are more. */
#define HTML_MOST_ROWS 500

/* "fits", "does not fit", … */
const char *html_status_words (const ResultsVariant *variant);

/* A row a variant, or a cell of a sweep: summary.csv for people. */
void html_append_summary (GString *page, const Results *results);

/* Where each variant's step goes, in milliseconds; nothing without timelines. */
void html_append_parts (GString *page, const Results *results);

/* How the ranks differ, a row a variant; nothing where one rank stood for all of each. */
void html_append_ranks (GString *page, const Results *results);
/* What each collective of one variant waited for, folded away; nothing where that is unknown. */
void html_append_waits (GString *page, const ResultsVariant *variant);

/* The collectives of one variant's units, folded away; nothing where none are known. */
void html_append_units (GString *page, const ResultsVariant *variant);

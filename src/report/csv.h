/* CSV rows by RFC 4180 (with "\n" as the end of a line): fields in order, then
 * the end of the row. */
#pragma once

#include "timeline/sim_time.h"

typedef struct
{
  GString *text; /* owned until csv_finish() */
  gboolean in_row;
} Csv;

void csv_begin (Csv *csv, const char *header);
void csv_begin_rows (Csv *csv); /* without one */
/* Quoted only where commas, quotes or line ends make it necessary. */
void csv_add_text (Csv *csv, const char *text);
void csv_add_integer (Csv *csv, gint64 value);
/* NaN for a missing number. */
void csv_add_number (Csv *csv, double value);  /* 12 digits */
void csv_add_seconds (Csv *csv, double value); /* to the picosecond */
void csv_add_bytes (Csv *csv, double value);   /* whole */
void csv_add_time_us (Csv *csv, SimTime time); /* 6 decimals: to the picosecond */
void csv_end_row (Csv *csv);
/* All rows; the caller frees it. */
char *csv_finish (Csv *csv);

/* Rows of a summary.csv, whose text is kept as it is. */
#pragma once

#include "report/figures.h"

typedef struct
{
  const char *text; /* borrowed; without the line's end */
  gsize length;
  RunStatus status;
} SweepRow;

/* All rows behind the header, each behind the other's end: line ends inside quotes are
 * none. NULL where the text is no CSV with a column "status" of known words, or its last
 * row does not end. */
GArray *sweep_rows_read (const char *text, gsize length);

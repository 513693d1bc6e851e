/* Numbers as traces write them, read exactly: Kineto's times are microseconds
 * with up to six decimals, beyond what a double holds. */
#pragma once

#include "timeline/sim_time.h"

/* Microseconds: whole ones, and the picoseconds beyond them, of the same sign. */
typedef struct
{
  gint64 us;
  gint64 ps;
} TraceTime;

/* FALSE, and *time untouched, for what is no number or beyond 64 bits. Digits past
 * the picosecond are dropped. @text need not end with NUL. */
gboolean trace_time_parse (const char *text, gsize length, TraceTime *time);

/* FALSE, and *value untouched, for what is no whole number or beyond 64 bits. */
gboolean trace_integer_parse (const char *text, gsize length, gint64 *value);

/* Picoseconds after @base_us. FALSE beyond 100 days, which SimTime still holds. */
gboolean trace_time_since (const TraceTime *time, gint64 base_us, SimTime *since);

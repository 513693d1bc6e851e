/* Makes strict JSON of an event that a profiler wrote wrongly: quotes inside a
 * string without a backslash, line ends and other control characters in it, and
 * numbers such as nan or inf. A guess, by what may follow the end of a string. */
#pragma once

#include <glib.h>

/* The caller frees the string. */
GString *trace_repair (const char *text, gsize length);

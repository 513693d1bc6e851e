/* Numbers as text, whatever the locale says. */
#pragma once

#include "timeline/memory.h"

#define FORMAT_SIZE 64 /* room for any number below */

/* All write to @buffer and return it. */

/* By a printf format of one double; "NaN" where there is none, never "-0". */
const char *format_real (char buffer[FORMAT_SIZE], const char *format, double value);
const char *format_fixed (char buffer[FORMAT_SIZE], guint decimals, double value);
const char *format_gib (char buffer[FORMAT_SIZE], gint64 bytes);
/* Microseconds with all six decimals, exactly: "-12.000001". */
const char *format_time_us (char buffer[FORMAT_SIZE], SimTime time);

const char *format_peak_phase (PeakPhase phase); /* "steady step" */

/* Time in the engine and in timelines: whole picoseconds in 64 bits, which hold
 * 106 days. Rates become durations once, rounded to the nearest picosecond. */
#pragma once

#include <glib.h>

typedef gint64 SimTime;

#define SIM_TIME_NONE               G_MININT64
#define SIM_TIME_MAX                G_MAXINT64
#define PICOSECONDS_PER_SECOND      G_GINT64_CONSTANT (1000000000000)
#define PICOSECONDS_PER_MICROSECOND G_GINT64_CONSTANT (1000000)

static inline double
sim_time_seconds (SimTime time)
{
  return (double)time / (double)PICOSECONDS_PER_SECOND;
}

/* The nearest whole number, halves away from zero: llround() without the call, which is a tenth of
 * what a kernel's noise costs. */
static inline SimTime
sim_time_nearest (double picoseconds)
{
  const SimTime whole = (SimTime)picoseconds;
  const double rest = picoseconds - (double)whole; /* exact */

  return whole + (rest >= 0.5) - (rest <= -0.5);
}

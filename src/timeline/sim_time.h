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

#include <config.h>

#include <math.h>
#include <string.h>

#include "report/format.h"

/* "-0.000" has no digit but 0, and is 0. */
static const char *
without_negative_zero (const char *text)
{
  return text[0] == '-' && strpbrk (text, "123456789") == NULL ? text + 1 : text;
}

const char *
format_real (char buffer[FORMAT_SIZE], const char *format, double value)
{
  if (isnan (value))
    return "NaN";
  g_ascii_formatd (buffer, FORMAT_SIZE, format, value);
  return without_negative_zero (buffer);
}

const char *
format_fixed (char buffer[FORMAT_SIZE], guint decimals, double value)
{
  char format[] = "%.0f";

  g_assert (decimals <= 9);
  format[2] = (char)('0' + decimals);
  return format_real (buffer, format, value);
}

const char *
format_gib (char buffer[FORMAT_SIZE], gint64 bytes)
{
  return format_fixed (buffer, 1, (double)bytes / 0x1p30);
}

const char *
format_time_us (char buffer[FORMAT_SIZE], SimTime time)
{
  const SimTime whole = time / PICOSECONDS_PER_MICROSECOND;
  const SimTime rest = time % PICOSECONDS_PER_MICROSECOND;

  g_snprintf (buffer, FORMAT_SIZE, "%s%" G_GINT64_FORMAT ".%06" G_GINT64_FORMAT,
              time < 0 ? "-" : "", ABS (whole), ABS (rest));
  return buffer;
}

const char *
format_peak_phase (PeakPhase phase)
{
  static const char *const words[N_PEAK_PHASES] = { "load", "first step", "steady step" };

  g_assert (phase < N_PEAK_PHASES);
  return words[phase];
}

#include <config.h>

#include <math.h>
#include <string.h>

#include "interop/trace_number.h"

#define MAX_US       (G_GINT64_CONSTANT (100) * 24 * 3600 * 1000000)
#define MAX_TEXT     64 /* of a number with an exponent */
#define MAX_DECIMALS 6

static gboolean
is_negative (const char **text, const char *end)
{
  if (*text == end || **text != '-')
    return FALSE;
  (*text)++;
  return TRUE;
}

/* Digits up to the first other byte; FALSE beyond 63 bits or without a digit. */
static gboolean
take_digits (const char **text, const char *end, gint64 *value)
{
  const char *first = *text;
  gint64 sum = 0;

  for (; *text < end && g_ascii_isdigit (**text); (*text)++)
    if (__builtin_mul_overflow (sum, 10, &sum) || __builtin_add_overflow (sum, **text - '0', &sum))
      return FALSE;
  *value = sum;
  return *text > first;
}

static gint64
take_decimals (const char **text, const char *end)
{
  gint64 ps = 0;
  guint n = 0;

  for (; *text < end && g_ascii_isdigit (**text); (*text)++)
    if (n++ < MAX_DECIMALS)
      ps = 10 * ps + (**text - '0');
  for (; n < MAX_DECIMALS; n++)
    ps *= 10;
  return ps;
}

static gboolean
parse_exponent (const char *text, gsize length, TraceTime *time)
{
  char buffer[MAX_TEXT + 1];
  char *end = NULL;
  double value;

  if (length > MAX_TEXT)
    return FALSE;
  memcpy (buffer, text, length);
  buffer[length] = '\0';
  value = g_ascii_strtod (buffer, &end);
  if (end != buffer + length || !(fabs (value) < 9e18))
    return FALSE;
  time->us = (gint64)value;
  time->ps = (gint64)((value - trunc (value)) * (double)PICOSECONDS_PER_MICROSECOND);
  return TRUE;
}

gboolean
trace_time_parse (const char *text, gsize length, TraceTime *time)
{
  const char *at = text, *end = text + length;
  const gboolean minus = is_negative (&at, end);
  TraceTime parsed = { 0, 0 };

  if (length == 0)
    return FALSE;
  if (!take_digits (&at, end, &parsed.us))
    return FALSE;
  if (at < end && *at == '.')
    {
      at++;
      parsed.ps = take_decimals (&at, end);
    }
  if (at < end)
    return (*at == 'e' || *at == 'E') && parse_exponent (text, length, time);
  *time = minus ? (TraceTime){ -parsed.us, -parsed.ps } : parsed;
  return TRUE;
}

gboolean
trace_integer_parse (const char *text, gsize length, gint64 *value)
{
  const char *at = text, *end = text + length;
  const gboolean minus = is_negative (&at, end);
  gint64 parsed;

  if (!take_digits (&at, end, &parsed) || at < end)
    return FALSE;
  *value = minus ? -parsed : parsed;
  return TRUE;
}

gboolean
trace_time_since (const TraceTime *time, gint64 base_us, SimTime *since)
{
  gint64 us;

  if (__builtin_sub_overflow (time->us, base_us, &us) || us > MAX_US || us < -MAX_US)
    return FALSE;
  *since = us * PICOSECONDS_PER_MICROSECOND + time->ps;
  return TRUE;
}

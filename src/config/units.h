/* Quantities as users write them: a number and a unit, "400Gb/s", "80GiB",
 * "3us", "5%". Gb is bits and GB bytes; K, M, G, T are powers of 1000, Ki, Mi,
 * Gi, Ti of 1024. A bare number is an error where a unit is needed, and so are
 * nan, inf, hex, signs where none may be, and trailing text. */
#pragma once

#include <glib.h>

typedef enum
{
  UNIT_KIND_COUNT,  /* no unit; whole; gint64 */
  UNIT_KIND_NUMBER, /* no unit; double */
  UNIT_KIND_BYTES,  /* B, KB, KiB, …: bytes */
  UNIT_KIND_TIME,   /* ps, ns, us, ms, s, min, h, d: picoseconds */
  UNIT_KIND_RATE,   /* B/s, GB/s, Gb/s, GiB/s, …: bytes a second */
  UNIT_KIND_FLOPS,  /* FLOP/s, GFLOP/s, TFLOPS, …: FLOP a second */
  UNIT_KIND_TOKENS, /* none, K, M, B (1e9), T: tokens */
  UNIT_KIND_PERCENT /* %: a fraction, 5% = 0.05 */
} UnitKind;

#define UNITS_ERROR (units_error_quark ())
GQuark units_error_quark (void);

typedef enum
{
  UNITS_ERROR_SYNTAX, /* not a number */
  UNITS_ERROR_UNIT,   /* no unit, an unknown one, or one of another kind */
  UNITS_ERROR_RANGE   /* does not fit the type, or is no whole number where one is needed */
} UnitsError;

/* Sets a UNITS_ERROR and returns FALSE. */
gboolean units_refuse (UnitsError code, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* Both leave the output alone on failure. The message names the units taken. */
gboolean units_parse_integer (UnitKind kind, const char *text, gint64 *value, GError **error);
gboolean units_parse_real (UnitKind kind, const char *text, double *value, GError **error);

/* The shortest text that parses back to the very same value, in a unit that a
 * person would choose. The caller frees it. */
char *units_format (UnitKind kind, double value);

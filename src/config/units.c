#include <config.h>

#include "config/units.h"

#include <math.h>
#include <string.h>

G_DEFINE_QUARK (fsdpsim - units - error - quark, units_error)

gboolean
units_refuse (UnitsError code, GError **error, const char *format, ...)
{
  va_list arguments;
  g_autofree char *message = NULL;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error_literal (error, UNITS_ERROR, code, message);
  return FALSE;
}

/* A unit is worth factor x 10^decimal x 2^binary of the base unit. Kept apart so
 * that "1.1TB/s" goes through one decimal conversion and is the double nearest
 * to 1.1e12, not the product of two rounded numbers. */
typedef struct
{
  const char *text;
  gint8 decimal;
  gint8 binary;
  gint32 factor;
} Unit;

/* Each list ends in an empty text, which is a unit too where its factor is not 0. Formatting
 * tries them in order. */
static const Unit no_units[] = { { "", 0, 0, 1 } };
static const Unit byte_units[]
    = { { "TiB", 0, 40, 1 }, { "GiB", 0, 30, 1 }, { "MiB", 0, 20, 1 }, { "KiB", 0, 10, 1 },
        { "TB", 12, 0, 1 },  { "GB", 9, 0, 1 },   { "MB", 6, 0, 1 },   { "KB", 3, 0, 1 },
        { "B", 0, 0, 1 },    { "", 0, 0, 0 } };
static const Unit time_units[]
    = { { "s", 12, 0, 1 },    { "ms", 9, 0, 1 },     { "us", 6, 0, 1 },
        { "ns", 3, 0, 1 },    { "ps", 0, 0, 1 },     { "min", 12, 0, 60 },
        { "h", 12, 0, 3600 }, { "d", 12, 0, 86400 }, { "", 0, 0, 0 } };
static const Unit rate_units[]
    = { { "TB/s", 12, 0, 1 },  { "GB/s", 9, 0, 1 },   { "MB/s", 6, 0, 1 },   { "KB/s", 3, 0, 1 },
        { "B/s", 0, 0, 1 },    { "Tb/s", 12, -3, 1 }, { "Gb/s", 9, -3, 1 },  { "Mb/s", 6, -3, 1 },
        { "Kb/s", 3, -3, 1 },  { "b/s", 0, -3, 1 },   { "TiB/s", 0, 40, 1 }, { "GiB/s", 0, 30, 1 },
        { "MiB/s", 0, 20, 1 }, { "KiB/s", 0, 10, 1 }, { "", 0, 0, 0 } };
static const Unit flops_units[]
    = { { "PFLOP/s", 15, 0, 1 }, { "TFLOP/s", 12, 0, 1 }, { "GFLOP/s", 9, 0, 1 },
        { "MFLOP/s", 6, 0, 1 },  { "FLOP/s", 0, 0, 1 },   { "PFLOPS", 15, 0, 1 },
        { "TFLOPS", 12, 0, 1 },  { "GFLOPS", 9, 0, 1 },   { "MFLOPS", 6, 0, 1 },
        { "FLOPS", 0, 0, 1 },    { "", 0, 0, 0 } };
static const Unit token_units[]
    = { { "T", 12, 0, 1 }, { "B", 9, 0, 1 }, { "M", 6, 0, 1 }, { "K", 3, 0, 1 }, { "", 0, 0, 1 } };
static const Unit percent_units[] = { { "%", -2, 0, 1 }, { "", 0, 0, 0 } };

typedef struct
{
  const Unit *units;
  const char *expected; /* how messages name it, with all units taken */
  guint n_preferred;    /* the first so many are those that units_format() picks from */
} Kind;

static const Kind kinds[] = {
  [UNIT_KIND_COUNT] = { no_units, "a whole number without a unit, such as 8", 1 },
  [UNIT_KIND_NUMBER] = { no_units, "a number without a unit, such as 1.5", 1 },
  [UNIT_KIND_BYTES]
  = { byte_units, "bytes such as 80GiB (B, KB, MB, GB, TB, KiB, MiB, GiB, TiB)", 9 },
  [UNIT_KIND_TIME] = { time_units, "a time such as 4ms (ps, ns, us, ms, s, min, h, d)", 5 },
  [UNIT_KIND_RATE] = { rate_units,
                       "a rate such as 400Gb/s in bits or 50GB/s in bytes "
                       "(K, M, G, T before b/s or B/s; Ki, Mi, Gi, Ti before B/s)",
                       5 },
  [UNIT_KIND_FLOPS]
  = { flops_units, "a speed such as 312TFLOP/s (M, G, T, P before FLOP/s or FLOPS)", 5 },
  [UNIT_KIND_TOKENS] = { token_units, "tokens such as 2T or 300B (K, M, B, T or none)", 4 },
  [UNIT_KIND_PERCENT] = { percent_units, "a percentage such as 5%", 1 },
};

/* Where a number's digits end; NULL where @text does not begin with one. Signs,
 * nan, inf and hex are no numbers here. An 'e' counts only before digits. */
static const char *
skip_number (const char *text)
{
  const char *at = text + strspn (text, "0123456789");

  if (at == text)
    return NULL;
  if (at[0] == '.' && g_ascii_isdigit (at[1]))
    at += 1 + strspn (at + 1, "0123456789");
  if (at[0] == 'e' || at[0] == 'E')
    {
      const char *digits = at + 1 + (at[1] == '+' || at[1] == '-');

      if (g_ascii_isdigit (digits[0]))
        at = digits + strspn (digits, "0123456789");
    }
  return at;
}

static const Unit *
find_unit (UnitKind kind, const char *text)
{
  const Unit *unit = kinds[kind].units;

  while (unit->text[0] != '\0' && strcmp (unit->text, text) != 0)
    unit++;
  return unit->factor != 0 && strcmp (unit->text, text) == 0 ? unit : NULL;
}

/* @number: "1.5" or "1.5e3"; its decimal exponent is raised before it is read. */
static double
scaled (const char *number, const Unit *unit)
{
  const char *exponent = strpbrk (number, "eE");
  gsize n_mantissa = exponent != NULL ? (gsize)(exponent - number) : strlen (number);
  gint64 power = exponent != NULL ? g_ascii_strtoll (exponent + 1, NULL, 10) : 0;
  g_autofree char *text = NULL;

  power = CLAMP (power, -100000, 100000);
  text = g_strdup_printf ("%.*se%d", (int)n_mantissa, number, (int)power + unit->decimal);
  return ldexp (g_ascii_strtod (text, NULL), unit->binary) * unit->factor;
}

static void
set_unit_error (UnitKind kind, const char *unit, GError **error)
{
  gboolean without = kinds[kind].units == no_units;

  if (unit[0] == '\0')
    g_set_error (error, UNITS_ERROR, UNITS_ERROR_UNIT, "no unit; expected %s",
                 kinds[kind].expected);
  else
    g_set_error (error, UNITS_ERROR, UNITS_ERROR_UNIT, "%s '%.20s'; expected %s",
                 without ? "unexpected" : "unknown unit", unit, kinds[kind].expected);
}

/* Splits @text into its number, which the caller frees, and its unit. */
static char *
split (UnitKind kind, const char *text, const Unit **unit, GError **error)
{
  const char *end = skip_number (text);
  const char *rest;

  if (end == NULL)
    {
      const char *what = text[0] == '-'    ? "negative"
                         : text[0] == '\0' ? "no value"
                                           : "not a number";

      g_set_error (error, UNITS_ERROR, UNITS_ERROR_SYNTAX, "%s; expected %s", what,
                   kinds[kind].expected);
      return NULL;
    }
  rest = end + strspn (end, " \t");
  *unit = find_unit (kind, rest);
  if (*unit == NULL)
    {
      set_unit_error (kind, rest, error);
      return NULL;
    }
  return g_strndup (text, (gsize)(end - text));
}

static void
set_range_error (const char *text, const char *why, GError **error)
{
  g_set_error (error, UNITS_ERROR, UNITS_ERROR_RANGE, "'%.40s' %s", text, why);
}

gboolean
units_parse_real (UnitKind kind, const char *text, double *value, GError **error)
{
  const Unit *unit;
  g_autofree char *number = split (kind, text, &unit, error);
  double result;

  if (number == NULL)
    return FALSE;
  result = scaled (number, unit);
  if (!isfinite (result))
    {
      set_range_error (text, "is too large", error);
      return FALSE;
    }
  *value = result;
  return TRUE;
}

static gboolean
parse_count (const char *text, const char *number, gint64 *value, GError **error)
{
  guint64 result = 0;

  if (strspn (number, "0123456789") != strlen (number))
    {
      set_range_error (text, "is no whole number", error);
      return FALSE;
    }
  if (!g_ascii_string_to_unsigned (number, 10, 0, G_MAXINT64, &result, NULL))
    {
      set_range_error (text, "is too large", error);
      return FALSE;
    }
  *value = (gint64)result;
  return TRUE;
}

/* Times and sizes are rounded to the nearest picosecond or byte. */
gboolean
units_parse_integer (UnitKind kind, const char *text, gint64 *value, GError **error)
{
  const Unit *unit;
  g_autofree char *number = split (kind, text, &unit, error);
  double result;

  g_assert (kind == UNIT_KIND_COUNT || kind == UNIT_KIND_BYTES || kind == UNIT_KIND_TIME);
  if (number == NULL)
    return FALSE;
  if (kind == UNIT_KIND_COUNT)
    return parse_count (text, number, value, error);
  result = scaled (number, unit);
  if (result >= 0x1p63)
    {
      set_range_error (text, "is too large", error);
      return FALSE;
    }
  if (result > 0 && result < 0.5)
    {
      set_range_error (text, kind == UNIT_KIND_TIME ? "is less than 1ps" : "is less than 1B",
                       error);
      return FALSE;
    }
  *value = (gint64)round (result);
  return TRUE;
}

/* The fewest digits that read back as @value, without the point, and the power
 * of ten of the first of them: 0.0125 gives "125" and -2. */
static char *
shortest_digits (double value, int *power)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  char *digits = g_malloc (G_ASCII_DTOSTR_BUF_SIZE);
  const char *exponent;
  guint n_digits = 0;
  int precision = 0;

  do
    {
      char format[8];

      g_snprintf (format, sizeof format, "%%.%de", precision++);
      g_ascii_formatd (text, sizeof text, format, value);
    }
  while (g_ascii_strtod (text, NULL) != value);
  exponent = strchr (text, 'e');
  for (const char *at = text; at < exponent; at++)
    if (*at != '.')
      digits[n_digits++] = *at;
  digits[n_digits] = '\0';
  *power = (int)g_ascii_strtoll (exponent + 1, NULL, 10);
  return digits;
}

/* Digits and power as people write them: "0.0125", "4096"; with an exponent
 * only where it would be a long row of noughts. */
static char *
write_number (const char *digits, int power)
{
  int n_digits = (int)strlen (digits);

  if (power < -6 || power > 17)
    return g_strdup_printf (n_digits > 1 ? "%c.%se%d" : "%c%se%d", digits[0], digits + 1, power);
  if (power < 0)
    return g_strdup_printf ("0.%.*s%s", -power - 1, "000000", digits);
  if (n_digits <= power + 1)
    return g_strdup_printf ("%s%.*s", digits, power + 1 - n_digits, "00000000000000000");
  return g_strdup_printf ("%.*s.%s", power + 1, digits, digits + power + 1);
}

/* Only the decimal exponent moves, so that what is written is read back exactly. */
static char *
format_in (const Unit *unit, double value)
{
  int power;
  g_autofree char *digits = shortest_digits (ldexp (value, -unit->binary), &power);
  g_autofree char *number = write_number (digits, value == 0 ? 0 : power - unit->decimal);

  return g_strconcat (number, unit->text, NULL);
}

/* People would rather read 100ms than 0.1s. */
static gsize
awkwardness (const char *text)
{
  return strlen (text) + (text[0] == '0' ? 3 : 0) + (strchr (text, 'e') != NULL ? 6 : 0);
}

char *
units_format (UnitKind kind, double value)
{
  char *best = NULL;

  g_assert (value >= 0 && isfinite (value));
  if (kind == UNIT_KIND_COUNT)
    return g_strdup_printf ("%.0f", value);
  for (guint i = 0; i < kinds[kind].n_preferred; i++)
    {
      char *text = format_in (&kinds[kind].units[i], value);

      if (best == NULL || awkwardness (text) < awkwardness (best))
        {
          g_free (best);
          best = text;
        }
      else
        g_free (text);
    }
  return best;
}

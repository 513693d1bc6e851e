#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "config/units.h"

#define UNTOUCHED 4711

/* ---- what is read ---- */

typedef struct
{
  UnitKind kind;
  const char *text;
  gint64 value;
} IntegerCase;

/* Decimal units are powers of 1000, those with an i of 1024; time counts in ps. */
static const IntegerCase integers[] = {
  { UNIT_KIND_COUNT, "0", 0 },
  { UNIT_KIND_COUNT, "8", 8 },
  { UNIT_KIND_COUNT, "007", 7 },
  { UNIT_KIND_COUNT, "9223372036854775807", G_MAXINT64 },
  { UNIT_KIND_BYTES, "0B", 0 },
  { UNIT_KIND_BYTES, "80GiB", G_GINT64_CONSTANT (85899345920) },
  { UNIT_KIND_BYTES, "80GB", G_GINT64_CONSTANT (80000000000) },
  { UNIT_KIND_BYTES, "1.5KiB", 1536 },
  { UNIT_KIND_BYTES, "1.5KB", 1500 },
  { UNIT_KIND_BYTES, "2MiB", 2097152 },
  { UNIT_KIND_BYTES, "2MB", 2000000 },
  { UNIT_KIND_BYTES, "1TiB", G_GINT64_CONSTANT (1099511627776) },
  { UNIT_KIND_BYTES, "1TB", G_GINT64_CONSTANT (1000000000000) },
  { UNIT_KIND_BYTES, "1e3B", 1000 },
  { UNIT_KIND_TIME, "1ps", 1 },
  { UNIT_KIND_TIME, "0.6ps", 1 }, /* nearest */
  { UNIT_KIND_TIME, "4ns", 4000 },
  { UNIT_KIND_TIME, "5us", 5000000 },
  { UNIT_KIND_TIME, "0.7us", 700000 },
  { UNIT_KIND_TIME, "1.76ms", G_GINT64_CONSTANT (1760000000) },
  { UNIT_KIND_TIME, "4 ms", G_GINT64_CONSTANT (4000000000) },
  { UNIT_KIND_TIME, "2s", G_GINT64_CONSTANT (2000000000000) },
  { UNIT_KIND_TIME, "1.5min", G_GINT64_CONSTANT (90000000000000) },
  { UNIT_KIND_TIME, "1h", G_GINT64_CONSTANT (3600000000000000) },
  { UNIT_KIND_TIME, "1d", G_GINT64_CONSTANT (86400000000000000) },
};

static void
whole_quantities_are_exact (void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (integers); i++)
    {
      gint64 value = UNTOUCHED;
      gboolean parsed = units_parse_integer (integers[i].kind, integers[i].text, &value, NULL);

      if (!parsed || value != integers[i].value)
        print_error ("%s\n", integers[i].text);
      assert_true (parsed);
      assert_int_equal (value, integers[i].value);
    }
}

typedef struct
{
  UnitKind kind;
  const char *text;
  double value;
} RealCase;

/* Gb are bits, GB bytes: 400 Gb/s are 50 GB/s. The value is the double nearest to
 * what is written, so that 1.1TB/s equals 1.1e12 and not 1.1 x 1e12. */
static const RealCase reals[] = {
  { UNIT_KIND_RATE, "400Gb/s", 50e9 },
  { UNIT_KIND_RATE, "50GB/s", 50e9 },
  { UNIT_KIND_RATE, "8b/s", 1 },
  { UNIT_KIND_RATE, "8Kb/s", 1000 },
  { UNIT_KIND_RATE, "8Mb/s", 1e6 },
  { UNIT_KIND_RATE, "3.2Tb/s", 400e9 },
  { UNIT_KIND_RATE, "1B/s", 1 },
  { UNIT_KIND_RATE, "1KB/s", 1000 },
  { UNIT_KIND_RATE, "1MB/s", 1e6 },
  { UNIT_KIND_RATE, "1.1TB/s", 1.1e12 },
  { UNIT_KIND_RATE, "2039GB/s", 2039e9 },
  { UNIT_KIND_RATE, "1KiB/s", 1024 },
  { UNIT_KIND_RATE, "1MiB/s", 1048576 },
  { UNIT_KIND_RATE, "1GiB/s", 1073741824 },
  { UNIT_KIND_RATE, "1TiB/s", 1099511627776 },
  { UNIT_KIND_FLOPS, "312TFLOP/s", 312e12 },
  { UNIT_KIND_FLOPS, "312TFLOPS", 312e12 },
  { UNIT_KIND_FLOPS, "1.979PFLOP/s", 1.979e15 },
  { UNIT_KIND_FLOPS, "19500GFLOP/s", 19.5e12 },
  { UNIT_KIND_FLOPS, "5MFLOP/s", 5e6 },
  { UNIT_KIND_FLOPS, "5FLOP/s", 5 },
  { UNIT_KIND_PERCENT, "5%", 0.05 },
  { UNIT_KIND_PERCENT, "0.1%", 0.001 },
  { UNIT_KIND_PERCENT, "3 %", 0.03 },
  { UNIT_KIND_PERCENT, "100%", 1 },
  { UNIT_KIND_NUMBER, "1.5", 1.5 },
  { UNIT_KIND_NUMBER, "1e-3", 0.001 },
  { UNIT_KIND_NUMBER, "0", 0 },
};

static void
real_quantities_are_the_nearest_double (void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (reals); i++)
    {
      double value = UNTOUCHED;
      gboolean parsed = units_parse_real (reals[i].kind, reals[i].text, &value, NULL);

      if (!parsed || value != reals[i].value)
        print_error ("%s: %.17g\n", reals[i].text, value);
      assert_true (parsed);
      assert_true (value == reals[i].value);
    }
}

/* ---- what is refused ---- */

typedef struct
{
  UnitKind kind;
  const char *text;
  UnitsError code;
  const char *says;
} BadCase;

static const BadCase bad[] = {
  /* a bare number, where the message names the units */
  { UNIT_KIND_BYTES, "80", UNITS_ERROR_UNIT, "no unit; expected bytes such as 80GiB (B, KB, MB" },
  { UNIT_KIND_TIME, "4", UNITS_ERROR_UNIT, "(ps, ns, us, ms, s, min, h, d)" },
  { UNIT_KIND_RATE, "400", UNITS_ERROR_UNIT, "400Gb/s in bits or 50GB/s in bytes" },
  { UNIT_KIND_FLOPS, "312", UNITS_ERROR_UNIT, "312TFLOP/s" },
  { UNIT_KIND_PERCENT, "0.05", UNITS_ERROR_UNIT, "no unit; expected a percentage such as 5%" },
  /* the unit of something else */
  { UNIT_KIND_TIME, "4GB", UNITS_ERROR_UNIT, "unknown unit 'GB'" },
  { UNIT_KIND_BYTES, "80Gb", UNITS_ERROR_UNIT, "unknown unit 'Gb'" },
  { UNIT_KIND_RATE, "400Gb", UNITS_ERROR_UNIT, "unknown unit 'Gb'" },
  { UNIT_KIND_RATE, "400GB", UNITS_ERROR_UNIT, "unknown unit 'GB'" },
  { UNIT_KIND_RATE, "400gb/s", UNITS_ERROR_UNIT, "unknown unit 'gb/s'" },
  { UNIT_KIND_FLOPS, "312T", UNITS_ERROR_UNIT, "unknown unit 'T'" },
  { UNIT_KIND_PERCENT, "5", UNITS_ERROR_UNIT, "no unit" },
  { UNIT_KIND_COUNT, "5%", UNITS_ERROR_UNIT, "unexpected '%'" },
  { UNIT_KIND_COUNT, "4k", UNITS_ERROR_UNIT, "unexpected 'k'" },
  { UNIT_KIND_NUMBER, "1.5GB", UNITS_ERROR_UNIT, "unexpected 'GB'" },
  { UNIT_KIND_TIME, "5Ms", UNITS_ERROR_UNIT, "unknown unit 'Ms'" },
  { UNIT_KIND_TIME, "5us 3", UNITS_ERROR_UNIT, "unknown unit 'us 3'" },
  { UNIT_KIND_BYTES, "1e3", UNITS_ERROR_UNIT, "no unit" },
  { UNIT_KIND_BYTES, "1,5GB", UNITS_ERROR_UNIT, "unknown unit ',5GB'" },
  /* no number */
  { UNIT_KIND_COUNT, "", UNITS_ERROR_SYNTAX, "no value" },
  { UNIT_KIND_TIME, "ms", UNITS_ERROR_SYNTAX, "not a number" },
  { UNIT_KIND_NUMBER, "nan", UNITS_ERROR_SYNTAX, "not a number" },
  { UNIT_KIND_NUMBER, "inf", UNITS_ERROR_SYNTAX, "not a number" },
  { UNIT_KIND_NUMBER, ".5", UNITS_ERROR_SYNTAX, "not a number" },
  { UNIT_KIND_NUMBER, "+1", UNITS_ERROR_SYNTAX, "not a number" },
  { UNIT_KIND_NUMBER, "0x10", UNITS_ERROR_UNIT, "unexpected 'x10'" },
  { UNIT_KIND_NUMBER, "1.", UNITS_ERROR_UNIT, "unexpected '.'" },
  { UNIT_KIND_COUNT, "-3", UNITS_ERROR_SYNTAX, "negative" },
  { UNIT_KIND_TIME, "-3ms", UNITS_ERROR_SYNTAX, "negative" },
  { UNIT_KIND_COUNT, "\xD9\xA3", UNITS_ERROR_SYNTAX, "not a number" }, /* Arabic three */
  /* out of what the type holds */
  { UNIT_KIND_COUNT, "1.5", UNITS_ERROR_RANGE, "is no whole number" },
  { UNIT_KIND_COUNT, "1e3", UNITS_ERROR_RANGE, "is no whole number" },
  { UNIT_KIND_COUNT, "9223372036854775808", UNITS_ERROR_RANGE, "is too large" },
  { UNIT_KIND_BYTES, "9e18KB", UNITS_ERROR_RANGE, "is too large" },
  { UNIT_KIND_TIME, "107d", UNITS_ERROR_RANGE, "is too large" }, /* over 2^63 ps */
  { UNIT_KIND_TIME, "0.4ps", UNITS_ERROR_RANGE, "is less than 1ps" },
  { UNIT_KIND_BYTES, "1e-10GB", UNITS_ERROR_RANGE, "is less than 1B" },
  { UNIT_KIND_TIME, "1e99999999999999999999s", UNITS_ERROR_RANGE, "is too large" },
};

static gboolean
parse (UnitKind kind, const char *text, gint64 *integer, double *real, GError **error)
{
  if (kind == UNIT_KIND_COUNT || kind == UNIT_KIND_BYTES || kind == UNIT_KIND_TIME)
    return units_parse_integer (kind, text, integer, error);
  return units_parse_real (kind, text, real, error);
}

static void
mistakes_name_what_would_do_and_leave_outputs_alone (void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;
      gint64 integer = UNTOUCHED;
      double real = UNTOUCHED;

      if (parse (bad[i].kind, bad[i].text, &integer, &real, &error))
        fail_msg ("'%s' was read as %" G_GINT64_FORMAT " or %g", bad[i].text, integer, real);
      if (error->code != (int)bad[i].code || strstr (error->message, bad[i].says) == NULL)
        print_error ("'%s': %s\n", bad[i].text, error->message);
      assert_int_equal (error->domain, UNITS_ERROR);
      assert_int_equal (error->code, bad[i].code);
      assert_non_null (strstr (error->message, bad[i].says));
      assert_int_equal (integer, UNTOUCHED);
      assert_true (real == UNTOUCHED);
    }
}

/* ---- what is written ---- */

static const RealCase written[] = {
  { UNIT_KIND_COUNT, "8", 8 },
  { UNIT_KIND_NUMBER, "0", 0 },
  { UNIT_KIND_NUMBER, "0.0125", 0.0125 },
  { UNIT_KIND_NUMBER, "4096", 4096 },
  { UNIT_KIND_BYTES, "80GiB", 85899345920 },
  { UNIT_KIND_BYTES, "80GB", 80e9 },
  { UNIT_KIND_BYTES, "1B", 1 },
  { UNIT_KIND_TIME, "100ms", 1e11 },
  { UNIT_KIND_TIME, "1.76ms", 1.76e9 },
  { UNIT_KIND_TIME, "0s", 0 },
  { UNIT_KIND_TIME, "3600s", 3600e12 },
  { UNIT_KIND_RATE, "25GB/s", 25e9 },
  { UNIT_KIND_RATE, "1.1TB/s", 1.1e12 },
  { UNIT_KIND_FLOPS, "312TFLOP/s", 312e12 },
  { UNIT_KIND_PERCENT, "5%", 0.05 },
  { UNIT_KIND_PERCENT, "0.1%", 0.001 },
};

static void
figures_are_written_as_people_would (void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (written); i++)
    {
      g_autofree char *text = units_format (written[i].kind, written[i].value);

      assert_string_equal (text, written[i].text);
    }
}

/* Random mantissas over all magnitudes that a key may hold. */
static void
what_is_written_reads_back_to_the_very_same (void **state)
{
  static const UnitKind kinds[]
      = { UNIT_KIND_NUMBER, UNIT_KIND_RATE, UNIT_KIND_FLOPS, UNIT_KIND_PERCENT };
  GRand *random = g_rand_new_with_seed (1);

  (void)state;
  for (guint i = 0; i < 20000; i++)
    {
      UnitKind kind = kinds[i % G_N_ELEMENTS (kinds)];
      double value = g_rand_double (random);
      double back = UNTOUCHED;
      g_autofree char *text = NULL;

      for (gint32 n = g_rand_int_range (random, 0, 60); n > 0; n--)
        value = n % 2 == 0 ? value * 10 : value * 2;
      text = units_format (kind, value);
      assert_true (units_parse_real (kind, text, &back, NULL));
      if (back != value)
        print_error ("%.17g was written %s\n", value, text);
      assert_true (back == value);
    }
  g_rand_free (random);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (whole_quantities_are_exact),
    cmocka_unit_test (real_quantities_are_the_nearest_double),
    cmocka_unit_test (mistakes_name_what_would_do_and_leave_outputs_alone),
    cmocka_unit_test (figures_are_written_as_people_would),
    cmocka_unit_test (what_is_written_reads_back_to_the_very_same),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

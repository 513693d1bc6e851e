/* The rows of a sweep, for people and for programs, out of the CSV text that every
 * other way of writing them comes from. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "config/csv_table.h"
#include "report/format.h"
#include "report/json_members.h"
#include "report/report.h"
#include "report/sweep_crossing.h"
#include "report/text_table.h"

#define HASH_DIGITS 12

/* What a column of the table shows of one of the CSV file. */
typedef struct
{
  const char *over, *under; /* its head */
  const char *name;
  double factor;
  guint decimals;
} Shown;

static const Shown shown[] = {
  { "step", "ms", "step_time_s", 1e3, 2 },
  { "90 %", "from ms", "step_time_low_s", 1e3, 1 },
  { "90 %", "to ms", "step_time_high_s", 1e3, 1 },
  { "tokens/s", "per GPU", "tokens_per_s_per_gpu", 1, 1 },
  { "MFU", "%", "mfu_percent", 1, 1 },
  { "exposed", "ms", "exposed_comm_s", 1e3, 2 },
  { "host-", "bound ms", "host_bound_s", 1e3, 2 },
  { "peak GiB", "alloc", "peak_allocated_bytes", 1 / 0x1p30, 1 },
  { "peak GiB", "rsvd", "peak_reserved_bytes", 1 / 0x1p30, 1 },
  { "", "days", "days", 1, 1 },
  { "GPU", "hours", "gpu_hours", 1, 0 },
  { "", "cost", "cost", 1, 0 },
  { "mean", "step ms", "step_time_mean_s", 1e3, 2 },
  { "p99", "step ms", "step_time_p99_s", 1e3, 2 },
  { "effec-", "tive %", "goodput_percent", 1, 1 },
};

typedef struct
{
  CsvTable *csv;
  guint n_rows; /* without the header */
  guint n_keys; /* varied: the columns before "variant" */
  gboolean is_shown[G_N_ELEMENTS (shown)];
} Rows;

/* The column of that name, or -1. */
static int
column_of (const Rows *rows, const char *name)
{
  for (guint i = 0; i < csv_table_n_fields (rows->csv, 0); i++)
    if (strcmp (csv_table_field (rows->csv, 0, i), name) == 0)
      return (int)i;
  return -1;
}

static const char *
field_of (const Rows *rows, guint row, const char *name)
{
  const int column = column_of (rows, name);

  if (column < 0)
    return "";
  return csv_table_field (rows->csv, row + 1, (guint)column);
}

static double
number_of (const Rows *rows, guint row, const char *name)
{
  const char *text = field_of (rows, row, name);

  return g_ascii_isdigit (text[0]) ? g_ascii_strtod (text, NULL) : (double)NAN;
}

/* Of a column's numbers any; where nothing ran, those that are in the file. */
static void
decide_what_is_shown (Rows *rows)
{
  gboolean any = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (shown); i++)
    {
      rows->is_shown[i] = FALSE;
      for (guint row = 0; row < rows->n_rows && !rows->is_shown[i]; row++)
        rows->is_shown[i] = !isnan (number_of (rows, row, shown[i].name));
      any |= rows->is_shown[i];
    }
  for (guint i = 0; i < G_N_ELEMENTS (shown) && !any; i++)
    rows->is_shown[i] = column_of (rows, shown[i].name) >= 0;
}

static gboolean
rows_open (Rows *rows, const char *summary)
{
  g_autoptr (Problems) problems = problems_new ();
  int variant;

  rows->csv = csv_table_read ("summary.csv", summary, strlen (summary), problems);
  if (rows->csv == NULL || csv_table_n_rows (rows->csv) == 0)
    return FALSE;
  rows->n_rows = csv_table_n_rows (rows->csv) - 1;
  variant = column_of (rows, "variant");
  rows->n_keys = (guint)MAX (variant, 0);
  for (guint i = 0; i < rows->n_rows; i++)
    if (csv_table_n_fields (rows->csv, i + 1) != csv_table_n_fields (rows->csv, 0))
      variant = -1;
  if (variant < 0)
    csv_table_free (rows->csv);
  else
    decide_what_is_shown (rows);
  return variant >= 0;
}

/* ---- the table ---- */

static gboolean
differs (const Rows *rows, const char *name)
{
  for (guint i = 1; i < rows->n_rows; i++)
    if (strcmp (field_of (rows, i, name), field_of (rows, 0, name)) != 0)
      return TRUE;
  return FALSE;
}

static void
add_heads (TextTable *table, const Rows *rows, gboolean with_variant)
{
  for (guint k = 0; k < rows->n_keys; k++)
    {
      g_auto (GStrv) words = g_strsplit (csv_table_field (rows->csv, 0, k), ".", 2);

      text_table_add (table, words[0]);
    }
  if (with_variant)
    text_table_add (table, "");
  for (guint i = 0; i < G_N_ELEMENTS (shown); i++)
    if (rows->is_shown[i])
      text_table_add (table, shown[i].over);
  text_table_add (table, "");
  for (guint k = 0; k < rows->n_keys; k++)
    text_table_add (table, strchr (csv_table_field (rows->csv, 0, k), '.') + 1);
  if (with_variant)
    text_table_add (table, "variant");
  for (guint i = 0; i < G_N_ELEMENTS (shown); i++)
    if (rows->is_shown[i])
      text_table_add (table, shown[i].under);
  text_table_add (table, "status");
}

static void
add_row (TextTable *table, const Rows *rows, guint row, gboolean with_variant)
{
  char buffer[FORMAT_SIZE];

  for (guint k = 0; k < rows->n_keys; k++)
    text_table_add (table, csv_table_field (rows->csv, row + 1, k));
  if (with_variant)
    text_table_add (table, field_of (rows, row, "variant"));
  for (guint i = 0; i < G_N_ELEMENTS (shown); i++)
    {
      const double value = shown[i].factor * number_of (rows, row, shown[i].name);

      if (rows->is_shown[i])
        text_table_add (table,
                        isnan (value) ? "-" : format_fixed (buffer, shown[i].decimals, value));
    }
  text_table_add (table, field_of (rows, row, "status"));
}

/* "cluster.nodes=2, variant naive" */
static char *
describe_row (const Rows *rows, guint row, gboolean with_variant)
{
  GString *text = g_string_new (NULL);

  for (guint k = 0; k < rows->n_keys; k++)
    g_string_append_printf (text, "%s%s=%s", k > 0 ? " " : "", csv_table_field (rows->csv, 0, k),
                            csv_table_field (rows->csv, row + 1, k));
  if (with_variant)
    g_string_append_printf (text, "%svariant %s", text->len > 0 ? ", " : "",
                            field_of (rows, row, "variant"));
  return g_string_free (text, FALSE);
}

/* Names the row with the most, or least, of a column among those that are ok. */
static void
append_best (const Rows *rows, const char *name, double sign, const char *what, gboolean variants,
             GString *text)
{
  g_autofree char *line = NULL;
  g_autofree char *row_words = NULL;
  guint best = G_MAXUINT;

  for (guint i = 0; i < rows->n_rows; i++)
    if (strcmp (field_of (rows, i, "status"), "ok") == 0
        && (best == G_MAXUINT
            || sign * number_of (rows, i, name) > sign * number_of (rows, best, name)))
      best = i;
  if (best == G_MAXUINT || rows->n_rows < 2)
    return;
  row_words = describe_row (rows, best, variants);
  line = g_strdup_printf ("%s: %s.", what, row_words);
  text_append_wrapped (text, line, 2);
}

static void
append_counts (const Rows *rows, GString *text)
{
  guint counts[RUN_FAILED + 1] = { 0 };

  for (guint i = 0; i < rows->n_rows; i++)
    for (RunStatus status = RUN_OK; status <= RUN_FAILED; status++)
      counts[status] += strcmp (field_of (rows, i, "status"), run_status_name (status)) == 0;
  g_string_append_printf (text, "%u rows: %u ok", rows->n_rows, counts[RUN_OK]);
  if (counts[RUN_DOES_NOT_FIT] > 0)
    g_string_append_printf (text, ", %u do not fit", counts[RUN_DOES_NOT_FIT]);
  if (counts[RUN_REFUSED] > 0)
    g_string_append_printf (text, ", %u refused", counts[RUN_REFUSED]);
  if (counts[RUN_FAILED] > 0)
    g_string_append_printf (text, ", %u failed", counts[RUN_FAILED]);
  g_string_append (text, ".\n");
}

static guint
count_shown (const Rows *rows)
{
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (shown); i++)
    n += rows->is_shown[i];
  return n;
}

char *
report_sweep_table (const char *summary)
{
  Rows rows;
  GString *text = g_string_new ("# " PACKAGE_STRING "\n");

  if (!rows_open (&rows, summary))
    return g_string_free (text, TRUE);

  const gboolean with_variant = differs (&rows, "variant");
  g_autoptr (TextTable) table
      = text_table_new (rows.n_keys + with_variant + count_shown (&rows) + 1);

  if (rows.n_rows > 0)
    g_string_append_printf (text, "# sweep     of %s (%.*s)\n\n", field_of (&rows, 0, "scenario"),
                            HASH_DIGITS, field_of (&rows, 0, "scenario_sha256"));
  add_heads (table, &rows, with_variant);
  for (guint i = 0; i < rows.n_rows; i++)
    add_row (table, &rows, i, with_variant);
  text_table_render (table, text);
  g_string_append_c (text, '\n');
  append_counts (&rows, text);
  append_best (&rows, "tokens_per_s", 1, "Most tokens a second", with_variant, text);
  append_best (&rows, "mfu_percent", 1, "Highest MFU", with_variant, text);
  if (column_of (&rows, "gpu_hours") >= 0)
    append_best (&rows, "gpu_hours", -1, "Fewest GPU hours", with_variant, text);
  sweep_append_crossings (summary, text);
  csv_table_free (rows.csv);
  return g_string_free (text, FALSE);
}

char *
report_sweep_failure (const char *summary)
{
  g_autofree char *row = NULL;
  char *text = NULL;
  Rows rows;

  if (!rows_open (&rows, summary))
    return NULL;
  if (rows.n_rows > 0)
    {
      row = describe_row (&rows, 0, TRUE);
      text = g_strdup_printf ("%s: %s: %s", row, field_of (&rows, 0, "status"),
                              field_of (&rows, 0, "reason"));
    }
  csv_table_free (rows.csv);
  return text;
}

/* ---- JSON ---- */

/* Of a column that holds text whatever it looks like. */
static gboolean
is_text (const Rows *rows, guint column)
{
  static const char *const names[] = { "variant", "scenario", "scenario_sha256", "fsdpsim_version",
                                       "status",  "reason",   "peak_phase",      NULL };

  return column < rows->n_keys || g_strv_contains (names, csv_table_field (rows->csv, 0, column));
}

static void
add_field (JsonBuilder *builder, const Rows *rows, guint row, guint column)
{
  const char *text = csv_table_field (rows->csv, row + 1, column);

  json_builder_set_member_name (builder, csv_table_field (rows->csv, 0, column));
  if (is_text (rows, column))
    json_builder_add_string_value (builder, text);
  else if (strcmp (text, "NaN") == 0)
    json_builder_add_null_value (builder);
  else if (text[strspn (text, "-0123456789")] == '\0')
    json_builder_add_int_value (builder, g_ascii_strtoll (text, NULL, 10));
  else
    json_builder_add_double_value (builder, g_ascii_strtod (text, NULL));
}

static void
add_meta (JsonBuilder *builder, const Rows *rows)
{
  json_builder_set_member_name (builder, "meta");
  json_builder_begin_object (builder);
  json_member_text (builder, "fsdpsim_version", PACKAGE_VERSION);
  if (rows->n_rows > 0)
    {
      json_member_text (builder, "scenario", field_of (rows, 0, "scenario"));
      json_member_text (builder, "scenario_sha256", field_of (rows, 0, "scenario_sha256"));
    }
  json_builder_set_member_name (builder, "varied");
  json_builder_begin_array (builder);
  for (guint k = 0; k < rows->n_keys; k++)
    json_builder_add_string_value (builder, csv_table_field (rows->csv, 0, k));
  json_builder_end_array (builder);
  json_builder_end_object (builder);
}

char *
report_sweep_json (const char *summary)
{
  Rows rows;
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  if (!rows_open (&rows, summary))
    return NULL;
  json_builder_begin_object (builder);
  add_meta (builder, &rows);
  json_builder_set_member_name (builder, "rows");
  json_builder_begin_array (builder);
  for (guint i = 0; i < rows.n_rows; i++)
    {
      json_builder_begin_object (builder);
      for (guint c = 0; c < csv_table_n_fields (rows.csv, i + 1); c++)
        add_field (builder, &rows, i, c);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  csv_table_free (rows.csv);
  return json_members_to_text (builder);
}

#include <config.h>

#include "study/published.h"

#include <math.h>
#include <string.h>

#include "config/csv_table.h"
#include "config/suggest.h"

#define MOST_COUNT 1e9

typedef enum
{
  TYPE_TEXT,
  TYPE_WHOLE,
  TYPE_REAL
} ColumnType;

typedef struct
{
  const char *name;
  ColumnType type;
  gsize offset; /* into PublishedRun */
  gboolean is_setting;
} Column;

#define LABEL(column) { #column, TYPE_TEXT, G_STRUCT_OFFSET (PublishedRun, result.column), FALSE },
#define RESULT(column, type)                                                                       \
  { #column, TYPE_##type, G_STRUCT_OFFSET (PublishedRun, result.column), FALSE },
#define SETTING(column, type)                                                                      \
  { #column, TYPE_##type, G_STRUCT_OFFSET (PublishedRun, settings.column), TRUE },
static const Column columns[] = {
#include "study/published.def"
};
#undef LABEL
#undef RESULT
#undef SETTING

static const char *const required[]
    = { "id",    "framework",  "api",           "layers",      "hidden",
        "heads", "ffn_hidden", "gated_ffn",     "vocab",       "seq_len",
        "gpu",   "nodes",      "gpus_per_node", "micro_batch", "tokens_per_s_per_gpu",
        NULL };

struct _PublishedTable
{
  GPtrArray *sources; /* CsvTable, which own all text */
  GArray *runs;       /* PublishedRun */
};

static void
run_clear (gpointer data)
{
  PublishedRun *run = data;

  g_free (run->unreadable);
}

/* ---- header ---- */

static guint
find_column (const CsvTable *csv, const char *name)
{
  for (guint i = 0; i < csv_table_n_fields (csv, 0); i++)
    if (strcmp (csv_table_field (csv, 0, i), name) == 0)
      return i;
  return G_MAXUINT;
}

/* No column that is read stands twice. */
static gboolean
check_repeats (const CsvTable *csv, Problems *problems)
{
  const guint before = problems_count (problems);

  for (guint field = 0; field < csv_table_n_fields (csv, 0); field++)
    for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
      if (strcmp (csv_table_field (csv, 0, field), columns[i].name) == 0
          && find_column (csv, columns[i].name) < field)
        {
          Place place = csv_table_place (csv, 0, field);

          problems_add (problems, &place, NULL, NULL, "a second column %s", columns[i].name);
          g_free ((char *)place.text);
        }
  return problems_count (problems) == before;
}

static gboolean
check_header (const char *name, const CsvTable *csv, Problems *problems)
{
  const Place place = { .file = name, .line = 1 };
  g_autoptr (GString) missing = g_string_new (NULL);

  if (csv_table_n_rows (csv) == 0)
    {
      problems_add (problems, &place, NULL, NULL, "empty; expected a table of published runs");
      return FALSE;
    }
  for (guint i = 0; required[i] != NULL; i++)
    if (find_column (csv, required[i]) == G_MAXUINT)
      g_string_append_printf (missing, "%s%s", missing->len > 0 ? ", " : "", required[i]);
  if (missing->len == 0)
    return check_repeats (csv, problems);
  problems_add (problems, &place, NULL, NULL, "not a table of published runs: its header lacks %s",
                missing->str);
  return FALSE;
}

/* ---- cells ---- */

/* FALSE where the text is no number, or one that no run could have. */
static gboolean
parse_number (const char *text, double most, double *value)
{
  char *end;

  *value = g_ascii_strtod (text, &end);
  return g_ascii_isdigit (text[0]) && *end == '\0' && isfinite (*value) && *value <= most
         && strpbrk (text, "xX") == NULL;
}

static void
note_unreadable (PublishedRun *run, const Column *column, const char *text, const char *expected)
{
  if (run->unreadable == NULL)
    run->unreadable = g_strdup_printf ("%s '%.40s' is not %s", column->name, text, expected);
}

static void
store_whole (PublishedRun *run, const Column *column, const char *text)
{
  double value = 0;

  if (text[0] != '\0' && (!parse_number (text, MOST_COUNT, &value) || value != floor (value)))
    note_unreadable (run, column, text, "a whole number");
  else
    G_STRUCT_MEMBER (guint, run, column->offset) = (guint)value;
}

static void
store_real (PublishedRun *run, const Column *column, const char *text)
{
  double value = NAN;

  if (text[0] != '\0' && !parse_number (text, G_MAXDOUBLE, &value))
    note_unreadable (run, column, text, "a number");
  G_STRUCT_MEMBER (double, run, column->offset) = value;
}

static void
store (PublishedRun *run, const Column *column, const char *text)
{
  switch (column->type)
    {
    case TYPE_TEXT:
      if (column->is_setting && strpbrk (text, "\r\n") != NULL)
        note_unreadable (run, column, "(of several lines)", "one line");
      G_STRUCT_MEMBER (const char *, run, column->offset) = text;
      break;
    case TYPE_WHOLE:
      store_whole (run, column, text);
      break;
    case TYPE_REAL:
      store_real (run, column, text);
      break;
    }
}

static void
note_short_row (const CsvTable *csv, guint row, Problems *problems)
{
  Place place = csv_table_place (csv, row, 0);

  problems_add (problems, &place, NULL, NULL, "%u fields under a header of %u",
                csv_table_n_fields (csv, row), csv_table_n_fields (csv, 0));
  g_free ((char *)place.text);
}

static void
read_row (PublishedTable *table, const CsvTable *csv, guint row, const guint *places)
{
  PublishedRun run = { .csv = csv, .row = row };

  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    store (&run, &columns[i], places[i] == G_MAXUINT ? "" : csv_table_field (csv, row, places[i]));
  g_array_append_val (table->runs, run);
}

static void
read_rows (PublishedTable *table, const CsvTable *csv, Problems *problems)
{
  guint places[G_N_ELEMENTS (columns)];

  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    places[i] = find_column (csv, columns[i].name);
  for (guint row = 1; row < csv_table_n_rows (csv) && !problems_are_enough (problems); row++)
    if (csv_table_n_fields (csv, row) != csv_table_n_fields (csv, 0))
      note_short_row (csv, row, problems);
    else
      read_row (table, csv, row, places);
}

/* ---- the whole ---- */

PublishedTable *
published_read (const char *name, const char *text, gsize length, Problems *problems)
{
  g_autoptr (PublishedTable) table = NULL;
  const guint n_before = problems_count (problems);
  CsvTable *csv = csv_table_read (name, text, length, problems);

  if (csv == NULL)
    return NULL;
  table = g_new0 (PublishedTable, 1);
  table->sources = g_ptr_array_new_with_free_func ((GDestroyNotify)csv_table_free);
  table->runs = g_array_new (FALSE, FALSE, sizeof (PublishedRun));
  g_array_set_clear_func (table->runs, run_clear);
  g_ptr_array_add (table->sources, csv);
  if (check_header (name, csv, problems))
    read_rows (table, csv, problems);
  return problems_count (problems) == n_before ? g_steal_pointer (&table) : NULL;
}

void
published_free (PublishedTable *table)
{
  if (table == NULL)
    return;
  g_array_unref (table->runs);
  g_ptr_array_unref (table->sources);
  g_free (table);
}

guint
published_n_runs (const PublishedTable *table)
{
  return table->runs->len;
}

const PublishedRun *
published_run (const PublishedTable *table, guint index)
{
  g_assert (index < table->runs->len);
  return &g_array_index (table->runs, PublishedRun, index);
}

char *
published_run_place (const PublishedRun *run)
{
  const Place place = csv_table_place (run->csv, run->row, 0);

  g_free ((char *)place.text);
  return g_strdup_printf ("%s:%u", place.file, place.line);
}

void
published_select (PublishedTable *table, const char *qualities)
{
  for (guint i = table->runs->len; i-- > 0;)
    {
      const char *quality = g_array_index (table->runs, PublishedRun, i).result.quality;

      if (quality[0] == '\0' || strchr (qualities, quality[0]) == NULL)
        g_array_remove_index (table->runs, i);
    }
}

void
published_append (PublishedTable *table, PublishedTable *more)
{
  for (guint i = 0; i < more->runs->len; i++)
    g_array_append_val (table->runs, g_array_index (more->runs, PublishedRun, i));
  for (guint i = 0; i < more->sources->len; i++)
    g_ptr_array_add (table->sources, g_ptr_array_index (more->sources, i));
  g_array_set_clear_func (more->runs, NULL);
  g_ptr_array_set_free_func (more->sources, NULL);
  published_free (more);
}

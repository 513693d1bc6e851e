#include "config.h"

#include <math.h>
#include <string.h>

#include "report/results.h"

/* ---- summary.csv ---- */

typedef struct
{
  const char *name;
  gsize offset; /* into ResultsVariant */
} VariantField;

#define FIELD(name)                                                                                \
  {                                                                                                \
#name, G_STRUCT_OFFSET(ResultsVariant, name)                                                   \
  }
static const VariantField number_fields[] = {
  FIELD (step_time_s),          FIELD (tokens_per_s),
  FIELD (tokens_per_s_per_gpu), FIELD (mfu_percent),
  FIELD (hfu_percent),          FIELD (all_gathers),
  FIELD (reduce_scatters),      FIELD (all_reduces),
  FIELD (comm_bytes),           FIELD (compute_s),
  FIELD (exposed_comm_s),       FIELD (host_bound_s),
  FIELD (peak_allocated_bytes), FIELD (peak_reserved_bytes),
};
static const VariantField text_fields[] = {
  { "variant", G_STRUCT_OFFSET (ResultsVariant, name) },
  FIELD (scenario),
  FIELD (scenario_sha256),
  { "fsdpsim_version", G_STRUCT_OFFSET (ResultsVariant, version) },
  FIELD (status),
  FIELD (reason),
  FIELD (peak_phase),
};
#undef FIELD
#define N_NUMBERS G_N_ELEMENTS (number_fields)
#define N_TEXTS   G_N_ELEMENTS (text_fields)

static void
variant_free (gpointer data)
{
  ResultsVariant *variant = data;

  for (guint i = 0; i < N_TEXTS; i++)
    g_free (G_STRUCT_MEMBER (char *, variant, text_fields[i].offset));
  g_strfreev (variant->key_values);
  timeline_free (variant->timeline);
  g_clear_pointer (&variant->memory, g_array_unref);
  g_free (variant);
}

/* What stands before the column "variant" is what a sweep varied. */
static char **
copy_before_variant (const GPtrArray *header, const GPtrArray *values)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (guint i = 0; i < header->len && strcmp (header->pdata[i], "variant") != 0; i++)
    g_strv_builder_add (builder, values->pdata[i]);
  return g_strv_builder_end (builder);
}

static gboolean
take_summary (const ResultsRow *row, gpointer data, GError **error)
{
  Results *results = data;
  ResultsVariant *variant = g_new0 (ResultsVariant, 1);

  g_ptr_array_add (results->variants, variant);
  variant->throughput_delta_percent = (double)NAN;
  if (results->keys == NULL)
    results->keys = copy_before_variant (row->header, row->header);
  variant->key_values = copy_before_variant (row->header, row->fields);
  for (guint i = 0; i < N_TEXTS; i++)
    G_STRUCT_MEMBER (char *, variant, text_fields[i].offset)
        = g_strdup (row->values[N_NUMBERS + i]);
  for (guint i = 0; i < N_NUMBERS; i++)
    if (!results_row_number (row, i, &G_STRUCT_MEMBER (double, variant, number_fields[i].offset),
                             error))
      return FALSE;
  return TRUE;
}

static void
summary_columns (ResultsColumn *columns)
{
  for (guint i = 0; i < N_NUMBERS; i++)
    columns[i] = (ResultsColumn){ number_fields[i].name, FALSE };
  for (guint i = 0; i < N_TEXTS; i++)
    columns[N_NUMBERS + i] = (ResultsColumn){ text_fields[i].name, FALSE };
}

/* ---- rows of the other files ---- */

/* The variant that a row is about: the value of its first wanted column. */
static ResultsVariant *
find_variant (const Results *results, const ResultsRow *row, GError **error)
{
  for (guint i = 0; i < results->variants->len; i++)
    if (strcmp (results_variant (results, i)->name, row->values[0]) == 0)
      return results_variant (results, i);
  results_row_error (row, 0, error, "'%.80s' is not in %s", row->values[0],
                     results_file_name (RESULTS_SUMMARY));
  return NULL;
}

static const ResultsColumn delta_columns[]
    = { { "variant", FALSE }, { "throughput_delta_percent", FALSE } };

static gboolean
take_delta (const ResultsRow *row, gpointer data, GError **error)
{
  ResultsVariant *variant = find_variant (data, row, error);

  return variant != NULL && results_row_number (row, 1, &variant->throughput_delta_percent, error);
}

/* TRUE where the row is of the rank that stands first in the files. */
static gboolean
is_first_rank (ResultsVariant *variant, const ResultsRow *row, gboolean is_first,
               gboolean *is_right, GError **error)
{
  double rank;

  *is_right = results_row_number (row, 1, &rank, error);
  if (*is_right && !(rank >= 0 && rank < G_MAXUINT32))
    *is_right = results_row_error (row, 1, error, "'%.40s' is no rank", row->values[1]);
  if (!*is_right)
    return FALSE;
  if (is_first)
    variant->rank = (guint)rank;
  return variant->rank == (guint)rank;
}

/* ---- timeline.csv ---- */

enum
{
  TIMELINE_VARIANT,
  TIMELINE_RANK,
  TIMELINE_LANE,
  TIMELINE_COLUMN_OP,
  TIMELINE_UNIT,
  TIMELINE_START,
  TIMELINE_END
};
static const ResultsColumn timeline_columns[]
    = { { "variant", FALSE }, { "rank", FALSE },     { "lane", FALSE },  { "op", FALSE },
        { "unit", FALSE },    { "start_us", FALSE }, { "end_us", FALSE } };

static gboolean
parse_lane (const ResultsRow *row, guint8 *lane, GError **error)
{
  const char *text = row->values[TIMELINE_LANE];

  for (guint i = 0; i < N_TIMELINE_LANES; i++)
    if (strcmp (text, timeline_lane_name (i)) == 0)
      {
        *lane = (guint8)i;
        return TRUE;
      }
  *lane = LANE_COMM_SHARD;
  if (g_str_has_prefix (text, "comm.") && strlen (text) <= 32
      && text[strspn (text, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._-")] == '\0')
    return TRUE;
  return results_row_error (row, TIMELINE_LANE, error,
                            "'%.40s' is none of host, compute, comm.NAME, copy", text);
}

static gboolean
parse_op (const ResultsRow *row, guint8 *op, GError **error)
{
  const char *text = row->values[TIMELINE_COLUMN_OP];

  for (guint i = 0; i < N_TIMELINE_OPS; i++)
    if (strcmp (text, timeline_op_name (i)) == 0)
      {
        *op = (guint8)i;
        return TRUE;
      }
  return results_row_error (row, TIMELINE_COLUMN_OP, error, "'%.40s' is no op", text);
}

static gboolean
parse_unit (const ResultsRow *row, guint32 *unit, GError **error)
{
  const char *text = row->values[TIMELINE_UNIT];
  guint64 block;

  for (guint32 i = 0; i < UNIT_FIRST_BLOCK; i++)
    {
      g_autofree char *name = timeline_unit_name (i);

      *unit = i;
      if (strcmp (text, name) == 0)
        return TRUE;
    }
  if (!g_str_has_prefix (text, "block.")
      || !g_ascii_string_to_unsigned (text + strlen ("block."), 10, 0, G_MAXINT32, &block, NULL))
    return results_row_error (row, TIMELINE_UNIT, error, "'%.40s' is no unit", text);
  *unit = UNIT_FIRST_BLOCK + (guint32)block;
  return TRUE;
}

/* The first stream of the lane that is free by then; a new one where none is. */
static gboolean
choose_stream (ResultsVariant *variant, const ResultsRow *row, TimelineRecord *record,
               GError **error)
{
  const char *lane = row->values[TIMELINE_LANE];
  GPtrArray *streams = variant->timeline->stream_names;
  guint s = 0;

  while (s < streams->len
         && (strcmp (streams->pdata[s], lane) != 0 || variant->stream_ends[s] > record->start))
    s++;
  if (s == G_N_ELEMENTS (variant->stream_ends))
    return results_row_error (row, TIMELINE_LANE, error, "more than %u pieces of work at one time",
                              s);
  if (s == streams->len)
    g_ptr_array_add (streams, g_strdup (lane));
  record->stream = (guint8)s;
  variant->stream_ends[s] = record->end;
  return TRUE;
}

static gboolean
take_record (const ResultsRow *row, gpointer data, GError **error)
{
  ResultsVariant *variant = find_variant (data, row, error);
  TimelineRecord record = { 0 };
  gboolean is_right;

  if (variant == NULL)
    return FALSE;
  if (!is_first_rank (variant, row, variant->timeline == NULL, &is_right, error))
    return is_right;
  if (!parse_lane (row, &record.lane, error) || !parse_op (row, &record.label.op, error)
      || !parse_unit (row, &record.label.unit, error)
      || !results_row_time (row, TIMELINE_START, &record.start, error)
      || !results_row_time (row, TIMELINE_END, &record.end, error))
    return FALSE;
  if (record.end < record.start)
    return results_row_error (row, TIMELINE_END, error, "before start_us");
  if (variant->timeline == NULL)
    variant->timeline = timeline_new ();
  if (!choose_stream (variant, row, &record, error))
    return FALSE;
  g_array_append_val (variant->timeline->records, record);
  return TRUE;
}

/* The reported steps end with the last optimizer step, or with the last work of compute. */
static void
finish_timeline (ResultsVariant *variant)
{
  Timeline *timeline = variant->timeline;
  TimelineStep step = { 0 };
  SimTime end_of_compute = 0;

  if (timeline == NULL || timeline->steps->len > 0)
    return;
  for (guint i = 0; i < timeline->records->len; i++)
    {
      const TimelineRecord *record = timeline_record (timeline, i);

      if (record->lane != LANE_COMPUTE)
        continue;
      end_of_compute = MAX (end_of_compute, record->end);
      if (record->label.op == TIMELINE_OPTIMIZER)
        step.end = MAX (step.end, record->end);
    }
  if (step.end == 0)
    step.end = end_of_compute;
  timeline->rank = variant->rank;
  g_array_append_val (timeline->steps, step);
}

/* ---- memory.csv ---- */

#define N_MEMORY_COLUMNS (4 + N_MEMORY_KINDS)

static const ResultsColumn memory_columns[N_MEMORY_COLUMNS] = {
  { "variant", FALSE },
  { "rank", FALSE },
  { "time_us", FALSE },
  { "allocated_bytes", FALSE },
#define KIND(name, column, words) { column "_bytes", FALSE },
#include "timeline/memory_kinds.def"
#undef KIND
};

static gboolean
take_memory (const ResultsRow *row, gpointer data, GError **error)
{
  ResultsVariant *variant = find_variant (data, row, error);
  ResultsMemory memory;
  gboolean is_right;

  if (variant == NULL)
    return FALSE;
  if (!is_first_rank (variant, row, variant->timeline == NULL && variant->memory == NULL, &is_right,
                      error))
    return is_right;
  if (!results_row_time (row, 2, &memory.time, error)
      || !results_row_number (row, 3, &memory.allocated, error))
    return FALSE;
  for (guint kind = 0; kind < N_MEMORY_KINDS; kind++)
    if (!results_row_number (row, 4 + kind, &memory.by_kind[kind], error))
      return FALSE;
  if (variant->memory == NULL)
    variant->memory = g_array_new (FALSE, FALSE, sizeof (ResultsMemory));
  else if (g_array_index (variant->memory, ResultsMemory, variant->memory->len - 1).time
           > memory.time)
    return results_row_error (row, 2, error, "before the row above");
  g_array_append_val (variant->memory, memory);
  return TRUE;
}

/* ---- the folder ---- */

static const char *const file_names_of[N_RESULTS_FILES] = { [RESULTS_SUMMARY] = "summary.csv",
                                                            [RESULTS_DELTAS] = "deltas.csv",
                                                            [RESULTS_TIMELINE] = "timeline.csv",
                                                            [RESULTS_MEMORY] = "memory.csv" };

const char *
results_file_name (ResultsFile file)
{
  return file_names_of[file];
}

Results *
results_new (void)
{
  Results *results = g_new0 (Results, 1);

  results->variants = g_ptr_array_new_with_free_func (variant_free);
  return results;
}

void
results_free (Results *results)
{
  if (results == NULL)
    return;
  g_ptr_array_unref (results->variants);
  g_strfreev (results->keys);
  g_free (results);
}

static ResultsReader
reader_of (Results *results, ResultsFile file, ResultsColumn summary[N_NUMBERS + N_TEXTS])
{
  switch (file)
    {
    case RESULTS_DELTAS:
      return (ResultsReader){ delta_columns, G_N_ELEMENTS (delta_columns), take_delta, results };
    case RESULTS_TIMELINE:
      return (ResultsReader){ timeline_columns, G_N_ELEMENTS (timeline_columns), take_record,
                              results };
    case RESULTS_MEMORY:
      return (ResultsReader){ memory_columns, N_MEMORY_COLUMNS, take_memory, results };
    default:
      summary_columns (summary);
      return (ResultsReader){ summary, N_NUMBERS + N_TEXTS, take_summary, results };
    }
}

static void
finish_timelines (Results *results)
{
  for (guint i = 0; i < results->variants->len; i++)
    finish_timeline (results_variant (results, i));
}

gboolean
results_add (Results *results, ResultsFile file, const char *name, const char *text, gsize length,
             GError **error)
{
  ResultsColumn summary[N_NUMBERS + N_TEXTS];
  const ResultsReader reader = reader_of (results, file, summary);
  const gboolean is_read = results_read_text (name, text, length, &reader, error);

  finish_timelines (results);
  return is_read;
}

static gboolean
read_one (Results *results, const char *folder, ResultsFile file, GError **error)
{
  g_autofree char *path = g_build_filename (folder, file_names_of[file], NULL);
  ResultsColumn summary[N_NUMBERS + N_TEXTS];
  const ResultsReader reader = reader_of (results, file, summary);

  if (file != RESULTS_SUMMARY && !g_file_test (path, G_FILE_TEST_EXISTS))
    return TRUE;
  return results_read_file (path, &reader, error);
}

Results *
results_read (const char *folder, GError **error)
{
  g_autoptr (Results) results = results_new ();

  for (guint file = 0; file < N_RESULTS_FILES; file++)
    if (!read_one (results, folder, file, error))
      return NULL;
  finish_timelines (results);
  if (results->variants->len > 0)
    return g_steal_pointer (&results);
  g_set_error (error, RESULTS_ERROR, RESULTS_ERROR_BAD_CSV, "%s/%s: no rows", folder,
               results_file_name (RESULTS_SUMMARY));
  return NULL;
}

gboolean
results_did_run (const ResultsVariant *variant)
{
  return isfinite (variant->step_time_s);
}

/* timeline.csv and memory.csv: of each variant the rank that stands first. */
#include <config.h>

#include <string.h>

#include "report/results_files.h"

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

  if (timeline_unit_parse (text, unit))
    return TRUE;
  return results_row_error (row, TIMELINE_UNIT, error, "'%.40s' is no unit", text);
}

/* The first stream of the lane that is free by then; a new one where none is. */
static gboolean
choose_stream (ResultsVariant *variant, const ResultsRow *row, TimelineRecord *record,
               GError **error)
{
  const char *lane = row->values[TIMELINE_LANE];
  GPtrArray *streams = variant->timeline->stream_names;
  GArray *ends = variant->stream_ends;
  guint s = 0;

  while (s < streams->len
         && (strcmp (streams->pdata[s], lane) != 0
             || g_array_index (ends, SimTime, s) > record->start))
    s++;
  if (s == G_MAXUINT8)
    return results_row_error (row, TIMELINE_LANE, error, "more than %u pieces of work at one time",
                              s);
  if (s == streams->len)
    {
      g_ptr_array_add (streams, g_strdup (lane));
      g_array_set_size (ends, s + 1);
    }
  record->stream = (guint8)s;
  g_array_index (ends, SimTime, s) = record->end;
  return TRUE;
}

static gboolean
take_record (const ResultsRow *row, gpointer data, GError **error)
{
  ResultsVariant *variant = results_find_variant (data, row, error);
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
    {
      variant->timeline = timeline_new ();
      variant->stream_ends = g_array_new (FALSE, FALSE, sizeof (SimTime));
    }
  if (!choose_stream (variant, row, &record, error))
    return FALSE;
  g_array_append_val (variant->timeline->records, record);
  return TRUE;
}

const ResultsReader results_timeline_reader
    = { timeline_columns, G_N_ELEMENTS (timeline_columns), take_record };

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

void
results_finish_timelines (Results *results)
{
  for (guint i = 0; i < results->variants->len; i++)
    finish_timeline (results_variant (results, i));
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
  ResultsVariant *variant = results_find_variant (data, row, error);
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

const ResultsReader results_memory_reader = { memory_columns, N_MEMORY_COLUMNS, take_memory };

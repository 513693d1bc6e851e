#include "config.h"

#include <string.h>

#include "report/csv.h"
#include "report/plot_text.h"
#include "report/plot_timeline.h"
#include "timeline/exposure.h"

#define ZOOM_FROM_UNITS                                                                            \
  60                  /* as many stretches of work on compute make single ones too narrow to read */
#define ZOOM_BEFORE 5 /* stretches shown on both sides of the turn from forward to backward */
#define ZOOM_AFTER  7

static double
to_ms (SimTime time)
{
  return 1e3 * sim_time_seconds (time);
}

gboolean
plot_timeline_exists (const ResultsVariant *variant)
{
  return variant->timeline != NULL && timeline_end (variant->timeline) > 0;
}

/* ---- lanes ---- */

static guint
lane_order (const char *lane)
{
  return strcmp (lane, "host") == 0      ? 0
         : strcmp (lane, "compute") == 0 ? 1
         : strcmp (lane, "copy") == 0    ? 3
                                         : 2;
}

static gint
compare_lanes (gconstpointer a, gconstpointer b)
{
  const char *const lane_a = *(const char *const *)a, *const lane_b = *(const char *const *)b;
  const gint order = (gint)lane_order (lane_a) - (gint)lane_order (lane_b);

  return order != 0 ? order : strcmp (lane_a, lane_b);
}

/* Each lane once, as they are drawn from the top. */
static GPtrArray *
lanes_of (const Timeline *timeline)
{
  GPtrArray *lanes = g_ptr_array_new ();

  for (guint s = 0; s < timeline->stream_names->len; s++)
    if (!g_ptr_array_find_with_equal_func (lanes, timeline->stream_names->pdata[s], g_str_equal,
                                           NULL))
      g_ptr_array_add (lanes, timeline->stream_names->pdata[s]);
  g_ptr_array_sort (lanes, compare_lanes);
  return lanes;
}

static guint
lane_index (const GPtrArray *lanes, const char *lane)
{
  guint index = 0;

  g_ptr_array_find_with_equal_func ((GPtrArray *)lanes, lane, g_str_equal, &index);
  return index;
}

/* ---- boxes ---- */

static const char *
kind_of (const TimelineRecord *record)
{
  return record->label.op == TIMELINE_GRAD_CLIP ? timeline_op_name (TIMELINE_OPTIMIZER)
                                                : timeline_op_name (record->label.op);
}

static char *
box_text (const TimelineRecord *record)
{
  if (record->lane == LANE_HOST || record->label.op == TIMELINE_OPTIMIZER
      || record->label.op == TIMELINE_GRAD_CLIP)
    return g_strdup ("");
  if (record->label.unit >= UNIT_FIRST_BLOCK)
    return g_strdup_printf ("%u", record->label.unit - UNIT_FIRST_BLOCK);
  return timeline_unit_name (record->label.unit);
}

static void
add_box (Csv *csv, guint lane, SimTime start, SimTime end, const char *kind, const char *text)
{
  csv_add_integer (csv, lane + 1);
  csv_add_number (csv, to_ms (start));
  csv_add_number (csv, to_ms (end));
  csv_add_text (csv, kind);
  csv_add_text (csv, text);
  csv_end_row (csv);
}

/* Where compute idles while a collective runs, on compute's own lane. */
static void
add_exposed (Csv *csv, const Timeline *timeline, guint lane)
{
  g_autoptr (GArray) spans = exposure_spans (timeline);

  for (guint i = 0; i < spans->len; i++)
    {
      const ExposureSpan *span = &g_array_index (spans, ExposureSpan, i);

      if (!span->is_compute && timeline_op_is_collective (span->op))
        add_box (csv, lane, span->start, span->end, "exposed", "");
    }
}

char *
plot_timeline_boxes (const ResultsVariant *variant)
{
  const Timeline *timeline = variant->timeline;
  g_autoptr (GPtrArray) lanes = lanes_of (timeline);
  const SimTime window = timeline_end (timeline);
  Csv csv;

  csv_begin (&csv, "lane,from_ms,to_ms,kind,text");
  for (guint i = 0; i < timeline->records->len; i++)
    {
      const TimelineRecord *record = timeline_record (timeline, i);
      g_autofree char *text = box_text (record);

      if (record->end > 0 && record->start < window)
        add_box (&csv, lane_index (lanes, timeline->stream_names->pdata[record->stream]),
                 MAX (record->start, 0), MIN (record->end, window), kind_of (record), text);
    }
  add_exposed (&csv, timeline, lane_index (lanes, "compute"));
  return csv_finish (&csv);
}

/* ---- memory ---- */

static void
add_level (Csv *csv, SimTime time, const ResultsMemory *level)
{
  const double *by_kind = level->by_kind;
  const double persistent
      = by_kind[MEMORY_PARAMS] + by_kind[MEMORY_GRADS] + by_kind[MEMORY_OPTIMIZER];
  const double with_activations = persistent + by_kind[MEMORY_ACTIVATIONS];
  const double with_params = with_activations + by_kind[MEMORY_UNSHARDED_PARAMS];

  csv_add_number (csv, to_ms (time));
  csv_add_number (csv, persistent / 0x1p30);
  csv_add_number (csv, with_activations / 0x1p30);
  csv_add_number (csv, with_params / 0x1p30);
  csv_add_number (csv, level->allocated / 0x1p30);
  csv_end_row (csv);
}

char *
plot_timeline_memory (const ResultsVariant *variant)
{
  const SimTime window = timeline_end (variant->timeline);
  const ResultsMemory *level = NULL;
  Csv csv;

  csv_begin (&csv,
             "time_ms,persistent_gib,and_activations_gib,and_unsharded_params_gib,allocated_gib");
  for (guint i = 0; variant->memory != NULL && i < variant->memory->len; i++)
    {
      const ResultsMemory *next = &g_array_index (variant->memory, ResultsMemory, i);

      if (next->time >= window)
        break;
      if (next->time > 0 && level != NULL)
        add_level (&csv, MAX (level->time, 0), level);
      level = next;
    }
  if (level != NULL)
    {
      add_level (&csv, MAX (level->time, 0), level);
      add_level (&csv, window, level);
    }
  return csv_finish (&csv);
}

static double
peak_gib (const ResultsVariant *variant)
{
  double peak = 0;

  for (guint i = 0; variant->memory != NULL && i < variant->memory->len; i++)
    peak = MAX (peak, g_array_index (variant->memory, ResultsMemory, i).allocated);
  return peak / 0x1p30;
}

/* ---- script ---- */

/* One piece of work of compute after another, those of one unit and op joined. */
static GArray *
compute_stretches (const Timeline *timeline)
{
  GArray *stretches = g_array_new (FALSE, FALSE, sizeof (TimelineRecord));

  for (guint i = 0; i < timeline->records->len; i++)
    {
      const TimelineRecord *record = timeline_record (timeline, i);
      TimelineRecord *last = stretches->len == 0
                                 ? NULL
                                 : &g_array_index (stretches, TimelineRecord, stretches->len - 1);

      if (record->lane != LANE_COMPUTE || record->end <= 0)
        continue;
      if (last != NULL && last->label.unit == record->label.unit
          && last->label.op == record->label.op)
        last->end = MAX (last->end, record->end);
      else
        g_array_append_val (stretches, *record);
    }
  return stretches;
}

static gboolean
is_backward (const TimelineRecord *record)
{
  return record->label.op == TIMELINE_RECOMPUTE || record->label.op == TIMELINE_BACKWARD;
}

/* The turn from forward to backward, where a long step is looked at in detail. */
static void
find_turn (const Timeline *timeline, double *from_ms, double *to_ms_)
{
  g_autoptr (GArray) stretches = compute_stretches (timeline);
  const TimelineRecord *const records = (const TimelineRecord *)(gpointer)stretches->data;
  guint turn = 0;

  *from_ms = *to_ms_ = 0;
  while (turn < stretches->len && !is_backward (&records[turn]))
    turn++;
  if (stretches->len < ZOOM_FROM_UNITS || turn == stretches->len)
    return;
  *from_ms = to_ms (MAX (records[turn > ZOOM_BEFORE ? turn - ZOOM_BEFORE : 0].start, 0));
  *to_ms_ = to_ms (
      MIN (records[MIN (turn + ZOOM_AFTER, stretches->len - 1)].end, timeline_end (timeline)));
}

static gboolean
has_kind (const Timeline *timeline, const char *kind)
{
  for (guint i = 0; i < timeline->records->len; i++)
    if (strcmp (kind_of (timeline_record (timeline, i)), kind) == 0
        && timeline_record (timeline, i)->end > 0)
      return TRUE;
  return FALSE;
}

static char *
kinds_present (const Timeline *timeline)
{
  GString *present = g_string_new ("exposed");

  for (guint op = 0; op < N_TIMELINE_OPS; op++)
    if (has_kind (timeline, timeline_op_name (op)))
      g_string_append_printf (present, " %s", timeline_op_name (op));
  return g_string_free (present, FALSE);
}

void
plot_timeline_script (const ResultsVariant *variant, GString *script)
{
  g_autoptr (GPtrArray) lanes = lanes_of (variant->timeline);
  g_autofree char *lane_words = NULL, *present = kinds_present (variant->timeline);
  double zoom_from_ms, zoom_to_ms;

  g_ptr_array_add (lanes, NULL);
  lane_words = g_strjoinv (" ", (char **)lanes->pdata);
  find_turn (variant->timeline, &zoom_from_ms, &zoom_to_ms);
  plot_text_set (script, "lanes", lane_words);
  plot_text_set (script, "present", present);
  plot_text_set_number (script, "step_ms", to_ms (timeline_end (variant->timeline)));
  plot_text_set_number (script, "zoom_from_ms", zoom_from_ms);
  plot_text_set_number (script, "zoom_to_ms", zoom_to_ms);
  plot_text_set_number (script, "capacity_gib", 0);
  plot_text_set_number (script, "peak_gib", peak_gib (variant));
}

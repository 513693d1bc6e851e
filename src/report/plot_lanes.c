#include <config.h>

#include <string.h>

#include "report/csv.h"
#include "report/plot_lanes.h"
#include "timeline/exposure.h"

#define MOST_BOXES 1500 /* of a lane, before it is drawn by half pixels */
#define N_BINS     2264 /* half pixels of a lane */

/* Kinds of boxes: ops, and where compute idles. */
#define KIND_EXPOSED N_TIMELINE_OPS
#define N_KINDS      (N_TIMELINE_OPS + 1)

typedef struct
{
  SimTime start, end;
  guint kind;
  const TimelineRecord *record; /* NULL: no text */
} Box;

static const char *
kind_name (guint kind)
{
  return kind == KIND_EXPOSED ? "exposed" : timeline_op_name (kind);
}

static guint
kind_of (const TimelineRecord *record)
{
  return record->label.op == TIMELINE_GRAD_CLIP ? TIMELINE_OPTIMIZER : record->label.op;
}

/* ---- lanes ---- */

static guint
lane_order (const char *lane)
{
  if (strcmp (lane, timeline_lane_name (LANE_HOST)) == 0)
    return 0;
  if (strcmp (lane, timeline_lane_name (LANE_COMPUTE)) == 0)
    return 1;
  return strcmp (lane, timeline_lane_name (LANE_COPY)) == 0 ? 3 : 2;
}

static gint
compare_lanes (gconstpointer a, gconstpointer b)
{
  const char *lane_a = *(const char *const *)a, *lane_b = *(const char *const *)b;
  const gint order = (gint)lane_order (lane_a) - (gint)lane_order (lane_b);

  return order != 0 ? order : strcmp (lane_a, lane_b);
}

static gboolean
is_seen (const TimelineRecord *record)
{
  return record->end > 0 && record->end > record->start;
}

GPtrArray *
plot_lanes (const Timeline *timeline)
{
  GPtrArray *lanes = g_ptr_array_new ();

  for (guint i = 0; i < timeline->records->len; i++)
    {
      const TimelineRecord *record = timeline_record (timeline, i);
      char *lane = timeline->stream_names->pdata[record->stream];

      if (is_seen (record) && !g_ptr_array_find_with_equal_func (lanes, lane, g_str_equal, NULL))
        g_ptr_array_add (lanes, lane);
    }
  g_ptr_array_sort (lanes, compare_lanes);
  return lanes;
}

/* ---- boxes of one lane ---- */

static void
add_box (GArray *boxes, const Box *box, SimTime from, SimTime to)
{
  Box cut = *box;

  if (box->end <= from || box->start >= to)
    return;
  cut.start = MAX (cut.start, from);
  cut.end = MIN (cut.end, to);
  g_array_append_val (boxes, cut);
}

/* Stretches that follow each other at once are one, whatever collective runs. */
static void
add_exposed (GArray *boxes, const Timeline *timeline, SimTime from, SimTime to)
{
  g_autoptr (GArray) spans = exposure_spans (timeline);
  Box box = { .kind = KIND_EXPOSED };

  for (guint i = 0; i < spans->len; i++)
    {
      const ExposureSpan *span = &g_array_index (spans, ExposureSpan, i);

      if (span->is_compute || !timeline_op_is_collective (span->op))
        continue;
      if (span->start != box.end)
        {
          add_box (boxes, &box, from, to);
          box.start = span->start;
        }
      box.end = span->end;
    }
  add_box (boxes, &box, from, to);
}

static GArray *
lane_boxes (const Timeline *timeline, const char *lane, SimTime from, SimTime to)
{
  GArray *boxes = g_array_new (FALSE, FALSE, sizeof (Box));

  for (guint i = 0; i < timeline->records->len; i++)
    {
      const TimelineRecord *record = timeline_record (timeline, i);
      const Box box = { record->start, record->end, kind_of (record), record };

      if (strcmp (timeline->stream_names->pdata[record->stream], lane) == 0)
        add_box (boxes, &box, from, to);
    }
  if (lane_order (lane) == 1)
    add_exposed (boxes, timeline, from, to);
  return boxes;
}

/* ---- too many boxes ---- */

typedef struct
{
  double filled[N_KINDS]; /* parts of the bin */
} Bin;

static void
fill_bins (Bin *bins, const Box *box, SimTime from, double bin_time)
{
  const double start = (double)(box->start - from) / bin_time;
  const double end = (double)(box->end - from) / bin_time;

  for (guint i = (guint)start; i < N_BINS && i < end; i++)
    bins[i].filled[box->kind] += MIN (end, i + 1.0) - MAX (start, i);
}

/* Each bin shows one kind, or nothing (N_KINDS); what it leaves out is owed to the
 * next bins, so that every kind gets its share of the lane. */
static guint
show_bin (const Bin *bin, double owed[N_KINDS + 1])
{
  double empty = 1;
  guint shown = N_KINDS;

  for (guint kind = 0; kind < N_KINDS; kind++)
    {
      owed[kind] += bin->filled[kind];
      empty -= bin->filled[kind];
    }
  owed[N_KINDS] += MAX (empty, 0);
  for (guint kind = 0; kind < N_KINDS; kind++)
    if (owed[kind] > owed[shown])
      shown = kind;
  owed[shown] -= 1;
  return shown;
}

/* Replaces the boxes by what half pixels show. */
static void
thin_out (GArray *boxes, SimTime from, SimTime to)
{
  g_autofree Bin *bins = g_new0 (Bin, N_BINS);
  const double bin_time = (double)(to - from) / N_BINS;
  double owed[N_KINDS + 1] = { 0 };
  Box box = { from, from, N_KINDS, NULL };

  for (guint i = 0; i < boxes->len; i++)
    fill_bins (bins, &g_array_index (boxes, Box, i), from, bin_time);
  g_array_set_size (boxes, 0);
  for (guint i = 0; i <= N_BINS; i++)
    {
      const guint kind = i < N_BINS ? show_bin (&bins[i], owed) : N_KINDS;

      box.end = from + (SimTime)(i * bin_time);
      if (kind == box.kind)
        continue;
      if (box.kind != N_KINDS)
        g_array_append_val (boxes, box);
      box.start = box.end;
      box.kind = kind;
    }
}

/* ---- files ---- */

static char *
box_text (const Box *box)
{
  const TimelineRecord *record = box->record;

  if (record == NULL || record->lane == LANE_HOST || box->kind == TIMELINE_OPTIMIZER)
    return g_strdup ("");
  if (record->label.unit >= UNIT_FIRST_BLOCK)
    return g_strdup_printf ("%u", timeline_block_of_unit (record->label.unit));
  return timeline_unit_name (record->label.unit);
}

char *
plot_lanes_csv (const Timeline *timeline, SimTime from, SimTime to)
{
  g_autoptr (GPtrArray) lanes = plot_lanes (timeline);
  Csv csv;

  csv_begin (&csv, "lane,from_ms,to_ms,kind,text");
  for (guint lane = 0; lane < lanes->len; lane++)
    {
      g_autoptr (GArray) boxes = lane_boxes (timeline, lanes->pdata[lane], from, to);

      if (boxes->len > MOST_BOXES)
        thin_out (boxes, from, to);
      for (guint i = 0; i < boxes->len; i++)
        {
          const Box *box = &g_array_index (boxes, Box, i);
          g_autofree char *text = box_text (box);

          csv_add_integer (&csv, lane + 1);
          csv_add_number (&csv, 1e3 * sim_time_seconds (box->start));
          csv_add_number (&csv, 1e3 * sim_time_seconds (box->end));
          csv_add_text (&csv, kind_name (box->kind));
          csv_add_text (&csv, text);
          csv_end_row (&csv);
        }
    }
  return csv_finish (&csv);
}

static gboolean
is_exposed_anywhere (const Timeline *timeline)
{
  Exposure exposure;

  exposure_measure (timeline, &exposure, NULL);
  for (guint op = 0; op < N_TIMELINE_OPS; op++)
    if (timeline_op_is_collective (op) && exposure.exposed[op] > 0)
      return TRUE;
  return FALSE;
}

char *
plot_lanes_kinds (const Timeline *timeline)
{
  GString *kinds = g_string_new (is_exposed_anywhere (timeline) ? "exposed" : "");
  gboolean present[N_KINDS] = { FALSE };

  for (guint i = 0; i < timeline->records->len; i++)
    {
      const TimelineRecord *record = timeline_record (timeline, i);

      if (is_seen (record))
        present[kind_of (record)] = TRUE;
    }
  for (guint kind = 0; kind < N_KINDS; kind++)
    if (present[kind])
      g_string_append_printf (kinds, " %s", kind_name (kind));
  return g_string_free (kinds, FALSE);
}

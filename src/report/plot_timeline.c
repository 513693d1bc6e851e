#include <config.h>

#include <math.h>

#include "report/format.h"
#include "report/files.h"
#include "report/names.h"
#include "report/plot_lanes.h"
#include "report/plot_memory.h"
#include "report/plot_text.h"
#include "report/plot_timeline.h"

#define MOST_VARIANTS 40 /* that get pictures of their own */

/* As many stretches of work on compute make single ones too narrow to read. */
#define ZOOM_FROM_STRETCHES 60
/* Shown before and after the turn from forward to backward. */
#define ZOOM_BEFORE 5
#define ZOOM_AFTER  7

static double
to_ms (SimTime time)
{
  return 1e3 * sim_time_seconds (time);
}

/* ---- the turn ---- */

typedef struct
{
  SimTime start, end;
  TimelineLabel label;
} Stretch;

/* One piece of work of compute after another, those of one unit and op joined. */
static GArray *
compute_stretches (const Timeline *timeline)
{
  GArray *stretches = g_array_new (FALSE, FALSE, sizeof (Stretch));

  for (guint i = 0; i < timeline->records->len; i++)
    {
      const TimelineRecord *record = timeline_record (timeline, i);
      const Stretch stretch = { record->start, record->end, record->label };
      Stretch *last
          = stretches->len == 0 ? NULL : &g_array_index (stretches, Stretch, stretches->len - 1);

      if (record->lane != LANE_COMPUTE || record->end <= 0)
        continue;
      if (last != NULL && last->label.unit == record->label.unit
          && last->label.op == record->label.op)
        last->end = MAX (last->end, record->end);
      else
        g_array_append_val (stretches, stretch);
    }
  return stretches;
}

static gboolean
is_backward (const Stretch *stretch)
{
  return stretch->label.op == TIMELINE_RECOMPUTE || stretch->label.op == TIMELINE_BACKWARD;
}

static gboolean
turns_at (const Stretch *stretches, guint index, guint n)
{
  return index < n && is_backward (&stretches[index])
         && stretches[index - 1].label.op == TIMELINE_FORWARD;
}

/* Where a long step turns from forward to backward, in its last micro-batch, which
 * reduces gradients. FALSE where it needs no detail. */
static gboolean
find_turn (const Timeline *timeline, SimTime *from, SimTime *to)
{
  g_autoptr (GArray) array = compute_stretches (timeline);
  const Stretch *stretches = (const Stretch *)(gpointer)array->data;
  guint turn = array->len;

  *from = *to = 0;
  while (turn > 0 && !turns_at (stretches, turn, array->len))
    turn--;
  if (array->len < ZOOM_FROM_STRETCHES || turn == 0)
    return FALSE;
  *from = MAX (0, stretches[turn > ZOOM_BEFORE ? turn - ZOOM_BEFORE : 0].start);
  *to = MIN (timeline_end (timeline), stretches[MIN (turn + ZOOM_AFTER, array->len - 1)].end);
  return *to > *from;
}

/* ---- timeline ---- */

static void
set_timeline (GString *script, const ResultsVariant *variant, const char *file)
{
  const Timeline *timeline = variant->timeline;
  g_autoptr (GPtrArray) lanes = plot_lanes (timeline);
  g_autofree char *lane_words = NULL, *present = plot_lanes_kinds (timeline);
  SimTime from, to;

  g_ptr_array_add (lanes, NULL);
  lane_words = g_strjoinv (" ", (char **)lanes->pdata);
  find_turn (timeline, &from, &to);
  g_string_append_printf (script,
                          "boxes = \"boxes-%s.csv\"\ndetail = \"detail-%s.csv\"\n"
                          "memory = \"levels-%s.csv\"\n",
                          file, file, file);
  plot_text_set (script, "lanes", lane_words);
  plot_text_set (script, "present", present);
  plot_text_set_number (script, "step_ms", to_ms (timeline_end (timeline)));
  plot_text_set_number (script, "zoom_from_ms", to_ms (from));
  plot_text_set_number (script, "zoom_to_ms", to_ms (to));
  plot_memory_set (script, variant);
}

static char *
timeline_subtitle (const ResultsVariant *variant)
{
  const double steps
      = round (sim_time_seconds (timeline_end (variant->timeline)) / variant->step_time_s);
  g_autofree char *step = plot_text_ms (variant->step_time_s);
  g_autofree char *several = steps > 1 ? g_strdup_printf (" (%.0f shown)", steps) : g_strdup ("");
  char exposed[FORMAT_SIZE], mfu[FORMAT_SIZE];

  return g_strdup_printf (
      "step %s%s, of which %s %% is exposed communication; MFU %s %%; rank %u", step, several,
      format_fixed (exposed, 1, 100 * variant->exposed_comm_s / variant->step_time_s),
      format_fixed (mfu, 1, variant->mfu_percent), variant->rank);
}

static gboolean
write_data (const Pictures *pictures, const ResultsVariant *variant, const char *file,
            GError **error)
{
  const Timeline *timeline = variant->timeline;
  g_autofree char *boxes = plot_lanes_csv (timeline, 0, timeline_end (timeline));
  g_autofree char *boxes_name = g_strdup_printf ("boxes-%s.csv", file);
  g_autofree char *detail_name = g_strdup_printf ("detail-%s.csv", file);
  g_autofree char *memory = NULL;
  g_autofree char *memory_name = g_strdup_printf ("levels-%s.csv", file);
  g_autofree char *detail = NULL;
  SimTime from, to;

  plot_memory_panel_span (variant, &from, &to);
  memory = plot_memory_csv (variant, from, to);
  find_turn (timeline, &from, &to);
  detail = plot_lanes_csv (timeline, from, to);
  return files_write (pictures->folder, boxes_name, boxes, error)
         && files_write (pictures->folder, detail_name, detail, error)
         && files_write (pictures->folder, memory_name, memory, error);
}

static gboolean
add_timeline (Pictures *pictures, const ResultsVariant *variant, const char *file, GError **error)
{
  g_autofree char *name = g_strdup_printf ("timeline-%s", file);
  g_autofree char *title
      = g_strdup_printf ("%s: %s", picture_title (pictures->results), variant->name);
  g_autofree char *subtitle = timeline_subtitle (variant);
  g_autofree char *stamp = picture_stamp (pictures->results, variant->row, 1);
  GString *script;

  if (!write_data (pictures, variant, file, error))
    return FALSE;
  script = picture_begin (pictures, name, title, subtitle, stamp);
  set_timeline (script, variant, file);
  return picture_end (pictures, script, "timeline", error)
         && plot_memory_add (pictures, variant, file, error);
}

gboolean
plot_timelines_add (Pictures *pictures, GError **error)
{
  const Results *results = pictures->results;
  g_autofree const char **names = g_new0 (const char *, results->variants->len + 1);
  g_auto (GStrv) files = NULL;
  guint n = 0;

  if (results_is_sweep (results))
    return TRUE;
  for (guint i = 0; i < results->variants->len; i++)
    names[i] = results_variant (results, i)->name;
  files = file_names (names);
  for (guint i = 0; i < results->variants->len && n < MOST_VARIANTS; i++)
    {
      const ResultsVariant *variant = results_variant (results, i);

      if (variant->timeline == NULL || timeline_end (variant->timeline) <= 0
          || !results_did_run (variant))
        continue;
      if (!add_timeline (pictures, variant, files[i], error))
        return FALSE;
      n++;
    }
  return TRUE;
}

#include "config.h"

#include <math.h>
#include <string.h>

#include "report/csv.h"
#include "report/format.h"
#include "report/names.h"
#include "report/plot_lanes.h"
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

/* ---- memory ---- */

/* What lives longest lies lowest. */
static const MemoryKind stack[N_MEMORY_KINDS]
    = { MEMORY_PARAMS,           MEMORY_GRADS,           MEMORY_OPTIMIZER,    MEMORY_ACTIVATIONS,
        MEMORY_UNSHARDED_PARAMS, MEMORY_UNSHARDED_GRADS, MEMORY_COMM_BUFFERS, MEMORY_OTHER };

static void
add_level (Csv *csv, SimTime time, const ResultsMemory *level)
{
  double sum = 0;

  csv_add_number (csv, to_ms (time));
  for (guint i = 0; i < N_MEMORY_KINDS; i++)
    {
      sum += level->by_kind[stack[i]];
      csv_add_number (csv, sum / 0x1p30);
    }
  csv_end_row (csv);
}

/* CSV: time_ms, then for each kind what it and those below it hold, in GiB. */
static char *
memory_csv (const ResultsVariant *variant)
{
  const SimTime window = timeline_end (variant->timeline);
  g_autoptr (GString) header = g_string_new ("time_ms");
  const ResultsMemory *level = NULL;
  Csv csv;

  for (guint i = 0; i < N_MEMORY_KINDS; i++)
    g_string_append_printf (header, ",to_%s_gib", memory_kind_name (stack[i]));
  csv_begin (&csv, header->str);
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

static void
set_memory (GString *script, const ResultsVariant *variant)
{
  const double capacity = variant->capacity_bytes / 0x1p30;

  plot_text_set_number (script, "capacity_gib", capacity > 0 ? capacity : 0);
  plot_text_set_number (script, "peak_gib", peak_gib (variant));
}

static char *
kinds_held (const ResultsVariant *variant)
{
  GString *kinds = g_string_new (NULL);

  for (guint k = 0; k < N_MEMORY_KINDS; k++)
    for (guint i = 0; i < variant->memory->len; i++)
      if (g_array_index (variant->memory, ResultsMemory, i).by_kind[stack[k]] > 0)
        {
          g_string_append_printf (kinds, " %s", memory_kind_name (stack[k]));
          break;
        }
  return g_string_free (kinds, FALSE);
}

static gboolean
add_memory (Pictures *pictures, const ResultsVariant *variant, const char *file, GError **error)
{
  g_autofree char *name = g_strdup_printf ("memory-%s", file);
  g_autofree char *title
      = g_strdup_printf ("%s: %s", picture_title (pictures->results), variant->name);
  g_autofree char *stamp = picture_stamp (pictures->results, variant->row, 1);
  g_autofree char *subtitle = NULL, *held = NULL;
  char peak[FORMAT_SIZE], reserved[FORMAT_SIZE];
  GString *script;

  if (variant->memory == NULL || !(peak_gib (variant) > 0))
    return TRUE;
  held = kinds_held (variant);
  subtitle = g_strdup_printf (
      "memory of rank %u by owner; peak of the step %s GiB allocated, of the run %s GiB reserved",
      variant->rank, format_fixed (peak, 1, peak_gib (variant)),
      format_fixed (reserved, 1, variant->peak_reserved_bytes / 0x1p30));
  script = picture_begin (name, title, subtitle, stamp);
  g_string_append_printf (script, "memory = \"memory-%s.csv\"\n", file);
  plot_text_set (script, "held", held);
  plot_text_set_number (script, "step_ms", to_ms (timeline_end (variant->timeline)));
  set_memory (script, variant);
  return picture_end (pictures, name, script, "memory", error);
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

/* Where a long step turns from forward to backward. FALSE where it needs no detail. */
static gboolean
find_turn (const Timeline *timeline, SimTime *from, SimTime *to)
{
  g_autoptr (GArray) array = compute_stretches (timeline);
  const Stretch *stretches = (const Stretch *)(gpointer)array->data;
  guint turn = 0;

  *from = *to = 0;
  while (turn < array->len && stretches[turn].label.op != TIMELINE_RECOMPUTE
         && stretches[turn].label.op != TIMELINE_BACKWARD)
    turn++;
  if (array->len < ZOOM_FROM_STRETCHES || turn == array->len)
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
                          "memory = \"memory-%s.csv\"\n",
                          file, file, file);
  plot_text_set (script, "lanes", lane_words);
  plot_text_set (script, "present", present);
  plot_text_set_number (script, "step_ms", to_ms (timeline_end (timeline)));
  plot_text_set_number (script, "zoom_from_ms", to_ms (from));
  plot_text_set_number (script, "zoom_to_ms", to_ms (to));
  set_memory (script, variant);
}

static char *
timeline_subtitle (const ResultsVariant *variant)
{
  const double steps
      = round (sim_time_seconds (timeline_end (variant->timeline)) / variant->step_time_s);
  g_autofree char *step = plot_text_seconds (variant->step_time_s);
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
  g_autofree char *memory = memory_csv (variant);
  g_autofree char *memory_name = g_strdup_printf ("memory-%s.csv", file);
  g_autofree char *detail = NULL;
  SimTime from, to;

  find_turn (timeline, &from, &to);
  detail = plot_lanes_csv (timeline, from, to);
  return pictures_write (pictures, boxes_name, boxes, error)
         && pictures_write (pictures, detail_name, detail, error)
         && pictures_write (pictures, memory_name, memory, error);
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
  script = picture_begin (name, title, subtitle, stamp);
  set_timeline (script, variant, file);
  return picture_end (pictures, name, script, "timeline", error)
         && add_memory (pictures, variant, file, error);
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

/* The files with many rows a variant: timeline and memory. */
#include <config.h>

#include <string.h>

#include "report/csv.h"
#include "report/names.h"
#include "report/report.h"
#include "report/timeline_csv.h"

static const Timeline *
timeline_of (const ReportRun *run, guint index)
{
  return g_ptr_array_index (run->timelines, index);
}

static guint
n_timelines (const ReportRun *run)
{
  return run->timelines == NULL ? 0 : run->timelines->len;
}

/* ---- timeline.csv ---- */

void
timeline_csv_add (Csv *csv, const char *variant, guint rank, SimTime origin,
                  const TimelineRecord *record)
{
  g_autofree char *unit = timeline_unit_name (record->label.unit);

  csv_add_text (csv, variant);
  csv_add_integer (csv, rank);
  csv_add_text (csv, timeline_lane_name (record->lane));
  csv_add_text (csv, timeline_op_name (record->label.op));
  csv_add_text (csv, unit);
  csv_add_text (csv, timeline_phase_name (record->label.phase));
  csv_add_integer (csv, record->label.micro_batch);
  csv_add_time_us (csv, record->start - origin);
  csv_add_time_us (csv, record->end - origin);
  csv_add_integer (csv, record->bytes);
  csv_end_row (csv);
}

char *
report_timeline_csv (const Report *report)
{
  g_auto (GStrv) names = variant_names (report);
  Csv csv;

  csv_begin (&csv, TIMELINE_CSV_HEADER);
  for (guint i = 0; i < report->n_entries; i++)
    for (guint t = 0; t < n_timelines (&report->entries[i].run); t++)
      {
        const Timeline *timeline = timeline_of (&report->entries[i].run, t);

        for (guint32 r = timeline_first_reported (timeline); r < timeline->records->len; r++)
          timeline_csv_add (&csv, names[i], timeline->rank, timeline->origin,
                            timeline_record (timeline, r));
      }
  return csv_finish (&csv);
}

/* ---- memory.csv ---- */

static void
add_level (Csv *csv, const char *variant, const Timeline *timeline, SimTime time,
           const MemoryLevel *level)
{
  csv_add_text (csv, variant);
  csv_add_integer (csv, timeline->rank);
  csv_add_time_us (csv, time - timeline->origin);
  csv_add_integer (csv, level->allocated);
  for (guint kind = 0; kind < N_MEMORY_KINDS; kind++)
    csv_add_integer (csv, level->by_kind[kind]);
  csv_end_row (csv);
}

static const MemoryChange *
change_at (const Timeline *timeline, guint index)
{
  return &g_array_index (timeline->changes, MemoryChange, index);
}

/* The rows of one moment, which end at @level: that of its @highest level before, where this
 * is above what was held before and after it, and none where nothing came of it. */
static void
add_moment (Csv *csv, const char *variant, const Timeline *timeline, SimTime time,
            const MemoryLevel *highest, const MemoryLevel *level, MemoryLevel *written)
{
  if (highest->allocated > MAX (level->allocated, written->allocated))
    {
      add_level (csv, variant, timeline, time, highest);
      *written = *highest;
    }
  if (memcmp (level, written, sizeof *level) != 0)
    add_level (csv, variant, timeline, time, level);
  *written = *level;
}

/* The first row is the state in which the reported steps begin, at the time of the last
 * change before them. */
static void
add_memory (Csv *csv, const char *variant, const Timeline *timeline)
{
  const guint n_changes = timeline->changes->len;
  const guint first = timeline_step (timeline, timeline->n_warmup_steps)->first_change;
  MemoryLevel level = { 0 }, highest, written;
  SimTime time = timeline->origin;

  for (guint i = 0; i < first; i++)
    {
      memory_level_apply (&level, change_at (timeline, i));
      time = change_at (timeline, i)->time;
    }
  add_level (csv, variant, timeline, time, &level);
  highest = written = level;
  for (guint i = first; i < n_changes; i++)
    {
      time = change_at (timeline, i)->time;
      memory_level_apply (&level, change_at (timeline, i));
      if (level.allocated > highest.allocated)
        highest = level;
      if (i + 1 < n_changes && change_at (timeline, i + 1)->time == time)
        continue;
      add_moment (csv, variant, timeline, time, &highest, &level, &written);
      highest = level;
    }
}

char *
report_memory_csv (const Report *report)
{
  g_auto (GStrv) names = variant_names (report);
  GString *header = g_string_new ("variant,rank,time_us,allocated_bytes");
  Csv csv;

  for (guint kind = 0; kind < N_MEMORY_KINDS; kind++)
    g_string_append_printf (header, ",%s_bytes", memory_kind_name (kind));
  csv_begin (&csv, header->str);
  g_string_free (header, TRUE);
  for (guint i = 0; i < report->n_entries; i++)
    for (guint t = 0; t < n_timelines (&report->entries[i].run); t++)
      add_memory (&csv, names[i], timeline_of (&report->entries[i].run, t));
  return csv_finish (&csv);
}

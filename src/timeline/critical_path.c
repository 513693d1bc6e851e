#include <config.h>

#include "timeline/critical_path.h"

typedef struct
{
  const Timeline *timeline;
  CriticalPath *path;
  SimTime now; /* everything from here to the end is accounted for */
} Walk;

/* Accounts for the time back to @until, and not beyond the origin. */
static void
walk_back (Walk *walk, SimTime until, SimTime *account)
{
  SimTime stop = MAX (until, walk->timeline->origin);

  if (stop >= walk->now)
    return;
  *account += walk->now - stop;
  walk->now = stop;
}

/* The host's own, not work that a stream of the CPU does. */
static gboolean
is_host_wait (const TimelineRecord *record)
{
  return record->lane == LANE_HOST && record->label.op == TIMELINE_WAIT;
}

/* The work that ended the last step: what ended then on the compute lane, else on any. */
static guint32
last_record (const Timeline *timeline)
{
  SimTime end = timeline_end (timeline);
  guint32 found = RECORD_NONE;

  for (guint32 i = timeline->records->len; i-- > timeline_first_reported (timeline);)
    {
      const TimelineRecord *record = timeline_record (timeline, i);

      if (record->end != end || is_host_wait (record))
        continue;
      if (record->lane == LANE_COMPUTE)
        return i;
      if (found == RECORD_NONE)
        found = i;
    }
  return found;
}

static void
pass_record (Walk *walk, const TimelineRecord *record)
{
  if (is_host_wait (record))
    {
      if (record->waited_why != WAITED_FOR_EVENT)
        walk_back (walk, record->start, &walk->path->host);
      return;
    }
  walk_back (walk, record->peers_from, &walk->path->by_op[record->label.op]);
  walk_back (walk, record->start, &walk->path->waiting_for_ranks);
}

static void
reverse (GArray *indexes)
{
  for (guint i = 0, j = indexes->len; i + 1 < j--; i++)
    {
      guint32 kept = g_array_index (indexes, guint32, i);

      g_array_index (indexes, guint32, i) = g_array_index (indexes, guint32, j);
      g_array_index (indexes, guint32, j) = kept;
    }
}

void
critical_path_find (const Timeline *timeline, CriticalPath *path)
{
  Walk walk = { .timeline = timeline, .path = path, .now = timeline_end (timeline) };
  guint32 index = last_record (timeline);

  *path = (CriticalPath){ .records = g_array_new (FALSE, FALSE, sizeof (guint32)) };
  while (index != RECORD_NONE && walk.now > timeline->origin)
    {
      const TimelineRecord *record = timeline_record (timeline, index);

      /* Nothing waits for work that the host issues later, so the walk ends. */
      g_assert (record->waited_for == RECORD_NONE || record->waited_for < index);
      walk_back (&walk, record->end, &path->host);
      pass_record (&walk, record);
      g_array_append_val (path->records, index);
      index = record->waited_for;
    }
  walk_back (&walk, timeline->origin, &path->host);
  reverse (path->records);
}

void
critical_path_clear (CriticalPath *path)
{
  g_clear_pointer (&path->records, g_array_unref);
}

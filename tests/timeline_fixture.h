/* Timelines made by hand, for tests of what reads them: single records at whole
 * times, and a step of many blocks as the naive and the wrapped checkpoint have it. */
#pragma once

#include "timeline/timeline.h"

enum
{
  FIXTURE_COMPUTE,
  FIXTURE_UNSHARD,
  FIXTURE_POST_BACKWARD,
  FIXTURE_ALL_REDUCE
};

static inline Timeline *
fixture_timeline (void)
{
  static const char *const streams[] = { "compute", "unshard", "post_backward", "all_reduce" };
  Timeline *timeline = timeline_new ();

  for (guint i = 0; i < G_N_ELEMENTS (streams); i++)
    g_ptr_array_add (timeline->stream_names, g_strdup (streams[i]));
  return timeline;
}

static inline TimelineRecord *
fixture_record (Timeline *timeline, TimelineLane lane, guint8 stream, TimelineOp op, guint32 unit,
                SimTime start, SimTime end)
{
  TimelineRecord record = { .start = start,
                            .end = end,
                            .label = { .op = (guint8)op, .unit = unit },
                            .waited_for = RECORD_NONE,
                            .lane = (guint8)lane,
                            .stream = stream,
                            .peers_from = start };

  g_array_append_val (timeline->records, record);
  return &g_array_index (timeline->records, TimelineRecord, timeline->records->len - 1);
}

static inline TimelineRecord *
fixture_compute (Timeline *timeline, TimelineOp op, SimTime start, SimTime end)
{
  return fixture_record (timeline, LANE_COMPUTE, FIXTURE_COMPUTE, op, UNIT_FIRST_BLOCK, start, end);
}

static inline TimelineRecord *
fixture_all_gather (Timeline *timeline, SimTime start, SimTime end)
{
  return fixture_record (timeline, LANE_COMM_SHARD, FIXTURE_UNSHARD, TIMELINE_ALL_GATHER,
                         UNIT_FIRST_BLOCK, start, end);
}

static inline TimelineRecord *
fixture_reduce_scatter (Timeline *timeline, SimTime start, SimTime end)
{
  return fixture_record (timeline, LANE_COMM_SHARD, FIXTURE_POST_BACKWARD, TIMELINE_REDUCE_SCATTER,
                         UNIT_FIRST_BLOCK, start, end);
}

/* The buffer of a change: a new one, or for a free the oldest of its size and pool that is there.
 */
static inline guint32
fixture_buffer (const Timeline *timeline, gint64 bytes, guint8 pool)
{
  const GArray *changes = timeline->changes;

  for (guint i = 0; bytes < 0 && i < changes->len; i++)
    {
      const MemoryChange *alloc = &g_array_index (changes, MemoryChange, i);
      gboolean freed = FALSE;

      for (guint j = i + 1; j < changes->len; j++)
        freed = freed || g_array_index (changes, MemoryChange, j).buffer == alloc->buffer;
      if (alloc->bytes == -bytes && alloc->pool == pool && !freed)
        return alloc->buffer;
    }
  g_assert (bytes >= 0);
  return changes->len;
}

static inline void
fixture_change (Timeline *timeline, SimTime time, MemoryKind kind, gint64 bytes, SimTime reusable,
                guint8 pool, guint32 unit)
{
  MemoryChange change = { .time = time,
                          .reusable = reusable,
                          .bytes = bytes,
                          .buffer = fixture_buffer (timeline, bytes, pool),
                          .unit = unit,
                          .kind = (guint8)kind,
                          .pool = pool };

  g_array_append_val (timeline->changes, change);
}

/* Ends a step here: the next one begins with what is added from now on. */
static inline void
fixture_end_of_step (Timeline *timeline, guint32 first_record, guint32 first_change, SimTime end)
{
  TimelineStep step = { .end = end, .first_record = first_record, .first_change = first_change };

  g_array_append_val (timeline->steps, step);
}

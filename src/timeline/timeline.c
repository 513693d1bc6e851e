#include <config.h>

#include "timeline/timeline.h"

Timeline *
timeline_new (void)
{
  Timeline *timeline = g_new0 (Timeline, 1);

  timeline->records = g_array_new (FALSE, TRUE, sizeof (TimelineRecord));
  timeline->changes = g_array_new (FALSE, TRUE, sizeof (MemoryChange));
  timeline->steps = g_array_new (FALSE, TRUE, sizeof (TimelineStep));
  timeline->stream_names = g_ptr_array_new_with_free_func (g_free);
  return timeline;
}

void
timeline_free (Timeline *timeline)
{
  if (timeline == NULL)
    return;
  g_array_unref (timeline->records);
  g_array_unref (timeline->changes);
  g_array_unref (timeline->steps);
  g_ptr_array_unref (timeline->stream_names);
  g_free (timeline);
}

const TimelineStep *
timeline_step (const Timeline *timeline, guint index)
{
  g_assert (index < timeline->steps->len);
  return &g_array_index (timeline->steps, TimelineStep, index);
}

guint
timeline_n_reported_steps (const Timeline *timeline)
{
  g_assert (timeline->steps->len > timeline->n_warmup_steps);
  return timeline->steps->len - timeline->n_warmup_steps;
}

guint32
timeline_first_reported (const Timeline *timeline)
{
  return timeline_step (timeline, timeline->n_warmup_steps)->first_record;
}

SimTime
timeline_end (const Timeline *timeline)
{
  g_assert (timeline->steps->len > 0);
  return timeline_step (timeline, timeline->steps->len - 1)->end;
}

SimTime
timeline_reported_time (const Timeline *timeline)
{
  return timeline_end (timeline) - timeline->origin;
}

#include <config.h>

#include "fsdp/fsdp1.h"

#define MAX_INFLIGHT 2 /* _FreeEventQueue._max_num_inflight_all_gathers */

static EventId
take_event (Fsdp1 *fsdp)
{
  if (fsdp->spare_events->len == 0)
    return program_add_event (fsdp->runtime.writer->program);
  EventId event = g_array_index (fsdp->spare_events, EventId, fsdp->spare_events->len - 1);
  g_array_set_size (fsdp->spare_events, fsdp->spare_events->len - 1);
  return event;
}

void
fsdp1_limiter_push (Fsdp1 *fsdp)
{
  Writer *writer = fsdp->runtime.writer;

  if (!writer->scenario->fsdp.limit_all_gathers)
    return;
  EventId event = take_event (fsdp);
  program_record (writer->program, event, writer->compute);
  g_array_append_val (fsdp->free_events, event);
}

void
fsdp1_limiter_pop (Fsdp1 *fsdp, guint32 label)
{
  Writer *writer = fsdp->runtime.writer;

  if (!writer->scenario->fsdp.limit_all_gathers
      || fsdp->free_events->len - fsdp->first_free < MAX_INFLIGHT)
    return;
  EventId event = g_array_index (fsdp->free_events, EventId, fsdp->first_free++);
  program_host_wait (writer->program, event, cost_limiter_wakeup_ps (writer->scenario),
                     writer_label (writer, TIMELINE_WAIT, label));
  g_array_append_val (fsdp->spare_events, event);
}

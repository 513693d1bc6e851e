/* What happens next: a binary heap of moments in order of time, and of targets
 * where times are equal, so that a run never depends on the heap's shape. */
#pragma once

#include "timeline/sim_time.h"

typedef struct
{
  SimTime when;
  guint32 target; /* what it concerns; the owner's business */
} Firing;

G_STATIC_ASSERT (sizeof (Firing) == 16); /* four to a cache line */

typedef struct
{
  Firing *heap; /* heap[0] fires first */
  guint len;    /* with the hole */
  guint capacity;
  gboolean has_hole; /* heap[0] was popped: the next one pushed takes its place, which spares half
                        of the work where whatever fires is to fire again */
  SimTime now;
} EventQueue;

void event_queue_init (EventQueue *queue, guint capacity_hint);
void event_queue_clear (EventQueue *queue);

/* @when must not lie before the last firing that was popped. */
void event_queue_push (EventQueue *queue, SimTime when, guint32 target);

void event_queue_fill_hole (EventQueue *queue);

/* When the next one fires; SIM_TIME_MAX where nothing is left. */
static inline SimTime
event_queue_next (EventQueue *queue)
{
  if (queue->has_hole)
    event_queue_fill_hole (queue);
  return queue->len == 0 ? SIM_TIME_MAX : queue->heap[0].when;
}

/* FALSE where nothing is left. */
gboolean event_queue_pop (EventQueue *queue, Firing *firing);

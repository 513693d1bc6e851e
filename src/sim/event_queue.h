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
  guint len;
  guint capacity;
  SimTime now;
} EventQueue;

void event_queue_init (EventQueue *queue, guint capacity_hint);
void event_queue_clear (EventQueue *queue);

/* @when must not lie before the last firing that was popped. */
void event_queue_push (EventQueue *queue, SimTime when, guint32 target);

/* When the next one fires; SIM_TIME_MAX where nothing is left. */
static inline SimTime
event_queue_next (const EventQueue *queue)
{
  return queue->len == 0 ? SIM_TIME_MAX : queue->heap[0].when;
}

/* FALSE where nothing is left. */
gboolean event_queue_pop (EventQueue *queue, Firing *firing);

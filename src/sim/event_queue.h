/* What happens next: a binary heap of moments in order of time, and of pushing
 * where times are equal, so that a run never depends on the heap's shape. */
#pragma once

#include "timeline/sim_time.h"

typedef struct
{
  SimTime when;
  guint32 sequence; /* order of pushing, which breaks ties */
  guint32 target;   /* what it concerns; the owner's business */
} Firing;

G_STATIC_ASSERT (sizeof (Firing) == 16); /* four to a cache line */

typedef struct
{
  Firing *heap; /* heap[0] fires first */
  guint len;
  guint capacity;
  guint32 next_sequence;
  SimTime now;
} EventQueue;

void event_queue_init (EventQueue *queue, guint capacity_hint);
void event_queue_clear (EventQueue *queue);

/* @when must not lie before the last firing that was popped. */
void event_queue_push (EventQueue *queue, SimTime when, guint32 target);

/* FALSE where nothing is left. */
gboolean event_queue_pop (EventQueue *queue, Firing *firing);

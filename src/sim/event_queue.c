#include <config.h>

#include "sim/event_queue.h"

void
event_queue_init (EventQueue *queue, guint capacity_hint)
{
  *queue = (EventQueue){ .capacity = MAX (capacity_hint, 16), .now = G_MININT64 };
  queue->heap = g_new (Firing, queue->capacity);
}

void
event_queue_clear (EventQueue *queue)
{
  g_clear_pointer (&queue->heap, g_free);
}

static inline gboolean
fires_before (const Firing *a, const Firing *b)
{
  if (a->when != b->when)
    return a->when < b->when;
  return a->target < b->target;
}

void
event_queue_push (EventQueue *queue, SimTime when, guint32 target)
{
  g_assert (when >= queue->now);
  if (queue->len == queue->capacity)
    {
      queue->capacity *= 2;
      queue->heap = g_renew (Firing, queue->heap, queue->capacity);
    }

  Firing firing = { .when = when, .target = target };
  guint hole = queue->len++;
  while (hole > 0 && fires_before (&firing, &queue->heap[(hole - 1) / 2]))
    {
      queue->heap[hole] = queue->heap[(hole - 1) / 2];
      hole = (hole - 1) / 2;
    }
  queue->heap[hole] = firing;
}

gboolean
event_queue_pop (EventQueue *queue, Firing *firing)
{
  guint hole = 0;
  guint child = 1;

  if (queue->len == 0)
    return FALSE;
  *firing = queue->heap[0];
  queue->now = firing->when;

  /* The last one looks for its place from the top; smaller ones move up. */
  const Firing last = queue->heap[--queue->len];
  while (child < queue->len)
    {
      if (child + 1 < queue->len && fires_before (&queue->heap[child + 1], &queue->heap[child]))
        child++;
      if (!fires_before (&queue->heap[child], &last))
        break;
      queue->heap[hole] = queue->heap[child];
      hole = child;
      child = 2 * hole + 1;
    }
  queue->heap[hole] = last;
  return TRUE;
}

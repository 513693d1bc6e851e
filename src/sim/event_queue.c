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

/* Without a branch: which of two comes first nobody can predict. */
static inline gboolean
fires_before (const Firing *a, const Firing *b)
{
  return (a->when < b->when) | ((a->when == b->when) & (a->target < b->target));
}

/* @firing looks for its place from the top; smaller ones move up. */
static void
sift_down (EventQueue *queue, Firing firing)
{
  Firing *heap = queue->heap;
  guint hole = 0;

  for (guint child = 1; child < queue->len; child = 2 * hole + 1)
    {
      /* All four of the next level, before it is known which two they will be. */
      __builtin_prefetch (&heap[2 * (gsize)child + 1]);
      __builtin_prefetch (&heap[2 * (gsize)child + 4]);
      if (child + 1 < queue->len)
        child += (guint)fires_before (&heap[child + 1], &heap[child]);
      if (!fires_before (&heap[child], &firing))
        break;
      heap[hole] = heap[child];
      hole = child;
    }
  heap[hole] = firing;
}

static void
sift_up (EventQueue *queue, Firing firing)
{
  Firing *heap = queue->heap;
  guint hole = queue->len++;

  while (hole > 0 && fires_before (&firing, &heap[(hole - 1) / 2]))
    {
      heap[hole] = heap[(hole - 1) / 2];
      hole = (hole - 1) / 2;
    }
  heap[hole] = firing;
}

void
event_queue_push (EventQueue *queue, SimTime when, guint32 target)
{
  const Firing firing = { .when = when, .target = target };

  g_assert (when >= queue->now);
  if (queue->has_hole)
    {
      queue->has_hole = FALSE;
      sift_down (queue, firing);
      return;
    }
  if (queue->len == queue->capacity)
    {
      queue->capacity *= 2;
      queue->heap = g_renew (Firing, queue->heap, queue->capacity);
    }
  sift_up (queue, firing);
}

void
event_queue_fill_hole (EventQueue *queue)
{
  queue->has_hole = FALSE;
  if (--queue->len > 0)
    sift_down (queue, queue->heap[queue->len]);
}

gboolean
event_queue_pop (EventQueue *queue, Firing *firing)
{
  if (queue->has_hole)
    event_queue_fill_hole (queue);
  if (queue->len == 0)
    return FALSE;
  *firing = queue->heap[0];
  queue->now = firing->when;
  queue->has_hole = TRUE;
  return TRUE;
}

#include <config.h>

#include "timeline/allocator.h"
#include "timeline/block_heap.h"

#define MIN_BLOCK     512
#define SMALL_REQUEST (G_GINT64_CONSTANT (1) << 20) /* at most; from the small pool */
#define SMALL_SEGMENT (G_GINT64_CONSTANT (2) << 20)
#define LARGE_SEGMENT (G_GINT64_CONSTANT (20) << 20) /* for requests below… */
#define WHOLE_SEGMENT (G_GINT64_CONSTANT (10) << 20) /* …this; others have one to themselves */
#define WHOLE_ROUND   (G_GINT64_CONSTANT (2) << 20)

struct _Allocator
{
  AllocatorRules rules;
  BlockHeap heap; /* with two pools a stream, large and small */
  gint64 reserved_of_pool[BLOCK_HEAP_POOLS];
  guint32 *waiting; /* blocks, by the time from which they are reusable */
  guint32 first_waiting, n_waiting, waiting_room;
  guint32 *of_buffer; /* blocks, by buffer */
  guint32 n_buffers;
  gint64 reserved;
  guint32 n_segments;
  guint n_retries, n_failures;
};

G_STATIC_ASSERT (BLOCK_HEAP_POOLS == 2 * ALLOCATOR_STREAMS);

Allocator *
allocator_new (const AllocatorRules *rules)
{
  Allocator *allocator = g_new0 (Allocator, 1);

  allocator->rules = *rules;
  block_heap_init (&allocator->heap);
  return allocator;
}

Allocator *
allocator_copy (const Allocator *allocator, const AllocatorRules *rules)
{
  Allocator *copy = g_memdup2 (allocator, sizeof *allocator);

  copy->rules = *rules;
  block_heap_own (&copy->heap);
  copy->waiting = g_memdup2 (copy->waiting, copy->waiting_room * sizeof *copy->waiting);
  copy->of_buffer = g_memdup2 (copy->of_buffer, copy->n_buffers * sizeof *copy->of_buffer);
  return copy;
}

void
allocator_free (Allocator *allocator)
{
  if (allocator == NULL)
    return;
  block_heap_clear (&allocator->heap);
  g_free (allocator->waiting);
  g_free (allocator->of_buffer);
  g_free (allocator);
}

static gint64
round_up (gint64 bytes, gint64 unit)
{
  return (bytes + unit - 1) / unit * unit;
}

static gint64
segment_bytes (const Allocator *allocator, gint64 bytes)
{
  if (bytes <= SMALL_REQUEST)
    return round_up (bytes, SMALL_SEGMENT);
  if (allocator->rules.expandable_segments)
    return round_up (bytes, LARGE_SEGMENT);
  return bytes < WHOLE_SEGMENT ? LARGE_SEGMENT : round_up (bytes, WHOLE_ROUND);
}

static void
release_waiting (Allocator *allocator, SimTime now)
{
  while (allocator->first_waiting < allocator->n_waiting)
    {
      const guint32 index = allocator->waiting[allocator->first_waiting];

      if (block_at (&allocator->heap, index)->reusable > now)
        return;
      allocator->first_waiting++;
      block_heap_set_idle (&allocator->heap, index, BLOCK_FREE);
    }
  allocator->first_waiting = allocator->n_waiting = 0;
}

/* Streams go forward, so the place is at or near the end. */
static void
let_wait (Allocator *allocator, guint32 index, SimTime reusable)
{
  guint32 at = allocator->n_waiting;

  if (allocator->n_waiting == allocator->waiting_room)
    {
      allocator->waiting_room = MAX (256, 2 * allocator->waiting_room);
      allocator->waiting = g_renew (guint32, allocator->waiting, allocator->waiting_room);
    }
  block_at (&allocator->heap, index)->state = BLOCK_WAITING;
  block_at (&allocator->heap, index)->reusable = reusable;
  for (; at > allocator->first_waiting
         && block_at (&allocator->heap, allocator->waiting[at - 1])->reusable > reusable;
       at--)
    allocator->waiting[at] = allocator->waiting[at - 1];
  allocator->waiting[at] = index;
  allocator->n_waiting++;
}

/* A free block as far as CUDA can have it back: a whole segment, or of an
 * expandable one the whole pages. */
static gint64
returnable_bytes (const Allocator *allocator, const Block *block)
{
  if (!allocator->rules.expandable_segments)
    return block->previous == NO_BLOCK && block->next == NO_BLOCK ? block->bytes : 0;
  const gint64 page = block->pool % 2 == 1 ? SMALL_SEGMENT : LARGE_SEGMENT;
  return block->bytes / page * page;
}

/* Asks CUDA for memory, or (negative) gives it back. */
static void
reserve (Allocator *allocator, guint8 pool, gint64 bytes)
{
  allocator->reserved_of_pool[pool] += bytes;
  allocator->reserved += bytes;
}

/* Leaves @bytes in a block; the rest is free. */
static void
split (BlockHeap *heap, guint32 index, gint64 bytes)
{
  block_heap_set_idle (heap, block_heap_cut (heap, index, bytes), BLOCK_FREE);
}

static void
unmap (Allocator *allocator, guint32 index, gint64 bytes)
{
  block_at (&allocator->heap, index)->state = BLOCK_IN_USE;
  if (bytes < block_at (&allocator->heap, index)->bytes)
    split (&allocator->heap, index, bytes);
  block_heap_set_idle (&allocator->heap, index, BLOCK_UNMAPPED);
}

static void
give_back (Allocator *allocator, guint32 index)
{
  const Block *block = block_at (&allocator->heap, index);
  const gint64 bytes = returnable_bytes (allocator, block);

  if (block->state != BLOCK_FREE || bytes == 0)
    return;
  reserve (allocator, block->pool, -bytes);
  block_heap_take (&allocator->heap, index);
  if (allocator->rules.expandable_segments)
    unmap (allocator, index, bytes);
  else
    block_heap_drop (&allocator->heap, index);
}

/* emptyCache behind a device synchronisation: nothing waits any more. */
static void
give_back_cached (Allocator *allocator)
{
  const guint32 n_blocks = allocator->heap.n_blocks;

  release_waiting (allocator, G_MAXINT64);
  for (guint32 index = 0; index < n_blocks; index++)
    give_back (allocator, index);
}

/* Whether an expandable segment grows at its end for @bytes, and there out of a free block. */
static gboolean
grows_free_tail (const Allocator *allocator, guint8 pool, gint64 bytes)
{
  const BlockHeap *heap = &allocator->heap;
  const guint32 tail = heap->pools[pool].tail;

  return tail != NO_BLOCK && block_at (heap, tail)->state == BLOCK_FREE
         && !block_heap_holds (heap, pool, segment_bytes (allocator, bytes), BLOCK_UNMAPPED);
}

/* What CUDA is asked for when no free block holds @bytes. */
static gint64
growth_bytes (const Allocator *allocator, guint8 pool, gint64 bytes)
{
  if (grows_free_tail (allocator, pool, bytes))
    bytes -= block_at (&allocator->heap, allocator->heap.pools[pool].tail)->bytes;
  return segment_bytes (allocator, bytes);
}

static gboolean
is_out_of_memory (const Allocator *allocator, guint8 pool, gint64 bytes)
{
  return allocator->rules.capacity_bytes > 0
         && allocator->reserved + growth_bytes (allocator, pool, bytes)
                > allocator->rules.capacity_bytes;
}

static guint32
new_segment (Allocator *allocator, guint8 number, gint64 bytes)
{
  const Block block = { .bytes = bytes,
                        .segment = allocator->n_segments++,
                        .previous = NO_BLOCK,
                        .next = NO_BLOCK,
                        .state = BLOCK_IN_USE,
                        .pool = number };

  reserve (allocator, number, bytes);
  return block_heap_add (&allocator->heap, &block);
}

/* The end of the pool's one segment, free or not, grown to @bytes. */
static guint32
grow_tail (Allocator *allocator, guint8 number, gint64 bytes)
{
  BlockPool *pool = &allocator->heap.pools[number];
  const guint32 tail = pool->tail;

  if (tail == NO_BLOCK)
    return pool->tail = new_segment (allocator, number, segment_bytes (allocator, bytes));
  if (block_at (&allocator->heap, tail)->state == BLOCK_FREE)
    {
      const gint64 more
          = segment_bytes (allocator, bytes - block_at (&allocator->heap, tail)->bytes);

      block_heap_take (&allocator->heap, tail);
      reserve (allocator, number, more);
      block_at (&allocator->heap, tail)->bytes += more;
      return tail;
    }
  const guint32 index = new_segment (allocator, number, segment_bytes (allocator, bytes));
  block_at (&allocator->heap, index)->previous = tail;
  block_at (&allocator->heap, tail)->next = index;
  return pool->tail = index;
}

/* From CUDA: into a hole that an expandable segment has, else at its end. */
static guint32
map_more (Allocator *allocator, guint8 number, gint64 bytes)
{
  const gint64 whole = segment_bytes (allocator, bytes);

  if (!allocator->rules.expandable_segments)
    return new_segment (allocator, number, whole);
  const guint32 hole = block_heap_find (&allocator->heap, number, whole, 1, BLOCK_UNMAPPED);
  if (hole == NO_BLOCK)
    return grow_tail (allocator, number, bytes);
  reserve (allocator, number, whole);
  return hole;
}

static guint32
obtain (Allocator *allocator, guint8 number, gint64 bytes, gint64 least_rest)
{
  guint32 index = block_heap_find (&allocator->heap, number, bytes, least_rest, BLOCK_FREE);

  if (index != NO_BLOCK)
    return index;
  if (is_out_of_memory (allocator, number, bytes))
    {
      give_back_cached (allocator);
      allocator->n_retries++;
      /* What waited is free now. */
      index = block_heap_find (&allocator->heap, number, bytes, least_rest, BLOCK_FREE);
      if (index != NO_BLOCK)
        return index;
      allocator->n_failures += is_out_of_memory (allocator, number, bytes);
    }
  index = map_more (allocator, number, bytes);
  block_at (&allocator->heap, index)->state = BLOCK_IN_USE;
  if (block_at (&allocator->heap, index)->bytes - bytes >= least_rest)
    split (&allocator->heap, index, bytes);
  return index;
}

/* ---- the allocator ---- */

static guint32 *
block_of_buffer (Allocator *allocator, guint32 buffer)
{
  if (buffer >= allocator->n_buffers)
    {
      const guint32 n = MAX (MAX (2 * allocator->n_buffers, 1024), buffer + 1);

      allocator->of_buffer = g_renew (guint32, allocator->of_buffer, n);
      for (guint32 i = allocator->n_buffers; i < n; i++)
        allocator->of_buffer[i] = NO_BLOCK;
      allocator->n_buffers = n;
    }
  return &allocator->of_buffer[buffer];
}

gboolean
allocator_may_pass (const Allocator *allocator, gint64 bytes, gint64 capacity_bytes)
{
  return allocator->reserved + segment_bytes (allocator, round_up (bytes, MIN_BLOCK))
         > capacity_bytes;
}

void
allocator_take (Allocator *allocator, guint stream, guint32 buffer, gint64 bytes, SimTime now)
{
  g_assert (stream < ALLOCATOR_STREAMS);
  if (bytes == 0)
    return;
  bytes = round_up (bytes, MIN_BLOCK);
  const gboolean is_small = bytes <= SMALL_REQUEST;
  const gint64 least_rest
      = is_small || allocator->rules.expandable_segments ? MIN_BLOCK : SMALL_REQUEST + 1;

  release_waiting (allocator, now);
  *block_of_buffer (allocator, buffer)
      = obtain (allocator, (guint8)(2 * stream + is_small), bytes, least_rest);
}

void
allocator_give (Allocator *allocator, guint32 buffer, SimTime now, SimTime reusable)
{
  guint32 *of = block_of_buffer (allocator, buffer);
  const guint32 index = *of;

  if (index == NO_BLOCK)
    return;
  *of = NO_BLOCK;
  if (reusable <= now)
    {
      block_heap_set_idle (&allocator->heap, index, BLOCK_FREE);
      return;
    }
  let_wait (allocator, index, reusable);
}

gint64
allocator_reserved (const Allocator *allocator)
{
  return allocator->reserved;
}

gint64
allocator_reserved_of (const Allocator *allocator, guint stream)
{
  g_assert (stream < ALLOCATOR_STREAMS);
  return allocator->reserved_of_pool[2 * stream] + allocator->reserved_of_pool[2 * stream + 1];
}

guint
allocator_n_retries (const Allocator *allocator)
{
  return allocator->n_retries;
}

guint
allocator_n_failures (const Allocator *allocator)
{
  return allocator->n_failures;
}

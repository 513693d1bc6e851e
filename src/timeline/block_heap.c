#include <config.h>

#include <string.h>

#include "timeline/block_heap.h"

void
block_heap_init (BlockHeap *heap)
{
  *heap = (BlockHeap){ .n_blocks = 0 };
  for (guint i = 0; i < G_N_ELEMENTS (heap->pools); i++)
    heap->pools[i].tail = NO_BLOCK;
}

void
block_heap_own (BlockHeap *copy)
{
  for (guint i = 0; i < G_N_ELEMENTS (copy->pools); i++)
    for (guint k = 0; k < G_N_ELEMENTS (copy->pools[i].idle); k++)
      {
        IdleList *list = &copy->pools[i].idle[k];

        list->keys = g_memdup2 (list->keys, list->room * sizeof *list->keys);
      }
  copy->blocks = g_memdup2 (copy->blocks, copy->block_room * sizeof *copy->blocks);
  copy->spare = g_memdup2 (copy->spare, copy->block_room * sizeof *copy->spare);
}

void
block_heap_clear (BlockHeap *heap)
{
  for (guint i = 0; i < G_N_ELEMENTS (heap->pools); i++)
    for (guint k = 0; k < G_N_ELEMENTS (heap->pools[i].idle); k++)
      g_free (heap->pools[i].idle[k].keys);
  g_free (heap->blocks);
  g_free (heap->spare);
}

static gboolean
comes_before (const IdleKey *a, const IdleKey *b)
{
  if (a->bytes != b->bytes)
    return a->bytes < b->bytes;
  return a->segment != b->segment ? a->segment < b->segment : a->block < b->block;
}

/* Where @key stands in the list or belongs. */
static guint
place_of (const IdleList *list, const IdleKey *key)
{
  guint from = 0, to = list->n;

  while (from < to)
    {
      const guint middle = (from + to) / 2;

      if (comes_before (&list->keys[middle], key))
        from = middle + 1;
      else
        to = middle;
    }
  return from;
}

static IdleKey
key_of (const BlockHeap *heap, guint32 index)
{
  const Block *block = block_at (heap, index);

  return (IdleKey){ block->bytes, block->segment, index };
}

static IdleList *
idle_list (BlockHeap *heap, guint32 index, BlockState state)
{
  return &heap->pools[block_at (heap, index)->pool].idle[state == BLOCK_UNMAPPED];
}

static void
take_at (IdleList *list, guint at)
{
  list->n--;
  memmove (list->keys + at, list->keys + at + 1, (list->n - at) * sizeof *list->keys);
}

static void
put_at (BlockHeap *heap, IdleList *list, guint at, const IdleKey *key)
{
  list->keys[at] = *key;
  block_at (heap, key->block)->place = at;
}

/* The entry at @at has another key now, which mostly is a near one. */
static void
change_key (BlockHeap *heap, IdleList *list, guint at, const IdleKey *key)
{
  for (; at > 0 && comes_before (key, &list->keys[at - 1]); at--)
    list->keys[at] = list->keys[at - 1];
  for (; at + 1 < list->n && comes_before (&list->keys[at + 1], key); at++)
    list->keys[at] = list->keys[at + 1];
  put_at (heap, list, at, key);
}

static gboolean
stands_at (const IdleList *list, guint at, guint32 index)
{
  return at < list->n && list->keys[at].block == index;
}

/* Where an idle block stands on its list: mostly where it was put, or next to it. */
static guint
place_on_list (const BlockHeap *heap, const IdleList *list, guint32 index)
{
  const guint place = block_at (heap, index)->place;

  if (stands_at (list, place, index))
    return place;
  if (stands_at (list, place - 1, index))
    return place - 1;
  if (stands_at (list, place + 1, index))
    return place + 1;
  const IdleKey key = key_of (heap, index);
  const guint at = place_of (list, &key);

  g_assert (stands_at (list, at, index));
  return at;
}

void
block_heap_take (BlockHeap *heap, guint32 index)
{
  IdleList *list = idle_list (heap, index, block_at (heap, index)->state);

  take_at (list, place_on_list (heap, list, index));
}

static void
put_on_list (BlockHeap *heap, guint32 index, BlockState state)
{
  IdleList *list = idle_list (heap, index, state);
  const IdleKey key = key_of (heap, index);
  const guint at = place_of (list, &key);

  if (list->n == list->room)
    list->keys = g_renew (IdleKey, list->keys, list->room = MAX (32, 2 * list->room));
  block_at (heap, index)->state = (guint8)state;
  memmove (list->keys + at + 1, list->keys + at, (list->n - at) * sizeof *list->keys);
  list->n++;
  put_at (heap, list, at, &key);
}

/* A record, which is to be written. */
static guint32
new_record (BlockHeap *heap)
{
  if (heap->n_spare > 0)
    return heap->spare[--heap->n_spare];
  if (heap->n_blocks == heap->block_room)
    {
      heap->block_room = MAX (256, 2 * heap->block_room);
      heap->blocks = g_renew (Block, heap->blocks, heap->block_room);
      heap->spare = g_renew (guint32, heap->spare, heap->block_room);
    }
  return heap->n_blocks++;
}

guint32
block_heap_add (BlockHeap *heap, const Block *block)
{
  const guint32 index = new_record (heap);

  *block_at (heap, index) = *block;
  return index;
}

void
block_heap_drop (BlockHeap *heap, guint32 index)
{
  block_at (heap, index)->state = BLOCK_SPARE;
  heap->spare[heap->n_spare++] = index;
}

/* Joins @index with the block behind it, which is on no list. */
static void
swallow_next (BlockHeap *heap, guint32 index)
{
  Block *block = block_at (heap, index);
  const guint32 eaten = block->next;
  Block *next = block_at (heap, eaten);
  BlockPool *pool = &heap->pools[block->pool];

  block->bytes += next->bytes;
  block->next = next->next;
  if (next->next != NO_BLOCK)
    block_at (heap, next->next)->previous = index;
  if (pool->tail == eaten)
    pool->tail = index;
  block_heap_drop (heap, eaten);
}

static gboolean
is_in_state (const BlockHeap *heap, guint32 index, BlockState state)
{
  return index != NO_BLOCK && block_at (heap, index)->state == state;
}

void
block_heap_set_idle (BlockHeap *heap, guint32 index, BlockState state)
{
  IdleList *list = idle_list (heap, index, state);
  const guint32 previous = block_at (heap, index)->previous;
  const guint32 next = block_at (heap, index)->next;
  const gboolean joins_previous = is_in_state (heap, previous, state);
  const gboolean joins_next = is_in_state (heap, next, state);
  guint at = 0;

  if (!joins_previous && !joins_next)
    {
      put_on_list (heap, index, state);
      return;
    }
  if (joins_next)
    {
      at = place_on_list (heap, list, next);
      swallow_next (heap, index);
    }
  if (joins_previous)
    {
      if (joins_next)
        take_at (list, at);
      at = place_on_list (heap, list, previous);
      swallow_next (heap, previous);
      index = previous;
    }
  const IdleKey key = key_of (heap, index);
  block_at (heap, index)->state = (guint8)state;
  change_key (heap, list, at, &key);
}

guint32
block_heap_cut (BlockHeap *heap, guint32 index, gint64 bytes)
{
  const guint32 other = new_record (heap);
  Block *block = block_at (heap, index);
  BlockPool *pool = &heap->pools[block->pool];

  *block_at (heap, other) = (Block){ .bytes = block->bytes - bytes,
                                     .segment = block->segment,
                                     .previous = index,
                                     .next = block->next,
                                     .state = BLOCK_IN_USE,
                                     .pool = block->pool };
  if (block->next != NO_BLOCK)
    block_at (heap, block->next)->previous = other;
  if (pool->tail == index)
    pool->tail = other;
  block->bytes = bytes;
  block->next = other;
  return other;
}

/* Of the smallest that holds @bytes: mostly near where something was found last. */
static guint
place_of_smallest (IdleList *list, gint64 bytes)
{
  guint at = MIN (list->found, list->n);

  while (at > 0 && list->keys[at - 1].bytes >= bytes)
    at--;
  while (at < list->n && list->keys[at].bytes < bytes)
    at++;
  return list->found = at;
}

guint32
block_heap_find (BlockHeap *heap, guint8 number, gint64 bytes, gint64 least_rest, BlockState state)
{
  const BlockPool *pool = &heap->pools[number];
  IdleList *list = &heap->pools[number].idle[state == BLOCK_UNMAPPED];
  guint at = place_of_smallest (list, bytes);

  if (at == list->n)
    return NO_BLOCK;
  if (list->keys[at].block == pool->tail && at + 1 < list->n)
    at++;
  const guint32 found = list->keys[at].block;
  if (list->keys[at].bytes - bytes < least_rest)
    take_at (list, at);
  else
    {
      const guint32 rest = block_heap_cut (heap, found, bytes);
      const IdleKey key = key_of (heap, rest);

      block_at (heap, rest)->state = (guint8)state; /* no neighbour is, or it would be one */
      change_key (heap, list, at, &key);
    }
  block_at (heap, found)->state = BLOCK_IN_USE;
  return found;
}

gboolean
block_heap_holds (const BlockHeap *heap, guint8 number, gint64 bytes, BlockState state)
{
  const IdleList *list = &heap->pools[number].idle[state == BLOCK_UNMAPPED];

  return list->n > 0 && list->keys[list->n - 1].bytes >= bytes;
}

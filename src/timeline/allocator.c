#include <config.h>

#include <string.h>

#include "timeline/allocator.h"

#define NONE          G_MAXUINT32
#define MIN_BLOCK     512
#define SMALL_REQUEST (G_GINT64_CONSTANT (1) << 20) /* at most; from the small pool */
#define SMALL_SEGMENT (G_GINT64_CONSTANT (2) << 20)
#define LARGE_SEGMENT (G_GINT64_CONSTANT (20) << 20) /* for requests below… */
#define WHOLE_SEGMENT (G_GINT64_CONSTANT (10) << 20) /* …this; others have one to themselves */
#define WHOLE_ROUND   (G_GINT64_CONSTANT (2) << 20)

typedef enum
{
  BLOCK_SPARE, /* a record without a block */
  BLOCK_IN_USE,
  BLOCK_WAITING, /* freed, but a stream that used it is not past it */
  BLOCK_FREE,
  BLOCK_UNMAPPED /* an address range of an expandable segment that CUDA has back */
} BlockState;

/* A piece of a segment; its neighbours there are @previous and @next. */
typedef struct
{
  gint64 bytes;
  SimTime reusable;
  guint32 segment; /* the segment's number */
  guint32 previous, next;
  guint32 place; /* where it stood on its list when it was put there */
  guint8 state, pool;
} Block;

/* What idle blocks are ordered by: size; among equals the older segment, and then any fixed order.
 */
typedef struct
{
  gint64 bytes;
  guint32 segment;
  guint32 block;
} IdleKey;

typedef struct
{
  IdleKey *keys; /* the smallest first */
  guint n, room;
  guint found; /* where something was found last */
} IdleList;

typedef struct
{
  IdleList idle[2]; /* its free and its unmapped blocks */
  gint64 reserved;
  guint32 tail; /* the last block of an expandable segment */
} Pool;

struct _Allocator
{
  AllocatorRules rules;
  Pool pools[2 * ALLOCATOR_STREAMS]; /* large and small of each stream */
  Block *blocks;
  guint32 *spare; /* records without a block */
  guint32 n_blocks, n_spare, block_room;
  guint32 *waiting; /* blocks, by the time from which they are reusable */
  guint32 first_waiting, n_waiting, waiting_room;
  guint32 *of_buffer; /* blocks, by buffer */
  guint32 n_buffers;
  gint64 reserved;
  guint32 n_segments;
  guint n_retries, n_failures;
};

Allocator *
allocator_new (const AllocatorRules *rules)
{
  Allocator *allocator = g_new0 (Allocator, 1);

  allocator->rules = *rules;
  for (guint i = 0; i < G_N_ELEMENTS (allocator->pools); i++)
    allocator->pools[i].tail = NONE;
  return allocator;
}

Allocator *
allocator_copy (const Allocator *allocator, const AllocatorRules *rules)
{
  Allocator *copy = g_memdup2 (allocator, sizeof *allocator);

  copy->rules = *rules;
  for (guint i = 0; i < G_N_ELEMENTS (copy->pools); i++)
    for (guint k = 0; k < G_N_ELEMENTS (copy->pools[i].idle); k++)
      {
        IdleList *list = &copy->pools[i].idle[k];

        list->keys = g_memdup2 (list->keys, list->room * sizeof *list->keys);
      }
  copy->blocks = g_memdup2 (copy->blocks, copy->block_room * sizeof *copy->blocks);
  copy->spare = g_memdup2 (copy->spare, copy->block_room * sizeof *copy->spare);
  copy->waiting = g_memdup2 (copy->waiting, copy->waiting_room * sizeof *copy->waiting);
  copy->of_buffer = g_memdup2 (copy->of_buffer, copy->n_buffers * sizeof *copy->of_buffer);
  return copy;
}

void
allocator_free (Allocator *allocator)
{
  if (allocator == NULL)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (allocator->pools); i++)
    for (guint k = 0; k < G_N_ELEMENTS (allocator->pools[i].idle); k++)
      g_free (allocator->pools[i].idle[k].keys);
  g_free (allocator->blocks);
  g_free (allocator->spare);
  g_free (allocator->waiting);
  g_free (allocator->of_buffer);
  g_free (allocator);
}

/* ---- lists of blocks ---- */

static Block *
block_at (const Allocator *allocator, guint32 index)
{
  return &allocator->blocks[index];
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
key_of (const Allocator *allocator, guint32 index)
{
  const Block *block = block_at (allocator, index);

  return (IdleKey){ block->bytes, block->segment, index };
}

static IdleList *
idle_list (Allocator *allocator, guint32 index, BlockState state)
{
  return &allocator->pools[block_at (allocator, index)->pool].idle[state == BLOCK_UNMAPPED];
}

static void
take_at (IdleList *list, guint at)
{
  list->n--;
  memmove (list->keys + at, list->keys + at + 1, (list->n - at) * sizeof *list->keys);
}

static void
put_at (Allocator *allocator, IdleList *list, guint at, const IdleKey *key)
{
  list->keys[at] = *key;
  block_at (allocator, key->block)->place = at;
}

/* The entry at @at has another key now, which mostly is a near one. */
static void
change_key (Allocator *allocator, IdleList *list, guint at, const IdleKey *key)
{
  for (; at > 0 && comes_before (key, &list->keys[at - 1]); at--)
    list->keys[at] = list->keys[at - 1];
  for (; at + 1 < list->n && comes_before (&list->keys[at + 1], key); at++)
    list->keys[at] = list->keys[at + 1];
  put_at (allocator, list, at, key);
}

static gboolean
stands_at (const IdleList *list, guint at, guint32 index)
{
  return at < list->n && list->keys[at].block == index;
}

/* Where an idle block stands on its list: mostly where it was put, or next to it. */
static guint
place_on_list (const Allocator *allocator, const IdleList *list, guint32 index)
{
  const guint place = block_at (allocator, index)->place;

  if (stands_at (list, place, index))
    return place;
  if (stands_at (list, place - 1, index))
    return place - 1;
  if (stands_at (list, place + 1, index))
    return place + 1;
  const IdleKey key = key_of (allocator, index);
  const guint at = place_of (list, &key);

  g_assert (stands_at (list, at, index));
  return at;
}

static void
take_from_list (Allocator *allocator, guint32 index)
{
  IdleList *list = idle_list (allocator, index, block_at (allocator, index)->state);

  take_at (list, place_on_list (allocator, list, index));
}

static void
put_on_list (Allocator *allocator, guint32 index, BlockState state)
{
  IdleList *list = idle_list (allocator, index, state);
  const IdleKey key = key_of (allocator, index);
  const guint at = place_of (list, &key);

  if (list->n == list->room)
    list->keys = g_renew (IdleKey, list->keys, list->room = MAX (32, 2 * list->room));
  block_at (allocator, index)->state = (guint8)state;
  memmove (list->keys + at + 1, list->keys + at, (list->n - at) * sizeof *list->keys);
  list->n++;
  put_at (allocator, list, at, &key);
}

/* Room for a block, which is to be written. */
static guint32
new_block (Allocator *allocator)
{
  if (allocator->n_spare > 0)
    return allocator->spare[--allocator->n_spare];
  if (allocator->n_blocks == allocator->block_room)
    {
      allocator->block_room = MAX (256, 2 * allocator->block_room);
      allocator->blocks = g_renew (Block, allocator->blocks, allocator->block_room);
      allocator->spare = g_renew (guint32, allocator->spare, allocator->block_room);
    }
  return allocator->n_blocks++;
}

/* Joins @index with the block behind it, which is on no list. */
static void
swallow_next (Allocator *allocator, guint32 index)
{
  Block *block = block_at (allocator, index);
  const guint32 eaten = block->next;
  Block *next = block_at (allocator, eaten);
  Pool *pool = &allocator->pools[block->pool];

  block->bytes += next->bytes;
  block->next = next->next;
  if (next->next != NONE)
    block_at (allocator, next->next)->previous = index;
  if (pool->tail == eaten)
    pool->tail = index;
  next->state = BLOCK_SPARE;
  allocator->spare[allocator->n_spare++] = eaten;
}

static gboolean
is_in_state (const Allocator *allocator, guint32 index, BlockState state)
{
  return index != NONE && block_at (allocator, index)->state == state;
}

/* Puts a block on its pool's list in @state, as one with neighbours in the same. */
static void
set_idle (Allocator *allocator, guint32 index, BlockState state)
{
  IdleList *list = idle_list (allocator, index, state);
  const guint32 previous = block_at (allocator, index)->previous;
  const guint32 next = block_at (allocator, index)->next;
  const gboolean joins_previous = is_in_state (allocator, previous, state);
  const gboolean joins_next = is_in_state (allocator, next, state);
  guint at = 0;

  if (!joins_previous && !joins_next)
    {
      put_on_list (allocator, index, state);
      return;
    }
  if (joins_next)
    {
      at = place_on_list (allocator, list, next);
      swallow_next (allocator, index);
    }
  if (joins_previous)
    {
      if (joins_next)
        take_at (list, at);
      at = place_on_list (allocator, list, previous);
      swallow_next (allocator, previous);
      index = previous;
    }
  const IdleKey key = key_of (allocator, index);
  block_at (allocator, index)->state = (guint8)state;
  change_key (allocator, list, at, &key);
}

/* Leaves @bytes in a block; returns what was the rest of it. */
static guint32
cut (Allocator *allocator, guint32 index, gint64 bytes)
{
  const guint32 other = new_block (allocator);
  Block *block = block_at (allocator, index);
  Pool *pool = &allocator->pools[block->pool];

  *block_at (allocator, other) = (Block){ .bytes = block->bytes - bytes,
                                          .segment = block->segment,
                                          .previous = index,
                                          .next = block->next,
                                          .state = BLOCK_IN_USE,
                                          .pool = block->pool };
  if (block->next != NONE)
    block_at (allocator, block->next)->previous = other;
  if (pool->tail == index)
    pool->tail = other;
  block->bytes = bytes;
  block->next = other;
  return other;
}

/* The same; the rest becomes a block in @state. */
static void
split (Allocator *allocator, guint32 index, gint64 bytes, BlockState state)
{
  set_idle (allocator, cut (allocator, index, bytes), state);
}

/* ---- growing and giving back ---- */

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

      if (block_at (allocator, index)->reusable > now)
        return;
      allocator->first_waiting++;
      set_idle (allocator, index, BLOCK_FREE);
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
  block_at (allocator, index)->state = BLOCK_WAITING;
  block_at (allocator, index)->reusable = reusable;
  for (; at > allocator->first_waiting
         && block_at (allocator, allocator->waiting[at - 1])->reusable > reusable;
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
    return block->previous == NONE && block->next == NONE ? block->bytes : 0;
  const gint64 page = block->pool % 2 == 1 ? SMALL_SEGMENT : LARGE_SEGMENT;
  return block->bytes / page * page;
}

/* Asks CUDA for memory, or (negative) gives it back. */
static void
reserve (Allocator *allocator, Pool *pool, gint64 bytes)
{
  pool->reserved += bytes;
  allocator->reserved += bytes;
}

static void
drop_segment (Allocator *allocator, guint32 index)
{
  block_at (allocator, index)->state = BLOCK_SPARE;
  allocator->spare[allocator->n_spare++] = index;
}

static void
unmap (Allocator *allocator, guint32 index, gint64 bytes)
{
  block_at (allocator, index)->state = BLOCK_IN_USE;
  if (bytes < block_at (allocator, index)->bytes)
    split (allocator, index, bytes, BLOCK_FREE);
  set_idle (allocator, index, BLOCK_UNMAPPED);
}

static void
give_back (Allocator *allocator, guint32 index)
{
  const Block *block = block_at (allocator, index);
  Pool *pool = &allocator->pools[block->pool];
  const gint64 bytes = returnable_bytes (allocator, block);

  if (block->state != BLOCK_FREE || bytes == 0)
    return;
  reserve (allocator, pool, -bytes);
  take_from_list (allocator, index);
  if (allocator->rules.expandable_segments)
    unmap (allocator, index, bytes);
  else
    drop_segment (allocator, index);
}

/* emptyCache behind a device synchronisation: nothing waits any more. */
static void
give_back_cached (Allocator *allocator)
{
  const guint32 n_blocks = allocator->n_blocks;

  release_waiting (allocator, G_MAXINT64);
  for (guint32 index = 0; index < n_blocks; index++)
    give_back (allocator, index);
}

static gboolean
is_out_of_memory (const Allocator *allocator, gint64 bytes)
{
  return allocator->rules.capacity_bytes > 0
         && allocator->reserved + bytes > allocator->rules.capacity_bytes;
}

static guint32
new_segment (Allocator *allocator, guint8 number, gint64 bytes)
{
  const guint32 index = new_block (allocator);

  reserve (allocator, &allocator->pools[number], bytes);
  *block_at (allocator, index) = (Block){ .bytes = bytes,
                                          .segment = allocator->n_segments++,
                                          .previous = NONE,
                                          .next = NONE,
                                          .state = BLOCK_IN_USE,
                                          .pool = number };
  return index;
}

/* The end of the pool's one segment, free or not, grown to @bytes. */
static guint32
grow_tail (Allocator *allocator, guint8 number, gint64 bytes)
{
  Pool *pool = &allocator->pools[number];
  guint32 tail = pool->tail;

  if (tail == NONE)
    return pool->tail = new_segment (allocator, number, segment_bytes (allocator, bytes));
  if (block_at (allocator, tail)->state == BLOCK_FREE)
    {
      const gint64 more = segment_bytes (allocator, bytes - block_at (allocator, tail)->bytes);

      take_from_list (allocator, tail);
      reserve (allocator, pool, more);
      block_at (allocator, tail)->bytes += more;
      return tail;
    }
  const guint32 index = new_segment (allocator, number, segment_bytes (allocator, bytes));
  block_at (allocator, index)->previous = tail;
  block_at (allocator, tail)->next = index;
  return pool->tail = index;
}

/* ---- finding ---- */

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

/* The smallest block of the pool in @state that holds @bytes, taken from the list, on which its
 * rest stays if that is @least_rest at least; or NONE. The tail of an expandable segment counts as
 * large as it could grow. */
static guint32
find (Allocator *allocator, guint8 number, gint64 bytes, gint64 least_rest, BlockState state)
{
  const Pool *pool = &allocator->pools[number];
  IdleList *list = &allocator->pools[number].idle[state == BLOCK_UNMAPPED];
  guint at = place_of_smallest (list, bytes);

  if (at == list->n)
    return NONE;
  if (list->keys[at].block == pool->tail && at + 1 < list->n)
    at++;
  const guint32 found = list->keys[at].block;
  if (list->keys[at].bytes - bytes < least_rest)
    take_at (list, at);
  else
    {
      const guint32 rest = cut (allocator, found, bytes);
      const IdleKey key = key_of (allocator, rest);

      block_at (allocator, rest)->state = (guint8)state; /* no neighbour is, or it would be one */
      change_key (allocator, list, at, &key);
    }
  block_at (allocator, found)->state = BLOCK_IN_USE;
  return found;
}

/* From CUDA: into a hole that an expandable segment has, else at its end. */
static guint32
map_more (Allocator *allocator, guint8 number, gint64 bytes)
{
  const gint64 whole = segment_bytes (allocator, bytes);

  if (!allocator->rules.expandable_segments)
    return new_segment (allocator, number, whole);
  const guint32 hole = find (allocator, number, whole, 1, BLOCK_UNMAPPED);
  if (hole == NONE)
    return grow_tail (allocator, number, bytes);
  reserve (allocator, &allocator->pools[number], whole);
  return hole;
}

static guint32
obtain (Allocator *allocator, guint8 number, gint64 bytes, gint64 least_rest)
{
  guint32 index = find (allocator, number, bytes, least_rest, BLOCK_FREE);

  if (index != NONE)
    return index;
  if (is_out_of_memory (allocator, segment_bytes (allocator, bytes)))
    {
      give_back_cached (allocator);
      allocator->n_retries++;
      /* What waited is free now. */
      index = find (allocator, number, bytes, least_rest, BLOCK_FREE);
      if (index != NONE)
        return index;
      allocator->n_failures += is_out_of_memory (allocator, segment_bytes (allocator, bytes));
    }
  index = map_more (allocator, number, bytes);
  block_at (allocator, index)->state = BLOCK_IN_USE;
  if (block_at (allocator, index)->bytes - bytes >= least_rest)
    split (allocator, index, bytes, BLOCK_FREE);
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
        allocator->of_buffer[i] = NONE;
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

  if (index == NONE)
    return;
  *of = NONE;
  if (reusable <= now)
    {
      set_idle (allocator, index, BLOCK_FREE);
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
  return allocator->pools[2 * stream].reserved + allocator->pools[2 * stream + 1].reserved;
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

/* The blocks that a caching allocator has cut its segments into: each knows its
 * neighbours in the segment, and those that are idle stand on a list of their pool,
 * by size. Neighbours that are idle in the same way are one block. What becomes a
 * segment, and when, is the allocator's affair. */
#pragma once

#include "timeline/sim_time.h"

#define NO_BLOCK         G_MAXUINT32
#define BLOCK_HEAP_POOLS 32

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
  guint32 tail;     /* the last block of an expandable segment */
} BlockPool;

typedef struct
{
  BlockPool pools[BLOCK_HEAP_POOLS];
  Block *blocks;
  guint32 *spare; /* records without a block */
  guint32 n_blocks, n_spare, block_room;
} BlockHeap;

void block_heap_init (BlockHeap *heap);
/* Makes @copy, a plain copy of another heap, own what it holds. */
void block_heap_own (BlockHeap *copy);
void block_heap_clear (BlockHeap *heap);

static inline Block *
block_at (const BlockHeap *heap, guint32 index)
{
  return &heap->blocks[index];
}

/* A record for @block, which is on no list; returns its index. */
guint32 block_heap_add (BlockHeap *heap, const Block *block);
/* Gives back the record of a block that is on no list and has no neighbours. */
void block_heap_drop (BlockHeap *heap, guint32 index);

/* Leaves @bytes in a block that is on no list; returns what was the rest of it. */
guint32 block_heap_cut (BlockHeap *heap, guint32 index, gint64 bytes);
/* Puts a block on its pool's list in @state, as one with neighbours in the same. */
void block_heap_set_idle (BlockHeap *heap, guint32 index, BlockState state);
/* Takes an idle block from its list. */
void block_heap_take (BlockHeap *heap, guint32 index);

/* The smallest block of @pool in @state that holds @bytes, taken from the list, on which its
 * rest stays if that is @least_rest at least; or NO_BLOCK. The tail of an expandable segment counts
 * as large as it could grow. */
guint32 block_heap_find (BlockHeap *heap, guint8 pool, gint64 bytes, gint64 least_rest,
                         BlockState state);
/* Whether a block of @pool in @state holds @bytes. */
gboolean block_heap_holds (const BlockHeap *heap, guint8 pool, gint64 bytes, BlockState state);

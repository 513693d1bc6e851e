/* PyTorch's caching allocator (c10/cuda/CUDACachingAllocator.cpp): what it asks of
 * CUDA for a sequence of allocations and frees. Each stream has a pool of its own
 * for requests up to 1 MiB and one for larger ones. A request takes the smallest
 * free block that holds it and gives the rest back; neighbours that are free become
 * one again. Without such a block the pool grows, and never gives back by itself.
 * When CUDA has no more, the device is waited for and all that lies idle is given
 * back (a retry); when that does not help, PyTorch raises OutOfMemoryError. */
#pragma once

#include "timeline/sim_time.h"

#define ALLOCATOR_STREAMS 16

typedef struct
{
  gboolean expandable_segments; /* PYTORCH_CUDA_ALLOC_CONF: a pool is one growing segment */
  gint64 capacity_bytes;        /* that CUDA has; 0: no limit */
} AllocatorRules;

typedef struct _Allocator Allocator;

Allocator *allocator_new (const AllocatorRules *rules);
/* One in the same state, which goes on under @rules. */
Allocator *allocator_copy (const Allocator *allocator, const AllocatorRules *rules);
void allocator_free (Allocator *allocator);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Allocator, allocator_free)

/* Whether more than @capacity_bytes could be reserved once @bytes are taken next. */
gboolean allocator_may_pass (const Allocator *allocator, gint64 bytes, gint64 capacity_bytes);

/* @buffer: its number, of no other so far. Nothing is done for 0 bytes. */
void allocator_take (Allocator *allocator, guint stream, guint32 buffer, gint64 bytes, SimTime now);
/* The block can be used again from @reusable on, when the streams that used it are past it. */
void allocator_give (Allocator *allocator, guint32 buffer, SimTime now, SimTime reusable);

gint64 allocator_reserved (const Allocator *allocator);
gint64 allocator_reserved_of (const Allocator *allocator, guint stream);
guint allocator_n_retries (const Allocator *allocator);
guint allocator_n_failures (const Allocator *allocator); /* OutOfMemoryErrors; ignored */

#include <config.h>

#include <string.h>

#include "timeline/memory.h"

void
memory_level_apply (MemoryLevel *level, const MemoryChange *change)
{
  g_assert (change->kind < N_MEMORY_KINDS);
  level->by_kind[change->kind] += change->bytes;
  level->allocated += change->bytes;
  g_assert (level->by_kind[change->kind] >= 0);
}

static const MemoryChange *
change_at (const Timeline *timeline, guint index)
{
  return &g_array_index (timeline->changes, MemoryChange, index);
}

/* ---- allocated ---- */

static void
raise_peak (MemoryPeak *peak, const MemoryLevel *level, const MemoryChange *change)
{
  if (level->allocated <= peak->allocated)
    return;
  peak->allocated = level->allocated;
  memcpy (peak->by_kind, level->by_kind, sizeof peak->by_kind);
  peak->time = change->time;
  peak->unit = change->unit;
}

/* A phase's first change, and with N_PEAK_PHASES the end of the last phase. */
static guint
first_change_of (const Timeline *timeline, guint phase)
{
  if (phase == PEAK_AT_LOAD)
    return 0;
  if (phase == N_PEAK_PHASES || timeline->steps->len < phase)
    return timeline->changes->len;
  return timeline_step (timeline, phase - 1)->first_change;
}

static void
measure_allocated (const Timeline *timeline, MemoryUse *use)
{
  MemoryLevel level = { 0 };

  for (guint phase = 0; phase < N_PEAK_PHASES && phase <= timeline->steps->len; phase++)
    {
      guint first = first_change_of (timeline, phase);

      if (first > 0)
        raise_peak (&use->peaks[phase], &level, change_at (timeline, first - 1));
      for (guint i = first; i < first_change_of (timeline, phase + 1); i++)
        {
          memory_level_apply (&level, change_at (timeline, i));
          raise_peak (&use->peaks[phase], &level, change_at (timeline, i));
        }
      if (use->peaks[phase].allocated >= use->peaks[use->phase].allocated)
        use->phase = phase;
    }
}

/* ---- reserved ---- */

/* The caching allocator keeps a pool a stream and never gives back to CUDA what
 * a pool once held (c10/cuda/CUDACachingAllocator.cpp). */
typedef struct
{
  gint64 in_use;
  gint64 waiting; /* freed, but a stream that used it is not past it */
  gint64 most;
  const MemoryChange **frees; /* by the time from which they are reusable */
  guint next_free, n_frees, room;
} Pool;

static void
pool_free (Pool *pool, const MemoryChange *change)
{
  guint at = pool->n_frees;

  if (pool->n_frees == pool->room)
    {
      pool->room = MAX (2 * pool->room, 256);
      pool->frees = g_renew (const MemoryChange *, pool->frees, pool->room);
    }
  pool->in_use += change->bytes;
  pool->waiting -= change->bytes;
  /* Streams go forward, so the place is at or near the end. */
  for (; at > pool->next_free && pool->frees[at - 1]->reusable > change->reusable; at--)
    pool->frees[at] = pool->frees[at - 1];
  pool->frees[at] = change;
  pool->n_frees++;
}

static void
pool_alloc (Pool *pool, const MemoryChange *change)
{
  while (pool->next_free < pool->n_frees && pool->frees[pool->next_free]->reusable <= change->time)
    pool->waiting += pool->frees[pool->next_free++]->bytes;
  pool->in_use += change->bytes;
  pool->most = MAX (pool->most, pool->in_use + pool->waiting);
}

static gint64
measure_reserved (const Timeline *timeline)
{
  Pool pools[G_MAXUINT8 + 1] = { 0 };
  gint64 reserved = 0;

  for (guint i = 0; i < timeline->changes->len; i++)
    {
      const MemoryChange *change = change_at (timeline, i);
      Pool *pool = &pools[change->pool];

      if (change->bytes < 0)
        pool_free (pool, change);
      else
        pool_alloc (pool, change);
    }
  for (guint p = 0; p < G_N_ELEMENTS (pools); p++)
    {
      reserved += pools[p].most;
      g_free (pools[p].frees);
    }
  return reserved;
}

void
memory_measure (const Timeline *timeline, MemoryUse *use)
{
  *use = (MemoryUse){ 0 };
  measure_allocated (timeline, use);
  use->reserved = measure_reserved (timeline);
}

const char *
peak_phase_name (PeakPhase phase)
{
  static const char *const names[N_PEAK_PHASES] = { "load", "first_step", "steady_step" };

  g_assert (phase < N_PEAK_PHASES);
  return names[phase];
}

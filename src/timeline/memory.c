#include "config.h"

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
  GArray *frees; /* MemoryChange, by the time from which they are reusable */
  guint next_free;
} Pool;

static void
pool_free (Pool *pool, const MemoryChange *change)
{
  guint at = pool->frees->len;

  pool->in_use += change->bytes;
  pool->waiting -= change->bytes;
  /* Streams go forward, so the place is at or near the end. */
  while (at > pool->next_free
         && g_array_index (pool->frees, MemoryChange, at - 1).reusable > change->reusable)
    at--;
  g_array_insert_vals (pool->frees, at, change, 1);
}

static void
pool_alloc (Pool *pool, const MemoryChange *change)
{
  while (pool->next_free < pool->frees->len)
    {
      const MemoryChange *next = &g_array_index (pool->frees, MemoryChange, pool->next_free);

      if (next->reusable > change->time)
        break;
      pool->waiting += next->bytes;
      pool->next_free++;
    }
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

      if (pool->frees == NULL)
        pool->frees = g_array_new (FALSE, FALSE, sizeof (MemoryChange));
      if (change->bytes < 0)
        pool_free (pool, change);
      else
        pool_alloc (pool, change);
    }
  for (guint p = 0; p < G_N_ELEMENTS (pools); p++)
    {
      reserved += pools[p].most;
      g_clear_pointer (&pools[p].frees, g_array_unref);
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

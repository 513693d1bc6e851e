#include <config.h>

#include <string.h>

#include "timeline/memory.h"

/* How closely it is said what a run that does not fit needs: within 1 %, by halving what it may
 * be, but no more often than this. */
#define CAPACITIES_TRIED  6
#define CAPACITY_ACCURACY 0.01

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

static guint
first_change_of_last_step (const Timeline *timeline)
{
  return timeline->steps->len > 0 ? timeline_step (timeline, timeline->steps->len - 1)->first_change
                                  : 0;
}

static void
play (const Timeline *timeline, const AllocatorRules *rules, MemoryUse *use)
{
  g_autoptr (Allocator) allocator = allocator_new (rules);
  const guint last_step = first_change_of_last_step (timeline);
  guint retries_before = 0;

  use->reserved = 0;
  for (guint i = 0; i < timeline->changes->len && allocator_n_failures (allocator) == 0; i++)
    {
      const MemoryChange *change = change_at (timeline, i);

      if (i == last_step)
        retries_before = allocator_n_retries (allocator);
      if (change->bytes < 0)
        allocator_give (allocator, change->buffer, change->time, change->reusable);
      else
        allocator_take (allocator, change->pool, change->buffer, change->bytes, change->time);
      use->reserved = MAX (use->reserved, allocator_reserved (allocator));
    }
  use->retries = allocator_n_retries (allocator) - retries_before;
  use->out_of_memory = allocator_n_failures (allocator) > 0;
  for (guint i = 0; i < ALLOCATOR_STREAMS; i++)
    use->reserved_by_pool[i] = allocator_reserved_of (allocator, i);
}

static void
take_reserved (MemoryUse *use, const MemoryUse *from)
{
  use->reserved = from->reserved;
  memcpy (use->reserved_by_pool, from->reserved_by_pool, sizeof use->reserved_by_pool);
}

static gboolean
is_close (gint64 too_little, gint64 enough)
{
  return (double)(enough - too_little) <= CAPACITY_ACCURACY * (double)enough;
}

/* Between what was allocated, at least, and what was reserved without a limit. A job that fits
 * gets by with as much as it then reserved: asked for no more, the allocator does the same. */
static void
find_least_capacity (const Timeline *timeline, const AllocatorRules *rules, MemoryUse *use)
{
  gint64 too_little = MAX (rules->capacity_bytes, use->peaks[use->phase].allocated - 1);
  AllocatorRules tried = *rules;
  MemoryUse with_it = { 0 };

  for (guint i = 0; i < CAPACITIES_TRIED && !is_close (too_little, use->reserved); i++)
    {
      tried.capacity_bytes = too_little + (use->reserved - too_little) / 2;
      play (timeline, &tried, &with_it);
      if (with_it.out_of_memory)
        too_little = tried.capacity_bytes;
      else
        take_reserved (use, &with_it);
    }
}

/* What the job would like to reserve; where that is more than there is, what it gets by with,
 * here or, out of memory, on a larger GPU. */
static void
measure_reserved (const Timeline *timeline, const AllocatorRules *rules, MemoryUse *use)
{
  AllocatorRules without_limit = *rules;
  MemoryUse limited = { 0 };

  without_limit.capacity_bytes = 0;
  play (timeline, &without_limit, use);
  if (rules->capacity_bytes <= 0 || use->reserved <= rules->capacity_bytes)
    return;
  play (timeline, rules, &limited);
  use->retries = limited.retries;
  use->out_of_memory = limited.out_of_memory;
  if (limited.out_of_memory)
    find_least_capacity (timeline, rules, use);
  else
    take_reserved (use, &limited);
}

void
memory_measure (const Timeline *timeline, const AllocatorRules *rules, MemoryUse *use)
{
  *use = (MemoryUse){ 0 };
  measure_allocated (timeline, use);
  measure_reserved (timeline, rules, use);
}

const char *
peak_phase_name (PeakPhase phase)
{
  static const char *const names[N_PEAK_PHASES] = { "load", "first_step", "steady_step" };

  g_assert (phase < N_PEAK_PHASES);
  return names[phase];
}

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

/* An allocator on its way through the changes. */
typedef struct
{
  const Timeline *timeline;
  Allocator *allocator;
  guint next;           /* change */
  guint last_step;      /* its first change */
  gint64 reserved;      /* the most so far */
  guint retries_before; /* the last step */
} Player;

static gboolean
is_over (const Player *player)
{
  return player->next == player->timeline->changes->len
         || allocator_n_failures (player->allocator) > 0;
}

static void
play_next (Player *player)
{
  const MemoryChange *change = change_at (player->timeline, player->next);
  Allocator *allocator = player->allocator;

  if (player->next++ == player->last_step)
    player->retries_before = allocator_n_retries (allocator);
  if (change->bytes < 0)
    allocator_give (allocator, change->buffer, change->time, change->reusable);
  else
    allocator_take (allocator, change->pool, change->buffer, change->bytes, change->time);
  player->reserved = MAX (player->reserved, allocator_reserved (allocator));
}

/* Whether so little would be felt at the next change. */
static gboolean
feels_capacity (const Player *player, gint64 capacity_bytes)
{
  const MemoryChange *change = change_at (player->timeline, player->next);

  return change->bytes > 0 && allocator_may_pass (player->allocator, change->bytes, capacity_bytes);
}

static void
note_reserved (const Player *player, MemoryUse *use)
{
  use->reserved = player->reserved;
  for (guint i = 0; i < ALLOCATOR_STREAMS; i++)
    use->reserved_by_pool[i] = allocator_reserved_of (player->allocator, i);
}

static Player
copy_of (const Player *player, const AllocatorRules *rules)
{
  Player copy = *player;

  copy.allocator = allocator_copy (player->allocator, rules);
  return copy;
}

/* Keeps how things stood before so little was felt first. */
static void
keep_mark (const Player *player, gint64 capacity_bytes, const AllocatorRules *rules, Player *mark)
{
  if (mark->allocator == NULL && feels_capacity (player, capacity_bytes))
    *mark = copy_of (player, rules);
}

/* Whether the rest from @mark on goes with @rules; if so, @use is told what is reserved then. */
static gboolean
gets_by (const Player *mark, const AllocatorRules *rules, MemoryUse *use, guint *retries)
{
  Player player = copy_of (mark, rules);
  gboolean is_enough;

  while (!is_over (&player))
    play_next (&player);
  is_enough = allocator_n_failures (player.allocator) == 0;
  *retries = allocator_n_retries (player.allocator) - player.retries_before;
  if (is_enough)
    note_reserved (&player, use);
  allocator_free (player.allocator);
  return is_enough;
}

static gboolean
is_close (gint64 too_little, gint64 enough)
{
  return (double)(enough - too_little) <= CAPACITY_ACCURACY * (double)enough;
}

/* Between @too_little, from whose @mark on it is tried, and what was reserved without a limit. A
 * job that fits gets by with as much as it then reserved: asked for no more, the allocator does
 * the same. */
static void
find_least_capacity (const Player *mark, gint64 too_little, const AllocatorRules *rules,
                     MemoryUse *use)
{
  AllocatorRules tried = *rules;
  guint retries;

  for (guint i = 0; i < CAPACITIES_TRIED && !is_close (too_little, use->reserved); i++)
    {
      tried.capacity_bytes = too_little + (use->reserved - too_little) / 2;
      if (!gets_by (mark, &tried, use, &retries))
        too_little = tried.capacity_bytes;
    }
}

/* What the job would like to reserve; where that is more than there is, what it gets by with,
 * here or, out of memory, on a larger GPU, which has to hold at least what was allocated. A limit
 * changes nothing before it is felt, so from there on only it is played again; and what the job
 * would like is known to the end only where it is needed. */
static void
measure_reserved (const Timeline *timeline, const AllocatorRules *rules, MemoryUse *use)
{
  const AllocatorRules no_limit = { .expandable_segments = rules->expandable_segments };
  const gint64 capacity = rules->capacity_bytes > 0 ? rules->capacity_bytes : G_MAXINT64;
  const gint64 too_little = MAX (capacity, use->peaks[use->phase].allocated - 1);
  Player player = { .timeline = timeline,
                    .allocator = allocator_new (&no_limit),
                    .last_step = first_change_of_last_step (timeline) };
  Player here = { .timeline = timeline }, elsewhere = { .timeline = timeline };

  while (!is_over (&player))
    {
      keep_mark (&player, capacity, &no_limit, &here);
      if (here.allocator != NULL)
        keep_mark (&player, too_little, &no_limit, &elsewhere);
      play_next (&player);
      if (player.reserved > capacity && !use->out_of_memory)
        {
          use->out_of_memory = !gets_by (&here, rules, use, &use->retries);
          if (!use->out_of_memory)
            break;
        }
    }
  if (player.reserved <= capacity || use->out_of_memory)
    note_reserved (&player, use);
  if (use->out_of_memory)
    find_least_capacity (&elsewhere, too_little, rules, use);
  allocator_free (player.allocator);
  allocator_free (here.allocator);
  allocator_free (elsewhere.allocator);
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

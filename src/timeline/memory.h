/* Memory of one rank over time, from the changes of a timeline. "Allocated" is
 * what torch.cuda.memory_allocated() would say: it follows the host. "Reserved"
 * is torch.cuda.max_memory_reserved(): what the caching allocator asks of CUDA for
 * these allocations. */
#pragma once

#include "timeline/allocator.h"
#include "timeline/timeline.h"

typedef enum
{
  PEAK_AT_LOAD,
  PEAK_IN_FIRST_STEP, /* the step in which the optimizer states appear */
  PEAK_IN_STEADY_STEP,
  N_PEAK_PHASES
} PeakPhase;

typedef struct
{
  gint64 allocated;
  gint64 by_kind[N_MEMORY_KINDS]; /* sums to allocated */
} MemoryLevel;

void memory_level_apply (MemoryLevel *level, const MemoryChange *change);

typedef struct
{
  gint64 allocated;
  gint64 by_kind[N_MEMORY_KINDS]; /* at that moment; sums to allocated */
  SimTime time;                   /* the host's; the first moment of equals */
  guint32 unit;                   /* whose allocation reached it */
} MemoryPeak;

typedef struct
{
  /* By PeakPhase; allocated 0 where the run had no such phase. A phase begins at
   * the level at which the one before it ended. */
  MemoryPeak peaks[N_PEAK_PHASES];
  PeakPhase phase;                            /* of the highest; the later one of equals */
  gint64 reserved;                            /* the most of the whole run */
  gint64 reserved_by_pool[ALLOCATOR_STREAMS]; /* of which at the end, by stream */
  /* Of the last step: how often the allocator waited for the device and gave back
   * what it had cached, because all that @rules allow was reserved. */
  guint retries;
  /* Even that did not help. @reserved is then the least with which it would, within 1 % or a 64th
   * of what it reserves beyond what it allocates where nothing limits it. */
  gboolean out_of_memory;
} MemoryUse;

void memory_measure (const Timeline *timeline, const AllocatorRules *rules, MemoryUse *use);

const char *peak_phase_name (PeakPhase phase); /* "load", "first_step", "steady_step" */

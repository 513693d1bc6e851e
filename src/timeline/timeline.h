/* What one rank did and when: the engine's output and every report's input.
 * Plain data; records stand in the order in which the host issued the work, so
 * the records of one stream never overlap and come in order of time. */
#pragma once

#include "timeline/label.h"
#include "timeline/sim_time.h"

#define RECORD_NONE G_MAXUINT32

/* Which of its preconditions a record met last, and so what made it start when
 * it did. */
typedef enum
{
  WAITED_FOR_NOTHING,     /* the first of its kind */
  WAITED_FOR_HOST,        /* the host had not issued it; waited_for: the host wait before, if any */
  WAITED_FOR_STREAM,      /* the work before it on its stream */
  WAITED_FOR_EVENT,       /* work on another stream, through an event */
  WAITED_FOR_COMMUNICATOR /* the collective before it on its communicator */
} WaitReason;

typedef struct
{
  SimTime start;
  SimTime end;
  gint64
      bytes; /* of a collective, as NCCL counts: all-gather output, reduce-scatter input; else 0 */
  TimelineLabel label;
  guint32 waited_for; /* record that ended last before this could start, or RECORD_NONE */
  guint8 waited_why;  /* WaitReason */
  guint8 lane;        /* TimelineLane */
  guint8 stream;      /* index into stream_names; the host's own waits: G_MAXUINT8 */
  guint8 is_carried;  /* began in an earlier window of the same run, and was counted there */
  SimTime
      peers_from; /* collectives: the last rank's arrival, from when it really moved; else start */
} TimelineRecord;

typedef struct
{
  SimTime time;     /* the host's, as PyTorch's allocator counts: it may run ahead of the device */
  SimTime reusable; /* of a free: when the last stream that used the block is past it */
  gint64 bytes;     /* negative: a free */
  guint32 buffer;   /* the same number in its allocation and its free */
  guint32 unit;
  guint8 kind; /* MemoryKind */
  guint8 pool; /* stream whose pool the block belongs to; index into stream_names */
} MemoryChange;

/* One training step: from the end of the step before. */
typedef struct
{
  SimTime end; /* of the optimizer step on the compute stream */
  guint32 first_record;
  guint32 first_change;
} TimelineStep;

typedef struct
{
  guint rank;
  guint n_warmup_steps;
  SimTime origin;  /* end of the last warm-up step, time 0 of every file; 0 without warm-up */
  GArray *records; /* TimelineRecord */
  GArray *changes; /* MemoryChange; those before steps[0].first_change happened at load */
  GArray *steps;   /* TimelineStep, warm-up steps included */
  GPtrArray *stream_names; /* owned strings */
} Timeline;

Timeline *timeline_new (void);
void timeline_free (Timeline *timeline);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Timeline, timeline_free)

static inline const TimelineRecord *
timeline_record (const Timeline *timeline, guint32 index)
{
  return &g_array_index (timeline->records, TimelineRecord, index);
}

/* Of warm-up steps too, from 0. */
const TimelineStep *timeline_step (const Timeline *timeline, guint index);

/* At least one: a run without a reported step is a programmer's mistake. */
guint timeline_n_reported_steps (const Timeline *timeline);

/* First record of the reported steps; they reach to the last of all records. */
guint32 timeline_first_reported (const Timeline *timeline);

/* End of the last step. Work that the optimizer step did not wait for may end later. */
SimTime timeline_end (const Timeline *timeline);

/* From the origin to the end of the last step. */
SimTime timeline_reported_time (const Timeline *timeline);

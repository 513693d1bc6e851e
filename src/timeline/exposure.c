/* One sweep over the window: each stream's records are in order of time already,
 * so a cursor a stream suffices, and the work is linear in the records. */
#include <config.h>

#include <string.h>

#include "timeline/exposure.h"

/* Who owns an instant, strongest first. */
typedef enum
{
  CLAIM_COMPUTE,
  CLAIM_ALL_GATHER,
  CLAIM_REDUCE_SCATTER,
  CLAIM_ALL_REDUCE,
  CLAIM_OTHER_COLLECTIVE,
  CLAIM_COPY,
  CLAIM_NONE
} Claim;

typedef struct
{
  const guint32 *records; /* of one stream */
  guint n_records;
  guint next; /* the first that has not ended */
} Cursor;

typedef struct
{
  const Timeline *timeline;
  guint32 *records; /* indexes, stream by stream */
  Cursor *cursors;
  guint n_cursors;
  SimTime now;
  SimTime end;
} Sweep;

static Claim
claim_of (const TimelineRecord *record)
{
  if (record->lane == LANE_COMPUTE)
    return CLAIM_COMPUTE;
  if (record->lane == LANE_COPY || record->label.op == TIMELINE_COPY)
    return CLAIM_COPY;
  switch (record->label.op)
    {
    case TIMELINE_ALL_GATHER:
      return CLAIM_ALL_GATHER;
    case TIMELINE_REDUCE_SCATTER:
      return CLAIM_REDUCE_SCATTER;
    case TIMELINE_OTHER_COLLECTIVE:
      return CLAIM_OTHER_COLLECTIVE;
    default:
      return CLAIM_ALL_REDUCE;
    }
}

static TimelineOp
op_of_claim (Claim claim, const TimelineRecord *record)
{
  switch (claim)
    {
    case CLAIM_NONE:
      return TIMELINE_WAIT;
    case CLAIM_ALL_REDUCE:
      return TIMELINE_ALL_REDUCE;
    default:
      return record->label.op;
    }
}

static void
sort_by_stream (Sweep *sweep)
{
  const Timeline *timeline = sweep->timeline;
  g_autofree guint32 *fill = g_new0 (guint32, sweep->n_cursors + 1);
  guint32 first = timeline_first_reported (timeline);

  for (guint32 i = first; i < timeline->records->len; i++)
    if (timeline_record (timeline, i)->lane != LANE_HOST)
      fill[timeline_record (timeline, i)->stream + 1]++;
  for (guint s = 0; s < sweep->n_cursors; s++)
    {
      sweep->cursors[s].n_records = fill[s + 1];
      fill[s + 1] += fill[s];
      sweep->cursors[s].records = sweep->records + fill[s];
    }
  for (guint32 i = first; i < timeline->records->len; i++)
    if (timeline_record (timeline, i)->lane != LANE_HOST)
      sweep->records[fill[timeline_record (timeline, i)->stream]++] = i;
}

static guint
count_streams (const Timeline *timeline)
{
  guint n_streams = 0;

  for (guint32 i = timeline_first_reported (timeline); i < timeline->records->len; i++)
    if (timeline_record (timeline, i)->lane != LANE_HOST)
      n_streams = MAX (n_streams, timeline_record (timeline, i)->stream + 1u);
  return n_streams;
}

static void
sweep_init (Sweep *sweep, const Timeline *timeline)
{
  sweep->timeline = timeline;
  sweep->n_cursors = count_streams (timeline);
  sweep->cursors = g_new0 (Cursor, sweep->n_cursors);
  sweep->records = g_new (guint32, timeline->records->len + 1);
  sweep->now = timeline->origin;
  sweep->end = timeline_end (timeline);
  sort_by_stream (sweep);
}

static void
sweep_clear (Sweep *sweep)
{
  g_free (sweep->cursors);
  g_free (sweep->records);
}

/* The record that runs on a stream at @now, or NULL; *boundary comes down to when that changes. */
static const TimelineRecord *
running_on (Cursor *cursor, const Timeline *timeline, SimTime now, SimTime *boundary,
            guint32 *index)
{
  while (cursor->next < cursor->n_records)
    {
      const TimelineRecord *record = timeline_record (timeline, cursor->records[cursor->next]);

      if (record->end <= now)
        {
          cursor->next++;
          continue;
        }
      *boundary = MIN (*boundary, record->start > now ? record->start : record->end);
      *index = cursor->records[cursor->next];
      return record->start > now ? NULL : record;
    }
  return NULL;
}

static gboolean
sweep_next (Sweep *sweep, ExposureSpan *span)
{
  const TimelineRecord *owner = NULL;
  Claim strongest = CLAIM_NONE;

  if (sweep->now >= sweep->end)
    return FALSE;
  *span = (ExposureSpan){ .start = sweep->now, .end = sweep->end, .record = RECORD_NONE };
  for (guint s = 0; s < sweep->n_cursors; s++)
    {
      guint32 index = RECORD_NONE;
      const TimelineRecord *record
          = running_on (&sweep->cursors[s], sweep->timeline, sweep->now, &span->end, &index);
      Claim claim = record == NULL ? CLAIM_NONE : claim_of (record);

      if (claim < strongest || (record != NULL && claim == strongest && index < span->record))
        {
          strongest = claim;
          owner = record;
          span->record = index;
        }
    }
  span->is_compute = strongest == CLAIM_COMPUTE;
  span->op = op_of_claim (strongest, owner);
  sweep->now = span->end;
  return TRUE;
}

static void
account (const ExposureSpan *span, Exposure *exposure, SimTime *per_record)
{
  SimTime time = span->end - span->start;

  exposure->total += time;
  if (span->is_compute)
    {
      exposure->compute += time;
      exposure->busy[span->op] += time;
    }
  else if (timeline_op_is_collective (span->op))
    {
      exposure->exposed[span->op] += time;
      if (per_record != NULL)
        per_record[span->record] += time;
    }
  else
    {
      exposure->host_bound += time;
      if (span->record != RECORD_NONE)
        exposure->copies += time;
    }
}

static void
begin_account (guint n_records, Exposure *exposure, SimTime *per_record)
{
  *exposure = (Exposure){ 0 };
  if (per_record != NULL)
    memset (per_record, 0, n_records * sizeof *per_record);
}

void
exposure_measure (const Timeline *timeline, Exposure *exposure, SimTime *per_record)
{
  Sweep sweep;
  ExposureSpan span;

  begin_account (timeline->records->len, exposure, per_record);
  sweep_init (&sweep, timeline);
  while (sweep_next (&sweep, &span))
    account (&span, exposure, per_record);
  sweep_clear (&sweep);
}

GArray *
exposure_spans (const Timeline *timeline)
{
  GArray *spans = g_array_new (FALSE, FALSE, sizeof (ExposureSpan));
  Sweep sweep;
  ExposureSpan span;

  sweep_init (&sweep, timeline);
  while (sweep_next (&sweep, &span))
    g_array_append_val (spans, span);
  sweep_clear (&sweep);
  return spans;
}

void
exposure_of_spans (const GArray *spans, guint n_records, Exposure *exposure, SimTime *per_record)
{
  begin_account (n_records, exposure, per_record);
  for (guint i = 0; i < spans->len; i++)
    account (&g_array_index (spans, ExposureSpan, i), exposure, per_record);
}

void
exposure_add (Exposure *sum, const Exposure *exposure)
{
  sum->total += exposure->total;
  sum->compute += exposure->compute;
  sum->host_bound += exposure->host_bound;
  sum->copies += exposure->copies;
  for (guint op = 0; op < N_TIMELINE_OPS; op++)
    {
      sum->exposed[op] += exposure->exposed[op];
      sum->busy[op] += exposure->busy[op];
    }
}

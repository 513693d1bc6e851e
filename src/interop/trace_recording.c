#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "interop/trace_survey.h"

#define MOST_RECORDS 65536 /* of a window: a longer step comes in several */

struct _TraceRecording
{
  TraceFile *file;
  GArray *contexts;
  GPtrArray *surveys; /* TraceSurvey by process */
  GPtrArray *tracks;  /* those of them with work, borrowed */
};

/* ---- the first reading ---- */

static void
collect_peers (TraceRecording *recording, TracePeers *peers)
{
  TraceFile *file = recording->file;
  const TraceRecord *record;
  const TraceSurvey *last = NULL;

  trace_store_rewind (file->gpu);
  while ((record = trace_store_next (file->gpu)) != NULL)
    {
      const TraceSurvey *survey = g_ptr_array_index (recording->surveys, record->process);
      const TraceContext *context = trace_context_of (recording->contexts, record->id);

      if (record->collective == NCCL_NONE)
        continue;
      if (survey != last)
        trace_peers_begin_rank (peers);
      last = survey;
      trace_peers_add (peers, trace_survey_peer_key (file, survey, record, context),
                       record->end - record->start);
    }
}

TraceRecording *
trace_recording_new (TraceFile *file, TracePeers *peers)
{
  TraceRecording *recording = g_new0 (TraceRecording, 1);

  recording->file = file;
  recording->contexts = trace_host_contexts (file);
  recording->surveys = trace_survey_all (file, recording->contexts);
  recording->tracks = g_ptr_array_new ();
  for (guint i = 0; i < recording->surveys->len; i++)
    {
      TraceSurvey *survey = g_ptr_array_index (recording->surveys, i);

      if (survey->track.windows->len > 0)
        g_ptr_array_add (recording->tracks, &survey->track);
    }
  if (peers != NULL && !file->is_ours)
    collect_peers (recording, peers);
  return recording;
}

void
trace_recording_free (TraceRecording *recording)
{
  if (recording == NULL)
    return;
  g_ptr_array_unref (recording->tracks);
  g_ptr_array_unref (recording->surveys);
  g_array_unref (recording->contexts);
  trace_file_free (recording->file);
  g_free (recording);
}

const TraceFile *
trace_recording_file (const TraceRecording *recording)
{
  return recording->file;
}

/* ---- the second reading ---- */

typedef struct
{
  TimelineRecord record;
  guint32 sequence;
  gboolean is_of_last_step; /* launched there, or fsdpsim's */
} Item;

typedef struct
{
  TraceRecording *recording;
  TracePeers *peers;
  TraceWindowFunc func;
  gpointer data;
  const TraceSurvey *survey;
  Timeline *timeline;
  GArray *items;    /* Item of the window at hand, those carried over first */
  guint most_items; /* from which on the window ends */
  guint next_label; /* of survey->labels */
  guint step;       /* of the windows at hand */
  SimTime begin;    /* of the window at hand */
} Replay;

static const TraceStep *
step_at_hand (const Replay *replay)
{
  return &g_array_index (replay->survey->track.windows, TraceStep, replay->step);
}

static gboolean
is_last_step (const Replay *replay)
{
  return replay->step + 1 == replay->survey->track.windows->len;
}

/* ---- labels ---- */

static guint8
lane_of_collective (const Replay *replay, const TraceCollectiveFacts *facts)
{
  const guint16 shard_group = replay->survey->shard_group;
  const gboolean is_elsewhere
      = shard_group != 0 && facts->group != 0 && facts->group != shard_group;

  switch (facts->op)
    {
    case TIMELINE_ALL_GATHER:
      return is_elsewhere ? LANE_COMM_RESHARD : LANE_COMM_SHARD;
    case TIMELINE_REDUCE_SCATTER:
      return is_elsewhere ? LANE_COMM_SCATTER : LANE_COMM_SHARD;
    default:
      return LANE_COMM_REPLICATE;
    }
}

static void
label_collective (Replay *replay, const TraceRecord *record, const TraceContext *context,
                  TimelineRecord *out)
{
  const TraceCollectiveFacts facts = trace_survey_collective (record, context);
  SimTime shortest = SIM_TIME_NONE;

  g_assert (replay->survey != NULL);
  out->label = g_array_index (replay->survey->labels, TimelineLabel, replay->next_label++);
  out->lane = lane_of_collective (replay, &facts);
  out->bytes = facts.elements > 0 ? facts.elements * facts.dtype_bytes : 0;
  if (replay->peers != NULL)
    shortest = trace_peers_shortest (
        replay->peers,
        trace_survey_peer_key (replay->recording->file, replay->survey, record, context));
  if (shortest != SIM_TIME_NONE)
    out->peers_from = out->end - MIN (shortest, out->end - out->start);
}

/* Copies on a compute stream count as its work, as FSDP's own copies do in fsdpsim. */
static void
label_work (Replay *replay, const TraceRecord *record, const TraceContext *context,
            TimelineRecord *out)
{
  g_assert (replay->survey != NULL && replay->survey->is_compute != NULL);
  const gboolean is_compute = replay->survey->is_compute[record->stream];

  out->lane = is_compute ? LANE_COMPUTE : LANE_COPY;
  if (record->kind == TRACE_KERNEL && is_compute)
    out->label = trace_survey_kernel_label (replay->survey, record, context);
  else
    out->label = (TimelineLabel){ .op = TIMELINE_COPY,
                                  .phase = context == NULL ? PHASE_FORWARD : context->phase,
                                  .micro_batch = context == NULL ? 0 : context->micro_batch,
                                  .unit = context == NULL ? UNIT_ROOT : context->unit };
}

static void
label_ours (const TraceRecord *record, TimelineRecord *out)
{
  out->label = (TimelineLabel){ .op = record->op,
                                .phase = record->phase,
                                .micro_batch = record->micro_batch,
                                .unit = record->unit };
  out->lane = record->lane;
  out->bytes = MAX (record->elements, 0);
  if (record->peers_from != SIM_TIME_NONE)
    out->peers_from = record->peers_from;
}

static gboolean
is_of_last_step (const Replay *replay, const TraceContext *context)
{
  const GArray *windows = replay->survey->track.windows;
  const GArray *steps = replay->recording->file->host_steps;

  return replay->survey->by_host && windows->len > 0 && context != NULL && context->step >= 0
         && g_array_index (steps, TraceStep, context->step).number
                == g_array_index (windows, TraceStep, windows->len - 1).number;
}

static Item
label (Replay *replay, const TraceRecord *record)
{
  Item item = {
    .record = { .start = record->start,
                .end = record->end,
                .waited_for = RECORD_NONE,
                .stream = record->stream,
                .peers_from = record->start },
    .sequence = record->sequence,
    .is_of_last_step = replay->recording->file->is_ours,
  };
  const TraceContext *context;

  if (replay->recording->file->is_ours)
    {
      if (record->is_labelled)
        label_ours (record, &item.record);
      return item;
    }
  context = trace_context_of (replay->recording->contexts, record->id);
  if (record->collective != NCCL_NONE)
    label_collective (replay, record, context, &item.record);
  else
    label_work (replay, record, context, &item.record);
  item.is_of_last_step = is_of_last_step (replay, context);
  return item;
}

/* ---- windows ---- */

static int
compare_sequence (gconstpointer a, gconstpointer b)
{
  const Item *left = a, *right = b;

  return left->sequence < right->sequence ? -1 : left->sequence > right->sequence;
}

/* fsdpsim's records stand in the order of issue, which decides between equals; those of
 * other traces in the order of time. */
static void
fill_timeline (Replay *replay, SimTime end)
{
  Timeline *timeline = replay->timeline;
  TimelineStep step = { .end = end };

  if (replay->recording->file->is_ours)
    g_array_sort (replay->items, compare_sequence);
  g_array_set_size (timeline->records, 0);
  g_array_set_size (timeline->steps, 0);
  timeline->rank = replay->survey->track.rank;
  timeline->origin = replay->begin;
  g_array_append_val (timeline->steps, step);
  for (guint i = 0; i < replay->items->len; i++)
    g_array_append_val (timeline->records, g_array_index (replay->items, Item, i).record);
}

/* Leaves what is still running. */
static void
carry_over (Replay *replay, SimTime end)
{
  guint n_kept = 0;

  for (guint i = 0; i < replay->items->len; i++)
    {
      Item *item = &g_array_index (replay->items, Item, i);

      if (item->record.end <= end)
        continue;
      item->record.is_carried = TRUE;
      g_array_index (replay->items, Item, n_kept++) = *item;
    }
  g_array_set_size (replay->items, n_kept);
  replay->most_items = MAX (MOST_RECORDS, 2 * n_kept);
}

static void
emit (Replay *replay, SimTime end, gboolean ends_step)
{
  const TraceWindow window = {
    .timeline = replay->timeline,
    .track = &replay->survey->track,
    .step = replay->step,
    .ends_step = ends_step,
  };

  fill_timeline (replay, end);
  replay->func (&window, replay->data);
  carry_over (replay, end);
  replay->begin = end;
}

static void
begin_step (Replay *replay, guint step)
{
  replay->step = step;
  replay->begin = step_at_hand (replay)->start;
  /* What ended between steps that do not touch. */
  carry_over (replay, replay->begin);
}

static void
begin_process (Replay *replay, guint32 process)
{
  replay->survey = g_ptr_array_index (replay->recording->surveys, process);
  replay->next_label = 0;
  g_array_set_size (replay->items, 0);
  if (replay->peers != NULL)
    trace_peers_begin_rank (replay->peers);
  if (replay->survey->track.windows->len > 0)
    begin_step (replay, 0);
}

static void
end_process (Replay *replay)
{
  if (replay->survey == NULL || replay->survey->track.windows->len == 0)
    return;
  for (;;)
    {
      emit (replay, step_at_hand (replay)->end, TRUE);
      if (is_last_step (replay))
        break;
      begin_step (replay, replay->step + 1);
    }
}

/* What lies outside all steps counts with the one in which it was issued, where that is
 * known to be the last or, of fsdpsim's, the next. */
static void
take_item (Replay *replay, Item *item)
{
  const gboolean is_ours = replay->recording->file->is_ours;

  while (item->record.start >= step_at_hand (replay)->end && !is_last_step (replay))
    {
      emit (replay, step_at_hand (replay)->end, TRUE);
      begin_step (replay, replay->step + 1);
    }
  if (!item->is_of_last_step && item->record.start >= step_at_hand (replay)->end)
    return;
  if (!is_ours && item->record.start < replay->begin)
    {
      if (item->record.end <= replay->begin)
        return;
      item->record.is_carried = TRUE;
    }
  if (replay->items->len >= replay->most_items && item->record.start > replay->begin
      && item->record.start < step_at_hand (replay)->end)
    emit (replay, item->record.start, FALSE);
  g_array_append_val (replay->items, *item);
}

static void
take_record (Replay *replay, const TraceRecord *record)
{
  Item item;

  if (replay->survey != g_ptr_array_index (replay->recording->surveys, record->process))
    {
      end_process (replay);
      begin_process (replay, record->process);
    }
  g_assert (replay->survey != NULL);
  item = label (replay, record);
  if (replay->survey->track.windows->len == 0
      || (replay->recording->file->is_ours && !record->is_labelled))
    return;
  take_item (replay, &item);
}

gboolean
trace_recording_replay (TraceRecording *recording, TracePeers *peers, TraceWindowFunc func,
                        gpointer data, GError **error)
{
  Replay replay = {
    .recording = recording,
    .peers = recording->file->is_ours ? NULL : peers,
    .func = func,
    .data = data,
    .timeline = timeline_new (),
    .items = g_array_new (FALSE, FALSE, sizeof (Item)),
  };
  const TraceRecord *record;

  trace_store_rewind (recording->file->gpu);
  while ((record = trace_store_next (recording->file->gpu)) != NULL)
    take_record (&replay, record);
  end_process (&replay);
  timeline_free (replay.timeline);
  g_array_unref (replay.items);
  return trace_store_is_sound (recording->file->gpu, error)
         && trace_store_is_sound (recording->file->host, error);
}

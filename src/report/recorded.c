#include <config.h>

#include <math.h>
#include <string.h>

#include "report/recorded.h"

typedef struct
{
  guint32 unit;
  guint32 micro_batch;
} PassKey;

/* Sums, times in picoseconds. */
typedef struct
{
  PassKey key;
  guint n_in_step;
  double gathers, gathers_exposed, redundant, time, exposed;
} Gathered;

typedef struct
{
  RecordedCollective sums; /* its label is the key */
} Collective;

/* A redundant all-gather that may go on in the next window. */
typedef struct
{
  SimTime start, end;
  guint32 unit;
} Unfinished;

struct _RecordedTrack
{
  guint rank;
  gboolean knows_waiting, in_depth;
  FiguresSum sum;
  guint n_steps;
  SimTime origin, shortest, longest;
  RecordedStep step; /* at hand, so far */
  GArray *steps;     /* RecordedStep, the finished ones */
  gboolean has_origin;
  double collective_n[N_TIMELINE_OPS];
  SimTime collective[N_TIMELINE_OPS], waiting[N_TIMELINE_OPS];
  GHashTable *collectives; /* Collective by label */
  GHashTable *gathered;    /* Gathered by unit and micro-batch, of backward passes */
  GArray *unfinished;      /* Unfinished */
  GArray *gaps;            /* RecordedGap, the longest first */
  RecordedGap gap;         /* at hand, where its length is above 0 */
  gboolean has_last;
  TimelineLabel last; /* what ran last on the compute stream or was exposed */
};

G_STATIC_ASSERT (sizeof (TimelineLabel) == sizeof (gint64));
G_STATIC_ASSERT (sizeof (PassKey) == sizeof (gint64));

RecordedTrack *
recorded_track_new (guint rank, gboolean knows_waiting, gboolean in_depth)
{
  RecordedTrack *track = g_new0 (RecordedTrack, 1);

  track->rank = rank;
  track->knows_waiting = knows_waiting;
  track->in_depth = in_depth;
  track->shortest = SIM_TIME_MAX;
  figures_sum_init (&track->sum);
  track->collectives = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, g_free);
  track->gathered = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, g_free);
  track->unfinished = g_array_new (FALSE, FALSE, sizeof (Unfinished));
  track->gaps = g_array_new (FALSE, FALSE, sizeof (RecordedGap));
  track->steps = g_array_new (FALSE, FALSE, sizeof (RecordedStep));
  return track;
}

void
recorded_track_free (RecordedTrack *track)
{
  if (track == NULL)
    return;
  figures_sum_clear (&track->sum);
  g_hash_table_unref (track->collectives);
  g_hash_table_unref (track->gathered);
  g_array_unref (track->unfinished);
  g_array_unref (track->gaps);
  g_array_unref (track->steps);
  g_free (track);
}

guint
recorded_track_n_steps (const RecordedTrack *track)
{
  return track->n_steps;
}

SimTime
recorded_track_total (const RecordedTrack *track)
{
  return track->sum.exposure.total;
}

SimTime
recorded_track_waited (const RecordedTrack *track)
{
  SimTime sum = 0;

  for (guint op = 0; op < N_TIMELINE_OPS; op++)
    sum += track->waiting[op];
  return sum;
}

/* ---- collectives ---- */

static RecordedCollective *
find_collective (RecordedTrack *track, const TimelineLabel *label)
{
  Collective *collective = g_hash_table_lookup (track->collectives, label);

  if (collective == NULL)
    {
      collective = g_new0 (Collective, 1);
      collective->sums.label = *label;
      g_hash_table_insert (track->collectives, &collective->sums.label, collective);
    }
  return &collective->sums;
}

static Gathered *
find_gathered (RecordedTrack *track, const TimelineLabel *label)
{
  const PassKey key = { label->unit, label->micro_batch };
  Gathered *gathered = g_hash_table_lookup (track->gathered, &key);

  if (gathered == NULL)
    {
      gathered = g_new0 (Gathered, 1);
      gathered->key = key;
      g_hash_table_insert (track->gathered, &gathered->key, gathered);
    }
  return gathered;
}

/* What a backward pass gathered already it gathers again. Of a record that was counted in
 * an earlier window, the answer from then. */
static gboolean
is_redundant (RecordedTrack *track, const TimelineRecord *record, Gathered *gathered)
{
  const Unfinished unfinished = { record->start, record->end, record->label.unit };

  if (record->is_carried)
    {
      for (guint i = 0; i < track->unfinished->len; i++)
        if (g_array_index (track->unfinished, Unfinished, i).start == unfinished.start
            && g_array_index (track->unfinished, Unfinished, i).unit == unfinished.unit)
          return TRUE;
      return FALSE;
    }
  if (gathered->n_in_step++ == 0)
    return FALSE;
  g_array_append_val (track->unfinished, unfinished);
  return TRUE;
}

static gboolean
add_gathered (RecordedTrack *track, const TimelineRecord *record, SimTime exposed)
{
  Gathered *gathered;

  if (record->label.op != TIMELINE_ALL_GATHER || record->label.phase != PHASE_BACKWARD)
    return FALSE;
  gathered = find_gathered (track, &record->label);
  gathered->gathers += !record->is_carried;
  gathered->gathers_exposed += (double)exposed;
  if (!is_redundant (track, record, gathered))
    return FALSE;
  gathered->redundant += !record->is_carried;
  gathered->time += record->is_carried ? 0 : (double)(record->end - record->start);
  gathered->exposed += (double)exposed;
  return !record->is_carried;
}

static void
add_collective (RecordedTrack *track, const TimelineRecord *record, SimTime exposed)
{
  const SimTime time = record->end - record->start, waiting = record->peers_from - record->start;
  const TimelineOp op = record->label.op;
  RecordedCollective *collective;

  if (!record->is_carried)
    {
      track->collective_n[op]++;
      track->collective[op] += time;
      track->waiting[op] += waiting;
    }
  if (!track->in_depth)
    return;
  collective = find_collective (track, &record->label);
  collective->exposed_s += (double)exposed;
  collective->redundant += add_gathered (track, record, exposed);
  if (record->is_carried)
    return;
  collective->n++;
  collective->bytes += (double)record->bytes;
  collective->seconds += (double)time;
  collective->waiting_s += (double)waiting;
}

static void
add_collectives (RecordedTrack *track, const Timeline *window, const SimTime *per_record)
{
  for (guint32 i = 0; i < window->records->len; i++)
    if (timeline_op_is_collective (timeline_record (window, i)->label.op))
      add_collective (track, timeline_record (window, i), per_record[i]);
}

/* Only what goes on beyond the window can come again. */
static void
forget_finished (RecordedTrack *track, SimTime end)
{
  guint n_kept = 0;

  for (guint i = 0; i < track->unfinished->len; i++)
    {
      const Unfinished unfinished = g_array_index (track->unfinished, Unfinished, i);

      if (unfinished.end > end)
        g_array_index (track->unfinished, Unfinished, n_kept++) = unfinished;
    }
  g_array_set_size (track->unfinished, n_kept);
}

/* ---- gaps ---- */

static void
keep_gap (RecordedTrack *track)
{
  GArray *gaps = track->gaps;
  guint at = gaps->len;

  while (at > 0 && g_array_index (gaps, RecordedGap, at - 1).length < track->gap.length)
    at--;
  if (at < RECORDED_GAPS)
    g_array_insert_val (gaps, at, track->gap);
  if (gaps->len > RECORDED_GAPS)
    g_array_set_size (gaps, RECORDED_GAPS);
  track->gap.length = 0;
}

static void
end_gap (RecordedTrack *track, const TimelineLabel *label)
{
  if (track->gap.length > 0)
    {
      track->gap.has_after = TRUE;
      track->gap.after = *label;
      keep_gap (track);
    }
  track->has_last = TRUE;
  track->last = *label;
}

static void
add_gaps (RecordedTrack *track, const Timeline *window, const GArray *spans)
{
  for (guint i = 0; i < spans->len; i++)
    {
      const ExposureSpan *span = &g_array_index (spans, ExposureSpan, i);

      if (span->is_compute || timeline_op_is_collective (span->op))
        {
          end_gap (track, &timeline_record (window, span->record)->label);
          continue;
        }
      if (track->gap.length == 0)
        track->gap = (RecordedGap){ .start = span->start - track->origin,
                                    .step = track->n_steps,
                                    .has_before = track->has_last,
                                    .before = track->last };
      track->gap.length += span->end - span->start;
    }
}

/* ---- windows ---- */

static void
end_step (RecordedTrack *track)
{
  const SimTime time = track->step.exposure.total;
  GHashTableIter iter;
  gpointer gathered;

  track->n_steps++;
  track->shortest = MIN (track->shortest, time);
  track->longest = MAX (track->longest, time);
  if (track->in_depth)
    g_array_append_val (track->steps, track->step);
  track->step = (RecordedStep){ .start = track->step.start + time };
  g_hash_table_iter_init (&iter, track->gathered);
  while (g_hash_table_iter_next (&iter, NULL, &gathered))
    ((Gathered *)gathered)->n_in_step = 0;
}

void
recorded_track_add (RecordedTrack *track, const Timeline *window, gboolean ends_step)
{
  const guint n_records = window->records->len;
  g_autofree SimTime *per_record = g_new (SimTime, n_records + 1);
  g_autoptr (GArray) spans = exposure_spans (window);
  Exposure exposure;

  if (!track->has_origin)
    track->origin = window->origin;
  track->has_origin = TRUE;
  exposure_of_spans (spans, n_records, &exposure, per_record);
  figures_sum_add (&track->sum, window, &exposure, per_record);
  exposure_add (&track->step.exposure, &exposure);
  add_collectives (track, window, per_record);
  if (track->in_depth)
    add_gaps (track, window, spans);
  forget_finished (track, timeline_end (window));
  if (ends_step)
    end_step (track);
}

/* ---- a job ---- */

static void
file_free (gpointer data)
{
  RecordedFile *file = data;

  g_free (file->path);
  g_free (file->gpu);
  g_ptr_array_unref (file->kinds);
  g_ptr_array_unref (file->warnings);
  g_free (file);
}

Recorded *
recorded_new (const char *name)
{
  Recorded *recorded = g_new0 (Recorded, 1);

  recorded->name = g_strdup (name);
  recorded->files = g_ptr_array_new_with_free_func (file_free);
  recorded->ranks = g_array_new (FALSE, TRUE, sizeof (RecordedRank));
  recorded->collectives = g_array_new (FALSE, FALSE, sizeof (RecordedCollective));
  recorded->redundancies = g_array_new (FALSE, FALSE, sizeof (RecordedRedundancy));
  recorded->gaps = g_array_new (FALSE, FALSE, sizeof (RecordedGap));
  recorded->steps = g_array_new (FALSE, FALSE, sizeof (RecordedStep));
  recorded->scenario_name = g_strdup ("");
  recorded->scenario_sha256 = g_strdup ("");
  recorded->scenario = (ReportScenario){ .scenario_name = recorded->scenario_name,
                                         .title = "",
                                         .sha256 = recorded->scenario_sha256 };
  figures_refuse (&recorded->figures, RUN_FAILED, "the trace holds no work of a GPU");
  return recorded;
}

void
recorded_free (Recorded *recorded)
{
  if (recorded == NULL)
    return;
  g_free (recorded->name);
  g_free (recorded->scenario_name);
  g_free (recorded->scenario_sha256);
  g_ptr_array_unref (recorded->files);
  g_array_unref (recorded->ranks);
  g_array_unref (recorded->collectives);
  g_array_unref (recorded->redundancies);
  g_array_unref (recorded->gaps);
  g_array_unref (recorded->steps);
  figures_clear (&recorded->figures);
  g_free (recorded);
}

RecordedFile *
recorded_add_file (Recorded *recorded, const char *path)
{
  RecordedFile *file = g_new0 (RecordedFile, 1);

  file->path = g_strdup (path);
  file->kinds = g_ptr_array_new_with_free_func (g_free);
  file->warnings = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (recorded->files, file);
  return file;
}

static double
per_step (double time, const RecordedTrack *track)
{
  return time / (double)PICOSECONDS_PER_SECOND / track->n_steps;
}

void
recorded_add_rank (Recorded *recorded, const RecordedTrack *track)
{
  const Exposure *exposure = &track->sum.exposure;
  RecordedRank rank = {
    .rank = track->rank,
    .n_steps = track->n_steps,
    .step_time_s = per_step ((double)exposure->total, track),
    .shortest_s = sim_time_seconds (track->shortest),
    .longest_s = sim_time_seconds (track->longest),
    .compute_s = per_step ((double)exposure->compute, track),
    .host_bound_s = per_step ((double)exposure->host_bound, track),
    .copies_s = per_step ((double)exposure->copies, track),
    .knows_waiting = track->knows_waiting,
  };

  for (guint op = 0; op < N_TIMELINE_OPS; op++)
    {
      rank.collective_n[op] = track->collective_n[op] / track->n_steps;
      rank.collective_s[op] = per_step ((double)track->collective[op], track);
      rank.waiting_s[op] = per_step ((double)track->waiting[op], track);
      rank.exposed_s[op] = per_step ((double)exposure->exposed[op], track);
    }
  g_array_append_val (recorded->ranks, rank);
}

static int
compare_collectives (gconstpointer a, gconstpointer b)
{
  const TimelineLabel *left = &((const RecordedCollective *)a)->label;
  const TimelineLabel *right = &((const RecordedCollective *)b)->label;

  if (left->unit != right->unit)
    return left->unit < right->unit ? -1 : 1;
  if (left->micro_batch != right->micro_batch)
    return left->micro_batch < right->micro_batch ? -1 : 1;
  if (left->phase != right->phase)
    return left->phase < right->phase ? -1 : 1;
  return left->op < right->op ? -1 : left->op > right->op;
}

static void
finish_collectives (Recorded *recorded, const RecordedTrack *track)
{
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, track->collectives);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      RecordedCollective mean = ((const Collective *)value)->sums;

      mean.n /= track->n_steps;
      mean.bytes /= track->n_steps;
      mean.redundant /= track->n_steps;
      mean.seconds = per_step (mean.seconds, track);
      mean.waiting_s = track->knows_waiting ? per_step (mean.waiting_s, track) : (double)NAN;
      mean.exposed_s = per_step (mean.exposed_s, track);
      g_array_append_val (recorded->collectives, mean);
    }
  g_array_sort (recorded->collectives, compare_collectives);
}

static int
compare_redundancies (gconstpointer a, gconstpointer b)
{
  const RecordedRedundancy *left = a, *right = b;

  if (left->micro_batch != right->micro_batch)
    return left->micro_batch < right->micro_batch ? -1 : 1;
  return left->unit < right->unit ? -1 : left->unit > right->unit;
}

static void
finish_redundancies (Recorded *recorded, const RecordedTrack *track)
{
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, track->gathered);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      const Gathered *gathered = value;
      const RecordedRedundancy redundancy = {
        .unit = gathered->key.unit,
        .micro_batch = (guint16)gathered->key.micro_batch,
        .gathers = gathered->gathers / track->n_steps,
        .gathers_exposed_s = per_step (gathered->gathers_exposed, track),
        .redundant = gathered->redundant / track->n_steps,
        .seconds = per_step (gathered->time, track),
        .exposed_s = per_step (gathered->exposed, track),
      };

      if (gathered->redundant > 0)
        g_array_append_val (recorded->redundancies, redundancy);
    }
  g_array_sort (recorded->redundancies, compare_redundancies);
}

void
recorded_finish (Recorded *recorded, const RecordedTrack *slowest, const RunFacts *facts)
{
  figures_clear (&recorded->figures);
  recorded->figures = (Figures){ .status = RUN_OK, .reason = g_strdup (""), .fits = TRUE };
  recorded->figures.peak_allocated_bytes = recorded->figures.peak_reserved_bytes = -1;
  recorded->facts = *facts;
  figures_from_sum (&slowest->sum, slowest->n_steps, &recorded->figures);
  figures_set_rates (facts, &recorded->figures);
  finish_collectives (recorded, slowest);
  finish_redundancies (recorded, slowest);
  g_array_append_vals (recorded->gaps, slowest->gaps->data, slowest->gaps->len);
  g_array_append_vals (recorded->steps, slowest->steps->data, slowest->steps->len);
}

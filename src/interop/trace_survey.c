#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "interop/trace_pattern.h"
#include "interop/trace_survey.h"

#define COMPUTE_SHARE                                                                              \
  10 /* a stream computes from this part of its process's kernel time on: 1/10 */
#define NO_STEP (-1)

/* A collective, and to which step it belongs. */
typedef struct
{
  TraceSeen seen;
  gboolean has_unit; /* by annotations, in seen.label */
  int step;
  guint index; /* in the store's order */
} SeenInStep;

typedef struct
{
  SimTime first, last; /* start of the first work, end of the last: in a step on a compute stream */
} StepBounds;

/* One reading of one process. */
typedef struct
{
  const TraceFile *file;
  const GArray *contexts;
  TraceSurvey *survey;
  GArray *bounds; /* StepBounds by host step, or of the whole */
  GArray *seen;   /* SeenInStep */
} Scan;

/* ---- streams ---- */

static void
find_compute_streams (const TraceFile *file, TraceSurvey *survey)
{
  const GArray *streams = trace_file_process (file, survey->track.process)->streams;
  SimTime all = 0;

  for (guint i = 0; i < streams->len; i++)
    all += g_array_index (streams, TraceStream, i).kernel_time;
  for (guint i = 0; i < streams->len; i++)
    survey->is_compute[i]
        = g_array_index (streams, TraceStream, i).kernel_time >= all / COMPUTE_SHARE;
}

/* ---- steps by the profiler's marks on the GPU, or by times alone ---- */

/* In order, and none into the one before; marks of one number on several streams are one. */
static void
add_window (GArray *windows, const TraceStep *step)
{
  TraceStep window = *step;

  if (windows->len > 0)
    {
      TraceStep *before = &g_array_index (windows, TraceStep, windows->len - 1);

      if (before->number == step->number)
        {
          before->end = MAX (before->end, step->end);
          return;
        }
      window.start
          = before->number + 1 == step->number ? before->end : MAX (before->end, window.start);
    }
  if (window.end > window.start)
    g_array_append_val (windows, window);
}

static void
use_marks (const GArray *steps, gint64 process, GArray *windows)
{
  for (guint i = 0; i < steps->len; i++)
    {
      const TraceStep *step = &g_array_index (steps, TraceStep, i);

      if (process < 0 || step->process == process)
        add_window (windows, step);
    }
}

static int
step_at (const GArray *windows, SimTime time)
{
  guint low = 0, high = windows->len;

  while (low < high)
    {
      const guint middle = low + (high - low) / 2;

      if (g_array_index (windows, TraceStep, middle).start <= time)
        low = middle + 1;
      else
        high = middle;
    }
  if (low == 0 || g_array_index (windows, TraceStep, low - 1).end <= time)
    return NO_STEP;
  return (int)low - 1;
}

/* ---- collectives ---- */

TraceCollectiveFacts
trace_survey_collective (const TraceRecord *record, const TraceContext *context)
{
  TraceCollective collective = record->collective;
  TraceCollectiveFacts facts = {
    .elements = record->elements,
    .dtype_bytes = record->dtype_bytes,
    .group = record->group,
  };

  if (context != NULL && context->collective != NCCL_NONE)
    {
      if (collective == NCCL_UNKNOWN)
        collective = context->collective;
      if (facts.elements < 0)
        {
          facts.elements = context->elements;
          facts.dtype_bytes = context->dtype_bytes;
        }
      if (facts.group == 0)
        facts.group = context->group;
    }
  facts.op = trace_collective_op (collective);
  return facts;
}

static gboolean
is_labelled (const TraceContext *context)
{
  return context != NULL && context->has_unit;
}

static void
see_collective (Scan *scan, const TraceRecord *record, const TraceContext *context, int step)
{
  const TraceCollectiveFacts facts = trace_survey_collective (record, context);
  SeenInStep seen = {
    .seen = { .op = facts.op, .elements = facts.elements },
    .step = step,
    .index = scan->seen->len,
  };

  if (context != NULL && context->has_phase)
    {
      seen.seen.has_phase = TRUE;
      seen.seen.label.phase = context->phase;
      seen.seen.label.micro_batch = context->micro_batch;
    }
  if (context != NULL && is_labelled (context))
    {
      seen.has_unit = TRUE;
      seen.seen.label.unit = context->unit;
    }
  if (facts.op == TIMELINE_ALL_GATHER && scan->survey->shard_group == 0)
    scan->survey->shard_group = facts.group;
  g_array_append_val (scan->seen, seen);
}

/* ---- reading ---- */

static int
step_of (const Scan *scan, const TraceRecord *record, const TraceContext *context)
{
  if (scan->survey->by_host)
    return context == NULL ? NO_STEP : context->step;
  if (scan->survey->track.steps == STEPS_UNKNOWN)
    return 0;
  return step_at (scan->survey->track.windows, record->start);
}

static void
widen (Scan *scan, const TraceRecord *record, int step)
{
  StepBounds *bounds;

  if (step < 0 || record->kind == TRACE_HOST_WORK)
    return;
  for (StepBounds none = { SIM_TIME_MAX, SIM_TIME_NONE }; (int)scan->bounds->len <= step;)
    g_array_append_val (scan->bounds, none);
  bounds = &g_array_index (scan->bounds, StepBounds, step);
  bounds->first = MIN (bounds->first, record->start);
  if (!scan->survey->by_host
      || (record->collective == NCCL_NONE && scan->survey->is_compute[record->stream]))
    bounds->last = MAX (bounds->last, record->end);
}

static guint64
pass_of (const TraceContext *context)
{
  return ((guint64)(guint32)context->step << 16) | context->micro_batch;
}

static gboolean
may_recompute (const TraceContext *context)
{
  return context != NULL && context->has_unit && context->part >= UNIT_FIRST_BLOCK
         && (context->op == TIMELINE_FORWARD || context->op == TIMELINE_BACKWARD);
}

/* TRUE where a kernel in backward is its block's forward again. */
static gboolean
is_recomputed (const TraceSurvey *survey, const TraceRecord *record, const TraceContext *context)
{
  if (!may_recompute (context))
    return FALSE;
  if (context->op == TIMELINE_BACKWARD)
    return trace_recompute_backward (survey->recompute, context->part, pass_of (context),
                                     record->name);
  trace_recompute_forward (survey->recompute, context->part, pass_of (context), record->name);
  return FALSE;
}

static void
scan_record (Scan *scan, const TraceRecord *record)
{
  const TraceContext *context = trace_context_of (scan->contexts, record->id);
  const int step = step_of (scan, record, context);

  widen (scan, record, step);
  if (record->kind != TRACE_KERNEL)
    return;
  if (record->collective != NCCL_NONE)
    see_collective (scan, record, context, step);
  else if (scan->survey->is_compute[record->stream])
    is_recomputed (scan->survey, record, context);
}

/* ---- what the reading showed ---- */

/* A step ends with its last kernel and begins with the end of the one before, if that was
 * recorded, else with its own first work. */
static void
windows_from_bounds (Scan *scan)
{
  const GArray *steps = scan->file->host_steps;
  GArray *windows = scan->survey->track.windows;

  for (guint i = 0; i < scan->bounds->len; i++)
    {
      const StepBounds *bounds = &g_array_index (scan->bounds, StepBounds, i);
      TraceStep window = { .start = bounds->first, .end = bounds->last, .number = i };

      if (bounds->last == SIM_TIME_NONE)
        continue;
      if (scan->survey->by_host)
        window.number = g_array_index (steps, TraceStep, i).number;
      add_window (windows, &window);
    }
}

static int
compare_seen (gconstpointer a, gconstpointer b)
{
  const SeenInStep *left = a, *right = b;

  if (left->step != right->step)
    return left->step < right->step ? -1 : 1;
  return left->index < right->index ? -1 : left->index > right->index;
}

/* FSDP1's annotations without its hooks give all of a backward pass to the root. */
static gboolean
annotations_tell_units (const GArray *seen)
{
  guint n_root = 0, n_blocks = 0;

  for (guint i = 0; i < seen->len; i++)
    {
      const SeenInStep *one = &g_array_index (seen, SeenInStep, i);

      if (one->seen.op != TIMELINE_ALL_GATHER && one->seen.op != TIMELINE_REDUCE_SCATTER)
        continue;
      if (!one->has_unit)
        return FALSE;
      n_root += one->seen.label.unit == UNIT_ROOT;
      n_blocks += one->seen.label.unit >= UNIT_FIRST_BLOCK;
    }
  return n_root <= 2 * n_blocks;
}

static gboolean
has_gathers (const GArray *seen)
{
  for (guint i = 0; i < seen->len; i++)
    if (g_array_index (seen, SeenInStep, i).seen.op == TIMELINE_ALL_GATHER)
      return TRUE;
  return FALSE;
}

static void
label_step (SeenInStep *seen, guint n, gboolean by_annotations, GArray *labels)
{
  g_autofree TraceSeen *copies = g_new (TraceSeen, n);

  for (guint i = 0; i < n; i++)
    copies[i] = seen[i].seen;
  trace_pattern_label (copies, n);
  for (guint i = 0; i < n; i++)
    {
      const gboolean is_clipping = copies[i].label.op == TIMELINE_GRAD_CLIP;

      if (by_annotations && !is_clipping)
        copies[i].label.unit = seen[i].seen.label.unit;
      g_array_index (labels, TimelineLabel, seen[i].index) = copies[i].label;
    }
}

static void
label_collectives (Scan *scan)
{
  TraceSurvey *survey = scan->survey;
  GArray *seen = scan->seen;
  const gboolean by_annotations = annotations_tell_units (seen);

  survey->track.units = !has_gathers (seen) ? UNITS_UNKNOWN
                        : by_annotations    ? UNITS_BY_ANNOTATIONS
                                            : UNITS_BY_PATTERN;
  g_array_set_size (survey->labels, seen->len);
  if (seen->len > 0)
    qsort (seen->data, seen->len, sizeof (SeenInStep), compare_seen);
  for (guint first = 0, end; first < seen->len; first = end)
    {
      SeenInStep *begin = &g_array_index (seen, SeenInStep, first);

      for (end = first + 1; end < seen->len; end++)
        if (g_array_index (seen, SeenInStep, end).step != begin->step)
          break;
      label_step (begin, end - first, by_annotations, survey->labels);
    }
}

static void
finish_scan (Scan *scan)
{
  TraceSurvey *survey = scan->survey;

  if (survey->by_host || survey->track.steps == STEPS_UNKNOWN)
    windows_from_bounds (scan);
  label_collectives (scan);
  trace_recompute_learn (survey->recompute);
}

/* ---- surveys of all processes ---- */

static void
survey_free (gpointer data)
{
  TraceSurvey *survey = data;

  if (survey == NULL)
    return;
  g_array_unref (survey->track.windows);
  g_array_unref (survey->labels);
  trace_recompute_free (survey->recompute);
  g_free (survey);
}

static TraceSurvey *
survey_new (const TraceFile *file, guint32 process)
{
  TraceSurvey *survey = g_new0 (TraceSurvey, 1);
  const gint64 pid = trace_file_process (file, process)->pid;

  survey->track.process = process;
  survey->track.rank = (guint)CLAMP (pid, 0, G_MAXINT);
  survey->track.windows = g_array_new (FALSE, FALSE, sizeof (TraceStep));
  survey->track.steps = STEPS_MARKED;
  survey->labels = g_array_new (FALSE, TRUE, sizeof (TimelineLabel));
  survey->recompute = trace_recompute_new ();
  find_compute_streams (file, survey);
  return survey;
}

static void
scan_all (const TraceFile *file, const GArray *contexts, GPtrArray *surveys,
          gboolean (*is_wanted) (const TraceSurvey *survey))
{
  Scan scan = { .file = file, .contexts = contexts };
  const TraceRecord *record;

  trace_store_rewind (file->gpu);
  scan.bounds = g_array_new (FALSE, FALSE, sizeof (StepBounds));
  scan.seen = g_array_new (FALSE, FALSE, sizeof (SeenInStep));
  while ((record = trace_store_next (file->gpu)) != NULL)
    {
      TraceSurvey *survey = g_ptr_array_index (surveys, record->process);

      if (survey != scan.survey)
        {
          if (scan.survey != NULL)
            finish_scan (&scan);
          g_array_set_size (scan.bounds, 0);
          g_array_set_size (scan.seen, 0);
          scan.survey = is_wanted (survey) ? survey : NULL;
        }
      if (scan.survey != NULL)
        scan_record (&scan, record);
    }
  if (scan.survey != NULL)
    finish_scan (&scan);
  g_array_unref (scan.bounds);
  g_array_unref (scan.seen);
}

static gboolean
is_by_host (const TraceSurvey *survey)
{
  return survey->by_host;
}

static gboolean
is_by_time (const TraceSurvey *survey)
{
  return !survey->by_host;
}

/* Marks of the GPU, else times of the profiler's marks on the host, else the whole trace
 * as one step. */
static void
find_windows_by_time (const TraceFile *file, TraceSurvey *survey)
{
  TraceTrack *track = &survey->track;

  survey->by_host = FALSE;
  track->steps = STEPS_MARKED;
  use_marks (file->gpu_steps, track->process, track->windows);
  if (track->windows->len == 0 && !file->steps_are_optimizers)
    use_marks (file->host_steps, -1, track->windows);
  if (track->windows->len == 0)
    track->steps = STEPS_UNKNOWN;
  trace_recompute_free (survey->recompute);
  survey->recompute = trace_recompute_new ();
  g_array_set_size (survey->labels, 0);
}

/* By launches where there are any; whatever then has no step goes by time. */
static void
scan_recorded (const TraceFile *file, const GArray *contexts, GPtrArray *surveys)
{
  gboolean has_by_time = FALSE;

  for (guint i = 0; i < surveys->len; i++)
    {
      TraceSurvey *survey = g_ptr_array_index (surveys, i);

      survey->by_host = file->host_steps->len > 0 && contexts->len > 0;
      survey->track.steps = file->steps_are_optimizers ? STEPS_OPTIMIZER : STEPS_MARKED;
    }
  scan_all (file, contexts, surveys, is_by_host);
  for (guint i = 0; i < surveys->len; i++)
    {
      TraceSurvey *survey = g_ptr_array_index (surveys, i);

      if (survey->track.windows->len > 0)
        continue;
      find_windows_by_time (file, survey);
      has_by_time = TRUE;
    }
  if (has_by_time)
    scan_all (file, contexts, surveys, is_by_time);
}

/* fsdpsim's rank is the process. Kineto's is said by the file, where it has one GPU. */
static void
set_rank (const TraceFile *file, TraceSurvey *survey)
{
  guint n_gpus = 0;

  for (guint i = 0; i < file->processes->len; i++)
    n_gpus += trace_file_process (file, i)->n_kernels > 0;
  if (!file->is_ours && n_gpus <= 1 && file->header.rank >= 0 && file->header.rank <= G_MAXINT)
    survey->track.rank = (guint)file->header.rank;
}

GPtrArray *
trace_survey_all (const TraceFile *file, const GArray *contexts)
{
  GPtrArray *surveys = g_ptr_array_new_with_free_func (survey_free);

  for (guint32 process = 0; process < file->processes->len; process++)
    {
      TraceSurvey *survey = survey_new (file, process);

      set_rank (file, survey);
      g_ptr_array_add (surveys, survey);
      if (!file->is_ours)
        continue;
      survey->track.units = UNITS_BY_LABELS;
      use_marks (file->gpu_steps, process, survey->track.windows);
    }
  if (!file->is_ours)
    scan_recorded (file, contexts, surveys);
  return surveys;
}

/* ---- for the second reading ---- */

guint64
trace_survey_peer_key (const TraceFile *file, const TraceSurvey *survey, const TraceRecord *record,
                       const TraceContext *context)
{
  const TraceCollectiveFacts facts = trace_survey_collective (record, context);
  const GArray *windows = survey->track.windows;
  const guint32 group = g_array_index (file->groups, TraceGroup, facts.group).hash;
  guint32 number = 0;
  int step;

  if (survey->by_host)
    number = context == NULL || context->step < 0
                 ? G_MAXUINT32
                 : g_array_index (file->host_steps, TraceStep, context->step).number;
  else if (survey->track.steps == STEPS_MARKED)
    {
      step = step_at (windows, record->start);
      number = step < 0 ? G_MAXUINT32 : g_array_index (windows, TraceStep, step).number;
    }
  return ((guint64)number << 32) ^ ((guint64)group * N_TIMELINE_OPS + facts.op);
}

TimelineLabel
trace_survey_kernel_label (const TraceSurvey *survey, const TraceRecord *record,
                           const TraceContext *context)
{
  TimelineLabel label = { .op = TIMELINE_COMPUTE, .unit = UNIT_ROOT };

  if (context == NULL || !context->has_phase)
    return label;
  label.phase = context->phase;
  label.micro_batch = context->micro_batch;
  label.unit = context->part;
  label.op = is_recomputed (survey, record, context) ? TIMELINE_RECOMPUTE : context->op;
  return label;
}

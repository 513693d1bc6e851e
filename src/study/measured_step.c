#include <config.h>

#include "study/measured_step.h"

#include <string.h>

/* Sums of one rank. */
typedef struct
{
  guint rank;
  MeasuredTime times[N_MEASURED];
  MeasuredTime pooled[N_TIMELINE_OPS];
  guint n_blocks, n_micro_batches;
  gboolean has_stacks; /* of an encoder-decoder */
  GHashTable *passes;  /* gint64: a TimelineLabel; those met in the step at hand */
  gboolean has_last;
  TimelineLabel last; /* pass on the compute stream */
  SimTime gap;        /* host-bound since then */
} RankSums;

const char *
measured_key_name (MeasuredKey key)
{
  static const char *const names[] = {
#define TIMING(key, words) #key,
#include "config/timing.def"
#undef TIMING
  };

  return names[key];
}

/* ---- what a piece of work is in [timing] ---- */

/* Keys of one kind of work by whose it is; N_MEASURED: there is none. */
typedef struct
{
  TimelineOp op;
  MeasuredKey root, embed, head, stack, block;
} KeysOfOp;

static const KeysOfOp keys_of_op[] = {
  { TIMELINE_FORWARD, N_MEASURED, MEASURED_embed_forward, MEASURED_head_forward,
    MEASURED_encoder_norm_forward, MEASURED_forward },
  { TIMELINE_RECOMPUTE, N_MEASURED, N_MEASURED, N_MEASURED, N_MEASURED, MEASURED_recompute },
  { TIMELINE_BACKWARD, N_MEASURED, MEASURED_embed_backward, MEASURED_head_backward,
    MEASURED_encoder_norm_backward, MEASURED_backward },
  { TIMELINE_OPTIMIZER, MEASURED_optimizer_step, MEASURED_optimizer_step, MEASURED_optimizer_step,
    MEASURED_optimizer_step, MEASURED_optimizer_step },
  { TIMELINE_GRAD_CLIP, MEASURED_grad_clip, MEASURED_grad_clip, MEASURED_grad_clip,
    MEASURED_grad_clip, MEASURED_grad_clip },
  { TIMELINE_ALL_GATHER, MEASURED_root_all_gather, MEASURED_embed_all_gather,
    MEASURED_head_all_gather, MEASURED_stack_all_gather, MEASURED_all_gather },
  { TIMELINE_REDUCE_SCATTER, MEASURED_root_reduce_scatter, MEASURED_embed_reduce_scatter,
    MEASURED_head_reduce_scatter, MEASURED_stack_reduce_scatter, MEASURED_reduce_scatter },
  { TIMELINE_ALL_REDUCE, MEASURED_root_all_reduce, MEASURED_embed_all_reduce,
    MEASURED_head_all_reduce, MEASURED_stack_all_reduce, MEASURED_all_reduce },
};

static MeasuredKey
key_of (TimelineOp op, guint32 unit)
{
  for (guint i = 0; i < G_N_ELEMENTS (keys_of_op); i++)
    if (keys_of_op[i].op == op)
      return unit == UNIT_ROOT         ? keys_of_op[i].root
             : unit == UNIT_EMBED      ? keys_of_op[i].embed
             : unit == UNIT_HEAD       ? keys_of_op[i].head
             : unit < UNIT_FIRST_BLOCK ? keys_of_op[i].stack
                                       : keys_of_op[i].block;
  return N_MEASURED;
}

gboolean
measured_key_is_collective (MeasuredKey key, TimelineOp *kind)
{
  for (guint i = 0; i < G_N_ELEMENTS (keys_of_op); i++)
    {
      const KeysOfOp *keys = &keys_of_op[i];

      if (timeline_op_is_collective (keys->op)
          && (key == keys->root || key == keys->embed || key == keys->head || key == keys->stack
              || key == keys->block))
        {
          *kind = keys->op;
          return TRUE;
        }
    }
  return FALSE;
}

/* ---- sums ---- */

static RankSums *
rank_sums_new (guint rank)
{
  RankSums *sums = g_new0 (RankSums, 1);

  sums->rank = rank;
  sums->passes = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  return sums;
}

static void
rank_sums_free (gpointer data)
{
  RankSums *sums = data;

  g_hash_table_unref (sums->passes);
  g_free (sums);
}

static void
note_block (RankSums *sums, const TimelineLabel *label)
{
  if (label->unit >= UNIT_FIRST_BLOCK)
    sums->n_blocks = MAX (sums->n_blocks, timeline_block_of_unit (label->unit) + 1);
  sums->has_stacks |= label->unit == UNIT_ENCODER || label->unit == UNIT_DECODER;
}

static MeasuredTime *
time_of (RankSums *sums, const TimelineLabel *label)
{
  const MeasuredKey key = key_of (label->op, label->unit);

  return key == N_MEASURED ? &sums->pooled[label->op] : &sums->times[key];
}

/* The pass that a kernel belongs to, without what does not tell passes apart: [timing] knows whole
 * blocks alone. */
static TimelineLabel
pass_of (const TimelineLabel *label)
{
  TimelineLabel pass = *label;

  pass.phase = 0;
  if (label->unit >= UNIT_FIRST_BLOCK)
    pass.unit = UNIT_FIRST_BLOCK + timeline_block_of_unit (label->unit);
  if (label->op == TIMELINE_OPTIMIZER || label->op == TIMELINE_GRAD_CLIP)
    {
      pass.unit = UNIT_ROOT;
      pass.micro_batch = 0;
    }
  return pass;
}

static void
add_to_pass (RankSums *sums, const TimelineLabel *label, SimTime time)
{
  const TimelineLabel pass = pass_of (label);
  MeasuredTime *measured = time_of (sums, label);

  const gboolean goes_on = sums->has_last && memcmp (&sums->last, &pass, sizeof pass) == 0;

  measured->total += time;
  if (goes_on)
    measured->total += sums->gap;
  sums->gap = 0;
  sums->last = pass;
  sums->has_last = TRUE;
  if (!g_hash_table_contains (sums->passes, &pass))
    {
      g_hash_table_add (sums->passes, g_memdup2 (&pass, sizeof pass));
      measured->n++;
    }
  else if (sums->has_stacks && label->unit == UNIT_EMBED && !goes_on)
    measured->n++; /* the other stack's */
  note_block (sums, label);
  if (label->op == TIMELINE_FORWARD)
    sums->n_micro_batches = MAX (sums->n_micro_batches, label->micro_batch + 1U);
}

/* Clipping is one launch in [timing], its all-reduce included. */
static gboolean
is_clipping (const ExposureSpan *span, const TimelineLabel *label)
{
  return !span->is_compute && span->op == TIMELINE_ALL_REDUCE && label->op == TIMELINE_GRAD_CLIP;
}

static void
add_span (RankSums *sums, const Timeline *timeline, const ExposureSpan *span)
{
  const SimTime time = span->end - span->start;
  const TimelineLabel *label
      = span->record == RECORD_NONE ? NULL : &timeline_record (timeline, span->record)->label;

  if (label != NULL
      && (is_clipping (span, label) || (span->is_compute && span->op != TIMELINE_COPY)))
    add_to_pass (sums, label, time);
  else if (span->is_compute)
    sums->gap = 0;
  else if (!timeline_op_is_collective (span->op))
    sums->gap += time;
}

/* Where attention and MLP are units of their own, a block is gathered with its own unit. */
static void
add_collective (RankSums *sums, const TimelineRecord *record)
{
  MeasuredTime *measured = time_of (sums, &record->label);

  measured->total += record->end - record->peers_from;
  measured->n += record->label.unit < UNIT_FIRST_PART;
  measured->bytes += record->bytes;
  note_block (sums, &record->label);
}

static void
take_window (const TraceWindow *window, gpointer data)
{
  GPtrArray *ranks = data;
  RankSums *sums = ranks->len == 0 ? NULL : g_ptr_array_index (ranks, ranks->len - 1);
  const Timeline *timeline = window->timeline;
  g_autoptr (GArray) spans = exposure_spans (timeline);

  if (sums == NULL || sums->rank != window->track->rank)
    g_ptr_array_add (ranks, sums = rank_sums_new (window->track->rank));
  for (guint i = 0; i < spans->len; i++)
    add_span (sums, timeline, &g_array_index (spans, ExposureSpan, i));
  for (guint32 i = 0; i < timeline->records->len; i++)
    {
      const TimelineRecord *record = timeline_record (timeline, i);

      if (timeline_op_is_collective (record->label.op) && !record->is_carried)
        add_collective (sums, record);
    }
  if (!window->ends_step)
    return;
  g_hash_table_remove_all (sums->passes);
  sums->has_last = FALSE;
}

/* ---- the whole ---- */

static gboolean
is_one_job (const GPtrArray *jobs, GError **error)
{
  const Recorded *first = g_ptr_array_index (jobs, 0);

  if (jobs->len > 1)
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_NO_TRACE,
                 "these are traces of %u jobs ('%s', '%s'%s); those of one job's ranks would do",
                 jobs->len, first->name, ((const Recorded *)g_ptr_array_index (jobs, 1))->name,
                 jobs->len > 2 ? ", …" : "");
  else if (first->ranks->len == 0)
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_NO_TRACE,
                 "%s: no work of a GPU in it, so there is no step to take figures from",
                 ((const RecordedFile *)g_ptr_array_index (first->files, 0))->path);
  else
    return TRUE;
  return FALSE;
}

static void
take_sums (MeasuredStep *step, const RankSums *sums)
{
  memcpy (step->times, sums->times, sizeof step->times);
  memcpy (step->pooled, sums->pooled, sizeof step->pooled);
  step->n_blocks = sums->n_blocks;
  step->n_micro_batches = sums->n_micro_batches;
}

static gboolean
has_times (const MeasuredStep *step, GError **error)
{
  for (guint i = 0; i < N_MEASURED; i++)
    if (step->times[i].n > 0)
      return TRUE;
  for (guint i = 0; i < N_TIMELINE_OPS; i++)
    if (step->pooled[i].n > 0 && i != TIMELINE_COMPUTE)
      return TRUE;
  g_set_error (
      error, TRACE_ERROR, TRACE_ERROR_NO_TRACE,
      "%s: nothing in it tells what its kernels are for (launches of forward, backward and "
      "optimizer on the host, collectives), so there are no figures to take",
      ((const RecordedFile *)g_ptr_array_index (step->recorded->files, 0))->path);
  return FALSE;
}

MeasuredStep *
measured_step_read (const RecordedOptions *options, GError **error)
{
  g_autoptr (GPtrArray) ranks = g_ptr_array_new_with_free_func (rank_sums_free);
  RecordedOptions study = *options;
  g_autoptr (GPtrArray) jobs = NULL;
  const RecordedRank *slowest;
  g_autoptr (MeasuredStep) step = NULL;

  study.window = take_window;
  study.window_data = ranks;
  jobs = recorded_study (&study, error);
  if (jobs == NULL || !is_one_job (jobs, error))
    return NULL;
  step = g_new0 (MeasuredStep, 1);
  step->recorded = g_ptr_array_index (jobs, 0);
  step->jobs = g_steal_pointer (&jobs);
  slowest = &g_array_index (step->recorded->ranks, RecordedRank, step->recorded->slowest);
  step->rank = slowest->rank;
  step->n_steps = slowest->n_steps;
  for (guint i = 0; i < ranks->len; i++)
    if (((const RankSums *)g_ptr_array_index (ranks, i))->rank == step->rank)
      take_sums (step, g_ptr_array_index (ranks, i));
  return has_times (step, error) ? g_steal_pointer (&step) : NULL;
}

void
measured_step_free (MeasuredStep *step)
{
  if (step == NULL)
    return;
  g_ptr_array_unref (step->jobs);
  g_free (step);
}

static void
set_spread (MeasuredTime *time, SimTime total, guint64 n)
{
  *time = (MeasuredTime){ .total = total, .n = n, .is_spread = TRUE };
}

gboolean
measured_step_is_unplaced (const MeasuredStep *step)
{
  return step->times[MEASURED_forward].n == 0 && step->times[MEASURED_backward].n == 0
         && (step->pooled[TIMELINE_FORWARD].n > 0 || step->pooled[TIMELINE_BACKWARD].n > 0);
}

void
measured_step_spread (MeasuredStep *step, guint n_blocks)
{
  static const struct
  {
    TimelineOp op;
    MeasuredKey block, ends[2];
  } passes[] = {
    { TIMELINE_FORWARD, MEASURED_forward, { MEASURED_embed_forward, MEASURED_head_forward } },
    { TIMELINE_RECOMPUTE, MEASURED_recompute, { N_MEASURED, N_MEASURED } },
    { TIMELINE_BACKWARD, MEASURED_backward, { MEASURED_embed_backward, MEASURED_head_backward } },
  };
  const guint64 n = (guint64)n_blocks * MAX (step->n_micro_batches, 1) * step->n_steps;

  for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
    {
      const MeasuredTime *pooled = &step->pooled[passes[i].op];

      if (n == 0 || pooled->n == 0 || step->times[passes[i].block].n > 0)
        continue;
      set_spread (&step->times[passes[i].block], pooled->total, n);
      for (guint e = 0; e < G_N_ELEMENTS (passes[i].ends); e++)
        if (passes[i].ends[e] != N_MEASURED && step->times[passes[i].ends[e]].n == 0)
          set_spread (&step->times[passes[i].ends[e]], 0, 1);
    }
}

/* The host's records in order of time are a walk through its annotations, each thread
 * with a stack of those that are open. FSDP2 names its units. FSDP1 does not: blocks
 * count up in forward, and down in backward as their post-backward hooks end. */
#include <config.h>

#include <string.h>

#include "interop/trace_host.h"

#define NO_TAIL    G_MAXUINT
#define NAMED_UNIT (G_GUINT64_CONSTANT (1) << 31) /* and an index of unit_names */

typedef struct
{
  SimTime end;
  guint8 annotation;
  guint32 unit;
  TraceRecord record; /* of TRACE_COMM */
} Frame;

typedef struct
{
  GArray *frames; /* Frame */
  guint32 unit;   /* whose forward or backward runs, by hooks that have passed */
  gboolean recomputes;
  gboolean is_autograd;
} Thread;

typedef struct
{
  const TraceFile *file;
  Thread *threads;
  GArray *contexts; /* TraceContext, in order of time */
  int next_step;    /* the first that has not ended */
  int step;
  guint16 micro_batch;
  gboolean is_backward;     /* of this micro-batch, begun */
  gboolean has_annotations; /* of FSDP */
  gboolean has_autograd;    /* a thread of it is known */
  guint tail;              /* first context behind the backward, while it may be the optimizer's; or
                              NO_TAIL */
  guint n_blocks;          /* forwards of blocks in this micro-batch */
  guint n_backward_blocks; /* backwards of blocks begun */
  guint n_done;            /* FSDP1: post-backward hooks ended */
  guint n_pre_backward;    /* FSDP1 */
} Walk;

static Frame *
frame_at (const Thread *thread, guint from_top)
{
  return &g_array_index (thread->frames, Frame, thread->frames->len - 1 - from_top);
}

static const Frame *
innermost (const Thread *thread, TraceAnnotation annotation)
{
  for (guint i = 0; i < thread->frames->len; i++)
    if (frame_at (thread, i)->annotation == annotation)
      return frame_at (thread, i);
  return NULL;
}

/* ---- steps and micro-batches ---- */

static void
begin_micro_batch (Walk *walk, guint16 micro_batch)
{
  walk->micro_batch = micro_batch;
  walk->is_backward = FALSE;
  walk->n_blocks = walk->n_backward_blocks = walk->n_done = walk->n_pre_backward = 0;
}

static TraceContext *
context_at (const Walk *walk, guint index)
{
  return &g_array_index (walk->contexts, TraceContext, index);
}

/* What the main thread launched behind the last backward of a step: clipping, then the
 * optimizer, by its annotation where there is one. */
static void
settle_tail_as_optimizer (Walk *walk)
{
  gboolean has_optimizer = FALSE;

  for (guint i = walk->tail; i < walk->contexts->len; i++)
    has_optimizer |= context_at (walk, i)->op == TIMELINE_OPTIMIZER;
  for (guint i = walk->tail; i < walk->contexts->len; i++)
    {
      TraceContext *context = context_at (walk, i);

      context->phase = PHASE_OPTIMIZER;
      if (context->op == TIMELINE_OPTIMIZER)
        has_optimizer = FALSE;
      else
        context->op = has_optimizer ? TIMELINE_GRAD_CLIP : TIMELINE_OPTIMIZER;
    }
  walk->tail = NO_TAIL;
}

/* Another backward followed: it was the forward of the next micro-batch. */
static void
settle_tail_as_forward (Walk *walk)
{
  for (guint i = walk->tail; i < walk->contexts->len; i++)
    context_at (walk, i)->micro_batch = walk->micro_batch;
  walk->tail = NO_TAIL;
}

static void
begin_step (Walk *walk, int step)
{
  if (walk->tail != NO_TAIL)
    settle_tail_as_optimizer (walk);
  walk->step = step;
  begin_micro_batch (walk, 0);
}

static void
advance_steps (Walk *walk, SimTime now)
{
  const GArray *steps = walk->file->host_steps;
  int step = -1;

  while (walk->next_step < (int)steps->len
         && g_array_index (steps, TraceStep, walk->next_step).end <= now)
    walk->next_step++;
  if (walk->next_step < (int)steps->len
      && g_array_index (steps, TraceStep, walk->next_step).start <= now)
    step = walk->next_step;
  if (step != walk->step)
    begin_step (walk, step);
}

/* FSDP's forward on the main thread after a backward: the next micro-batch. */
static void
note_forward (Walk *walk)
{
  walk->has_annotations = TRUE;
  if (!walk->is_backward)
    return;
  begin_micro_batch (walk, walk->micro_batch + 1);
  walk->tail = NO_TAIL;
}

static void
note_backward (Walk *walk)
{
  if (walk->tail != NO_TAIL)
    {
      begin_micro_batch (walk, walk->micro_batch + 1);
      settle_tail_as_forward (walk);
    }
  walk->is_backward = TRUE;
}

/* ---- units ---- */

static guint32
block_unit (guint block)
{
  return UNIT_FIRST_BLOCK + block;
}

/* FSDP1: of those whose backward has not ended, the last. */
static guint32
last_open_block (const Walk *walk)
{
  return walk->n_done < walk->n_blocks ? block_unit (walk->n_blocks - 1 - walk->n_done) : UNIT_ROOT;
}

static guint32
unit_after (const Walk *walk, guint32 unit, gboolean is_backward)
{
  if (!is_backward)
    return unit == UNIT_ROOT ? block_unit (0) : unit + 1;
  if (unit == UNIT_ROOT)
    return last_open_block (walk);
  return unit > UNIT_FIRST_BLOCK ? unit - 1 : UNIT_ROOT;
}

static guint32
fsdp1_forward_unit (Walk *walk, const Thread *thread)
{
  if (thread->is_autograd)
    return last_open_block (walk);
  if (innermost (thread, ANNOTATION_FSDP1_FORWARD) == NULL)
    {
      note_forward (walk);
      walk->n_blocks = 0;
      return UNIT_ROOT;
    }
  return block_unit (walk->n_blocks++);
}

static guint32
fsdp1_prefetched_unit (const Walk *walk, const Thread *thread)
{
  return unit_after (walk, thread->frames->len > 0 ? frame_at (thread, 0)->unit : thread->unit,
                     thread->is_autograd);
}

static guint32
named_unit (const TraceRecord *record)
{
  return record->name == 0 ? UNIT_ROOT : (guint32)(NAMED_UNIT | record->name);
}

static void
fsdp2_pre_forward (Walk *walk, Thread *thread, guint32 unit)
{
  if (!thread->is_autograd)
    {
      note_forward (walk);
      walk->n_blocks += unit != UNIT_ROOT;
    }
  thread->recomputes = thread->is_autograd;
  thread->unit = unit;
}

static guint32
open_annotation (Walk *walk, Thread *thread, const TraceRecord *record)
{
  switch (record->annotation)
    {
    case ANNOTATION_FSDP1_FORWARD:
      return fsdp1_forward_unit (walk, thread);
    case ANNOTATION_FSDP1_PREFETCH:
      return fsdp1_prefetched_unit (walk, thread);
    case ANNOTATION_FSDP1_PRE_BACKWARD:
      thread->unit = walk->n_pre_backward++ == 0 ? UNIT_ROOT : last_open_block (walk);
      walk->n_backward_blocks += thread->unit != UNIT_ROOT;
      return thread->unit;
    case ANNOTATION_FSDP1_POST_BACKWARD:
      return last_open_block (walk);
    case ANNOTATION_FSDP2_PRE_FORWARD:
      fsdp2_pre_forward (walk, thread, named_unit (record));
      return thread->unit;
    case ANNOTATION_FSDP2_PRE_BACKWARD:
      thread->unit = named_unit (record);
      walk->n_backward_blocks += thread->unit != UNIT_ROOT;
      return thread->unit;
    case ANNOTATION_FSDP2_POST_FORWARD:
    case ANNOTATION_FSDP2_POST_BACKWARD:
    case ANNOTATION_FSDP2_GATHER:
    case ANNOTATION_FSDP2_REDUCE_PART:
      return named_unit (record);
    default:
      return thread->unit;
    }
}

static void
close_annotation (Walk *walk, Thread *thread, const Frame *frame)
{
  switch (frame->annotation)
    {
    case ANNOTATION_FSDP1_POST_BACKWARD:
      walk->n_done++;
      thread->unit = UNIT_ROOT;
      break;
    case ANNOTATION_FSDP2_POST_FORWARD:
      thread->recomputes = FALSE;
      if (!thread->is_autograd)
        thread->unit = UNIT_ROOT;
      break;
    case ANNOTATION_FSDP2_POST_BACKWARD:
      thread->unit = UNIT_ROOT;
      break;
    default:
      break;
    }
}

static void
close_ended (Walk *walk, Thread *thread, SimTime now)
{
  g_assert (thread->frames != NULL);
  while (thread->frames->len > 0 && frame_at (thread, 0)->end <= now)
    {
      const Frame frame = *frame_at (thread, 0);

      g_array_set_size (thread->frames, thread->frames->len - 1);
      close_annotation (walk, thread, &frame);
    }
}

/* ---- contexts ---- */

static gboolean
is_fsdp (guint8 annotation)
{
  return annotation >= ANNOTATION_FSDP1_FORWARD;
}

/* FSDP's own work on parameters and gradients, whose kernels are copies. */
static gboolean
only_copies (guint8 annotation)
{
  return annotation >= ANNOTATION_FSDP1_PRE_BACKWARD;
}

static TimelineOp
op_of_launch (const Thread *thread)
{
  for (guint i = 0; i < thread->frames->len; i++)
    {
      const guint8 annotation = frame_at (thread, i)->annotation;

      if (annotation == ANNOTATION_OPTIMIZER || annotation == ANNOTATION_ZERO_GRAD)
        return TIMELINE_OPTIMIZER;
      if (annotation == ANNOTATION_FSDP1_FORWARD)
        return thread->is_autograd ? TIMELINE_RECOMPUTE : TIMELINE_FORWARD;
      if (is_fsdp (annotation) && only_copies (annotation))
        return TIMELINE_COPY;
    }
  if (thread->is_autograd)
    return thread->recomputes ? TIMELINE_RECOMPUTE : TIMELINE_BACKWARD;
  return TIMELINE_FORWARD;
}

static guint32
unit_of_launch (const Thread *thread)
{
  for (guint i = 0; i < thread->frames->len; i++)
    if (is_fsdp (frame_at (thread, i)->annotation))
      return frame_at (thread, i)->unit;
  return thread->unit;
}

/* The root unit holds embedding and head, before the blocks and behind them. */
static guint32
part_of (const Walk *walk, const Thread *thread, guint32 unit)
{
  if (unit != UNIT_ROOT || !walk->has_annotations)
    return unit;
  if (thread->is_autograd)
    return walk->n_backward_blocks == 0 ? UNIT_HEAD : UNIT_EMBED;
  return walk->n_blocks == 0 ? UNIT_EMBED : UNIT_HEAD;
}

static gboolean
is_same (const TraceContext *a, const TraceContext *b)
{
  return a->step == b->step && a->unit == b->unit && a->part == b->part
         && a->micro_batch == b->micro_batch && a->phase == b->phase && a->op == b->op
         && a->has_unit == b->has_unit && a->collective == NCCL_NONE && b->collective == NCCL_NONE;
}

static TraceContext
make_context (const Walk *walk, const Thread *thread, gint64 id)
{
  const guint32 unit = unit_of_launch (thread);
  const Frame *comm = innermost (thread, ANNOTATION_COMM);
  TraceContext context = {
    .id = id,
    .step = walk->step,
    .unit = unit,
    .part = part_of (walk, thread, unit),
    .micro_batch = walk->micro_batch,
    .op = (guint8)op_of_launch (thread),
    .has_unit = walk->has_annotations,
    .has_phase = walk->has_autograd,
    .elements = -1,
  };

  context.phase = thread->is_autograd                ? PHASE_BACKWARD
                  : context.op == TIMELINE_OPTIMIZER ? PHASE_OPTIMIZER
                                                     : PHASE_FORWARD;
  if (comm != NULL)
    {
      context.collective = comm->record.collective;
      context.elements = comm->record.elements;
      context.dtype_bytes = comm->record.dtype_bytes;
      context.group = comm->record.group;
    }
  return context;
}

static void
take_launch (Walk *walk, Thread *thread, const TraceRecord *record)
{
  TraceContext context;
  const guint n = walk->contexts->len;

  if (thread->is_autograd)
    note_backward (walk);
  context = make_context (walk, thread, record->id);
  if (n > 0 && is_same (context_at (walk, n - 1), &context))
    return;
  g_array_append_val (walk->contexts, context);
  if (!thread->is_autograd && walk->is_backward && walk->tail == NO_TAIL)
    walk->tail = n;
}

static void
take_record (Walk *walk, const TraceRecord *record)
{
  Thread *thread = &walk->threads[record->stream];
  Frame frame = { .end = record->end, .annotation = record->annotation, .record = *record };

  advance_steps (walk, record->start);
  close_ended (walk, thread, record->start);
  if (record->kind == TRACE_LAUNCH)
    {
      take_launch (walk, thread, record);
      return;
    }
  if (thread->is_autograd)
    note_backward (walk);
  frame.unit = open_annotation (walk, thread, record);
  g_array_append_val (thread->frames, frame);
}

/* ---- numbers of units that have names ---- */

/* The first whole number of a module's name: 3 of "model.layers.3.mlp"; -1: none. */
static gint64
number_in (const char *name)
{
  g_auto (GStrv) parts = g_strsplit (name, ".", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    {
      guint64 number;

      if (g_ascii_string_to_unsigned (parts[i], 10, 0, TRACE_MAX_BLOCKS - 1, &number, NULL))
        return (gint64)number;
    }
  return -1;
}

static gboolean
has_any (const char *name, const char *const *words)
{
  for (; *words != NULL; words++)
    if (strstr (name, *words) != NULL)
      return TRUE;
  return FALSE;
}

static guint32
unit_without_number (const char *name)
{
  static const char *const embeddings[] = { "emb", "wte", "wpe", NULL };
  static const char *const heads[] = { "head", "output", "norm", "ln_f", NULL };

  if (has_any (name, heads))
    return UNIT_HEAD;
  return has_any (name, embeddings) ? UNIT_EMBED : UNIT_ROOT;
}

/* By the numbers in their names; where two have the same, as a block and its attention,
 * in the order in which they were first seen. */
static guint32 *
number_units (const TraceFile *file)
{
  const guint n = file->unit_names->len;
  guint32 *units = g_new0 (guint32, n);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_direct_hash, g_direct_equal);
  gboolean clash = FALSE;
  guint next = 0;

  for (guint i = 1; i < n; i++)
    {
      const gint64 number = number_in (g_ptr_array_index (file->unit_names, i));

      if (number >= 0)
        clash |= !g_hash_table_add (seen, GINT_TO_POINTER ((int)number + 1));
    }
  for (guint i = 1; i < n; i++)
    {
      const char *name = g_ptr_array_index (file->unit_names, i);
      const gint64 number = number_in (name);

      units[i]
          = number < 0 ? unit_without_number (name) : block_unit (clash ? next++ : (guint)number);
    }
  return units;
}

static void
resolve_units (const TraceFile *file, GArray *contexts)
{
  g_autofree guint32 *units = number_units (file);

  for (guint i = 0; i < contexts->len; i++)
    {
      TraceContext *context = &g_array_index (contexts, TraceContext, i);

      if (context->unit & NAMED_UNIT)
        context->unit = units[context->unit & ~NAMED_UNIT];
      if (context->part & NAMED_UNIT)
        context->part = units[context->part & ~NAMED_UNIT];
    }
}

/* ---- the whole ---- */

static int
compare_ids (gconstpointer a, gconstpointer b)
{
  const gint64 left = ((const TraceContext *)a)->id, right = ((const TraceContext *)b)->id;

  return left < right ? -1 : left > right;
}

GArray *
trace_host_contexts (TraceFile *file)
{
  const guint n_threads = MAX (file->threads->len, 1);
  Walk walk = {
    .file = file,
    .threads = g_new0 (Thread, n_threads),
    .contexts = g_array_new (FALSE, FALSE, sizeof (TraceContext)),
    .step = -1,
    .tail = NO_TAIL,
  };
  const TraceRecord *record;

  for (guint i = 0; i < n_threads; i++)
    {
      walk.threads[i].frames = g_array_new (FALSE, FALSE, sizeof (Frame));
      walk.threads[i].is_autograd
          = i < file->threads->len && g_array_index (file->threads, TraceThread, i).is_autograd;
      walk.has_autograd |= walk.threads[i].is_autograd;
    }
  while ((record = trace_store_next (file->host)) != NULL)
    take_record (&walk, record);
  if (walk.tail != NO_TAIL)
    settle_tail_as_optimizer (&walk);
  for (guint i = 0; i < n_threads; i++)
    g_array_unref (walk.threads[i].frames);
  g_free (walk.threads);
  resolve_units (file, walk.contexts);
  g_array_sort (walk.contexts, compare_ids);
  return walk.contexts;
}

const TraceContext *
trace_context_of (const GArray *contexts, gint64 id)
{
  guint low = 0, high = contexts->len; /* the last with an id up to @id is before high */

  if (id == 0)
    return NULL;
  while (low < high)
    {
      const guint middle = low + (high - low) / 2;

      if (g_array_index (contexts, TraceContext, middle).id <= id)
        low = middle + 1;
      else
        high = middle;
    }
  return low == 0 ? NULL : &g_array_index (contexts, TraceContext, low - 1);
}

#include <config.h>

#include <string.h>

#include "interop/trace_file.h"

#define MOST_STREAMS (G_MAXUINT8) /* those beyond share the last place */

typedef struct
{
  TraceFile *file;
  const TraceReadOptions *options;
  GHashTable *units; /* name to index + 1 in unit_names */
  gboolean has_begun, has_base;
  guint last_process; /* where the event before was found */
} Reader;

/* ---- finding a place, which mostly is that of the event before ---- */

static TraceProcess *
find_process (Reader *reader, gint64 pid)
{
  GArray *processes = reader->file->processes;
  TraceProcess process = { .pid = pid };

  if (reader->last_process < processes->len
      && trace_file_process (reader->file, reader->last_process)->pid == pid)
    return trace_file_process (reader->file, reader->last_process);
  for (guint i = 0; i < processes->len; i++)
    if (trace_file_process (reader->file, i)->pid == pid)
      {
        reader->last_process = i;
        return trace_file_process (reader->file, i);
      }
  process.streams = g_array_new (FALSE, TRUE, sizeof (TraceStream));
  g_array_append_val (processes, process);
  reader->last_process = processes->len - 1;
  return trace_file_process (reader->file, reader->last_process);
}

static guint8
find_stream (TraceProcess *process, gint64 tid)
{
  GArray *streams = process->streams;
  TraceStream stream = { .tid = tid };

  for (guint i = 0; i < streams->len; i++)
    if (g_array_index (streams, TraceStream, i).tid == tid)
      return (guint8)i;
  if (streams->len < MOST_STREAMS)
    g_array_append_val (streams, stream);
  return (guint8)(streams->len - 1);
}

static guint8
find_thread (Reader *reader, gint64 tid)
{
  GArray *threads = reader->file->threads;
  TraceThread thread = { .tid = tid };

  for (guint i = 0; i < threads->len; i++)
    if (g_array_index (threads, TraceThread, i).tid == tid)
      return (guint8)i;
  if (threads->len < MOST_STREAMS)
    g_array_append_val (threads, thread);
  return (guint8)(threads->len - 1);
}

static guint16
find_group (Reader *reader, const TraceArguments *arguments)
{
  GArray *groups = reader->file->groups;
  TraceGroup group = { arguments->group, (guint)CLAMP (arguments->group_size, 0, G_MAXINT) };

  if (arguments->group == 0)
    return 0;
  for (guint i = 1; i < groups->len; i++)
    if (g_array_index (groups, TraceGroup, i).hash == group.hash)
      return (guint16)i;
  if (groups->len < G_MAXUINT16)
    g_array_append_val (groups, group);
  return (guint16)(groups->len - 1);
}

static guint32
find_unit (Reader *reader, const char *annotation)
{
  GPtrArray *names = reader->file->unit_names;
  gsize length;
  const char *begin = trace_annotation_unit (annotation, &length);
  g_autofree char *name = g_strndup (begin, length);
  guint index = GPOINTER_TO_UINT (g_hash_table_lookup (reader->units, name));

  if (index > 0)
    return index - 1;
  if (names->len == TRACE_MAX_BLOCKS)
    return 0;
  g_ptr_array_add (names, g_steal_pointer (&name));
  g_hash_table_insert (reader->units, g_ptr_array_index (names, names->len - 1),
                       GUINT_TO_POINTER (names->len));
  return names->len - 1;
}

/* ---- times ---- */

/* Time 0 is the profiler's own, or, where its clock counts from 1970, the first event. */
static gboolean
place_in_time (Reader *reader, const TraceEvent *event, TraceRecord *record)
{
  SimTime duration = 0;

  if (!reader->has_base)
    {
      SimTime since;

      reader->file->base_us = trace_time_since (&event->start, 0, &since) ? 0 : event->start.us;
      reader->has_base = TRUE;
    }
  if (!trace_time_since (&event->start, reader->file->base_us, &record->start)
      || !trace_time_since (&event->duration, 0, &duration))
    return FALSE;
  record->end = record->start + MAX (duration, 0);
  return TRUE;
}

/* ---- events of the GPU ---- */

static void
take_labels (const TraceArguments *arguments, TraceRecord *record)
{
  if (arguments->op < 0 || arguments->lane < 0 || arguments->phase < 0 || arguments->unit < 0
      || arguments->micro_batch < 0)
    return;
  record->is_labelled = TRUE;
  record->op = (guint8)arguments->op;
  record->lane = (guint8)arguments->lane;
  record->phase = (guint8)arguments->phase;
  record->unit = (guint32)arguments->unit;
  record->micro_batch = (guint16)arguments->micro_batch;
  if (arguments->begun_ps != SIM_TIME_NONE)
    record->start = MIN (arguments->begun_ps, record->start);
  if (arguments->ended_ps != SIM_TIME_NONE)
    record->end = MAX (MIN (arguments->ended_ps, record->end), record->start);
  if (arguments->waited_ps != SIM_TIME_NONE)
    record->peers_from = CLAMP (record->start + arguments->waited_ps, record->start, record->end);
}

/* More than any GPU holds: a size beyond is none, and sums of sizes stay within 64 bits. */
#define MOST_ELEMENTS (G_GINT64_CONSTANT (1) << 40)

static gint64
believed (gint64 elements)
{
  return elements <= MOST_ELEMENTS ? elements : -1;
}

/* Elements of the bigger side: all-gather's output, reduce-scatter's input. */
static gint64
elements_of (const TraceArguments *arguments)
{
  return believed (MAX (arguments->in_elements, arguments->out_elements));
}

static void
take_collective (Reader *reader, const TraceEvent *event, TraceRecord *record)
{
  const TraceArguments *arguments = &event->arguments;
  TraceCollective by_name = trace_kernel_collective (event->name);

  if (by_name == NCCL_UNKNOWN && arguments->collective != NCCL_NONE)
    by_name = arguments->collective;
  record->collective = (guint8)by_name;
  if (by_name == NCCL_NONE)
    return;
  record->elements = elements_of (arguments);
  record->dtype_bytes = (guint8)arguments->dtype_bytes;
  record->group = find_group (reader, arguments);
}

static void
count (TraceFile *file, TraceProcess *process, const TraceRecord *record)
{
  if (record->kind == TRACE_COPY)
    {
      process->n_copies++;
      file->n_copies++;
      return;
    }
  process->n_kernels++;
  file->n_kernels++;
  if (record->collective == NCCL_NONE)
    {
      g_array_index (process->streams, TraceStream, record->stream).kernel_time
          += record->end - record->start;
      return;
    }
  process->n_by_collective[record->collective]++;
  file->n_by_collective[record->collective]++;
}

static void
take_gpu_work (Reader *reader, const TraceEvent *event, TraceRecordKind kind)
{
  TraceFile *file = reader->file;
  TraceRecord record = { .kind = (guint8)kind, .elements = -1, .peers_from = SIM_TIME_NONE };
  TraceProcess *process;

  if (!event->has_pid || !place_in_time (reader, event, &record))
    {
      file->n_unplaced++;
      return;
    }
  process = find_process (reader, event->pid);
  record.process = reader->last_process;
  record.sequence = file->n_records++;
  record.stream
      = find_stream (process, event->arguments.stream >= 0 ? event->arguments.stream : event->tid);
  record.id = event->arguments.correlation;
  record.name = event->name_hash;
  if (kind == TRACE_KERNEL)
    take_collective (reader, event, &record);
  if (file->is_ours)
    take_labels (&event->arguments, &record);
  if (event->arguments.bytes >= 0 && (file->is_ours || record.elements < 0))
    record.elements = believed (event->arguments.bytes);
  count (file, process, &record);
  trace_store_add (file->gpu, &record);
}

/* fsdpsim's host waits for events of its GPU, and computes what is offloaded. */
static void
take_our_host_work (Reader *reader, const TraceEvent *event)
{
  TraceFile *file = reader->file;
  TraceRecord record = { .kind = TRACE_HOST_WORK, .elements = -1, .peers_from = SIM_TIME_NONE };

  if (!event->has_pid || !place_in_time (reader, event, &record))
    return;
  find_process (reader, event->pid);
  record.process = reader->last_process;
  record.sequence = file->n_records++;
  record.stream = G_MAXUINT8;
  take_labels (&event->arguments, &record);
  if (record.is_labelled)
    trace_store_add (file->gpu, &record);
}

/* ---- events of the host ---- */

static void
add_step (GArray *steps, guint32 process, const TraceEvent *event, const TraceRecord *record)
{
  TraceStep step = {
    .process = process,
    .number = trace_step_number (event->name),
    .start = record->start,
    .end = record->end,
  };

  g_array_append_val (steps, step);
}

static void
take_gpu_annotation (Reader *reader, const TraceEvent *event)
{
  TraceRecord record;

  if (event->annotation != ANNOTATION_STEP || !event->has_pid
      || !place_in_time (reader, event, &record))
    return;
  find_process (reader, event->pid);
  add_step (reader->file->gpu_steps, reader->last_process, event, &record);
}

static gboolean
has_unit (TraceAnnotation annotation)
{
  return annotation >= ANNOTATION_FSDP2_PRE_FORWARD;
}

/* Hooks on gradients run on autograd's thread. */
static gboolean
runs_backward (TraceAnnotation annotation)
{
  return annotation == ANNOTATION_AUTOGRAD || annotation == ANNOTATION_FSDP1_PRE_BACKWARD
         || annotation == ANNOTATION_FSDP2_PRE_BACKWARD;
}

static void
take_host_annotation (Reader *reader, const TraceEvent *event)
{
  TraceFile *file = reader->file;
  TraceRecord record = {
    .kind = event->annotation == ANNOTATION_COMM ? TRACE_COMM : TRACE_ANNOTATION,
    .annotation = (guint8)event->annotation,
    .stream = find_thread (reader, event->tid),
    .elements = -1,
  };

  if (runs_backward (event->annotation))
    g_array_index (file->threads, TraceThread, record.stream).is_autograd = TRUE;
  if (event->annotation == ANNOTATION_AUTOGRAD)
    return;
  if (!place_in_time (reader, event, &record))
    return;
  if (event->annotation == ANNOTATION_STEP)
    {
      add_step (file->host_steps, 0, event, &record);
      return;
    }
  if (event->annotation == ANNOTATION_OPTIMIZER)
    add_step (file->optimizer_steps, 0, event, &record);
  record.sequence = file->n_records++;
  if (has_unit (event->annotation))
    record.name = find_unit (reader, event->name);
  if (event->annotation == ANNOTATION_COMM)
    {
      file->n_recorded++;
      record.collective = (guint8)event->arguments.collective;
      record.elements = elements_of (&event->arguments);
      record.dtype_bytes = (guint8)event->arguments.dtype_bytes;
      record.group = find_group (reader, &event->arguments);
    }
  trace_store_add (file->host, &record);
}

static void
take_launch (Reader *reader, const TraceEvent *event)
{
  TraceRecord record = { .kind = TRACE_LAUNCH, .id = event->arguments.correlation };

  if (record.id == 0 || !trace_call_launches (event->name)
      || !place_in_time (reader, event, &record))
    return;
  record.sequence = reader->file->n_records++;
  record.stream = find_thread (reader, event->tid);
  trace_store_add (reader->file->host, &record);
}

/* The header's "generator" comes before the events. */
static void
begin (Reader *reader)
{
  TraceFile *file = reader->file;

  file->is_ours = file->header.generator != NULL
                  && g_str_has_prefix (file->header.generator, PACKAGE_NAME " ");
  reader->has_begun = TRUE;
}

static void
take_event (const TraceEvent *event, gpointer data)
{
  Reader *reader = data;

  if (!reader->has_begun)
    begin (reader);
  switch (event->category)
    {
    case CATEGORY_KERNEL:
      take_gpu_work (reader, event, TRACE_KERNEL);
      break;
    case CATEGORY_MEMCPY:
    case CATEGORY_MEMSET:
      take_gpu_work (reader, event, TRACE_COPY);
      break;
    case CATEGORY_RUNTIME:
      if (reader->file->is_ours)
        take_our_host_work (reader, event);
      else
        take_launch (reader, event);
      break;
    case CATEGORY_CPU:
      if (event->annotation != ANNOTATION_CPU_WORK)
        take_host_annotation (reader, event);
      else if (reader->file->is_ours)
        take_our_host_work (reader, event);
      break;
    case CATEGORY_GPU_ANNOTATION:
      take_gpu_annotation (reader, event);
      break;
    default:
      break;
    }
}

static void
show_progress (guint64 n_bytes, gpointer data)
{
  const Reader *reader = data;

  if (reader->options->progress != NULL)
    reader->options->progress (n_bytes, reader->options->progress_data);
}

/* ---- the whole ---- */

static int
compare_steps (gconstpointer a, gconstpointer b)
{
  const TraceStep *left = a, *right = b;

  if (left->process != right->process)
    return left->process < right->process ? -1 : 1;
  return left->start < right->start ? -1 : left->start > right->start;
}

static void
clear_process (gpointer process)
{
  g_array_unref (((TraceProcess *)process)->streams);
}

static TraceFile *
file_new (const char *path)
{
  TraceFile *file = g_new0 (TraceFile, 1);

  file->path = g_strdup (path);
  file->processes = g_array_new (FALSE, TRUE, sizeof (TraceProcess));
  g_array_set_clear_func (file->processes, clear_process);
  file->gpu_steps = g_array_new (FALSE, TRUE, sizeof (TraceStep));
  file->host_steps = g_array_new (FALSE, TRUE, sizeof (TraceStep));
  file->optimizer_steps = g_array_new (FALSE, TRUE, sizeof (TraceStep));
  file->groups = g_array_new (FALSE, TRUE, sizeof (TraceGroup));
  g_array_set_size (file->groups, 1);
  file->unit_names = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (file->unit_names, g_strdup (""));
  file->threads = g_array_new (FALSE, TRUE, sizeof (TraceThread));
  file->gpu = trace_store_new ();
  file->host = trace_store_new ();
  return file;
}

void
trace_file_free (TraceFile *file)
{
  if (file == NULL)
    return;
  g_free (file->path);
  g_free (file->fault);
  trace_header_clear (&file->header);
  g_array_unref (file->processes);
  g_array_unref (file->gpu_steps);
  g_array_unref (file->host_steps);
  g_array_unref (file->optimizer_steps);
  g_array_unref (file->groups);
  g_ptr_array_unref (file->unit_names);
  g_array_unref (file->threads);
  trace_store_free (file->gpu);
  trace_store_free (file->host);
  g_free (file);
}

static gboolean
read_events (TraceFile *file, const TraceReadOptions *options, GError **error)
{
  g_autoptr (TraceSource) source = trace_source_open (file->path, error);
  g_autoptr (GHashTable) units = g_hash_table_new (g_str_hash, g_str_equal);
  Reader reader = { .file = file, .options = options, .units = units };
  const TraceHandlers handlers = {
    .event = take_event,
    .progress = show_progress,
    .data = &reader,
  };

  if (source == NULL)
    return FALSE;
  g_hash_table_insert (units, g_ptr_array_index (file->unit_names, 0), GUINT_TO_POINTER (1));
  if (!trace_parse (source, &handlers, &file->header, &file->faults, error))
    {
      if (trace_source_fault (source) != NULL)
        g_prefix_error (error, "%s, and ", trace_source_fault (source));
      g_prefix_error (error, "%s ", file->path);
      return FALSE;
    }
  file->fault = g_strdup (trace_source_fault (source));
  return TRUE;
}

/* Where no profiler steps were marked, a step ends with the optimizer's. */
static void
find_steps (TraceFile *file)
{
  SimTime start = G_MININT64 / 2;

  g_array_sort (file->gpu_steps, compare_steps);
  g_array_sort (file->host_steps, compare_steps);
  g_array_sort (file->optimizer_steps, compare_steps);
  if (file->host_steps->len > 0)
    return;
  file->steps_are_optimizers = file->optimizer_steps->len > 0;
  for (guint i = 0; i < file->optimizer_steps->len; i++)
    {
      TraceStep step = g_array_index (file->optimizer_steps, TraceStep, i);

      step.start = start;
      step.number = i;
      start = step.end;
      g_array_append_val (file->host_steps, step);
    }
}

TraceFile *
trace_file_read (const char *path, const TraceReadOptions *options, GError **error)
{
  g_autoptr (TraceFile) file = file_new (path);

  if (!read_events (file, options, error) || !trace_store_finish (file->gpu, options->keep, error)
      || !trace_store_finish (file->host, options->keep, error))
    return NULL;
  find_steps (file);
  return g_steal_pointer (&file);
}

/* Chrome Trace Event format with the names that PyTorch's profiler (Kineto) uses:
 * a process a rank, in it the Python thread and a thread a CUDA stream.
 *
 * Perfetto drops events before time 0, so what began before the reported steps is
 * cut there, and its arguments say when it really began and ended. Times, labels
 * and facts are complete: `fsdpsim trace` has the program's own figures from it. */
#include <config.h>

#include <math.h>
#include <string.h>

#include <yajl/yajl_gen.h>

#include "report/format.h"
#include "report/report.h"

/* Kineto's stream 7 is CUDA's default stream. */
#define FIRST_STREAM_THREAD 7
#define HOST_THREAD         1
#define ARROW_INSIDE_PS     1 /* an arrow leaves inside its slice, else it binds to nothing */

typedef struct
{
  yajl_gen json;
  const ReportScenario *scenario;
  const ReportRun *run;
  const Timeline *timeline;
  gint64 next_flow;
} Writer;

static void
append (void *text, const char *part, size_t length)
{
  g_string_append_len (text, part, (gssize)length);
}

static void
put_text (Writer *writer, const char *text)
{
  yajl_gen_string (writer->json, (const unsigned char *)text, strlen (text));
}

static void
put_member (Writer *writer, const char *name, const char *value)
{
  put_text (writer, name);
  put_text (writer, value);
}

static void
put_integer (Writer *writer, const char *name, gint64 value)
{
  put_text (writer, name);
  yajl_gen_integer (writer->json, value);
}

static void
put_time (Writer *writer, const char *name, SimTime time)
{
  char buffer[FORMAT_SIZE];

  put_text (writer, name);
  format_time_us (buffer, time);
  yajl_gen_number (writer->json, buffer, strlen (buffer));
}

/* ---- tracks ---- */

/* Until torch 2.7 ProcessGroupNCCL ran its kernels on a stream of its own for each
 * communicator; since 2.8 they run on the caller's (pytorch#148590). */
static gboolean
runs_on_its_communicators_stream (const Writer *writer, const TimelineRecord *record)
{
  return writer->run->scenario->fsdp.torch_minor < 8
         && (timeline_op_is_collective (record->label.op)
             || (record->label.op == TIMELINE_GRAD_CLIP && record->lane != LANE_COMPUTE));
}

static gint64
communicator_thread (const Writer *writer, TimelineLane lane)
{
  return FIRST_STREAM_THREAD + writer->timeline->stream_names->len + lane;
}

static gint64
thread_of (const Writer *writer, const TimelineRecord *record)
{
  if (record->lane == LANE_HOST)
    return HOST_THREAD;
  if (runs_on_its_communicators_stream (writer, record))
    return communicator_thread (writer, record->lane);
  return FIRST_STREAM_THREAD + record->stream;
}

static void
put_track (Writer *writer, gint64 thread)
{
  put_integer (writer, "pid", writer->timeline->rank);
  put_integer (writer, "tid", thread);
}

static void
put_real (Writer *writer, const char *name, double value)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  put_text (writer, name);
  g_ascii_dtostr (buffer, sizeof buffer, value);
  yajl_gen_number (writer->json, buffer, strlen (buffer));
}

static void
put_metadata (Writer *writer, const char *what, gint64 thread, const char *key, const char *value,
              gint64 number)
{
  yajl_gen_map_open (writer->json);
  put_member (writer, "ph", "M");
  put_member (writer, "name", what);
  put_track (writer, thread);
  put_text (writer, "args");
  yajl_gen_map_open (writer->json);
  if (value != NULL)
    put_member (writer, key, value);
  else
    put_integer (writer, key, number);
  yajl_gen_map_close (writer->json);
  yajl_gen_map_close (writer->json);
}

static void
put_thread (Writer *writer, gint64 thread, const char *name)
{
  put_metadata (writer, "thread_name", thread, "name", name, 0);
  put_metadata (writer, "thread_sort_index", thread, "sort_index", NULL, thread);
}

static void
put_communicator_threads (Writer *writer)
{
  gboolean seen[N_TIMELINE_LANES] = { FALSE };

  for (guint32 i = timeline_first_reported (writer->timeline); i < writer->timeline->records->len;
       i++)
    {
      const TimelineRecord *record = timeline_record (writer->timeline, i);
      gint64 thread = thread_of (writer, record);
      g_autofree char *name = NULL;

      if (!runs_on_its_communicators_stream (writer, record) || seen[record->lane])
        continue;
      seen[record->lane] = TRUE;
      name = g_strdup_printf ("stream %" G_GINT64_FORMAT " nccl %s", thread,
                              timeline_lane_name (record->lane));
      put_thread (writer, thread, name);
    }
}

static guint
device_of (const Writer *writer)
{
  return writer->timeline->rank % writer->run->scenario->cluster.gpus_per_node;
}

static void
put_tracks (Writer *writer)
{
  const GPtrArray *streams = writer->timeline->stream_names;
  const guint rank = writer->timeline->rank;
  g_autofree char *process = g_strdup_printf ("rank %u", rank);
  g_autofree char *label = g_strdup_printf ("GPU %u", device_of (writer));

  put_metadata (writer, "process_name", 0, "name", process, 0);
  put_metadata (writer, "process_labels", 0, "labels", label, 0);
  put_metadata (writer, "process_sort_index", 0, "sort_index", NULL, rank);
  put_thread (writer, HOST_THREAD, "python");
  for (guint s = 0; s < streams->len; s++)
    {
      g_autofree char *name = g_strdup_printf ("stream %u %s", FIRST_STREAM_THREAD + s,
                                               (const char *)g_ptr_array_index (streams, s));

      put_thread (writer, FIRST_STREAM_THREAD + s, name);
    }
  put_communicator_threads (writer);
}

/* ---- names ---- */

static const char *
nccl_type (Dtype dtype)
{
  return dtype == DTYPE_BF16 ? "bf16" : dtype == DTYPE_FP16 ? "f16" : "f32";
}

static const char *
torch_type (Dtype dtype)
{
  return dtype == DTYPE_BF16 ? "BFloat16" : dtype == DTYPE_FP16 ? "Half" : "Float";
}

/* What a collective moves: clipping's norm is one fp32 number. */
static Dtype
dtype_of (const Writer *writer, const TimelineRecord *record)
{
  const FsdpConfig *fsdp = &writer->run->scenario->fsdp;

  if (record->label.op == TIMELINE_GRAD_CLIP)
    return DTYPE_FP32;
  return record->label.op == TIMELINE_ALL_GATHER ? fsdp->param_dtype : fsdp->reduce_dtype;
}

/* A kernel's name holds the variant that it was compiled for, ring and LL, even
 * where it then runs another protocol (NCCL, src/device/generate.py). */
static char *
kernel_name (const Writer *writer, const TimelineRecord *record)
{
  const char *type = nccl_type (dtype_of (writer, record));
  g_autofree char *unit = timeline_unit_name (record->label.unit);

  if (record->lane == LANE_HOST && record->label.op == TIMELINE_WAIT)
    return g_strdup ("cudaEventSynchronize");
  if (record->lane == LANE_HOST)
    return g_strdup_printf ("fsdpsim_cpu::%s %s", timeline_op_name (record->label.op), unit);
  switch (record->label.op)
    {
    case TIMELINE_ALL_GATHER:
      return g_strdup ("ncclDevKernel_AllGather_RING_LL");
    case TIMELINE_REDUCE_SCATTER:
      return g_strdup_printf ("ncclDevKernel_ReduceScatter_Sum_%s_RING_LL", type);
    case TIMELINE_ALL_REDUCE:
      return g_strdup_printf ("ncclDevKernel_AllReduce_Sum_%s_RING_LL", type);
    case TIMELINE_GRAD_CLIP:
      if (record->lane != LANE_COMPUTE)
        return g_strdup_printf ("ncclDevKernel_AllReduce_Sum_%s_RING_LL", type);
      break;
    default:
      break;
    }
  return g_strdup_printf ("%s %s", timeline_op_name (record->label.op), unit);
}

/* As c10d names them in the profiler's "Collective name". */
static const char *
collective_name (TimelineOp op)
{
  switch (op)
    {
    case TIMELINE_ALL_GATHER:
      return "_allgather_base";
    case TIMELINE_REDUCE_SCATTER:
      return "_reduce_scatter_base";
    default:
      return "allreduce";
    }
}

/* ---- slices ---- */

static guint
group_size (const Writer *writer, const TimelineRecord *record)
{
  const Scenario *scenario = writer->run->scenario;
  const gboolean is_hybrid = scenario->fsdp.api != API_DDP
                             && (scenario->fsdp.strategy == STRATEGY_HYBRID_SHARD
                                 || scenario->fsdp.strategy == STRATEGY_HYBRID_SHARD_ZERO2);

  if (!is_hybrid || scenario->fsdp.shard_group_size == 0)
    return writer->run->facts.n_ranks;
  return record->lane == LANE_COMM_SHARD
             ? scenario->fsdp.shard_group_size
             : writer->run->facts.n_ranks / scenario->fsdp.shard_group_size;
}

/* The profiler counts elements of this rank's input and output; the timeline's
 * bytes are the bigger of the two. */
static void
put_collective_args (Writer *writer, const TimelineRecord *record)
{
  const TimelineOp op = record->label.op;
  const Dtype dtype = dtype_of (writer, record);
  const gint64 elements = record->bytes / dtype_bytes (dtype);
  const guint ranks = group_size (writer, record);

  put_member (writer, "Collective name", collective_name (op));
  put_integer (writer, "In msg nelems", op == TIMELINE_ALL_GATHER ? elements / ranks : elements);
  put_integer (writer, "Out msg nelems",
               op == TIMELINE_REDUCE_SCATTER ? elements / ranks : elements);
  put_integer (writer, "Group size", ranks);
  put_member (writer, "dtype", torch_type (dtype));
  put_member (writer, "Process Group Name", timeline_lane_name (record->lane));
  put_integer (writer, "bytes", record->bytes);
  put_time (writer, "waiting for ranks (us)", record->peers_from - record->start);
}

/* From the origin; what began or ended before it does so there. */
static SimTime
shown_start (const Writer *writer, const TimelineRecord *record)
{
  return MAX (record->start - writer->timeline->origin, 0);
}

static SimTime
shown_end (const Writer *writer, const TimelineRecord *record)
{
  return MAX (record->end - writer->timeline->origin, 0);
}

static void
put_cut_times (Writer *writer, const TimelineRecord *record)
{
  const SimTime origin = writer->timeline->origin;

  if (record->start < origin)
    put_time (writer, "began (us)", record->start - origin);
  if (record->end < origin)
    put_time (writer, "ended (us)", record->end - origin);
}

static void
put_args (Writer *writer, const TimelineRecord *record)
{
  g_autofree char *unit = timeline_unit_name (record->label.unit);

  put_text (writer, "args");
  yajl_gen_map_open (writer->json);
  if (record->lane != LANE_HOST)
    {
      put_integer (writer, "device", device_of (writer));
      put_integer (writer, "stream", thread_of (writer, record));
    }
  put_member (writer, "lane", timeline_lane_name (record->lane));
  put_member (writer, "op", timeline_op_name (record->label.op));
  put_member (writer, "FSDP unit", unit);
  put_member (writer, "phase", timeline_phase_name (record->label.phase));
  put_integer (writer, "micro_batch", record->label.micro_batch);
  put_cut_times (writer, record);
  if (timeline_op_is_collective (record->label.op))
    put_collective_args (writer, record);
  else if (record->bytes > 0)
    put_integer (writer, "bytes", record->bytes);
  yajl_gen_map_close (writer->json);
}

/* What the CPU itself computes is an operator of the host, not a call of CUDA's. */
static const char *
category (const TimelineRecord *record)
{
  if (record->lane != LANE_HOST)
    return "kernel";
  return record->label.op == TIMELINE_WAIT ? "cuda_runtime" : "cpu_op";
}

static void
put_slice (Writer *writer, const TimelineRecord *record)
{
  g_autofree char *name = kernel_name (writer, record);

  yajl_gen_map_open (writer->json);
  put_member (writer, "ph", "X");
  put_member (writer, "cat", category (record));
  put_member (writer, "name", name);
  put_track (writer, thread_of (writer, record));
  put_time (writer, "ts", shown_start (writer, record));
  put_time (writer, "dur", shown_end (writer, record) - shown_start (writer, record));
  put_args (writer, record);
  yajl_gen_map_close (writer->json);
}

/* ---- arrows, from what ended last to what waited for it on another track ---- */

static void
put_arrow_end (Writer *writer, const char *phase, const TimelineRecord *record, SimTime time)
{
  yajl_gen_map_open (writer->json);
  put_member (writer, "ph", phase);
  put_integer (writer, "id", writer->next_flow);
  put_member (writer, "cat", "waited_for");
  put_member (writer, "name", "waited_for");
  put_track (writer, thread_of (writer, record));
  put_time (writer, "ts", time);
  if (g_str_equal (phase, "f"))
    put_member (writer, "bp", "e");
  yajl_gen_map_close (writer->json);
}

static SimTime
just_before_end (const Writer *writer, const TimelineRecord *record)
{
  return MAX (shown_end (writer, record) - ARROW_INSIDE_PS, shown_start (writer, record));
}

static gboolean
is_shown (const Writer *writer, guint32 index)
{
  return index >= timeline_first_reported (writer->timeline)
         && timeline_record (writer->timeline, index)->end >= writer->timeline->origin;
}

/* Work starts when what it waited for has ended; a wait of the host ends then. */
static void
put_arrow (Writer *writer, guint32 index)
{
  const TimelineRecord *record = timeline_record (writer->timeline, index);
  const TimelineRecord *cause;

  if (record->waited_for == RECORD_NONE || !is_shown (writer, index)
      || !is_shown (writer, record->waited_for))
    return;
  cause = timeline_record (writer->timeline, record->waited_for);
  if (thread_of (writer, cause) == thread_of (writer, record))
    return;
  put_arrow_end (writer, "s", cause, just_before_end (writer, cause));
  put_arrow_end (writer, "f", record,
                 record->lane == LANE_HOST ? just_before_end (writer, record)
                                           : shown_start (writer, record));
  writer->next_flow++;
}

/* ---- the file ---- */

/* As Kineto shows the steps of torch.profiler on the GPU's side. */
static void
put_steps (Writer *writer)
{
  const Timeline *timeline = writer->timeline;
  SimTime start = timeline->origin;

  for (guint i = timeline->n_warmup_steps; i < timeline->steps->len; i++)
    {
      const SimTime end = timeline_step (timeline, i)->end;
      g_autofree char *name = g_strdup_printf ("ProfilerStep#%u", i);

      yajl_gen_map_open (writer->json);
      put_member (writer, "ph", "X");
      put_member (writer, "cat", "gpu_user_annotation");
      put_member (writer, "name", name);
      put_track (writer, FIRST_STREAM_THREAD);
      put_time (writer, "ts", start - timeline->origin);
      put_time (writer, "dur", end - start);
      yajl_gen_map_close (writer->json);
      start = end;
    }
}

static void
put_rank (Writer *writer, const Timeline *timeline)
{
  writer->timeline = timeline;
  put_tracks (writer);
  put_steps (writer);
  for (guint32 i = timeline_first_reported (timeline); i < timeline->records->len; i++)
    {
      put_slice (writer, timeline_record (timeline, i));
      put_arrow (writer, i);
    }
}

static void
put_device (Writer *writer)
{
  put_text (writer, "deviceProperties");
  yajl_gen_array_open (writer->json);
  yajl_gen_map_open (writer->json);
  put_integer (writer, "id", 0);
  put_member (writer, "name", writer->run->scenario->gpu.name);
  put_integer (writer, "totalGlobalMem", writer->run->scenario->gpu.memory_bytes);
  put_integer (writer, "numSms", writer->run->scenario->gpu.sms);
  yajl_gen_map_close (writer->json);
  yajl_gen_array_close (writer->json);
}

static void
put_job (Writer *writer)
{
  const GPtrArray *timelines = writer->run->timelines;
  const Timeline *slowest = timelines->len > 0 ? g_ptr_array_index (timelines, 0) : NULL;

  put_text (writer, "distributedInfo");
  yajl_gen_map_open (writer->json);
  put_member (writer, "backend", "nccl");
  put_integer (writer, "rank", slowest == NULL ? 0 : slowest->rank);
  put_integer (writer, "world_size", writer->run->facts.n_ranks);
  yajl_gen_map_close (writer->json);
}

/* What figures need besides times: tokens, FLOPs, memory. */
static void
put_facts (Writer *writer)
{
  const RunFacts *facts = &writer->run->facts;
  const Figures *figures = &writer->run->figures;

  put_text (writer, "fsdpsim");
  yajl_gen_map_open (writer->json);
  put_integer (writer, "n_ranks", facts->n_ranks);
  put_member (writer, "scenario", writer->scenario->scenario_name);
  put_member (writer, "scenario_sha256", writer->scenario->sha256);
  put_real (writer, "peak_flops", facts->peak_flops);
  put_real (writer, "tokens_per_step", facts->tokens_per_step);
  put_real (writer, "model_flops_per_token", facts->model_flops_per_token);
  put_real (writer, "hardware_flops_per_token", facts->hardware_flops_per_token);
  if (!isnan (facts->step_error))
    put_real (writer, "step_error", facts->step_error);
  put_integer (writer, "capacity_bytes", facts->capacity_bytes);
  put_integer (writer, "peak_allocated_bytes", figures->peak_allocated_bytes);
  put_integer (writer, "peak_reserved_bytes", figures->peak_reserved_bytes);
  put_integer (writer, "peak_phase", figures->memory.phase);
  put_member (writer, "reason", figures->reason);
  yajl_gen_map_close (writer->json);
}

char *
report_trace_json (const ReportEntry *entry)
{
  const ReportRun *run = &entry->run;
  GString *text = g_string_new (NULL);
  Writer writer = { .json = yajl_gen_alloc (NULL), .scenario = entry->scenario, .run = run };

  yajl_gen_config (writer.json, yajl_gen_print_callback, append, text);
  yajl_gen_map_open (writer.json);
  put_integer (&writer, "schemaVersion", 1);
  put_member (&writer, "generator", PACKAGE_STRING);
  put_member (&writer, "variant", run->scenario->variant);
  put_member (&writer, "displayTimeUnit", "ms");
  put_device (&writer);
  put_job (&writer);
  put_facts (&writer);
  put_text (&writer, "traceEvents");
  yajl_gen_array_open (writer.json);
  for (guint t = 0; t < run->timelines->len; t++)
    put_rank (&writer, g_ptr_array_index (run->timelines, t));
  yajl_gen_array_close (writer.json);
  yajl_gen_map_close (writer.json);
  yajl_gen_free (writer.json);
  g_string_append_c (text, '\n');
  return g_string_free (text, FALSE);
}

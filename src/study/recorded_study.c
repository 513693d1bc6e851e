#include <config.h>

#include "study/recorded_study.h"

#include <math.h>
#include <string.h>

#include "report/timeline_csv.h"

/* ---- reading ---- */

typedef struct
{
  const RecordedOptions *options;
  const char *path;
} Progress;

static void
show_progress (guint64 n_bytes, gpointer data)
{
  const Progress *progress = data;

  progress->options->progress (progress->path, n_bytes, progress->options->progress_data);
}

/* TraceFile, in the order of the paths. */
static GPtrArray *
read_files (const RecordedOptions *options, GError **error)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func ((GDestroyNotify)trace_file_free);

  for (guint i = 0; options->paths[i] != NULL; i++)
    {
      Progress progress = { options, options->paths[i] };
      const TraceReadOptions read = {
        .keep = options->paths[1] == NULL,
        .progress = options->progress == NULL ? NULL : show_progress,
        .progress_data = &progress,
      };
      TraceFile *file = trace_file_read (options->paths[i], &read, error);

      if (file == NULL)
        return NULL;
      g_ptr_array_add (files, file);
    }
  return g_steal_pointer (&files);
}

/* ---- which files belong together ---- */

/* Ranks of one job: the same world, different ranks, and of fsdpsim's the same variant. */
static gboolean
belong_together (const TraceFile *a, const TraceFile *b)
{
  if (a->is_ours != b->is_ours || a->header.world_size != b->header.world_size
      || g_strcmp0 (a->header.variant, b->header.variant) != 0
      || g_strcmp0 (a->header.scenario_sha256, b->header.scenario_sha256) != 0)
    return FALSE;
  return a->header.rank >= 0 && b->header.rank >= 0 && a->header.rank != b->header.rank;
}

static gboolean
fits_job (const GPtrArray *job, const TraceFile *file)
{
  for (guint i = 0; i < job->len; i++)
    if (!belong_together (g_ptr_array_index (job, i), file))
      return FALSE;
  return TRUE;
}

/* GPtrArray of TraceFile, taken from @files; a job each. */
static GPtrArray *
group_files (GPtrArray *files)
{
  GPtrArray *jobs = g_ptr_array_new_with_free_func ((GDestroyNotify)g_ptr_array_unref);

  while (files->len > 0)
    {
      TraceFile *file = g_ptr_array_steal_index (files, 0);
      GPtrArray *job = NULL;

      for (guint i = 0; i < jobs->len && job == NULL; i++)
        if (fits_job (g_ptr_array_index (jobs, i), file))
          job = g_ptr_array_index (jobs, i);
      if (job == NULL)
        {
          job = g_ptr_array_new_with_free_func ((GDestroyNotify)trace_file_free);
          g_ptr_array_add (jobs, job);
        }
      g_ptr_array_add (job, file);
    }
  return jobs;
}

/* fsdpsim's variant; of others the file's name without what all traces' names end with. */
static char *
name_job (const GPtrArray *files)
{
  static const char *const suffixes[] = { ".gz", ".json", ".trace", ".pt", NULL };
  const TraceFile *first = g_ptr_array_index (files, 0);
  char *name;

  if (first->is_ours && first->header.variant != NULL && *first->header.variant != '\0')
    return g_utf8_make_valid (first->header.variant, -1);
  if (strcmp (first->path, "-") == 0)
    return g_strdup ("stdin");
  name = g_path_get_basename (first->path);
  for (guint i = 0; suffixes[i] != NULL; i++)
    if (g_str_has_suffix (name, suffixes[i]) && strlen (name) > strlen (suffixes[i]))
      name[strlen (name) - strlen (suffixes[i])] = '\0';
  return name;
}

static gboolean
is_name_taken (const GPtrArray *jobs, const char *name)
{
  for (guint i = 0; i < jobs->len; i++)
    if (strcmp (((const Recorded *)g_ptr_array_index (jobs, i))->name, name) == 0)
      return TRUE;
  return FALSE;
}

static char *
unique_name (const GPtrArray *jobs, const GPtrArray *files)
{
  g_autofree char *name = name_job (files);
  char *numbered = g_strdup (name);

  for (guint n = 2; is_name_taken (jobs, numbered); n++)
    {
      g_free (numbered);
      numbered = g_strdup_printf ("%s-%u", name, n);
    }
  return numbered;
}

/* ---- what a file was ---- */

static void warn (RecordedFile *out, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
warn (RecordedFile *out, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_ptr_array_add (out->warnings, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

static void
add_warnings (const TraceFile *file, RecordedFile *out)
{
  const TraceFaults *faults = &file->faults;
  const guint n_broken = faults->n_repaired + faults->n_partial + faults->n_lost;

  if (file->fault != NULL)
    warn (out, "%s; what came before it is reported", file->fault);
  else if (faults->is_cut_off)
    warn (out, "the file ends inside the trace; the %u events before that are reported",
          faults->n_events);
  if (n_broken > 0)
    warn (out,
          "JSON is broken in %u places, the first at byte %" G_GUINT64_FORMAT
          ": %u events repaired, %u read without their arguments, %u stretches lost",
          n_broken, faults->first_fault, faults->n_repaired, faults->n_partial, faults->n_lost);
  if (faults->n_beyond_64 > 0)
    warn (out, "%u integers beyond 64 bits", faults->n_beyond_64);
  if (faults->n_invalid_utf8 > 0)
    warn (out, "%u strings are no valid UTF-8", faults->n_invalid_utf8);
  if (file->n_unplaced > 0)
    warn (out, "%" G_GUINT64_FORMAT " events of a GPU have no time or process that can be placed",
          file->n_unplaced);
}

static void
add_kinds (const TraceFile *file, RecordedFile *out)
{
  for (guint kind = NCCL_NONE + 1; kind < N_NCCL_KINDS; kind++)
    {
      const guint64 n = file->n_by_collective[kind];

      if (n == 0)
        continue;
      out->n_nccl_kernels += n;
      g_ptr_array_add (out->kinds, g_strdup_printf ("%" G_GUINT64_FORMAT " %s", n,
                                                    trace_collective_words (kind)));
    }
}

static void
describe_file (const TraceFile *file, Recorded *job)
{
  RecordedFile *out = recorded_add_file (job, file->path);

  out->gpu = file->header.gpu == NULL ? NULL : g_utf8_make_valid (file->header.gpu, -1);
  out->rank = file->header.rank;
  out->world_size = file->header.world_size;
  out->n_bytes = file->faults.n_bytes;
  out->n_events = file->faults.n_events;
  out->n_kernels = file->n_kernels;
  out->n_copies = file->n_copies;
  out->n_host_collectives = file->n_recorded;
  add_kinds (file, out);
  add_warnings (file, out);
}

/* ---- replaying a job ---- */

typedef struct
{
  const RecordedOptions *options;
  Recorded *job;
  TimelineStream *stream; /* or NULL */
  const TraceFile *file;  /* at hand */
  gboolean knows_waiting;
  RecordedTrack *track; /* at hand */
  guint32 process;      /* of it */
  SimTime origin;       /* of it */
  RecordedTrack *slowest;
  const TraceTrack *slowest_source;
} Job;

static double
step_time (const RecordedTrack *track)
{
  return (double)recorded_track_total (track) / recorded_track_n_steps (track);
}

static double
waited (const RecordedTrack *track)
{
  return (double)recorded_track_waited (track) / recorded_track_n_steps (track);
}

/* fsdpsim's files say which rank is the slowest. Of others it is the one that waits least for
 * the rest, whose steps are as long as its own; where nobody knows, the one with the longest
 * mean step. The first of equals. */
static gboolean
becomes_slowest (const Job *replay, const TraceTrack *source)
{
  if (replay->slowest == NULL)
    return TRUE;
  if (replay->file->is_ours && replay->file->header.rank >= 0)
    return source->rank == replay->file->header.rank;
  if (replay->knows_waiting && waited (replay->track) != waited (replay->slowest))
    return waited (replay->track) < waited (replay->slowest);
  return step_time (replay->track) > step_time (replay->slowest);
}

static void
end_track (Job *replay, const TraceTrack *source)
{
  if (replay->track == NULL)
    return;
  recorded_add_rank (replay->job, replay->track);
  if (becomes_slowest (replay, source))
    {
      recorded_track_free (replay->slowest);
      replay->slowest = g_steal_pointer (&replay->track);
      replay->slowest_source = source;
      replay->job->slowest = replay->job->ranks->len - 1;
    }
  g_clear_pointer (&replay->track, recorded_track_free);
}

/* Of the many ranks that a file of fsdpsim may hold, only the slowest is looked into. */
static gboolean
is_in_depth (const Job *replay, const TraceTrack *source)
{
  const TraceFile *file = replay->file;

  return !file->is_ours || file->header.rank < 0 || source->rank == file->header.rank;
}

static void
take_window (const TraceWindow *window, gpointer data)
{
  Job *replay = data;
  const TraceTrack *source = window->track;

  if (replay->track == NULL)
    {
      replay->track
          = recorded_track_new (source->rank, replay->knows_waiting, is_in_depth (replay, source));
      replay->origin = g_array_index (source->windows, TraceStep, 0).start;
    }
  if (replay->stream != NULL)
    timeline_stream_add (replay->stream, replay->job->name, replay->origin, window->timeline);
  if (replay->options->window != NULL)
    replay->options->window (window, replay->options->window_data);
  recorded_track_add (replay->track, window->timeline, window->ends_step);
  if (window->ends_step && window->step + 1 == source->windows->len)
    end_track (replay, source);
}

static const char *
units_words (UnitSource source)
{
  static const char *const words[] = { [UNITS_BY_LABELS] = "fsdpsim's labels",
                                       [UNITS_BY_ANNOTATIONS] = "FSDP's annotations",
                                       [UNITS_BY_PATTERN] = "order and size of collectives",
                                       [UNITS_UNKNOWN] = "nothing: no all-gathers" };

  return words[source];
}

static const char *
steps_words (StepSource source)
{
  static const char *const words[] = { [STEPS_MARKED] = "profiler steps",
                                       [STEPS_OPTIMIZER] = "optimizer steps",
                                       [STEPS_UNKNOWN] = "nothing: the trace is taken as one" };

  return words[source];
}

/* What nobody told is NaN. */
static RunFacts
facts_of (const TraceFile *file)
{
  const TraceHeader *header = &file->header;

  if (!file->is_ours)
    return (RunFacts){
      .n_ranks = (guint)CLAMP (header->world_size, 1, G_MAXINT),
      .peak_flops = (double)NAN,
      .tokens_per_step = (double)NAN,
      .model_flops_per_token = (double)NAN,
      .hardware_flops_per_token = (double)NAN,
      .step_error = (double)NAN,
    };
  return (RunFacts){
    .n_ranks = (guint)CLAMP (header->world_size, 1, G_MAXINT),
    .peak_flops = header->peak_flops,
    .tokens_per_step = header->tokens_per_step,
    .model_flops_per_token = header->model_flops_per_token,
    .hardware_flops_per_token = header->hardware_flops_per_token,
    .step_error = header->step_error > 0 ? header->step_error : (double)NAN,
    .capacity_bytes = (gint64)header->capacity_bytes,
  };
}

/* fsdpsim's figures of memory, which its timeline does not hold. */
static void
add_memory (const TraceFile *file, Recorded *job)
{
  const TraceHeader *header = &file->header;
  Figures *figures = &job->figures;

  if (!file->is_ours)
    return;
  figures->peak_allocated_bytes = (gint64)header->peak_allocated_bytes;
  figures->peak_reserved_bytes = (gint64)header->peak_reserved_bytes;
  figures->memory.phase = (PeakPhase)CLAMP (header->peak_phase, 0, N_PEAK_PHASES - 1);
  figures->fits = header->peak_reserved_bytes <= header->capacity_bytes;
  figures->status = figures->fits ? RUN_OK : RUN_DOES_NOT_FIT;
  g_free (figures->reason);
  figures->reason = g_strdup (header->reason == NULL ? "" : header->reason);
}

static void
finish_job (Job *replay, const TraceFile *first)
{
  Recorded *job = replay->job;
  const RunFacts facts = facts_of (first);

  if (replay->slowest == NULL)
    return;
  job->steps_by = steps_words (replay->slowest_source->steps);
  job->units_by = units_words (replay->slowest_source->units);
  job->has_kernel_units = replay->slowest_source->units == UNITS_BY_LABELS
                          || replay->slowest_source->units == UNITS_BY_ANNOTATIONS;
  job->has_units = job->has_kernel_units || replay->slowest_source->units == UNITS_BY_PATTERN;
  recorded_finish (job, replay->slowest, &facts);
  add_memory (first, job);
}

/* Takes the files. */
static GPtrArray *
record_files (GPtrArray *files, TracePeers *peers)
{
  GPtrArray *recordings = g_ptr_array_new_with_free_func ((GDestroyNotify)trace_recording_free);

  while (files->len > 0)
    g_ptr_array_add (recordings, trace_recording_new (g_ptr_array_steal_index (files, 0), peers));
  return recordings;
}

static void
keep_text (char **place, const char *text)
{
  g_free (*place);
  *place = text == NULL ? g_strdup ("") : g_utf8_make_valid (text, -1);
}

static void
keep_scenario (const TraceFile *first, Recorded *job)
{
  keep_text (&job->scenario_name, first->header.scenario);
  keep_text (&job->scenario_sha256, first->header.scenario_sha256);
  job->scenario.scenario_name = job->scenario_name;
  job->scenario.sha256 = job->scenario_sha256;
}

/* Takes the files; FALSE leaves @job without figures. */
static gboolean
replay_job (const RecordedOptions *options, GPtrArray *files, Recorded *job, TimelineStream *stream,
            GError **error)
{
  g_autoptr (TracePeers) peers = files->len > 1 ? trace_peers_new () : NULL;
  g_autoptr (GPtrArray) recordings = NULL;
  Job replay = { .options = options, .job = job, .stream = stream };
  gboolean is_read = TRUE;

  for (guint i = 0; i < files->len; i++)
    describe_file (g_ptr_array_index (files, i), job);
  keep_scenario (g_ptr_array_index (files, 0), job);
  recordings = record_files (files, peers);
  for (guint i = 0; i < recordings->len && is_read; i++)
    {
      TraceRecording *recording = g_ptr_array_index (recordings, i);

      replay.file = trace_recording_file (recording);
      replay.knows_waiting
          = replay.file->is_ours || (peers != NULL && trace_peers_have_met (peers));
      is_read = trace_recording_replay (recording, peers, take_window, &replay, error);
    }
  if (is_read)
    finish_job (&replay, trace_recording_file (g_ptr_array_index (recordings, 0)));
  recorded_track_free (replay.track);
  recorded_track_free (replay.slowest);
  return is_read;
}

GPtrArray *
recorded_study (const RecordedOptions *options, GError **error)
{
  g_autoptr (GPtrArray) files = read_files (options, error);
  g_autoptr (GPtrArray) jobs = g_ptr_array_new_with_free_func ((GDestroyNotify)recorded_free);
  g_autoptr (GPtrArray) groups = NULL;
  TimelineStream *stream = NULL;
  gboolean is_read = TRUE;

  if (files == NULL)
    return NULL;
  if (options->folder != NULL && (stream = timeline_stream_open (options->folder, error)) == NULL)
    return NULL;
  groups = group_files (files);
  for (guint i = 0; i < groups->len && is_read; i++)
    {
      GPtrArray *group = g_ptr_array_index (groups, i);
      g_autofree char *name = unique_name (jobs, group);

      g_ptr_array_add (jobs, recorded_new (name));
      is_read = replay_job (options, group, g_ptr_array_index (jobs, i), stream, error);
    }
  if (stream != NULL && !is_read)
    timeline_stream_discard (stream);
  else if (stream != NULL)
    is_read = timeline_stream_close (stream, error);
  return is_read ? g_steal_pointer (&jobs) : NULL;
}

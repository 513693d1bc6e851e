#include <config.h>

#include "sim/prepare.h"

/* The moment up to which a stream, communicator or event is taken, and the
 * record that keeps it so. */
typedef struct
{
  SimTime until;
  guint32 record;
  WaitReason why; /* of work that starts when this is over */
} Taken;

typedef struct
{
  const Prepared *prepared;
  const Observation *observation;
  Timeline *timeline; /* its arrays are longer than what is in them, until the end */
  guint32 n_records, n_changes;
  SimTime host;
  guint32 host_record; /* the last wait of the host that blocked */
  Taken streams[MAX_STREAMS];
  Taken communicators[MAX_COMMUNICATORS];
  Taken queue; /* single queue: until the work launched last could start, and what it waited for */
  Taken *events;
} Replay;

/* Where the next record is to be written. */
static TimelineRecord *
next_record (Replay *replay)
{
  return &g_array_index (replay->timeline->records, TimelineRecord, replay->n_records++);
}

/* The later of the two; the first where they are equal. */
static Taken
later (Taken a, Taken b)
{
  return b.until > a.until ? b : a;
}

/* One hardware queue: nothing starts before all that was launched before it has. */
static Taken
behind_queue (Replay *replay, Taken last)
{
  if (replay->prepared->program->single_queue)
    last = replay->queue = later (last, replay->queue);
  return last;
}

static SimTime
kernel_time (const Replay *replay, guint32 index)
{
  return replay->observation != NULL ? replay->observation->times[index]
                                     : prepared_kernel_time (replay->prepared, index, 0);
}

static Taken
host_taken (const Replay *replay, SimTime until)
{
  return (Taken){ until, replay->host_record, WAITED_FOR_HOST };
}

static void
launch (Replay *replay, const Instruction *instruction, guint32 index)
{
  Taken *stream = &replay->streams[instruction->stream];
  Taken last = behind_queue (
      replay, later (*stream, host_taken (replay, replay->host + instruction->issue)));
  SimTime end = last.until + kernel_time (replay, index);
  const ProgramStream *where = &replay->prepared->program->streams[instruction->stream];

  replay->host += instruction->host;
  const guint32 record = replay->n_records;
  *next_record (replay) = (TimelineRecord){ .start = last.until,
                                            .end = end,
                                            .label = instruction->label,
                                            .waited_for = last.record,
                                            .waited_why = (guint8)last.why,
                                            .lane = (guint8)where->lane,
                                            .stream = instruction->stream,
                                            .peers_from = last.until };
  *stream = (Taken){ end, record, WAITED_FOR_STREAM };
}

static void
collective (Replay *replay, const Instruction *instruction, guint32 index)
{
  Taken *stream = &replay->streams[instruction->stream];
  Taken *communicator = &replay->communicators[instruction->communicator];
  const ProgramCommunicator *where
      = &replay->prepared->program->communicators[instruction->communicator];

  replay->host += instruction->host;
  Taken last = behind_queue (
      replay, later (later (*communicator, *stream), host_taken (replay, replay->host)));
  const SimTime met
      = replay->observation != NULL ? replay->observation->met[instruction->id] : last.until;
  g_assert (met >= last.until);
  const SimTime end = replay->observation != NULL
                          ? replay->observation->times[index]
                          : met + prepared_collective_time (replay->prepared, index, 0);
  const guint32 record = replay->n_records;
  *next_record (replay) = (TimelineRecord){ .start = last.until,
                                            .end = end,
                                            .bytes = instruction->bytes,
                                            .label = instruction->label,
                                            .waited_for = last.record,
                                            .waited_why = (guint8)last.why,
                                            .lane = (guint8)where->lane,
                                            .stream = instruction->stream,
                                            .peers_from = met };
  *stream = (Taken){ end, record, WAITED_FOR_STREAM };
  *communicator = (Taken){ end, record, WAITED_FOR_COMMUNICATOR };
}

static void
host_wait (Replay *replay, const Instruction *instruction)
{
  const Taken *event = &replay->events[instruction->id];

  if (event->until <= replay->host)
    return;
  SimTime woken = event->until + instruction->time;
  replay->host_record = replay->n_records;
  *next_record (replay) = (TimelineRecord){ .start = replay->host,
                                            .end = woken,
                                            .label = instruction->label,
                                            .waited_for = event->record,
                                            .waited_why = WAITED_FOR_EVENT,
                                            .lane = LANE_HOST,
                                            .stream = G_MAXUINT8,
                                            .peers_from = replay->host };
  replay->host = woken;
}

static void
stream_wait (Replay *replay, const Instruction *instruction)
{
  Taken event = replay->events[instruction->id];

  event.why = WAITED_FOR_EVENT;
  replay->streams[instruction->stream] = later (replay->streams[instruction->stream], event);
}

/* When the streams that used what is freed are past it. */
static SimTime
reusable_from (const Replay *replay, const Instruction *instruction)
{
  SimTime reusable = replay->host;

  for (guint i = 0; instruction->used_by >> i != 0; i++)
    if ((instruction->used_by & (1u << i)) != 0)
      reusable = MAX (reusable, replay->streams[i].until);
  return reusable;
}

static void
change_memory (Replay *replay, const Instruction *instruction)
{
  const gboolean alloc = instruction->kind == PROGRAM_ALLOC;

  g_array_index (replay->timeline->changes, MemoryChange, replay->n_changes++)
      = (MemoryChange){ .time = replay->host,
                        .reusable = reusable_from (replay, instruction),
                        .bytes = alloc ? instruction->bytes : -instruction->bytes,
                        .buffer = instruction->id,
                        .unit = instruction->label.unit,
                        .kind = instruction->detail,
                        .pool = instruction->stream };
}

static void
begin_step (const Replay *replay)
{
  TimelineStep step = { .first_record = replay->n_records, .first_change = replay->n_changes };
  g_array_append_val (replay->timeline->steps, step);
}

static void
end_step (Replay *replay, const Instruction *instruction)
{
  Timeline *timeline = replay->timeline;
  const Program *program = replay->prepared->program;
  SimTime end = replay->streams[instruction->stream].until;

  g_array_index (timeline->steps, TimelineStep, instruction->id).end = end;
  if (instruction->id + 1 == program->n_warmup_steps)
    timeline->origin = end;
  if (instruction->id + 1 < program->n_steps)
    begin_step (replay);
}

static void
replay_instruction (Replay *replay, guint32 index)
{
  const Instruction *instruction = &replay->prepared->instructions[index];

  switch ((InstructionKind)instruction->kind)
    {
    case PROGRAM_LAUNCH:
      launch (replay, instruction, index);
      break;
    case PROGRAM_COLLECTIVE:
      collective (replay, instruction, index);
      break;
    case PROGRAM_RECORD:
      replay->events[instruction->id] = replay->streams[instruction->stream];
      break;
    case PROGRAM_STREAM_WAIT:
      stream_wait (replay, instruction);
      break;
    case PROGRAM_HOST_WAIT:
      host_wait (replay, instruction);
      break;
    case PROGRAM_HOST_BUSY:
      replay->host += instruction->host;
      break;
    case PROGRAM_HOST_DELAY:
      if (replay->prepared->host_delay != NULL)
        replay->host += replay->prepared->host_delay[replay->timeline->rank];
      break;
    case PROGRAM_ALLOC:
    case PROGRAM_FREE:
      change_memory (replay, instruction);
      break;
    case PROGRAM_END_OF_LOAD:
      begin_step (replay);
      break;
    case PROGRAM_END_OF_STEP:
      end_step (replay, instruction);
      break;
    case N_INSTRUCTIONS:
      break;
    }
}

/* An array of @n elements, whatever they hold. */
static void
stretch (GArray **array, gsize element_bytes, guint n)
{
  g_array_unref (*array);
  *array = g_array_sized_new (FALSE, FALSE, (guint)element_bytes, n);
  g_array_set_size (*array, n);
}

/* As many records and changes as there can be. */
static void
make_room (const Replay *replay)
{
  const guint32 *n = replay->prepared->program->n_of_kind;

  stretch (&replay->timeline->records, sizeof (TimelineRecord),
           n[PROGRAM_LAUNCH] + n[PROGRAM_COLLECTIVE] + n[PROGRAM_HOST_WAIT]);
  stretch (&replay->timeline->changes, sizeof (MemoryChange), n[PROGRAM_ALLOC] + n[PROGRAM_FREE]);
}

Timeline *
replay_record (const Prepared *prepared, const Observation *observation)
{
  const Program *program = prepared->program;
  const Taken nothing = { 0, RECORD_NONE, WAITED_FOR_NOTHING };
  Replay replay = { .prepared = prepared,
                    .observation = observation,
                    .timeline = timeline_new (),
                    .host_record = RECORD_NONE,
                    .queue = nothing,
                    .events = g_new (Taken, program_n_events (program)) };

  for (guint i = 0; i < MAX_STREAMS; i++)
    replay.streams[i] = nothing;
  for (guint i = 0; i < MAX_COMMUNICATORS; i++)
    replay.communicators[i] = nothing;
  replay.timeline->rank = observation != NULL ? observation->rank : 0;
  replay.timeline->n_warmup_steps = program->n_warmup_steps;
  for (guint i = 0; i < program->n_streams; i++)
    g_ptr_array_add (replay.timeline->stream_names, g_strdup (program->streams[i].name));
  make_room (&replay);
  for (guint32 i = 0; i < prepared->n; i++)
    replay_instruction (&replay, i);
  g_array_set_size (replay.timeline->records, replay.n_records);
  g_array_set_size (replay.timeline->changes, replay.n_changes);
  g_free (replay.events);
  return replay.timeline;
}

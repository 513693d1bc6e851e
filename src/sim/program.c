#include <config.h>

#include "sim/instruction.h"

Program *
program_new (void)
{
  Program *program = g_new0 (Program, 1);

  program->room = 4096;
  program->instructions = g_new (Instruction, program->room);
  program->buffer_room = 1024;
  program->buffers = g_new (guint32, program->buffer_room);
  program->recorded = g_byte_array_new ();
  program->collective_room = 512;
  program->collectives = g_new (guint32, program->collective_room);
  program->step_ends = g_array_new (FALSE, FALSE, sizeof (guint32));
  program->passing = program_add_event (program);
  return program;
}

void
program_free (Program *program)
{
  if (program == NULL)
    return;
  for (guint i = 0; i < program->n_streams; i++)
    g_free (program->streams[i].name);
  for (guint i = 0; i < program->n_communicators; i++)
    g_free (program->communicators[i].name);
  g_free (program->instructions);
  g_free (program->buffers);
  g_byte_array_unref (program->recorded);
  g_free (program->collectives);
  g_array_unref (program->step_ends);
  g_free (program);
}

StreamId
program_add_stream (Program *program, const char *name, TimelineLane lane)
{
  g_assert (program->n_streams < MAX_STREAMS);
  ProgramStream *stream = &program->streams[program->n_streams];
  stream->name = g_strdup (name);
  stream->lane = lane;
  return (StreamId)program->n_streams++;
}

CommunicatorId
program_add_communicator (Program *program, const char *name, TimelineLane lane, guint ranks,
                          guint stride)
{
  g_assert (program->n_communicators < MAX_COMMUNICATORS);
  g_assert (ranks > 0 && stride > 0);
  program->communicators[program->n_communicators]
      = (ProgramCommunicator){ g_strdup (name), lane, ranks, stride };
  return (CommunicatorId)program->n_communicators++;
}

EventId
program_add_event (Program *program)
{
  static const guint8 not_yet = FALSE;

  g_byte_array_append (program->recorded, &not_yet, 1);
  return program_n_events (program) - 1;
}

void
program_use_single_queue (Program *program)
{
  program->single_queue = TRUE;
}

/* Where the next instruction is to be written. */
static inline Instruction *
next (Program *program, InstructionKind kind)
{
  g_assert (!program->sealed);
  if (program->n_instructions == program->room)
    program->instructions = g_renew (Instruction, program->instructions, program->room *= 2);
  program->n_of_kind[kind]++;
  return &program->instructions[program->n_instructions++];
}

static Instruction *
next_on (Program *program, StreamId stream, InstructionKind kind)
{
  program->streams[stream].n_work++;
  return next (program, kind);
}

static gboolean
is_recorded (const Program *program, EventId event)
{
  return event < program_n_events (program) && program->recorded->data[event] != FALSE;
}

/* A run of n kernels that the host launches at an even pace. On the device it is
 * one contiguous piece: where the host is the slower one, the piece is placed so
 * that its last kernel starts as the host has launched it. */
static SimTime
launch_issue_delay (const KernelLaunch *launch)
{
  SimTime first_enqueued = launch->host / launch->n_kernels;
  SimTime before_last = launch->time - launch->time / launch->n_kernels;

  return MAX (first_enqueued, launch->host - before_last);
}

void
program_launch (Program *program, const KernelLaunch *launch)
{
  g_assert (launch->stream < program->n_streams && launch->n_kernels > 0);
  g_assert (launch->time >= 0 && launch->host >= 0);
  *next_on (program, launch->stream, PROGRAM_LAUNCH)
      = (Instruction){ .kind = PROGRAM_LAUNCH,
                       .stream = launch->stream,
                       .fixed = launch->fixed != FALSE,
                       .jitter = launch->jitter != FALSE,
                       .time = launch->time,
                       .host = launch->host,
                       .issue = launch_issue_delay (launch),
                       .label = launch->label };
}

/* The number of the next instruction, as a collective. */
static guint32
add_collective (Program *program)
{
  if (program->n_collectives == program->collective_room)
    program->collectives = g_renew (guint32, program->collectives, program->collective_room *= 2);
  program->collectives[program->n_collectives] = program->n_instructions;
  return program->n_collectives++;
}

void
program_collective (Program *program, const CollectiveLaunch *launch)
{
  g_assert (launch->stream < program->n_streams);
  g_assert (launch->communicator < program->n_communicators);
  g_assert (launch->host >= 0 && launch->bytes >= 0);
  const guint32 number = add_collective (program);
  *next_on (program, launch->stream, PROGRAM_COLLECTIVE)
      = (Instruction){ .kind = PROGRAM_COLLECTIVE,
                       .stream = launch->stream,
                       .communicator = launch->communicator,
                       .detail = (guint8)launch->kind,
                       .fixed = launch->fixed_time != SIM_TIME_NONE,
                       .in_place = launch->in_place != FALSE,
                       .id = number,
                       .time = launch->fixed_time,
                       .host = launch->host,
                       .issue = launch->host,
                       .bytes = launch->bytes,
                       .label = launch->label };
}

void
program_record (Program *program, EventId event, StreamId stream)
{
  g_assert (event < program_n_events (program) && stream < program->n_streams);
  program->recorded->data[event] = TRUE;
  *next_on (program, stream, PROGRAM_RECORD)
      = (Instruction){ .kind = PROGRAM_RECORD, .stream = stream, .id = event };
}

void
program_stream_wait (Program *program, StreamId stream, EventId event)
{
  g_assert (is_recorded (program, event) && stream < program->n_streams);
  *next_on (program, stream, PROGRAM_STREAM_WAIT)
      = (Instruction){ .kind = PROGRAM_STREAM_WAIT, .stream = stream, .id = event };
}

void
program_stream_wait_stream (Program *program, StreamId stream, StreamId other)
{
  program_record (program, program->passing, other);
  program_stream_wait (program, stream, program->passing);
}

void
program_host_wait (Program *program, EventId event, SimTime wakeup, TimelineLabel label)
{
  g_assert (is_recorded (program, event) && wakeup >= 0);
  *next (program, PROGRAM_HOST_WAIT)
      = (Instruction){ .kind = PROGRAM_HOST_WAIT, .id = event, .time = wakeup, .label = label };
}

void
program_host_busy (Program *program, SimTime time)
{
  g_assert (time >= 0);
  if (time > 0)
    *next (program, PROGRAM_HOST_BUSY) = (Instruction){ .kind = PROGRAM_HOST_BUSY, .host = time };
}

void
program_host_delay (Program *program)
{
  *next (program, PROGRAM_HOST_DELAY) = (Instruction){ .kind = PROGRAM_HOST_DELAY };
}

BufferId
program_alloc (Program *program, StreamId pool, MemoryKind kind, gint64 bytes, guint32 unit)
{
  guint32 index = program->n_instructions;

  g_assert (pool < program->n_streams && bytes >= 0);
  *next (program, PROGRAM_ALLOC) = (Instruction){ .kind = PROGRAM_ALLOC,
                                                  .stream = pool,
                                                  .detail = (guint8)kind,
                                                  .id = program->n_buffers,
                                                  .bytes = bytes,
                                                  .label = { .unit = unit } };
  if (program->n_buffers == program->buffer_room)
    program->buffers = g_renew (guint32, program->buffers, program->buffer_room *= 2);
  program->buffers[program->n_buffers] = index;
  return program->n_buffers++;
}

void
program_free_buffer (Program *program, BufferId buffer, guint32 used_by)
{
  g_assert (buffer < program->n_buffers && program->buffers[buffer] != INSTRUCTION_NONE);
  Instruction *instruction = next (program, PROGRAM_FREE);

  *instruction = program->instructions[program->buffers[buffer]];
  instruction->kind = PROGRAM_FREE;
  instruction->used_by = used_by;
  program->buffers[buffer] = INSTRUCTION_NONE;
}

void
program_end_of_load (Program *program)
{
  *next (program, PROGRAM_END_OF_LOAD) = (Instruction){ .kind = PROGRAM_END_OF_LOAD };
}

void
program_end_of_step (Program *program, StreamId compute)
{
  g_assert (compute < program->n_streams);
  g_array_append_val (program->step_ends, program->n_instructions);
  *next_on (program, compute, PROGRAM_END_OF_STEP)
      = (Instruction){ .kind = PROGRAM_END_OF_STEP, .stream = compute, .id = program->n_steps };
  program->n_steps++;
}

guint
program_n_instructions (const Program *program)
{
  return program->n_instructions;
}

void
program_seal (Program *program, guint n_warmup_steps)
{
  g_assert (!program->sealed && n_warmup_steps < program->n_steps);
  program->n_warmup_steps = n_warmup_steps;
  program->sealed = TRUE;
}

/* ---- describing ---- */

static const char *const instruction_names[] = {
#define INSTRUCTION(name, text) text,
#include "sim/instructions.def"
#undef INSTRUCTION
};

char *
program_describe (const Program *program, guint index)
{
  const Instruction *instruction = &program_instructions (program)[index];
  const char *name = instruction_names[instruction->kind];
  g_autofree char *unit = timeline_unit_name (instruction->label.unit);
  const char *stream = program->n_streams > 0 ? program->streams[instruction->stream].name : "";

  switch ((InstructionKind)instruction->kind)
    {
    case PROGRAM_LAUNCH:
      return g_strdup_printf ("%s %s %s %s", name, stream, timeline_op_name (instruction->label.op),
                              unit);
    case PROGRAM_COLLECTIVE:
      return g_strdup_printf ("%s %s %s %s %s", name, stream,
                              program->communicators[instruction->communicator].name,
                              timeline_op_name (instruction->label.op), unit);
    case PROGRAM_RECORD:
    case PROGRAM_STREAM_WAIT:
      return g_strdup_printf ("%s %s e%u", name, stream, instruction->id);
    case PROGRAM_HOST_WAIT:
      return g_strdup_printf ("%s e%u", name, instruction->id);
    case PROGRAM_ALLOC:
    case PROGRAM_FREE:
      return g_strdup_printf ("%s %s %s %s %" G_GINT64_FORMAT, name, stream,
                              memory_kind_name (instruction->detail), unit, instruction->bytes);
    case PROGRAM_HOST_BUSY:
    case PROGRAM_HOST_DELAY:
    case PROGRAM_END_OF_LOAD:
    case PROGRAM_END_OF_STEP:
    case N_INSTRUCTIONS:
      break;
    }
  return g_strdup (name);
}

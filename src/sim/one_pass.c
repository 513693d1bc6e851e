#include <config.h>

#include <string.h>

#include "sim/prepare.h"

/* The host issues in program order, and streams and communicators keep that
 * order. So when the program is read once, front to back, all that an instruction
 * waits for has its time already: each is a maximum and a sum, over all ranks. */
typedef struct
{
  const Prepared *prepared;
  guint n;
  SimTime *host;
  SimTime *tails[MAX_STREAMS];               /* end of what is enqueued on a stream */
  SimTime *communicators[MAX_COMMUNICATORS]; /* end of what is issued on it */
  SimTime *events;                           /* n by event */
  SimTime *arrivals;
  SimTime *last_start; /* single queue: of the device work that was launched last */
  SimTime *memory;
} OnePass;

static void
one_pass_init (OnePass *pass, const Prepared *prepared)
{
  const Program *program = prepared->program;
  gsize n = prepared->n_ranks;
  gsize rows = 3 + program->n_streams + program->n_communicators + program_n_events (program);

  pass->prepared = prepared;
  pass->n = prepared->n_ranks;
  SimTime *row = pass->memory = g_new0 (SimTime, rows * n);
  pass->host = row;
  pass->arrivals = row += n;
  pass->last_start = row += n;
  for (guint i = 0; i < program->n_streams; i++)
    pass->tails[i] = row += n;
  for (guint i = 0; i < program->n_communicators; i++)
    pass->communicators[i] = row += n;
  pass->events = row + n;
}

/* One hardware queue: nothing starts before all that was launched before it has. */
static void
wait_in_queue (OnePass *pass, SimTime *ready, SimTime issue)
{
  SimTime *last = pass->last_start;

  if (!pass->prepared->program->single_queue)
    return;
  for (guint r = 0; r < pass->n; r++)
    {
      ready[r] = MAX (ready[r], last[r]);
      last[r] = MAX (ready[r], pass->host[r] + issue);
    }
}

static void
launch (OnePass *pass, const Instruction *instruction, guint32 index)
{
  SimTime *host = pass->host;
  SimTime *tail = pass->tails[instruction->stream];
  SimTime issue = instruction->issue;
  SimTime spent = instruction->host;
  gboolean alike
      = pass->prepared->rank_factor == NULL && !(instruction->jitter && pass->prepared->jitter > 0);

  wait_in_queue (pass, tail, issue);
  if (alike)
    for (guint r = 0; r < pass->n; r++)
      {
        tail[r] = MAX (host[r] + issue, tail[r]) + instruction->time;
        host[r] += spent;
      }
  else
    for (guint r = 0; r < pass->n; r++)
      {
        tail[r] = MAX (host[r] + issue, tail[r]) + prepared_kernel_time (pass->prepared, index, r);
        host[r] += spent;
      }
}

/* The ranks of a group leave together, at @end. */
static void
leave (OnePass *pass, const Instruction *instruction, guint group, SimTime end)
{
  const Prepared *prepared = pass->prepared;
  const guint first = prepared_group_first (prepared, instruction->communicator, group);
  const guint ranks = prepared->groups[instruction->communicator].ranks;
  const gsize stride = prepared->groups[instruction->communicator].stride;
  SimTime *tail = pass->tails[instruction->stream] + first;
  SimTime *communicator = pass->communicators[instruction->communicator] + first;

  for (gsize i = 0; i < ranks; i++)
    tail[i * stride] = communicator[i * stride] = end;
}

static void
host_busy (OnePass *pass, SimTime time)
{
  for (guint r = 0; r < pass->n; r++)
    pass->host[r] += time;
}

static void
collective (OnePass *pass, const Instruction *instruction, guint32 index, RunTimes *times)
{
  const Prepared *prepared = pass->prepared;
  const SimTime *tail = pass->tails[instruction->stream];
  const SimTime *communicator = pass->communicators[instruction->communicator];
  gsize at = prepared->first_end[instruction->id];

  for (guint r = 0; r < pass->n; r++)
    {
      SimTime ready = MAX (tail[r], communicator[r]);
      pass->arrivals[r] = MAX (ready, pass->host[r] + instruction->issue);
    }
  wait_in_queue (pass, pass->arrivals, instruction->issue);
  host_busy (pass, instruction->host);
  for (guint group = 0; group < prepared->groups[instruction->communicator].n; group++)
    {
      const SimTime met = run_times_meet (times, prepared, index, group, pass->arrivals);
      const SimTime end = met + prepared_collective_time (prepared, index, group);

      times->collectives[at + group] = end;
      leave (pass, instruction, group, end);
    }
}

static void
host_wait (OnePass *pass, const Instruction *instruction)
{
  const SimTime *event = pass->events + (gsize)instruction->id * pass->n;
  SimTime *host = pass->host;

  for (guint r = 0; r < pass->n; r++)
    if (event[r] > host[r])
      host[r] = event[r] + instruction->time;
}

static void
stream_wait (OnePass *pass, const Instruction *instruction)
{
  const SimTime *event = pass->events + (gsize)instruction->id * pass->n;
  SimTime *tail = pass->tails[instruction->stream];

  for (guint r = 0; r < pass->n; r++)
    tail[r] = MAX (tail[r], event[r]);
}

static void
host_delay (OnePass *pass)
{
  const SimTime *delay = pass->prepared->host_delay;

  for (guint r = 0; delay != NULL && r < pass->n; r++)
    pass->host[r] += delay[r];
}

static void
end_of_step (const OnePass *pass, const Instruction *instruction, RunTimes *times)
{
  const SimTime *tail = pass->tails[instruction->stream];
  const Program *program = pass->prepared->program;
  gsize bytes = pass->n * sizeof (SimTime);

  if (instruction->id + 1 == program->n_warmup_steps)
    memcpy (times->origin, tail, bytes);
  if (instruction->id + 1 == program->n_steps)
    memcpy (times->end, tail, bytes);
}

void
one_pass_run (const Prepared *prepared, RunTimes *times)
{
  OnePass pass = { 0 };
  gsize bytes = prepared->n_ranks * sizeof (SimTime);

  one_pass_init (&pass, prepared);
  for (guint32 i = 0; i < prepared->n; i++)
    {
      const Instruction *instruction = &prepared->instructions[i];

      switch ((InstructionKind)instruction->kind)
        {
        case PROGRAM_LAUNCH:
          launch (&pass, instruction, i);
          break;
        case PROGRAM_COLLECTIVE:
          collective (&pass, instruction, i, times);
          break;
        case PROGRAM_RECORD:
          memcpy (pass.events + (gsize)instruction->id * pass.n, pass.tails[instruction->stream],
                  bytes);
          break;
        case PROGRAM_STREAM_WAIT:
          stream_wait (&pass, instruction);
          break;
        case PROGRAM_HOST_WAIT:
          host_wait (&pass, instruction);
          break;
        case PROGRAM_HOST_BUSY:
          host_busy (&pass, instruction->host);
          break;
        case PROGRAM_HOST_DELAY:
          host_delay (&pass);
          break;
        case PROGRAM_END_OF_STEP:
          end_of_step (&pass, instruction, times);
          break;
        case PROGRAM_ALLOC:
        case PROGRAM_FREE:
        case PROGRAM_END_OF_LOAD:
        case N_INSTRUCTIONS:
          break;
        }
    }
  g_free (pass.memory);
}

void
one_pass_observe (const Prepared *prepared, const RunTimes *times, Observation *observation)
{
  for (guint32 i = 0; i < prepared->n; i++)
    {
      const Instruction *instruction = &prepared->instructions[i];

      if (instruction->kind == PROGRAM_LAUNCH)
        observation->times[i] = prepared_kernel_time (prepared, i, observation->rank);
      else if (instruction->kind == PROGRAM_COLLECTIVE)
        {
          gsize at = prepared_end_index (prepared, i, observation->rank);

          observation->times[i] = times->collectives[at];
          observation->met[instruction->id] = times->met[at];
        }
    }
}

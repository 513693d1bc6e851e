#include "config.h"

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
  SimTime *memory;
} OnePass;

static void
one_pass_init (OnePass *pass, const Prepared *prepared)
{
  const Program *program = prepared->program;
  gsize n = prepared->n_ranks;
  gsize rows = 2 + program->n_streams + program->n_communicators + program->n_events;

  pass->prepared = prepared;
  pass->n = prepared->n_ranks;
  SimTime *row = pass->memory = g_new0 (SimTime, rows * n);
  pass->host = row;
  pass->arrivals = row += n;
  for (guint i = 0; i < program->n_streams; i++)
    pass->tails[i] = row += n;
  for (guint i = 0; i < program->n_communicators; i++)
    pass->communicators[i] = row += n;
  pass->events = row + n;
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

/* The ranks first, first + stride, … leave together, @time after the last came. */
static void
rendezvous (OnePass *pass, const Instruction *instruction, guint first, guint ranks, guint stride,
            SimTime time)
{
  const SimTime *arrivals = pass->arrivals + first;
  SimTime *tail = pass->tails[instruction->stream] + first;
  SimTime *communicator = pass->communicators[instruction->communicator] + first;
  SimTime end = arrivals[0];

  for (gsize i = 1; i < ranks; i++)
    end = MAX (end, arrivals[i * stride]);
  end += time;
  for (gsize i = 0; i < ranks; i++)
    tail[i * stride] = communicator[i * stride] = end;
}

static void
collective (OnePass *pass, const Instruction *instruction, guint32 index)
{
  const SimTime *tail = pass->tails[instruction->stream];
  const SimTime *communicator = pass->communicators[instruction->communicator];
  guint ranks = pass->prepared->groups[instruction->communicator].ranks;
  guint stride = pass->prepared->groups[instruction->communicator].stride;
  SimTime time = pass->prepared->collective_time[index];

  for (guint r = 0; r < pass->n; r++)
    {
      pass->host[r] += instruction->host;
      SimTime ready = MAX (tail[r], communicator[r]);
      pass->arrivals[r] = MAX (ready, pass->host[r]);
    }
  for (guint block = 0; block < pass->n; block += ranks * stride)
    for (guint offset = 0; offset < stride; offset++)
      rendezvous (pass, instruction, block + offset, ranks, stride, time);
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
host_busy (OnePass *pass, SimTime time)
{
  for (guint r = 0; r < pass->n; r++)
    pass->host[r] += time;
}

static void
end_of_step (const OnePass *pass, const Instruction *instruction, StepEnds *ends)
{
  const SimTime *tail = pass->tails[instruction->stream];
  const Program *program = pass->prepared->program;
  gsize bytes = pass->n * sizeof (SimTime);

  if (instruction->id + 1 == program->n_warmup_steps)
    memcpy (ends->origin, tail, bytes);
  if (instruction->id + 1 == program->n_steps)
    memcpy (ends->end, tail, bytes);
}

static void
observe (const OnePass *pass, const Instruction *instruction, guint32 index, Observation *observed,
         guint n_observed)
{
  for (guint i = 0; i < n_observed; i++)
    observed[i].times[index] = instruction->kind == PROGRAM_LAUNCH
                                   ? prepared_kernel_time (pass->prepared, index, observed[i].rank)
                                   : pass->tails[instruction->stream][observed[i].rank];
}

void
one_pass_run (const Prepared *prepared, StepEnds *ends, Observation *observed, guint n_observed)
{
  OnePass pass = { 0 };
  gsize bytes = prepared->n_ranks * sizeof (SimTime);

  one_pass_init (&pass, prepared);
  memset (ends->origin, 0, bytes);
  for (guint32 i = 0; i < prepared->n; i++)
    {
      const Instruction *instruction = &prepared->instructions[i];

      switch ((InstructionKind)instruction->kind)
        {
        case PROGRAM_LAUNCH:
          launch (&pass, instruction, i);
          observe (&pass, instruction, i, observed, n_observed);
          break;
        case PROGRAM_COLLECTIVE:
          collective (&pass, instruction, i);
          observe (&pass, instruction, i, observed, n_observed);
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
        case PROGRAM_END_OF_STEP:
          end_of_step (&pass, instruction, ends);
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

#include "config.h"

#include <math.h>
#include <string.h>

#include "sim/event_queue.h"
#include "sim/prepare.h"

/* Streams, communicators and hosts as they move through time. A host runs ahead
 * through the program until it has to wait for an event; what it enqueues later
 * than now starts by a firing of its own. A stream stands at the first of its
 * instructions that is not done. An event is done when its stream stands behind
 * its recording. */

typedef enum
{
  STREAM_IDLE,    /* nothing to do, or waiting for the host, an event, its communicator */
  STREAM_DELAYED, /* its next work is enqueued, but later than now: a firing will start it */
  STREAM_BUSY     /* a kernel runs, or a collective waits for its peers or runs */
} StreamState;

typedef struct
{
  guint32 next;    /* in the stream's order */
  guint8 state;    /* StreamState */
  guint8 may_slow; /* its kernel is one that collectives slow down */
  SimTime fires;   /* when the firing that counts is due; others of the stream are stale */
  SimTime since;   /* when the kernel last changed its rate, or started */
  SimTime started;
  SimTime remaining; /* of the kernel, at full rate, as of @since */
} Stream;

typedef struct
{
  const Prepared *prepared;
  const Program *program;
  guint n_streams, n_communicators;
  Stream *streams;    /* n_streams by rank */
  guint32 *turns;     /* n_communicators by rank: collectives that have ended */
  guint32 *host_at;   /* by rank: the instruction at which the host waits, or n */
  SimTime *host_late; /* by rank and host wait: how far the host then lags behind the program's own
                         time */
  guint16 *collectives;        /* by rank: how many are on its GPU */
  guint32 *arrived;            /* by communicator and group: ranks that have come */
  guint32 *first_group;        /* by communicator: its first group's number */
  guint32 *group_communicator; /* by group */
  guint32 *group_turn;         /* by group: which of its collectives it is at */
  guint n_groups;
  guint32 **collective_order; /* by communicator: its collectives in order */
  EventQueue queue;
  SimTime now;
  StepEnds *ends;
  Observation *observed;
  guint n_observed;
} EventEngine;

/* ---- laying out and tearing down ---- */

static void
lay_out_groups (EventEngine *engine)
{
  const Prepared *prepared = engine->prepared;

  engine->first_group = g_new0 (guint32, engine->n_communicators + 1);
  for (guint i = 0; i < engine->n_communicators; i++)
    {
      engine->first_group[i] = engine->n_groups;
      engine->n_groups += prepared->n_ranks / prepared->groups[i].ranks;
    }
  engine->arrived = g_new0 (guint32, engine->n_groups + 1);
  engine->group_turn = g_new0 (guint32, engine->n_groups + 1);
  engine->group_communicator = g_new0 (guint32, engine->n_groups + 1);
  for (guint i = 0; i < engine->n_communicators; i++)
    for (guint32 group = engine->first_group[i];
         group < (i + 1 < engine->n_communicators ? engine->first_group[i + 1] : engine->n_groups);
         group++)
      engine->group_communicator[group] = i;
}

static void
lay_out_collectives (EventEngine *engine)
{
  guint32 counts[MAX_COMMUNICATORS] = { 0 };
  const Prepared *prepared = engine->prepared;

  for (guint32 i = 0; i < prepared->n; i++)
    if (prepared->instructions[i].kind == PROGRAM_COLLECTIVE)
      counts[prepared->instructions[i].communicator]++;
  engine->collective_order = g_new0 (guint32 *, engine->n_communicators + 1);
  for (guint i = 0; i < engine->n_communicators; i++)
    engine->collective_order[i] = g_new0 (guint32, counts[i] + 1);
  for (guint32 i = 0; i < prepared->n; i++)
    if (prepared->instructions[i].kind == PROGRAM_COLLECTIVE)
      engine->collective_order[prepared->instructions[i].communicator][engine->program->turn[i]]
          = i;
}

static void
engine_init (EventEngine *engine, const Prepared *prepared)
{
  gsize ranks = prepared->n_ranks;

  engine->prepared = prepared;
  engine->program = prepared->program;
  engine->n_streams = engine->program->n_streams;
  engine->n_communicators = engine->program->n_communicators;
  engine->streams = g_new0 (Stream, ranks * engine->n_streams + 1);
  engine->turns = g_new0 (guint32, ranks * engine->n_communicators + 1);
  engine->host_at = g_new0 (guint32, ranks);
  engine->host_late = g_new0 (SimTime, ranks * (engine->program->n_host_waits + 1));
  engine->collectives = g_new0 (guint16, ranks);
  lay_out_groups (engine);
  lay_out_collectives (engine);
  event_queue_init (&engine->queue, (guint)MIN (ranks * 2, 1u << 20));
}

static void
engine_clear (EventEngine *engine)
{
  g_free (engine->streams);
  g_free (engine->turns);
  g_free (engine->host_at);
  g_free (engine->host_late);
  g_free (engine->collectives);
  g_free (engine->arrived);
  g_free (engine->first_group);
  g_free (engine->group_turn);
  g_free (engine->group_communicator);
  for (guint i = 0; i < engine->n_communicators; i++)
    g_free (engine->collective_order[i]);
  g_free (engine->collective_order);
  event_queue_clear (&engine->queue);
}

/* ---- small questions ---- */

static inline Stream *
stream_of (const EventEngine *engine, guint rank, guint stream)
{
  return &engine->streams[(gsize)rank * engine->n_streams + stream];
}

static inline SimTime *
lateness (const EventEngine *engine, guint rank, guint32 segment)
{
  return &engine->host_late[(gsize)rank * (engine->program->n_host_waits + 1) + segment];
}

/* When the host of @rank, past its waits, starts on an instruction. */
static inline SimTime
host_time (const EventEngine *engine, guint rank, const Instruction *instruction)
{
  return instruction->host_before + *lateness (engine, rank, instruction->segment);
}

static inline gboolean
event_is_done (const EventEngine *engine, guint rank, const Instruction *wait)
{
  guint stream = engine->prepared->instructions[wait->source].stream;

  return stream_of (engine, rank, stream)->next > engine->program->position[wait->source];
}

static void
observe (const EventEngine *engine, guint rank, guint32 index, SimTime time)
{
  for (guint i = 0; i < engine->n_observed; i++)
    if (engine->observed[i].rank == rank)
      engine->observed[i].times[index] = time;
}

/* ---- kernels and what slows them ---- */

static inline guint32
current (const EventEngine *engine, guint stream, const Stream *state)
{
  return g_array_index (engine->program->streams[stream].order, guint32, state->next);
}

static SimTime
stretched (const EventEngine *engine, SimTime work)
{
  return (SimTime)llround ((double)work * (1.0 + engine->prepared->slowdown));
}

static void
fire_stream (EventEngine *engine, guint rank, guint stream, SimTime when)
{
  stream_of (engine, rank, stream)->fires = when;
  event_queue_push (&engine->queue, when, rank * engine->n_streams + stream);
}

/* The kernel that runs on @stream goes on at the rate of this moment. */
static void
schedule_end_of_kernel (EventEngine *engine, guint rank, guint stream)
{
  Stream *state = stream_of (engine, rank, stream);
  gboolean slow = state->may_slow && engine->collectives[rank] > 0;

  state->since = engine->now;
  fire_stream (engine, rank, stream,
               engine->now + (slow ? stretched (engine, state->remaining) : state->remaining));
}

/* Collectives appear on the GPU of @rank, or the last one leaves it. */
static void
change_rates (EventEngine *engine, guint rank, gboolean were_slow)
{
  for (guint i = 0; i < engine->n_streams; i++)
    {
      Stream *state = stream_of (engine, rank, i);
      if (state->state != STREAM_BUSY || !state->may_slow)
        continue;

      SimTime elapsed = engine->now - state->since;
      SimTime done = were_slow
                         ? (SimTime)llround ((double)elapsed / (1.0 + engine->prepared->slowdown))
                         : elapsed;
      state->remaining = MAX (state->remaining - done, 0);
      schedule_end_of_kernel (engine, rank, i);
    }
}

static void
start_kernel (EventEngine *engine, guint rank, guint stream, guint32 index)
{
  Stream *state = stream_of (engine, rank, stream);
  const Instruction *instruction = &engine->prepared->instructions[index];

  state->state = STREAM_BUSY;
  state->may_slow = !instruction->fixed && engine->prepared->slowdown > 0;
  state->started = engine->now;
  state->remaining = prepared_kernel_time (engine->prepared, index, rank);
  schedule_end_of_kernel (engine, rank, stream);
}

/* ---- collectives ---- */

/* A target below this is a stream's, above a group's. */
static inline guint32
first_group_target (const EventEngine *engine)
{
  return engine->prepared->n_ranks * engine->n_streams;
}

static guint32
group_of (const EventEngine *engine, guint rank, guint communicator)
{
  guint ranks = engine->prepared->groups[communicator].ranks;
  guint stride = engine->prepared->groups[communicator].stride;
  guint block = ranks * stride;

  return engine->first_group[communicator] + rank / block * stride + rank % block % stride;
}

static void
arrive (EventEngine *engine, guint rank, guint stream, guint32 index)
{
  guint communicator = engine->prepared->instructions[index].communicator;
  guint32 group = group_of (engine, rank, communicator);
  Stream *state = stream_of (engine, rank, stream);

  state->state = STREAM_BUSY;
  state->may_slow = FALSE;
  if (engine->collectives[rank]++ == 0)
    change_rates (engine, rank, FALSE);
  if (++engine->arrived[group] == engine->prepared->groups[communicator].ranks)
    event_queue_push (&engine->queue, engine->now + engine->prepared->collective_time[index],
                      first_group_target (engine) + group);
}

/* ---- streams and hosts in motion ---- */

static SimTime
issue_time (const EventEngine *engine, guint rank, const Instruction *instruction)
{
  return host_time (engine, rank, instruction) + instruction->issue;
}

static void
step_ends (EventEngine *engine, guint rank, const Instruction *instruction)
{
  if (instruction->id + 1 == engine->program->n_warmup_steps)
    engine->ends->origin[rank] = engine->now;
  if (instruction->id + 1 == engine->program->n_steps)
    engine->ends->end[rank] = engine->now;
}

/* Tries the work at which @stream stands; TRUE if the stream got past it. */
static gboolean
try_next (EventEngine *engine, guint rank, guint stream, guint32 index)
{
  const Instruction *instruction = &engine->prepared->instructions[index];
  gboolean kernel = instruction->kind == PROGRAM_LAUNCH;

  if (instruction->kind == PROGRAM_STREAM_WAIT)
    return event_is_done (engine, rank, instruction);
  if (instruction->kind == PROGRAM_RECORD)
    return TRUE;
  if (instruction->kind == PROGRAM_END_OF_STEP)
    {
      step_ends (engine, rank, instruction);
      return TRUE;
    }

  g_assert (kernel || instruction->kind == PROGRAM_COLLECTIVE);
  if (!kernel
      && engine->turns[(gsize)rank * engine->n_communicators + instruction->communicator]
             != engine->program->turn[index])
    return FALSE;
  SimTime issue = issue_time (engine, rank, instruction);
  if (issue > engine->now)
    {
      stream_of (engine, rank, stream)->state = STREAM_DELAYED;
      fire_stream (engine, rank, stream, issue);
    }
  else if (kernel)
    start_kernel (engine, rank, stream, index);
  else
    arrive (engine, rank, stream, index);
  return FALSE;
}

/* TRUE if the stream moved on, so that others may no longer have to wait for it. */
static gboolean
move_stream (EventEngine *engine, guint rank, guint stream)
{
  const GArray *order = engine->program->streams[stream].order;
  Stream *state = stream_of (engine, rank, stream);
  guint32 before = state->next;

  while (state->state == STREAM_IDLE && state->next < order->len)
    {
      guint32 index = current (engine, stream, state);
      if (index >= engine->host_at[rank] || !try_next (engine, rank, stream, index))
        break;
      state->next++;
    }
  return state->next != before;
}

/* Runs the host ahead to the next event that is not done. */
static gboolean
move_host (EventEngine *engine, guint rank)
{
  const Prepared *prepared = engine->prepared;
  guint32 at = engine->host_at[rank];

  if (at == prepared->n)
    return FALSE;
  for (;;)
    {
      const Instruction *instruction = &prepared->instructions[at];

      if (instruction->kind == PROGRAM_HOST_WAIT)
        {
          if (!event_is_done (engine, rank, instruction))
            break;
          SimTime late = *lateness (engine, rank, instruction->segment);
          if (engine->now > host_time (engine, rank, instruction) && at == engine->host_at[rank])
            late = engine->now + instruction->time - instruction->host_before;
          *lateness (engine, rank, instruction->segment + 1) = late;
        }
      if (++at == prepared->n)
        break;
    }
  if (at == engine->host_at[rank])
    return FALSE;
  engine->host_at[rank] = at;
  return TRUE;
}

static void
move_rank (EventEngine *engine, guint rank)
{
  gboolean moved;

  do
    {
      moved = move_host (engine, rank);
      for (guint i = 0; i < engine->n_streams; i++)
        moved |= move_stream (engine, rank, i);
    }
  while (moved);
}

static void
finish_work (EventEngine *engine, guint rank, guint stream, SimTime observed_time)
{
  Stream *state = stream_of (engine, rank, stream);

  observe (engine, rank, current (engine, stream, state), observed_time);
  state->state = STREAM_IDLE;
  state->next++;
}

static void
stream_fired (EventEngine *engine, const Firing *firing)
{
  guint rank = firing->target / engine->n_streams;
  guint stream = firing->target % engine->n_streams;
  Stream *state = stream_of (engine, rank, stream);

  if (firing->when != state->fires || state->state == STREAM_IDLE)
    return; /* stale: the kernel's rate has changed since */
  if (state->state == STREAM_BUSY)
    finish_work (engine, rank, stream, engine->now - state->started);
  else
    state->state = STREAM_IDLE;
  state->fires = SIM_TIME_NONE;
  move_rank (engine, rank);
}

/* All ranks leave before any goes on, so that equal ranks stay equal. */
static void
group_fired (EventEngine *engine, guint32 group)
{
  guint communicator = engine->group_communicator[group];
  guint ranks = engine->prepared->groups[communicator].ranks;
  guint stride = engine->prepared->groups[communicator].stride;
  guint32 local = group - engine->first_group[communicator];
  guint first = local / stride * ranks * stride + local % stride;
  guint32 index = engine->collective_order[communicator][engine->group_turn[group]++];

  engine->arrived[group] = 0;
  for (guint i = 0; i < ranks; i++)
    {
      guint rank = first + i * stride;
      finish_work (engine, rank, engine->prepared->instructions[index].stream, engine->now);
      engine->turns[(gsize)rank * engine->n_communicators + communicator]++;
      if (--engine->collectives[rank] == 0)
        change_rates (engine, rank, TRUE);
    }
  for (guint i = 0; i < ranks; i++)
    move_rank (engine, first + i * stride);
}

void
event_engine_run (const Prepared *prepared, StepEnds *ends, Observation *observed, guint n_observed)
{
  EventEngine engine = { .ends = ends, .observed = observed, .n_observed = n_observed };
  Firing firing;

  engine_init (&engine, prepared);
  memset (ends->origin, 0, prepared->n_ranks * sizeof (SimTime));
  for (guint rank = 0; rank < prepared->n_ranks; rank++)
    move_rank (&engine, rank);
  while (event_queue_pop (&engine.queue, &firing))
    {
      engine.now = firing.when;
      if (firing.target < first_group_target (&engine))
        stream_fired (&engine, &firing);
      else
        group_fired (&engine, firing.target - first_group_target (&engine));
    }
  for (guint rank = 0; rank < prepared->n_ranks; rank++)
    g_assert (engine.host_at[rank] == prepared->n); /* else the ranks' programs deadlock */
  engine_clear (&engine);
}

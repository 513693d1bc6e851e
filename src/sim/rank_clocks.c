#include <config.h>

#include "sim/rank_clocks.h"

typedef enum
{
  STREAM_IDLE,    /* nothing to do, or waiting for the host, an event, its communicator */
  STREAM_DELAYED, /* its next work is enqueued, but later than now */
  STREAM_BUSY,    /* a kernel runs */
  STREAM_MEETING  /* a collective waits for its peers or runs */
} StreamState;

typedef struct
{
  guint32 next;    /* in the stream's order */
  guint8 state;    /* StreamState */
  guint8 may_slow; /* its kernel is one that collectives and other kernels slow down */
  SimTime fires;   /* when its kernel ends or its work is enqueued; SIM_TIME_MAX: by others */
  SimTime since;   /* when the kernel last changed its rate, or started */
  SimTime started;
  SimTime remaining; /* of the kernel, at full rate, as of @since */
} Stream;

/* One entry of a stream's order, with all that a stream asks of it. */
typedef struct
{
  guint32 instruction;
  guint32 turn;            /* of a collective on its communicator */
  guint32 launch_order;    /* of a LAUNCH or COLLECTIVE among all of them */
  guint32 source_position; /* of a wait: the recording it means, in its stream's order */
  guint32 segment;         /* host waits and delays before it in the program */
  SimTime enqueued;        /* by a host that never had to wait */
  guint8 kind;             /* InstructionKind */
  guint8 source_stream;
  guint8 communicator;
} Work;

/* Where a host may fall behind: a wait, or a delay of its rank's own. */
typedef struct
{
  guint32 instruction;
  guint32 source_position;
  SimTime host_before; /* what the host spends before it, waits apart */
  SimTime wakeup;
  guint8 source_stream;
  gboolean is_delay;
} HostWait;

struct _RankClocks
{
  const Prepared *prepared;
  const Program *program;
  guint first, n;
  guint n_streams, n_communicators, n_waits;
  Work *work[MAX_STREAMS];
  guint32 n_work[MAX_STREAMS];
  HostWait *waits; /* and one behind the last, at the program's end */
  /* By rank. */
  Stream *streams;   /* n_streams each */
  guint32 *turns;    /* n_communicators each: collectives that have ended */
  guint32 *wait_at;  /* the wait at which the host stands, or n_waits */
  guint16 *meetings; /* collectives on its GPU */
  guint16 *sharers;  /* kernels that run and may be slowed: they share the GPU */
  guint32 *launched; /* single queue: device work that has started */
  SimTime *next;
  /* By wait, n_waits + 1, and there by rank, since neighbours stand at about the same one: how far
   * the host lags behind one that never waits. */
  SimTime *late;
  GArray *arrivals; /* Arrival */
  RunTimes *times;
  Observation *observation; /* or NULL */
};

/* ---- laying out and tearing down ---- */

/* Where an event was recorded last, so far. */
typedef struct
{
  guint32 position;
  guint8 stream;
} Recording;

static void
make_room (RankClocks *clocks)
{
  const Program *program = clocks->program;

  for (guint i = 0; i < clocks->n_streams; i++)
    clocks->work[i] = g_new (Work, program->streams[i].n_work + 1);
  clocks->waits = g_new (HostWait, program->n_of_kind[PROGRAM_HOST_WAIT]
                                       + program->n_of_kind[PROGRAM_HOST_DELAY] + 1);
}

static void
add_work (RankClocks *clocks, guint32 index, SimTime host, Recording meant, guint32 turn,
          guint32 launch_order)
{
  const Instruction *from = &clocks->prepared->instructions[index];

  clocks->work[from->stream][clocks->n_work[from->stream]++]
      = (Work){ .instruction = index,
                .turn = turn,
                .launch_order = launch_order,
                .source_position = meant.position,
                .source_stream = meant.stream,
                .segment = clocks->n_waits,
                .enqueued = host + from->issue,
                .kind = from->kind,
                .communicator = from->communicator };
}

static void
add_wait (RankClocks *clocks, guint32 index, SimTime host, Recording meant)
{
  const Instruction *from = &clocks->prepared->instructions[index];

  clocks->waits[clocks->n_waits++] = (HostWait){ .instruction = index,
                                                 .source_position = meant.position,
                                                 .source_stream = meant.stream,
                                                 .host_before = host,
                                                 .wakeup = from->time,
                                                 .is_delay = from->kind == PROGRAM_HOST_DELAY };
}

static void
lay_out (RankClocks *clocks)
{
  static const Recording none = { 0 };
  const Prepared *prepared = clocks->prepared;
  g_autofree Recording *latest = g_new (Recording, program_n_events (prepared->program));
  guint32 turns[MAX_COMMUNICATORS] = { 0 };
  guint32 n_launched = 0;
  SimTime host = 0;

  make_room (clocks);
  for (guint32 i = 0; i < prepared->n; i++)
    {
      const Instruction *from = &prepared->instructions[i];

      switch ((InstructionKind)from->kind)
        {
        case PROGRAM_LAUNCH:
          add_work (clocks, i, host, none, 0, n_launched++);
          break;
        case PROGRAM_COLLECTIVE:
          add_work (clocks, i, host, none, turns[from->communicator]++, n_launched++);
          break;
        case PROGRAM_RECORD:
          latest[from->id] = (Recording){ clocks->n_work[from->stream], from->stream };
          add_work (clocks, i, host, none, 0, 0);
          break;
        case PROGRAM_STREAM_WAIT:
          add_work (clocks, i, host, latest[from->id], 0, 0);
          break;
        case PROGRAM_END_OF_STEP:
          add_work (clocks, i, host, none, 0, 0);
          break;
        case PROGRAM_HOST_WAIT:
          add_wait (clocks, i, host, latest[from->id]);
          break;
        case PROGRAM_HOST_DELAY:
          add_wait (clocks, i, host, none);
          break;
        case PROGRAM_HOST_BUSY:
        case PROGRAM_ALLOC:
        case PROGRAM_FREE:
        case PROGRAM_END_OF_LOAD:
        case N_INSTRUCTIONS:
          break;
        }
      host += from->host;
    }
  clocks->waits[clocks->n_waits].instruction = prepared->n;
}

static void move_rank (RankClocks *clocks, guint slot, SimTime now);
static void find_next (RankClocks *clocks, guint slot);

RankClocks *
rank_clocks_new (const Prepared *prepared, guint first, guint n, RunTimes *times)
{
  RankClocks *clocks = g_new0 (RankClocks, 1);
  const Program *program = prepared->program;

  clocks->prepared = prepared;
  clocks->program = program;
  clocks->first = first;
  clocks->n = n;
  clocks->n_streams = program->n_streams;
  clocks->n_communicators = program->n_communicators;
  clocks->times = times;
  lay_out (clocks);
  clocks->streams = g_new0 (Stream, (gsize)n * clocks->n_streams + 1);
  clocks->turns = g_new0 (guint32, (gsize)n * clocks->n_communicators + 1);
  clocks->wait_at = g_new0 (guint32, n);
  clocks->late = g_new0 (SimTime, (gsize)n * (clocks->n_waits + 1));
  clocks->meetings = g_new0 (guint16, n);
  clocks->sharers = g_new0 (guint16, n);
  clocks->launched = g_new0 (guint32, n);
  clocks->next = g_new0 (SimTime, n);
  clocks->arrivals = g_array_sized_new (FALSE, FALSE, sizeof (Arrival), n);
  for (gsize i = 0; i < (gsize)n * clocks->n_streams; i++)
    clocks->streams[i].fires = SIM_TIME_MAX;
  for (guint slot = 0; slot < n; slot++)
    {
      move_rank (clocks, slot, 0);
      find_next (clocks, slot);
    }
  return clocks;
}

void
rank_clocks_free (RankClocks *clocks)
{
  if (clocks == NULL)
    return;
  for (guint i = 0; i < clocks->n_streams; i++)
    g_free (clocks->work[i]);
  g_free (clocks->waits);
  g_free (clocks->streams);
  g_free (clocks->turns);
  g_free (clocks->wait_at);
  g_free (clocks->late);
  g_free (clocks->meetings);
  g_free (clocks->sharers);
  g_free (clocks->launched);
  g_free (clocks->next);
  g_array_unref (clocks->arrivals);
  g_free (clocks);
}

void
rank_clocks_observe (RankClocks *clocks, Observation *observation)
{
  g_assert (clocks->n == 1);
  clocks->observation = observation;
}

/* ---- small questions ---- */

static inline Stream *
streams_of (const RankClocks *clocks, guint slot)
{
  return &clocks->streams[(gsize)slot * clocks->n_streams];
}

static inline SimTime *
late_at (const RankClocks *clocks, guint32 at, guint slot)
{
  return &clocks->late[(gsize)at * clocks->n + slot];
}

static inline guint32 *
turns_of (const RankClocks *clocks, guint slot)
{
  return &clocks->turns[(gsize)slot * clocks->n_communicators];
}

const SimTime *
rank_clocks_next (const RankClocks *clocks)
{
  return clocks->next;
}

static void
find_next (RankClocks *clocks, guint slot)
{
  const Stream *streams = streams_of (clocks, slot);
  SimTime next = streams[0].fires;

  for (guint i = 1; i < clocks->n_streams; i++)
    next = MIN (next, streams[i].fires);
  clocks->next[slot] = next;
}

/* ---- kernels and what slows them ---- */

/* How many times as long as alone a kernel takes just now: collectives slow it, and
 * kernels of several streams have equal parts of the GPU. */
static double
slowness (const RankClocks *clocks, guint slot)
{
  double beside = clocks->meetings[slot] > 0 ? 1.0 + clocks->prepared->slowdown : 1.0;

  return beside * MAX (clocks->sharers[slot], 1);
}

static SimTime
scaled (SimTime time, double factor)
{
  return factor == 1.0 ? time : sim_time_nearest ((double)time * factor);
}

/* The kernel that runs on a stream goes on at the rate of this moment. */
static void
schedule_end_of_kernel (const RankClocks *clocks, guint slot, Stream *stream, SimTime now)
{
  double factor = stream->may_slow ? slowness (clocks, slot) : 1.0;

  stream->since = now;
  stream->fires = now + scaled (stream->remaining, factor);
}

/* Collectives or kernels appear on the GPU or leave it. @before: what slowness() was. */
static void
change_rates (const RankClocks *clocks, guint slot, double before, SimTime now)
{
  Stream *streams = streams_of (clocks, slot);

  for (guint i = 0; i < clocks->n_streams; i++)
    {
      SimTime done;

      if (streams[i].state != STREAM_BUSY || !streams[i].may_slow || streams[i].fires <= now)
        continue; /* what ends at this moment has had its rate */
      done = scaled (now - streams[i].since, 1.0 / before);
      streams[i].remaining = MAX (streams[i].remaining - done, 0);
      schedule_end_of_kernel (clocks, slot, &streams[i], now);
    }
}

static void
start_kernel (const RankClocks *clocks, guint slot, Stream *stream, guint32 index, SimTime now)
{
  double before = slowness (clocks, slot);

  stream->may_slow = !clocks->prepared->instructions[index].fixed && clocks->prepared->slowdown > 0;
  stream->started = now;
  stream->remaining = prepared_kernel_time (clocks->prepared, index, clocks->first + slot);
  if (stream->may_slow && clocks->sharers[slot]++ > 0)
    change_rates (clocks, slot, before, now);
  stream->state = STREAM_BUSY;
  schedule_end_of_kernel (clocks, slot, stream, now);
}

static void
arrive (RankClocks *clocks, guint slot, Stream *stream, guint32 index, SimTime now)
{
  Arrival arrival = { clocks->first + slot, index, now };
  double before = slowness (clocks, slot);

  stream->state = STREAM_MEETING;
  stream->fires = SIM_TIME_MAX;
  g_array_append_val (clocks->arrivals, arrival);
  if (clocks->meetings[slot]++ == 0 && clocks->prepared->slowdown > 0)
    change_rates (clocks, slot, before, now);
}

/* ---- streams and hosts in motion ---- */

static void
step_ends (const RankClocks *clocks, guint slot, guint32 index, SimTime now)
{
  guint step = clocks->prepared->instructions[index].id + 1;

  if (step == clocks->program->n_warmup_steps)
    clocks->times->origin[slot] = now;
  if (step == clocks->program->n_steps)
    clocks->times->end[slot] = now;
}

/* One hardware queue: nothing starts before all that was launched before it has. */
static gboolean
is_behind_in_queue (const RankClocks *clocks, guint slot, const Work *work)
{
  return clocks->program->single_queue && work->launch_order != clocks->launched[slot];
}

/* Tries a kernel or collective; the stream never gets past it at once. */
static void
try_to_start (RankClocks *clocks, guint slot, Stream *stream, const Work *work, SimTime now)
{
  SimTime enqueued = work->enqueued + *late_at (clocks, work->segment, slot);

  if (work->kind == PROGRAM_COLLECTIVE && turns_of (clocks, slot)[work->communicator] != work->turn)
    return;
  if (is_behind_in_queue (clocks, slot, work))
    return;
  if (enqueued > now)
    {
      stream->state = STREAM_DELAYED;
      stream->fires = enqueued;
      return;
    }
  clocks->launched[slot]++;
  if (work->kind == PROGRAM_LAUNCH)
    start_kernel (clocks, slot, stream, work->instruction, now);
  else
    arrive (clocks, slot, stream, work->instruction, now);
}

/* TRUE if others may no longer have to wait for it: it is past a recording or, in a single queue,
 * has started something. */
static gboolean
move_stream (RankClocks *clocks, guint slot, guint which, guint32 horizon, SimTime now)
{
  Stream *streams = streams_of (clocks, slot);
  Stream *stream = &streams[which];
  gboolean frees_others = FALSE;

  while (stream->state == STREAM_IDLE && stream->next < clocks->n_work[which])
    {
      const Work *work = &clocks->work[which][stream->next];

      if (work->instruction >= horizon)
        break;
      if (work->kind == PROGRAM_LAUNCH || work->kind == PROGRAM_COLLECTIVE)
        {
          try_to_start (clocks, slot, stream, work, now);
          return frees_others || (clocks->program->single_queue && stream->state > STREAM_DELAYED);
        }
      if (work->kind == PROGRAM_STREAM_WAIT
          && streams[work->source_stream].next <= work->source_position)
        break;
      if (work->kind == PROGRAM_END_OF_STEP)
        step_ends (clocks, slot, work->instruction, now);
      frees_others |= work->kind == PROGRAM_RECORD;
      stream->next++;
    }
  return frees_others;
}

static gboolean
is_over (const HostWait *wait, const Stream *streams)
{
  return wait->is_delay || streams[wait->source_stream].next > wait->source_position;
}

/* How late the host is behind a wait that is over, or a delay. Only the wait at which it stood
 * can have blocked it: the others it finds done when it gets there, or not. */
static SimTime
late_after (const RankClocks *clocks, guint slot, guint32 at, gboolean stood_here, SimTime now)
{
  const HostWait *wait = &clocks->waits[at];
  const SimTime late = *late_at (clocks, at, slot);

  if (wait->is_delay)
    return late
           + (clocks->prepared->host_delay == NULL
                  ? 0
                  : clocks->prepared->host_delay[clocks->first + slot]);
  if (stood_here && now > wait->host_before + late)
    return now + wait->wakeup - wait->host_before;
  return late;
}

/* Runs the host ahead to the next event that is not done. */
static void
move_host (RankClocks *clocks, guint slot, SimTime now)
{
  const Stream *streams = streams_of (clocks, slot);
  guint32 before = clocks->wait_at[slot];
  guint32 at = before;

  for (; at < clocks->n_waits && is_over (&clocks->waits[at], streams); at++)
    *late_at (clocks, at + 1, slot) = late_after (clocks, slot, at, at == before, now);
  clocks->wait_at[slot] = at;
}

static void
move_rank (RankClocks *clocks, guint slot, SimTime now)
{
  gboolean again;

  do
    {
      move_host (clocks, slot, now);
      const guint32 horizon = clocks->waits[clocks->wait_at[slot]].instruction;

      again = FALSE;
      for (guint i = 0; i < clocks->n_streams; i++)
        again |= move_stream (clocks, slot, i, horizon, now);
    }
  while (again);
}

static void
observe (const RankClocks *clocks, guint which, const Stream *stream, SimTime time)
{
  if (clocks->observation != NULL)
    clocks->observation->times[clocks->work[which][stream->next].instruction] = time;
}

/* Work of a stream whose time has come: a kernel ends, or what was enqueued may start. */
static void
fire (RankClocks *clocks, guint slot, guint which, SimTime now)
{
  Stream *stream = &streams_of (clocks, slot)[which];

  if (stream->state == STREAM_BUSY)
    {
      observe (clocks, which, stream, now - stream->started);
      clocks->sharers[slot] -= stream->may_slow;
      stream->next++;
    }
  stream->state = STREAM_IDLE;
  stream->fires = SIM_TIME_MAX;
}

void
rank_clocks_advance (RankClocks *clocks, guint rank, SimTime limit)
{
  guint slot = rank - clocks->first;
  Stream *streams = streams_of (clocks, slot);

  while (clocks->next[slot] <= limit && clocks->next[slot] != SIM_TIME_MAX)
    {
      SimTime now = clocks->next[slot];
      double before = slowness (clocks, slot);
      guint sharers = clocks->sharers[slot];

      for (guint i = 0; i < clocks->n_streams; i++)
        if (streams[i].fires == now)
          fire (clocks, slot, i, now);
      if (clocks->sharers[slot] < sharers && clocks->sharers[slot] > 0)
        change_rates (clocks, slot, before, now);
      move_rank (clocks, slot, now);
      find_next (clocks, slot);
    }
}

void
rank_clocks_leave (RankClocks *clocks, guint rank, guint32 instruction, SimTime when)
{
  guint slot = rank - clocks->first;
  const Instruction *left = &clocks->prepared->instructions[instruction];
  Stream *stream = &streams_of (clocks, slot)[left->stream];
  double before = slowness (clocks, slot);

  observe (clocks, left->stream, stream, when);
  stream->state = STREAM_IDLE;
  stream->next++;
  turns_of (clocks, slot)[left->communicator]++;
  if (--clocks->meetings[slot] == 0 && clocks->prepared->slowdown > 0)
    change_rates (clocks, slot, before, when);
  move_rank (clocks, slot, when);
  find_next (clocks, slot);
}

const Arrival *
rank_clocks_take_arrivals (RankClocks *clocks, guint *n)
{
  const Arrival *arrivals = (const Arrival *)(const void *)clocks->arrivals->data;

  *n = clocks->arrivals->len;
  if (*n > 0)
    g_array_set_size (clocks->arrivals, 0);
  return arrivals;
}

gboolean
rank_clocks_are_done (const RankClocks *clocks)
{
  for (guint slot = 0; slot < clocks->n; slot++)
    {
      const Stream *streams = streams_of (clocks, slot);

      for (guint i = 0; i < clocks->n_streams; i++)
        if (streams[i].next < clocks->n_work[i])
          return FALSE;
    }
  return TRUE;
}

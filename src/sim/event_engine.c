#include <config.h>

#include "sim/flows.h"
#include "sim/rank_clocks.h"

/* Ranks meet in collectives alone. Up to the end of the next collective that is known to end,
 * each may go on by itself; and since a collective ends no sooner than its duration after
 * somebody's next move, no rank has to stop at every move of another. So the ranks take
 * turns over windows of time, each with all that it does in one go. */

typedef struct
{
  guint arrived;
  guint32 turn; /* collectives that are over */
} Group;

/* The groups of one communicator. */
typedef struct
{
  Group *groups;
  SimTime *arrivals; /* by rank: at the collective where it is, or was last */
  guint32 *order;    /* its collectives, by turn */
  guint32 n;
  guint32 *n_groups_at; /* by turn: groups that have yet to end it */
  guint32 least_turn, most_turn;
} Meeting;

typedef struct
{
  const Prepared *prepared;
  RunTimes *times;
  RankClocks *clocks;
  Meeting meetings[MAX_COMMUNICATORS];
  EventQueue queue; /* of the flows */
  Flows *flows;
} EventEngine;

/* ---- laying out and tearing down ---- */

static void
lay_out_meetings (EventEngine *engine)
{
  const Prepared *prepared = engine->prepared;
  guint n_communicators = prepared->program->n_communicators;
  const guint n_collectives = prepared->program->n_collectives;

  for (guint i = 0; i < n_communicators; i++)
    {
      Meeting *meeting = &engine->meetings[i];

      meeting->groups = g_new0 (Group, prepared->groups[i].n);
      meeting->arrivals = g_new0 (SimTime, prepared->n_ranks);
      meeting->order = g_new (guint32, n_collectives + 1);
    }
  for (guint i = 0; i < n_collectives; i++)
    {
      const guint32 index = program_collective_at (prepared->program, i);
      Meeting *meeting = &engine->meetings[prepared->instructions[index].communicator];

      g_assert (meeting->order != NULL);
      meeting->order[meeting->n++] = index;
    }
  for (guint i = 0; i < n_communicators; i++)
    {
      Meeting *meeting = &engine->meetings[i];

      meeting->n_groups_at = g_new0 (guint32, meeting->n + 1);
      meeting->n_groups_at[0] = prepared->groups[i].n;
    }
}

static void
engine_clear (EventEngine *engine)
{
  for (guint i = 0; i < engine->prepared->program->n_communicators; i++)
    {
      g_free (engine->meetings[i].groups);
      g_free (engine->meetings[i].arrivals);
      g_free (engine->meetings[i].order);
      g_free (engine->meetings[i].n_groups_at);
    }
  rank_clocks_free (engine->clocks);
  flows_free (engine->flows);
  event_queue_clear (&engine->queue);
}

/* ---- windows ---- */

/* The shortest of the collectives that groups are at: none that is not known to end yet
 * can end sooner than this after anybody's next move. */
static SimTime
shortest_collective (const EventEngine *engine)
{
  SimTime shortest = SIM_TIME_MAX;

  for (guint i = 0; i < engine->prepared->program->n_communicators; i++)
    {
      const Meeting *meeting = &engine->meetings[i];

      for (guint32 turn = meeting->least_turn; turn <= meeting->most_turn && turn < meeting->n;
           turn++)
        if (meeting->n_groups_at[turn] > 0)
          {
            const Instruction *next = &engine->prepared->instructions[meeting->order[turn]];
            shortest = MIN (shortest, prices_least_time (&engine->prepared->prices, next->id));
          }
    }
  return shortest;
}

static SimTime
earliest_move (const EventEngine *engine)
{
  const SimTime *next = rank_clocks_next (engine->clocks);
  SimTime earliest = SIM_TIME_MAX;

  for (guint rank = 0; rank < engine->prepared->n_ranks; rank++)
    earliest = MIN (earliest, next[rank]);
  return earliest;
}

/* ---- collectives ---- */

static void
count_arrival (EventEngine *engine, const Arrival *arrival)
{
  const Prepared *prepared = engine->prepared;
  guint communicator = prepared->instructions[arrival->instruction].communicator;
  guint number = prepared_group (prepared, communicator, arrival->rank);
  Meeting *meeting = &engine->meetings[communicator];

  meeting->arrivals[arrival->rank] = arrival->when;
  if (++meeting->groups[number].arrived == prepared->groups[communicator].ranks)
    flows_start (
        engine->flows, flows_number (engine->flows, communicator, number), arrival->instruction,
        run_times_meet (engine->times, prepared, arrival->instruction, number, meeting->arrivals));
}

static void
count_arrivals (EventEngine *engine)
{
  guint n;
  const Arrival *arrivals = rank_clocks_take_arrivals (engine->clocks, &n);

  for (guint i = 0; i < n; i++)
    count_arrival (engine, &arrivals[i]);
}

static void
next_turn (Meeting *meeting, Group *group)
{
  group->arrived = 0;
  meeting->n_groups_at[group->turn++]--;
  meeting->n_groups_at[group->turn]++;
  meeting->most_turn = MAX (meeting->most_turn, group->turn);
  while (meeting->n_groups_at[meeting->least_turn] == 0)
    meeting->least_turn++;
}

static void
end_collective (EventEngine *engine, const Firing *firing)
{
  const Prepared *prepared = engine->prepared;
  guint communicator, number;

  flows_group (engine->flows, firing->target, &communicator, &number);
  Meeting *meeting = &engine->meetings[communicator];
  guint32 instruction = meeting->order[meeting->groups[number].turn];
  guint rank = prepared_group_first (prepared, communicator, number);

  engine->times->collectives[prepared->first_end[prepared->instructions[instruction].id] + number]
      = firing->when;
  next_turn (meeting, &meeting->groups[number]);
  for (guint i = 0; i < prepared->groups[communicator].ranks; i++)
    rank_clocks_leave (engine->clocks, rank + i * prepared->groups[communicator].stride,
                       instruction, firing->when);
}

/* ---- the run ---- */

static void
run_window (EventEngine *engine, SimTime until)
{
  const SimTime *next = rank_clocks_next (engine->clocks);

  for (guint rank = 0; rank < engine->prepared->n_ranks; rank++)
    if (next[rank] <= until)
      rank_clocks_advance (engine->clocks, rank, until);
  count_arrivals (engine);
}

/* How far all may go by themselves: to just before a collective ends or can end, so that at equal
 * times ends come first; but at least to the next @move. */
static SimTime
end_of_window (EventEngine *engine, SimTime move)
{
  SimTime shortest = shortest_collective (engine);
  SimTime until = shortest > SIM_TIME_MAX - move ? SIM_TIME_MAX : move + shortest;

  return MAX (MIN (until, event_queue_next (&engine->queue)) - 1, move);
}

static void
observe_meetings (const Prepared *prepared, const RunTimes *times, Observation *observation)
{
  for (guint i = 0; i < prepared->program->n_collectives; i++)
    {
      const guint32 index = program_collective_at (prepared->program, i);

      observation->met[i] = times->met[prepared_end_index (prepared, index, observation->rank)];
    }
}

void
event_engine_run (const Prepared *prepared, const Network *network, RunTimes *times,
                  Observation *only)
{
  EventEngine engine = { .prepared = prepared, .times = times };
  Firing firing;

  lay_out_meetings (&engine);
  event_queue_init (&engine.queue, 16);
  engine.flows = flows_new (prepared, network, &engine.queue);
  engine.clocks = rank_clocks_new (prepared, 0, prepared->n_ranks, times);
  if (only != NULL)
    rank_clocks_observe (engine.clocks, only);
  count_arrivals (&engine);
  for (;;)
    {
      SimTime move = earliest_move (&engine);

      flows_share (engine.flows);
      SimTime end = event_queue_next (&engine.queue);

      if (move == SIM_TIME_MAX && end == SIM_TIME_MAX)
        break;
      if (move < end)
        run_window (&engine, end_of_window (&engine, move));
      else
        {
          event_queue_pop (&engine.queue, &firing);
          if (flows_fire (engine.flows, &firing))
            end_collective (&engine, &firing);
          count_arrivals (&engine);
        }
    }
  g_assert (rank_clocks_are_done (engine.clocks)); /* else the ranks' programs deadlock */
  if (only != NULL)
    observe_meetings (prepared, times, only);
  engine_clear (&engine);
}

/* The collectives at which the only rank has arrived end when they did. @at: by communicator. */
static void
push_known_ends (const Prepared *prepared, const RunTimes *times, RankClocks *clocks,
                 EventQueue *ends, guint32 *at)
{
  guint n;
  const Arrival *arrivals = rank_clocks_take_arrivals (clocks, &n);

  for (guint i = 0; i < n; i++)
    {
      guint32 index = arrivals[i].instruction;
      guint communicator = prepared->instructions[index].communicator;
      gsize end = prepared_end_index (prepared, index, arrivals[i].rank);

      at[communicator] = index;
      event_queue_push (ends, times->collectives[end], communicator);
    }
}

/* The rank runs by itself once more: all that the others meant to it is in @times. */
void
event_engine_observe (const Prepared *prepared, const RunTimes *times, Observation *observation)
{
  SimTime origin, end;
  RunTimes own = { .origin = &origin, .end = &end };
  guint32 at[MAX_COMMUNICATORS];
  g_autoptr (RankClocks) clocks = rank_clocks_new (prepared, observation->rank, 1, &own);
  EventQueue ends;
  Firing firing;

  rank_clocks_observe (clocks, observation);
  event_queue_init (&ends, MAX_COMMUNICATORS);
  for (;;)
    {
      push_known_ends (prepared, times, clocks, &ends, at);
      SimTime move = *rank_clocks_next (clocks);

      if (move == SIM_TIME_MAX && event_queue_next (&ends) == SIM_TIME_MAX)
        break;
      if (move < event_queue_next (&ends))
        rank_clocks_advance (clocks, observation->rank, move);
      else if (event_queue_pop (&ends, &firing))
        rank_clocks_leave (clocks, observation->rank, at[firing.target], firing.when);
    }
  g_assert (rank_clocks_are_done (clocks));
  event_queue_clear (&ends);
  observe_meetings (prepared, times, observation);
}

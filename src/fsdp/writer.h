/* What every runtime needs to write a host program: the program, what its pieces
 * cost, and where in the step it is, from which labels are made. */
#pragma once

#include "fsdp/units.h"

#define WRITER_KNOWN_COPIES 8

typedef struct
{
  gint64 bytes;
  KernelRun run;
} WriterCopy;

typedef struct
{
  Program *program;
  const Scenario *scenario;
  const StepCost *cost;
  Units units;
  StreamId compute;
  StreamId cpu;         /* fsdp/offload.h */
  EventId synchronized; /* … its own */
  TimelinePhase phase;
  guint micro_batch;
  WriterCopy copies[WRITER_KNOWN_COPIES]; /* those priced last */
  guint n_copies;
} Writer;

TimelineLabel writer_label (const Writer *writer, TimelineOp op, guint32 unit);

/* Launches @run, which is nothing where it has no kernels. */
void writer_launch (Writer *writer, StreamId stream, const KernelRun *run, TimelineOp op,
                    guint32 unit);

/* A device copy of FSDP's own that reads and writes @bytes in all. */
void writer_copy (Writer *writer, StreamId stream, gint64 bytes, guint32 unit);

typedef struct
{
  CommunicatorId communicator;
  StreamId stream;
  CollectiveKind kind;
  gint64 bytes;
  gboolean in_place;
  SimTime given; /* or SIM_TIME_NONE; 0: not launched */
} WriterCollective;

void writer_collective (Writer *writer, const WriterCollective *collective, guint32 unit);

/* Host time of one of FSDP's hooks. */
void writer_hook (Writer *writer);

/* A unit's parameters come to the GPU whole and leave a shard, unless that goes back to the host.
 */
void writer_load_shard (Writer *writer, const Unit *unit);

/* DefaultState._get_gradient_predivide_factor: a power of two near the square
 * root of the ranks, which divides them; gradients are divided by it before the
 * reduction and by the rest after. */
double writer_predivide_factor (guint ranks);

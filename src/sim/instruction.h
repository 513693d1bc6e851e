/* Inside of a host program, for the room's own executors: the sealed
 * instruction table and the order of work on each stream. */
#pragma once

#include "sim/program.h"

#define MAX_STREAMS       16
#define MAX_COMMUNICATORS 16
#define INSTRUCTION_NONE  G_MAXUINT32

typedef struct
{
  guint8 kind;         /* InstructionKind */
  guint8 stream;       /* StreamId; of ALLOC and FREE: the pool */
  guint8 communicator; /* CommunicatorId */
  guint8 detail;       /* COLLECTIVE: CollectiveKind; ALLOC, FREE: MemoryKind */
  guint8 fixed;
  guint8 jitter;
  guint8 in_place;
  guint8 reserved;
  guint32 id;      /* EventId or BufferId */
  guint32 source;  /* of waits: the RECORD meant; filled in by sealing */
  guint32 segment; /* host waits and delays before this one in the program */
  guint32 used_by; /* FREE: mask of streams */
  SimTime time;  /* LAUNCH: duration; COLLECTIVE: fixed time or SIM_TIME_NONE; HOST_WAIT: wake-up */
  SimTime host;  /* what the host spends on it */
  SimTime issue; /* LAUNCH, COLLECTIVE: from the host's start on it until the device may start */
  SimTime host_before; /* what the host spends on all before it, waits apart */
  gint64 bytes;
  TimelineLabel label;
} Instruction;

typedef struct
{
  char *name;
  TimelineLane lane;
  guint32 *order; /* its LAUNCH, COLLECTIVE, RECORD, STREAM_WAIT and END_OF_STEP; when sealed */
  guint32 n_order;
} ProgramStream;

typedef struct
{
  char *name;
  TimelineLane lane;
  guint ranks;
  guint stride;
} ProgramCommunicator;

struct _Program
{
  Instruction *instructions;
  guint32 n_instructions, room; /* room: for so many */
  ProgramStream streams[MAX_STREAMS];
  guint n_streams;
  ProgramCommunicator communicators[MAX_COMMUNICATORS];
  guint n_communicators;
  guint n_events;
  guint32 *buffers; /* the ALLOC of each */
  guint32 n_buffers, buffer_room;
  EventId passing; /* recorded and waited for at once */
  guint n_host_waits;
  guint n_warmup_steps;
  guint n_steps;         /* warm-up steps included */
  guint32 *position;     /* of an instruction in its stream's order; by instruction */
  guint32 *turn;         /* of a collective on its communicator; by instruction */
  guint32 *launch_order; /* of LAUNCH and COLLECTIVE among all of them; by instruction */
  gboolean single_queue; /* CUDA_DEVICE_MAX_CONNECTIONS = 1 */
  gboolean sealed;
};

static inline const Instruction *
program_instructions (const Program *program)
{
  return program->instructions;
}

/* Of groups of @ranks ranks, each a stride from the next: the first rank of group number @group. */
static inline guint
group_first_rank (guint ranks, guint stride, guint group)
{
  return group / stride * ranks * stride + group % stride;
}

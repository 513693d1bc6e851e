/* Inside of a host program, for the room's own executors: the instruction table. */
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
  guint32 id;      /* EventId or BufferId; number of a COLLECTIVE, of an END_OF_STEP */
  guint32 used_by; /* FREE: mask of streams */
  SimTime time;  /* LAUNCH: duration; COLLECTIVE: fixed time or SIM_TIME_NONE; HOST_WAIT: wake-up */
  SimTime host;  /* what the host spends on it */
  SimTime issue; /* LAUNCH, COLLECTIVE: from the host's start on it until the device may start */
  gint64 bytes;
  TimelineLabel label;
} Instruction;

typedef struct
{
  char *name;
  TimelineLane lane;
  guint32 n_work; /* instructions that run on it */
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
  guint32 n_of_kind[N_INSTRUCTIONS];
  guint32 *collectives; /* the instructions */
  guint32 n_collectives, collective_room;
  GArray *step_ends; /* guint32: the END_OF_STEPs */
  ProgramStream streams[MAX_STREAMS];
  guint n_streams;
  ProgramCommunicator communicators[MAX_COMMUNICATORS];
  guint n_communicators;
  GByteArray *recorded; /* of each event whether it has been */
  guint32 *buffers;     /* the ALLOC of each, or INSTRUCTION_NONE when freed */
  guint32 n_buffers, buffer_room;
  EventId passing; /* recorded and waited for at once */
  guint n_warmup_steps;
  guint n_steps;         /* warm-up steps included */
  gboolean single_queue; /* CUDA_DEVICE_MAX_CONNECTIONS = 1 */
  gboolean sealed;
};

static inline const Instruction *
program_instructions (const Program *program)
{
  return program->instructions;
}

/* The instruction of a collective, by its number. */
static inline guint32
program_collective_at (const Program *program, guint32 number)
{
  g_assert (number < program->n_collectives);
  return program->collectives[number];
}

/* The first instruction behind the warm-up steps. */
static inline guint32
program_first_reported (const Program *program)
{
  return program->n_warmup_steps == 0
             ? 0
             : g_array_index (program->step_ends, guint32, program->n_warmup_steps - 1) + 1;
}

static inline guint
program_n_events (const Program *program)
{
  return program->recorded->len;
}

/* Of groups of @ranks ranks, each a stride from the next: the first rank of group number @group. */
static inline guint
group_first_rank (guint ranks, guint stride, guint group)
{
  return group / stride * ranks * stride + group % stride;
}

/* The host program: how the CPU thread of a PyTorch process drives CUDA. Every
 * runtime (FSDP, DDP, a replayed trace) writes one, the engine reads it. Ranks of
 * one role share one program. Built once, then sealed; runs never change it.
 *
 * Semantics are CUDA's. A stream runs its work in the order of launching. Work
 * starts when the host has enqueued it, its stream is free, all events are done
 * that its stream was told to wait for, and, for a collective, when the one issued
 * before it on the same communicator has ended here. A collective ends on all
 * ranks of its group at once, its duration after the last of them arrived. An
 * event stands for all work on its stream up to its recording; it may be recorded
 * again, and a wait means the latest recording before it in host order. */
#pragma once

#include "net/network.h"
#include "timeline/timeline.h"

typedef enum
{
#define INSTRUCTION(name, text) PROGRAM_##name,
#include "sim/instructions.def"
#undef INSTRUCTION
  N_INSTRUCTIONS
} InstructionKind;

typedef guint8 StreamId;
typedef guint8 CommunicatorId;
typedef guint32 EventId;
typedef guint32 BufferId;

#define BUFFER_NONE G_MAXUINT32

typedef struct _Program Program;

Program *program_new (void);
void program_free (Program *program);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Program, program_free)

/* ---- what the program uses ---- */

/* At most 16 streams and 16 communicators. @lane: where copies and kernels of
 * this stream show in timelines. */
StreamId program_add_stream (Program *program, const char *name, TimelineLane lane);

/* Ranks {first, first + stride, …}, @ranks of them; all ranks of the job fall
 * into such groups: block b of ranks x stride consecutive ranks holds stride
 * groups. A whole-job communicator is (n_ranks, 1). */
CommunicatorId program_add_communicator (Program *program, const char *name, TimelineLane lane,
                                         guint ranks, guint stride);

EventId program_add_event (Program *program);

/* CUDA_DEVICE_MAX_CONNECTIONS = 1: all streams share one hardware queue, in which nothing
 * starts before all that the host launched before it has started. */
void program_use_single_queue (Program *program);

/* ---- what the host does, in order ---- */

typedef struct
{
  StreamId stream;
  SimTime time;    /* on the device, alone */
  SimTime host;    /* of the host, for all kernels of the run */
  guint n_kernels; /* at least 1 */
  gboolean fixed;  /* a given time, which collectives beside it do not slow down */
  gboolean jitter; /* one pass of a block, to which a rank's jitter applies */
  TimelineLabel label;
} KernelLaunch;

/* The first kernel is enqueued one kernel's host time after the host starts on
 * the run. A run that the device could finish faster than the host launches it is
 * placed so that it ends one kernel after the host is done. */
void program_launch (Program *program, const KernelLaunch *launch);

typedef struct
{
  CommunicatorId communicator;
  StreamId stream;
  CollectiveKind kind;
  gint64 bytes;
  gboolean in_place;
  SimTime fixed_time; /* or SIM_TIME_NONE: the network model says */
  SimTime host;
  TimelineLabel label;
} CollectiveLaunch;

void program_collective (Program *program, const CollectiveLaunch *launch);

void program_record (Program *program, EventId event, StreamId stream);
void program_stream_wait (Program *program, StreamId stream, EventId event);

/* Makes @stream wait for all that is enqueued on @other: CUDA's record and wait in one. */
void program_stream_wait_stream (Program *program, StreamId stream, StreamId other);

/* The host blocks until @event is done; @wakeup is added if it really blocked. */
void program_host_wait (Program *program, EventId event, SimTime wakeup, TimelineLabel label);
void program_host_busy (Program *program, SimTime time);
/* Here a host loses the time that the run's options say of its rank. */
void program_host_delay (Program *program);

BufferId program_alloc (Program *program, StreamId pool, MemoryKind kind, gint64 bytes,
                        guint32 unit);

/* @used_by: streams other than the pool's that record_stream() named, as a bit
 * mask (1 << stream): the block is reusable when they too are past this point. */
void program_free_buffer (Program *program, BufferId buffer, guint32 used_by);

void program_end_of_load (Program *program);
/* The step ends when @compute has done all that was enqueued. */
void program_end_of_step (Program *program, StreamId compute);

/* Nothing is written any more. What is written is checked as it comes (events recorded before they
 * are waited for, buffers freed once): a writer's mistake aborts. */
void program_seal (Program *program, guint n_warmup_steps);

guint program_n_instructions (const Program *program);
/* One instruction as text, for dumps and tests ("collective all_gather comm.shard …"); the caller
 * frees it. */
char *program_describe (const Program *program, guint index);

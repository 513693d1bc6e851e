/* A profiler trace as a stream of events: yajl reads the JSON, and this keeps of
 * each event what the house has a use for. Memory does not grow with the file.
 *
 * Traces in the wild break JSON's rules. Integers beyond 64 bits and invalid UTF-8
 * pass. An event with unescaped quotes, control characters or nan is repaired, and
 * what cannot be is skipped up to the next event. All of it is counted. */
#pragma once

#include "interop/trace_number.h"
#include "interop/trace_source.h"
#include "interop/trace_words.h"

#define TRACE_NAME_SIZE  256   /* longer names are cut */
#define TRACE_MAX_BLOCKS 16384 /* units beyond are not told apart */

typedef struct
{
  gint64 correlation; /* of the launch that work belongs to; 0: none */
  gint64 stream;      /* -1: none */
  /* Of a collective. */
  TraceCollective collective;       /* NONE: no arguments of a collective */
  gint64 in_elements, out_elements; /* of this rank; -1: not told */
  guint dtype_bytes;                /* 0: not told */
  gint64 group_size;                /* 0: not told */
  guint32 group;                    /* hash of the process group's name and ranks; 0: not told */
  gint64 bytes;                     /* fsdpsim's; -1: not told */
  gint64 begun_ps, ended_ps, waited_ps; /* fsdpsim's exact times; SIM_TIME_NONE: not told */
  /* fsdpsim's labels; -1: not told. */
  int lane, op, phase;
  gint64 unit, micro_batch;
} TraceArguments;

typedef struct
{
  char phase; /* of the Trace Event format: 'X' is complete, with a start and a duration */
  TraceCategory category;
  char name[TRACE_NAME_SIZE]; /* "" where nobody needs it */
  guint32 name_hash;          /* of the whole name */
  TraceAnnotation annotation; /* of CATEGORY_CPU and CATEGORY_GPU_ANNOTATION */
  gboolean has_category, has_pid, has_start, has_duration;
  gint64 pid, tid;
  TraceTime start, duration;
  TraceArguments arguments;
} TraceEvent;

/* What stands around the events. */
typedef struct
{
  gint64 rank, world_size;     /* distributedInfo; -1: not told */
  guint n_devices;             /* deviceProperties */
  char *gpu;                   /* name of the first of them, or NULL */
  char *generator;             /* who wrote it: "fsdpsim 0.1.0"; NULL for Kineto */
  char *variant;               /* fsdpsim's, or NULL */
  char *first_member;          /* of the outermost object, or NULL */
  gboolean has_events;         /* there is an array of events */
  gboolean is_execution_trace; /* PyTorch's or Chakra's graph of operators, not a timeline */
  /* fsdpsim's facts of the run; 0 where not told. */
  double n_ranks, peak_flops, tokens_per_step, model_flops_per_token, hardware_flops_per_token;
  double step_error; /* of the prediction */
  double capacity_bytes, peak_allocated_bytes, peak_reserved_bytes, peak_phase;
  char *reason;                     /* why it does not fit, or NULL */
  char *scenario, *scenario_sha256; /* or NULL */
} TraceHeader;

void trace_header_clear (TraceHeader *header);

/* What was wrong with a file and yet read. */
typedef struct
{
  guint n_events;       /* read, of any kind */
  guint n_repaired;     /* events whose JSON was repaired */
  guint n_partial;      /* events of which only the front could be read */
  guint n_lost;         /* events, or stretches between them, that could not be read */
  guint n_invalid_utf8; /* strings */
  guint n_beyond_64;    /* integers */
  guint64 first_fault;  /* offset of the first event repaired, read in part or lost */
  gboolean is_cut_off;  /* the file ends inside the trace */
  guint64 n_bytes;      /* of JSON read */
} TraceFaults;

typedef struct
{
  void (*event) (const TraceEvent *event, gpointer data);
  void (*progress) (guint64 n_bytes, gpointer data); /* now and then; or NULL */
  gpointer data;
} TraceHandlers;

/* Reads the whole source. FALSE and a TRACE_ERROR for what is no trace; *header and
 * *faults are filled in any case. Names of fields in @header are owned by it. */
gboolean trace_parse (TraceSource *source, const TraceHandlers *handlers, TraceHeader *header,
                      TraceFaults *faults, GError **error);

typedef enum
{
  TRACE_ERROR_NO_TRACE /* of what the file holds */
} TraceError;

#define TRACE_ERROR (trace_error_quark ())
GQuark trace_error_quark (void);

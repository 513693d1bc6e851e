/* A trace file as timelines: the records of each process in windows, one a step, each
 * with lane, unit, phase and micro-batch. Nothing but a window is in memory at a time. */
#pragma once

#include "interop/trace_file.h"
#include "interop/trace_peers.h"

/* By what collectives were told apart. */
typedef enum
{
  UNITS_BY_LABELS,      /* fsdpsim's own */
  UNITS_BY_ANNOTATIONS, /* FSDP's, on the host */
  UNITS_BY_PATTERN,     /* order and size in the step */
  UNITS_UNKNOWN         /* no all-gather to go by */
} UnitSource;

/* By what steps were told apart. */
typedef enum
{
  STEPS_MARKED,    /* profiler steps */
  STEPS_OPTIMIZER, /* the optimizer's steps on the host */
  STEPS_UNKNOWN    /* the whole trace is taken as one */
} StepSource;

/* One process that ran work of a GPU. */
typedef struct
{
  guint32 process;
  guint rank;
  GArray *windows; /* TraceStep, in order, none overlapping; empty where nothing ran */
  UnitSource units;
  StepSource steps;
} TraceTrack;

typedef struct _TraceRecording TraceRecording;

/* Takes @file. @peers, or NULL: collects this file's collectives. */
TraceRecording *trace_recording_new (TraceFile *file, TracePeers *peers);
void trace_recording_free (TraceRecording *recording);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TraceRecording, trace_recording_free)

const TraceFile *trace_recording_file (const TraceRecording *recording);

/* A stretch of a step, mostly all of it. Its timeline has one step, without warm-up;
 * records that began in an earlier window are marked as carried. Where a collective's
 * waiting is not known, peers_from is its start. */
typedef struct
{
  const Timeline *timeline;
  const TraceTrack *track;
  guint step; /* index of the track's windows */
  gboolean ends_step;
} TraceWindow;

typedef void (*TraceWindowFunc) (const TraceWindow *window, gpointer data);

/* Calls @func for every window of every track, in order. @peers, or NULL: of all files,
 * once each was collected. FALSE and a G_FILE_ERROR where it could not end. */
gboolean trace_recording_replay (TraceRecording *recording, TracePeers *peers, TraceWindowFunc func,
                                 gpointer data, GError **error);

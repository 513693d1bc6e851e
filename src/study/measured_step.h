/* What a recorded step says in the terms of [timing]: the mean time of each piece of
 * work and of each collective, to start "what if" from a step that was measured. */
#pragma once

#include "study/recorded_study.h"

typedef enum
{
#define TIMING(key, words) MEASURED_##key,
#include "config/timing.def"
#undef TIMING
  N_MEASURED
} MeasuredKey;

/* One key of [timing]. */
typedef struct
{
  SimTime total; /* of all passes or calls; of collectives without waiting, where that is known */
  guint64 n;     /* 0: nothing was measured */
  gint64 bytes;  /* of all collectives, as NCCL counts them */
  gboolean is_spread; /* kernels that nothing places in a unit, spread evenly over the blocks */
} MeasuredTime;

typedef struct
{
  GPtrArray *jobs;          /* Recorded, of which there is one */
  const Recorded *recorded; /* that one */
  guint rank;               /* the slowest, whose figures these are */
  guint n_steps;
  MeasuredTime times[N_MEASURED];
  MeasuredTime pooled[N_TIMELINE_OPS]; /* passes of kernels that nothing places in a unit */
  guint n_blocks;                      /* that collectives and kernels name; 0: none */
  guint n_micro_batches;
} MeasuredStep;

/* Traces of one job, a file a rank. NULL where they are of several, or have no step on a GPU
 * (TRACE_ERROR), or as recorded_study() says. A kernel-run of several kernels counts the
 * host-bound gaps between them: [timing] launches it as one. */
MeasuredStep *measured_step_read (const RecordedOptions *options, GError **error);
void measured_step_free (MeasuredStep *step);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (MeasuredStep, measured_step_free)

/* Passes of whole micro-batches are known, not of blocks. */
gboolean measured_step_is_unplaced (const MeasuredStep *step);

/* Once the number of blocks is known from elsewhere too: fills in what has to be spread. */
void measured_step_spread (MeasuredStep *step, guint n_blocks);

const char *measured_key_name (MeasuredKey key); /* "embed_all_gather" */

/* FALSE where @key is no collective. @kind: which one. */
gboolean measured_key_is_collective (MeasuredKey key, TimelineOp *kind);

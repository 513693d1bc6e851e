/* What the words of profiler traces mean: categories of events by schema age,
 * names of NCCL's kernels and of c10d's collectives, annotations of FSDP. */
#pragma once

#include "timeline/label.h"

typedef enum
{
  CATEGORY_OTHER, /* nothing that is read */
  CATEGORY_KERNEL,
  CATEGORY_MEMCPY,
  CATEGORY_MEMSET,
  CATEGORY_RUNTIME, /* calls of the CUDA or HIP runtime or driver */
  CATEGORY_CPU,     /* operators and annotations of the host */
  CATEGORY_GPU_ANNOTATION
} TraceCategory;

TraceCategory trace_category (const char *text, gsize length);

typedef enum
{
  NCCL_NONE,
  NCCL_ALL_GATHER,
  NCCL_REDUCE_SCATTER,
  NCCL_ALL_REDUCE,
  NCCL_BROADCAST,
  NCCL_SEND_RECV, /* point to point and all-to-all */
  NCCL_REDUCE,
  NCCL_UNKNOWN, /* NCCL's, but neither name nor arguments tell which */
  N_NCCL_KINDS
} TraceCollective;

const char *trace_collective_words (TraceCollective collective); /* "all-gather" */

/* By the name of a kernel; NCCL_NONE where it is not NCCL's. */
TraceCollective trace_kernel_collective (const char *name);
/* By "Collective name" of the arguments; NCCL_UNKNOWN where it says nothing. */
TraceCollective trace_named_collective (const char *name);
TimelineOp trace_collective_op (TraceCollective collective);

/* Bytes of an element, by c10d's name of the type ("BFloat16"); 0: unknown. */
guint trace_dtype_bytes (const char *name);

/* What the host was about. */
typedef enum
{
  ANNOTATION_NONE,
  ANNOTATION_STEP,      /* "ProfilerStep#N" */
  ANNOTATION_OPTIMIZER, /* "Optimizer.step#AdamW.step" */
  ANNOTATION_ZERO_GRAD, /* "Optimizer.zero_grad#AdamW.zero_grad" */
  ANNOTATION_AUTOGRAD,  /* an operator of the backward pass */
  ANNOTATION_COMM,      /* "record_param_comms": c10d's own record of a collective */
  ANNOTATION_CPU_WORK,  /* "fsdpsim_cpu::optimizer root": fsdpsim's, of what is offloaded */
  /* FSDP1, which does not name the unit. */
  ANNOTATION_FSDP1_FORWARD,
  ANNOTATION_FSDP1_PRE_BACKWARD,
  ANNOTATION_FSDP1_POST_BACKWARD,
  ANNOTATION_FSDP1_PREFETCH,
  /* FSDP2, with the unit's name. */
  ANNOTATION_FSDP2_PRE_FORWARD,
  ANNOTATION_FSDP2_POST_FORWARD,
  ANNOTATION_FSDP2_PRE_BACKWARD,
  ANNOTATION_FSDP2_POST_BACKWARD, /* the last of its parts: post_backward_reduce */
  ANNOTATION_FSDP2_GATHER,        /* all_gather, its copies, a prefetch */
  ANNOTATION_FSDP2_REDUCE_PART    /* the other parts of post_backward */
} TraceAnnotation;

TraceAnnotation trace_annotation (const char *name);
/* The unit that an annotation of FSDP2 names, "layers.3"; "" for the root. Points into @name
 * for *length bytes. */
const char *trace_annotation_unit (const char *name, gsize *length);
/* N of "ProfilerStep#N". */
guint trace_step_number (const char *name);

/* Whether a call of the runtime puts work on a stream. */
gboolean trace_call_launches (const char *name);

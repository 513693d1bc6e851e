#include <config.h>

#include <string.h>

#include "interop/trace_words.h"

/* ---- categories ---- */

typedef struct
{
  const char *word;
  guint meaning;
} Word;

static const Word categories[] = {
  { "kernel", CATEGORY_KERNEL },
  { "cpu_op", CATEGORY_CPU },
  { "cuda_runtime", CATEGORY_RUNTIME },
  { "user_annotation", CATEGORY_CPU },
  { "gpu_memcpy", CATEGORY_MEMCPY },
  { "gpu_memset", CATEGORY_MEMSET },
  { "cuda_driver", CATEGORY_RUNTIME },
  { "gpu_user_annotation", CATEGORY_GPU_ANNOTATION },
  { "hip_runtime", CATEGORY_RUNTIME },
  { "xpu_runtime", CATEGORY_RUNTIME },
  { "privateuse1_runtime", CATEGORY_RUNTIME },
  /* schema of 2021 */
  { "Kernel", CATEGORY_KERNEL },
  { "Operator", CATEGORY_CPU },
  { "Runtime", CATEGORY_RUNTIME },
  { "Memcpy", CATEGORY_MEMCPY },
  { "Memset", CATEGORY_MEMSET },
};

TraceCategory
trace_category (const char *text, gsize length)
{
  for (guint i = 0; i < G_N_ELEMENTS (categories); i++)
    if (categories[i].word[0] == text[0] && strlen (categories[i].word) == length
        && memcmp (categories[i].word, text, length) == 0)
      return (TraceCategory)categories[i].meaning;
  return CATEGORY_OTHER;
}

/* ---- collectives ---- */

const char *
trace_collective_words (TraceCollective collective)
{
  static const char *const words[N_NCCL_KINDS] = { [NCCL_NONE] = "kernel",
                                                   [NCCL_ALL_GATHER] = "all-gather",
                                                   [NCCL_REDUCE_SCATTER] = "reduce-scatter",
                                                   [NCCL_ALL_REDUCE] = "all-reduce",
                                                   [NCCL_BROADCAST] = "broadcast",
                                                   [NCCL_SEND_RECV] = "send/recv",
                                                   [NCCL_REDUCE] = "reduce",
                                                   [NCCL_UNKNOWN] = "collective of unknown kind" };

  g_assert (collective < N_NCCL_KINDS);
  return words[collective];
}

static guint
first_word_in (const char *name, const Word *words, guint n)
{
  for (guint i = 0; i < n; i++)
    if (strstr (name, words[i].word) != NULL)
      return words[i].meaning;
  return NCCL_UNKNOWN;
}

/* Templates' names are long; NCCL's own begin with it, behind a return type at most. */
#define NCCL_WITHIN 40

/* Since NCCL 2.19 "ncclDevKernel_AllGather_RING_LL", with symmetric memory
 * "ncclSymkDevKernel_AllGather_LL", before "ncclKernel_AllGather_RING_LL_Sum_int8_t";
 * RCCL runs all of them as "ncclDevKernel_Generic". */
TraceCollective
trace_kernel_collective (const char *name)
{
  static const Word words[] = {
    { "AllGather", NCCL_ALL_GATHER }, { "ReduceScatter", NCCL_REDUCE_SCATTER },
    { "AllReduce", NCCL_ALL_REDUCE }, { "Broadcast", NCCL_BROADCAST },
    { "SendRecv", NCCL_SEND_RECV },   { "AlltoAll", NCCL_SEND_RECV },
    { "AllToAll", NCCL_SEND_RECV },   { "_Reduce_", NCCL_REDUCE },
  };

  const gssize reach = NCCL_WITHIN;

  if (g_strstr_len (name, reach, "nccl") == NULL && g_strstr_len (name, reach, "rccl") == NULL)
    return NCCL_NONE;
  return (TraceCollective)first_word_in (name, words, G_N_ELEMENTS (words));
}

TraceCollective
trace_named_collective (const char *name)
{
  static const Word words[] = {
    { "allgather", NCCL_ALL_GATHER },
    { "all_gather", NCCL_ALL_GATHER },
    { "reduce_scatter", NCCL_REDUCE_SCATTER },
    { "allreduce", NCCL_ALL_REDUCE },
    { "all_reduce", NCCL_ALL_REDUCE },
    { "broadcast", NCCL_BROADCAST },
    { "all_to_all", NCCL_SEND_RECV },
    { "alltoall", NCCL_SEND_RECV },
    { "send", NCCL_SEND_RECV },
    { "recv", NCCL_SEND_RECV },
    { "gather", NCCL_SEND_RECV },
    { "scatter", NCCL_SEND_RECV },
    { "reduce", NCCL_REDUCE },
  };

  return (TraceCollective)first_word_in (name, words, G_N_ELEMENTS (words));
}

TimelineOp
trace_collective_op (TraceCollective collective)
{
  switch (collective)
    {
    case NCCL_ALL_GATHER:
      return TIMELINE_ALL_GATHER;
    case NCCL_REDUCE_SCATTER:
      return TIMELINE_REDUCE_SCATTER;
    case NCCL_ALL_REDUCE:
      return TIMELINE_ALL_REDUCE;
    default:
      return TIMELINE_OTHER_COLLECTIVE;
    }
}

guint
trace_dtype_bytes (const char *name)
{
  static const Word words[] = {
    { "BFloat16", 2 }, { "Float8", 1 }, { "Float4", 1 },       { "Float", 4 }, { "Half", 2 },
    { "Double", 8 },   { "Byte", 1 },   { "Char", 1 },         { "Bool", 1 },  { "Short", 2 },
    { "Int", 4 },      { "Long", 8 },   { "ComplexFloat", 8 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_str_has_prefix (name, words[i].word))
      return words[i].meaning;
  return 0;
}

/* ---- annotations ---- */

#define FSDP1 "FullyShardedDataParallel."
#define FSDP2 "FSDP::"

static TraceAnnotation
fsdp1_annotation (const char *what)
{
  if (strstr (what, "prefetch") != NULL)
    return ANNOTATION_FSDP1_PREFETCH;
  if (strcmp (what, "forward") == 0)
    return ANNOTATION_FSDP1_FORWARD;
  if (strcmp (what, "_pre_backward_hook") == 0)
    return ANNOTATION_FSDP1_PRE_BACKWARD;
  if (strcmp (what, "_post_backward_hook") == 0)
    return ANNOTATION_FSDP1_POST_BACKWARD;
  return ANNOTATION_NONE;
}

/* torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py, whose _with_fqn() adds " (layers.3)".
 */
static TraceAnnotation
fsdp2_annotation (const char *what)
{
  static const Word words[] = {
    { "all_gather", ANNOTATION_FSDP2_GATHER },
    { "forward_prefetch for ", ANNOTATION_FSDP2_GATHER },
    { "backward_prefetch for ", ANNOTATION_FSDP2_GATHER },
    { "pre_forward", ANNOTATION_FSDP2_PRE_FORWARD },
    { "post_forward", ANNOTATION_FSDP2_POST_FORWARD },
    { "pre_backward", ANNOTATION_FSDP2_PRE_BACKWARD },
    { "post_backward_reduce", ANNOTATION_FSDP2_POST_BACKWARD },
    { "post_backward", ANNOTATION_FSDP2_REDUCE_PART },
  };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_str_has_prefix (what, words[i].word))
      return (TraceAnnotation)words[i].meaning;
  return ANNOTATION_NONE;
}

TraceAnnotation
trace_annotation (const char *name)
{
  switch (name[0])
    {
    case 'P':
      return g_str_has_prefix (name, "ProfilerStep") ? ANNOTATION_STEP : ANNOTATION_NONE;
    case 'O':
      if (g_str_has_prefix (name, "Optimizer.step"))
        return ANNOTATION_OPTIMIZER;
      return g_str_has_prefix (name, "Optimizer.") ? ANNOTATION_ZERO_GRAD : ANNOTATION_NONE;
    case 'a':
      return g_str_has_prefix (name, "autograd::engine::evaluate_function") ? ANNOTATION_AUTOGRAD
                                                                            : ANNOTATION_NONE;
    case 'r':
      return strcmp (name, "record_param_comms") == 0 ? ANNOTATION_COMM : ANNOTATION_NONE;
    case 'f':
      return g_str_has_prefix (name, "fsdpsim_cpu::") ? ANNOTATION_CPU_WORK : ANNOTATION_NONE;
    case 'F':
      if (g_str_has_prefix (name, FSDP2))
        return fsdp2_annotation (name + strlen (FSDP2));
      if (g_str_has_prefix (name, FSDP1))
        return fsdp1_annotation (name + strlen (FSDP1));
      return ANNOTATION_NONE;
    default:
      return ANNOTATION_NONE;
    }
}

const char *
trace_annotation_unit (const char *name, gsize *length)
{
  const char *target = strstr (name, "_prefetch for ");
  const char *open = strchr (name, '(');
  const char *close = open == NULL ? NULL : strrchr (open, ')');

  *length = 0;
  if (target != NULL)
    {
      target += strlen ("_prefetch for ");
      *length = strlen (target);
      return target;
    }
  if (close == NULL)
    return name;
  *length = (gsize)(close - open - 1);
  return open + 1;
}

guint
trace_step_number (const char *name)
{
  const char *number = strchr (name, '#');

  return number == NULL ? 0 : (guint)g_ascii_strtoull (number + 1, NULL, 10);
}

/* ---- calls of the runtime ---- */

gboolean
trace_call_launches (const char *name)
{
  return strstr (name, "Launch") != NULL || strstr (name, "Memcpy") != NULL
         || strstr (name, "Memset") != NULL;
}

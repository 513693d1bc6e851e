#include <config.h>

#include "study/published_scenario.h"

#include <math.h>
#include <string.h>

G_DEFINE_QUARK (fsdpsim_published_error, published_error)

/* The software profile of a framework, whether its checkpoints stop early where torch can, the
 * first month in which it compiles the loss, too, where it compiles blocks, and that from which
 * on embedding and head are units of their own; 0: never. */
typedef struct
{
  const char *framework; /* how its name begins */
  const char *profile;
  const char *optimizer;
  gboolean early_stop;
  guint loss_compiled_since, own_units_since;
} Framework;

#define MONTH(year, month) (12 * (year) + (month)-1)

static const Framework frameworks[] = {
  { "llm-foundry", "composer", "adamw_for_loop", TRUE, 0, 0 },
  { "torchtitan", "torchtitan", "adamw", FALSE, MONTH (2025, 3), MONTH (2025, 7) },
  { "fms-fsdp", "fms-fsdp", "adamw", TRUE, 0, 0 },
  { "HF ", "hf-trainer", "adamw", TRUE, 0, 0 },
  { "", "eager", "adamw", TRUE, 0, 0 },
};

static const Framework *
find_framework (const char *name)
{
  guint i = 0;

  while (!g_str_has_prefix (name, frameworks[i].framework))
    i++;
  return &frameworks[i];
}

typedef struct
{
  const RunSettings *run;
  GString *text;
  GError **error;
  const Framework *framework;
  guint month; /* of the framework that ran */
} Mapping;

static gboolean G_GNUC_PRINTF (2, 3) refuse (const Mapping *mapping, const char *format, ...)
{
  va_list arguments;
  g_autofree char *message = NULL;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error_literal (mapping->error, PUBLISHED_ERROR, PUBLISHED_ERROR_CANNOT_MAP, message);
  return FALSE;
}

static void add (const Mapping *mapping, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
add (const Mapping *mapping, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_string_append_vprintf (mapping->text, format, arguments);
  va_end (arguments);
  g_string_append_c (mapping->text, '\n');
}

static gboolean
is (const char *cell, const char *word)
{
  return strcmp (cell, word) == 0;
}

/* ---- the model ---- */

/* Gated feed-forwards mark Llama's family, others MPT's: no biases anywhere, tied
 * embeddings, and as many learned positions as a sequence is long. */
static gboolean
add_model (const Mapping *mapping)
{
  const RunSettings *run = mapping->run;

  if (run->layers == 0 || run->hidden == 0 || run->heads == 0 || run->ffn_hidden == 0
      || run->vocab == 0 || run->seq_len == 0)
    return refuse (mapping, "the model's sizes are not all published");
  add (mapping, "[model]\nlayers = %u\nhidden = %u\nheads = %u\nkv_heads = %u\nffn_hidden = %u",
       run->layers, run->hidden, run->heads, run->kv_heads > 0 ? run->kv_heads : run->heads,
       run->ffn_hidden);
  add (mapping, "vocab = %u", run->vocab);
  if (run->gated_ffn)
    add (mapping, "gated_ffn = true\nnorm = rmsnorm\ntied_embeddings = false");
  else
    add (mapping, "gated_ffn = false\nnorm = layernorm\ntied_embeddings = true\npositions = %u",
         run->seq_len);
  return TRUE;
}

/* ---- the hardware ---- */

/* The nodes that a GPU usually comes in, and its network rate where none is published. */
static const struct
{
  const char *gpu; /* how its name begins */
  const char *cluster;
  double gbit_per_s; /* a GPU */
} usual_clusters[] = {
  { "a100-sxm-40g", "dgx-a100-40g", 200 },
  { "a100-sxm-80g", "dgx-a100-80g", 200 },
  { "h100-sxm", "dgx-h100", 400 },
  { "h200-sxm", "dgx-h200", 400 },
  { "b200", "hgx-b200", 400 },
  { "mi300x", "mi300x-8", 400 },
};

/* 100 Gb/s cards that two GPUs share are the EFA of AWS's A100 nodes, with losses of its own. */
#define EFA_CLUSTER    "aws-p4d"
#define EFA_GBIT_PER_S 60

static void
add_nics (const Mapping *mapping, double usual)
{
  const RunSettings *run = mapping->run;

  if (isnan (run->inter_gbps_per_gpu))
    add (mapping, "# network rate not published: the usual one");
  add (mapping, "nics_per_node = %u\nnic_bandwidth = %gGb/s", run->gpus_per_node,
       isnan (run->inter_gbps_per_gpu) ? usual : run->inter_gbps_per_gpu);
}

static gboolean
add_hardware (const Mapping *mapping)
{
  const RunSettings *run = mapping->run;
  guint i = 0;

  while (i < G_N_ELEMENTS (usual_clusters) && !g_str_has_prefix (run->gpu, usual_clusters[i].gpu))
    i++;
  if (i == G_N_ELEMENTS (usual_clusters))
    return refuse (mapping, "no nodes are known that have the GPU '%s'", run->gpu);
  if (run->nodes == 0 || run->gpus_per_node == 0)
    return refuse (mapping, "the numbers of nodes and GPUs are not published");
  add (mapping, "[cluster]\nsource = %s",
       g_str_has_prefix (run->gpu, "a100") && run->inter_gbps_per_gpu <= EFA_GBIT_PER_S
           ? EFA_CLUSTER
           : usual_clusters[i].cluster);
  add (mapping, "gpu = %s\nnodes = %u\ngpus_per_node = %u", run->gpu, run->nodes,
       run->gpus_per_node);
  if (run->nodes > 1)
    add_nics (mapping, usual_clusters[i].gbit_per_s);
  return TRUE;
}

/* ---- the software ---- */

/* GPUs that are not new to software, and when they came in numbers. */
static const struct
{
  const char *gpu; /* how its name begins */
  guint year;
} seasoned_gpus[] = { { "v100", 2018 }, { "a100", 2021 }, { "h100", 2023 } };

/* Where only the year is published: its middle, but its first month for a GPU in its third year or
 * later, whose software was ready. The tables' runs that have their month are like that (H100 of
 * 2025: February and March; H200: June; MI300X and B200: August). */
static guint
probable_month (const RunSettings *run)
{
  for (guint i = 0; i < G_N_ELEMENTS (seasoned_gpus); i++)
    if (g_str_has_prefix (run->gpu, seasoned_gpus[i].gpu) && run->year >= seasoned_gpus[i].year + 2)
      return MONTH (run->year, 1);
  return MONTH (run->year, 6);
}

/* "2025-02". */
static gboolean
read_month (Mapping *mapping)
{
  const char *text = mapping->run->software_month;

  mapping->month = probable_month (mapping->run);
  if (text[0] == '\0')
    return TRUE;
  if (!g_regex_match_simple ("^20[0-9]{2}-(0[1-9]|1[0-2])$", text, 0, 0))
    return refuse (mapping, "software_month '%s' is no month such as 2025-02", text);
  mapping->month = MONTH ((guint)g_ascii_strtoull (text, NULL, 10),
                          (guint)g_ascii_strtoull (text + strlen ("2025-"), NULL, 10));
  return TRUE;
}

/* Rows name the algorithm. torchtitan puts cuDNN's kernels before FlashAttention's on GPUs
 * of compute capability 10.0 (torchtitan/models/attention.py, ScaledDotProductAttention). */
static const char *
attention_kernels (const RunSettings *run, const Framework *framework)
{
  if (is (run->attention, "flash2") && is (framework->profile, "torchtitan")
      && g_str_has_prefix (run->gpu, "b200"))
    return "cudnn";
  return run->attention;
}

/* PyTorch's expandable segments are made by CUDA's driver; its ROCm builds warn and go on without
 * (c10/cuda/CUDACachingAllocator.cpp, "not supported on this platform"). */
static gboolean
has_no_expandable_segments (const RunSettings *run)
{
  return g_str_has_prefix (run->gpu, "mi3");
}

static void
add_software (const Mapping *mapping)
{
  const RunSettings *run = mapping->run;
  const Framework *framework = mapping->framework;
  const char *profile = framework->profile;
  const char *attention = attention_kernels (run, framework);

  if (is (attention, "flash1") && is (profile, "composer"))
    profile = "mosaicgpt"; /* llm-foundry's models before MPT */
  add (mapping, "[software]\nsource = %s", profile);
  if (attention[0] != '\0')
    add (mapping, "attention = %s", attention);
  if (has_no_expandable_segments (run))
    add (mapping, "expandable_segments = false");
  if (run->compile)
    add (mapping, "compile = true");
  if (strstr (run->ab_arm, "chunked") != NULL)
    add (mapping, "loss = chunked");
  else if (run->compile && framework->loss_compiled_since > 0
           && mapping->month >= framework->loss_compiled_since)
    add (mapping, "loss = fused");
}

/* Composer reduced in bf16 (PURE) by default up to torch 2.0 and in fp32 (DEFAULT)
 * from then on. */
static guint
torch_minor (const RunSettings *run)
{
  gboolean fsdp2 = is (run->api, "fsdp2");

  if (fsdp2)
    return run->year >= 2025 ? 8 : 6;
  if (run->year >= 2025)
    return 8;
  if (run->year == 2024)
    return 3;
  return is (run->reduce_dtype, "fp32") ? 1 : 0;
}

/* ---- training ---- */

static gboolean
is_fp8 (const char *dtype)
{
  return g_str_has_prefix (dtype, "fp8");
}

/* Scaled by row where the row says so, or where torchao's default of its year is
 * that; a gather in fp8 is possible only with one scale for the tensor. */
static gboolean
is_rowwise (const RunSettings *run)
{
  if (is_fp8 (run->all_gather_dtype) || strstr (run->ab_arm, "tensorwise") != NULL)
    return FALSE;
  return strstr (run->ab_arm, "rowwise") != NULL || run->year >= 2025;
}

/* Without grad_accum and global_batch the step is one micro-batch. The last one may
 * be smaller than the others. */
static gboolean
add_batch (const Mapping *mapping)
{
  const RunSettings *run = mapping->run;
  guint ranks = run->nodes * run->gpus_per_node;
  guint sequences; /* of a rank */

  if (run->micro_batch == 0)
    return refuse (mapping, "the micro-batch is not published");
  sequences = run->global_batch > 0 ? (run->global_batch + ranks - 1) / ranks
                                    : run->micro_batch * MAX (run->grad_accum, 1);
  if (sequences < run->micro_batch)
    return refuse (mapping, "a global batch of %u is less than a micro-batch of %u on %u ranks",
                   run->global_batch, run->micro_batch, ranks);
  add (mapping, "[training]\nmicro_batch = %u\nseq_len = %u\ngrad_accum = %u", run->micro_batch,
       run->seq_len, (sequences + run->micro_batch - 1) / run->micro_batch);
  if (sequences % run->micro_batch != 0)
    add (mapping, "last_micro_batch = %u", sequences % run->micro_batch);
  add (mapping, "no_sync = false\noptimizer = %s", mapping->framework->optimizer);
  if (is_fp8 (run->matmul_dtype))
    add (mapping, "matmul_dtype = %s", is_rowwise (run) ? "fp8_rowwise" : "fp8_tensorwise");
  return TRUE;
}

/* ---- FSDP ---- */

static void
add_fsdp1 (const Mapping *mapping)
{
  const RunSettings *run = mapping->run;

  if (run->backward_prefetch[0] != '\0')
    add (mapping, "backward_prefetch = %s", run->backward_prefetch);
  if (run->forward_prefetch[0] != '\0')
    add (mapping, "forward_prefetch = %s", is (run->forward_prefetch, "1") ? "true" : "false");
  if (run->limit_all_gathers[0] != '\0')
    add (mapping, "limit_all_gathers = %s", is (run->limit_all_gathers, "1") ? "true" : "false");
}

static void
add_fsdp2 (const Mapping *mapping)
{
  const RunSettings *run = mapping->run;
  const guint own_units_since = mapping->framework->own_units_since;

  if (own_units_since > 0 && mapping->month >= own_units_since)
    add (mapping, "units = embed_blocks_head");
  if (run->reshard_after_forward[0] != '\0')
    add (mapping, "reshard_after_forward = %s", run->reshard_after_forward);
  if (is_fp8 (run->all_gather_dtype))
    add (mapping, "all_gather_dtype = fp8");
}

static gboolean
add_fsdp (const Mapping *mapping)
{
  const RunSettings *run = mapping->run;

  if (!is (run->api, "fsdp1") && !is (run->api, "fsdp2"))
    return refuse (mapping, "api '%s' is not simulated", run->api);
  if (run->offload[0] != '\0' && !is (run->offload, "none"))
    return refuse (mapping, "offload '%s' is not simulated", run->offload);
  if (run->wrap[0] != '\0' && !is (run->wrap, "per_block"))
    return refuse (mapping, "wrapping '%s' is not simulated", run->wrap);
  add (mapping, "[fsdp]\napi = %s\ntorch = 2.%u", run->api, torch_minor (run));
  if (run->sharding_strategy[0] != '\0')
    add (mapping, "sharding_strategy = %s", run->sharding_strategy);
  add (mapping, "param_dtype = %s\nreduce_dtype = %s",
       run->param_dtype[0] != '\0' ? run->param_dtype : "bf16",
       run->reduce_dtype[0] != '\0' ? run->reduce_dtype : "bf16");
  if (run->master_weights[0] != '\0' && is (run->master_weights, run->param_dtype))
    add (mapping, "master_dtype = param_dtype");
  if (is (run->api, "fsdp1"))
    add_fsdp1 (mapping);
  else
    add_fsdp2 (mapping);
  return TRUE;
}

/* ---- checkpointing ---- */

static gboolean
add_checkpointing (const Mapping *mapping)
{
  const RunSettings *run = mapping->run;
  const char *what = run->activation_checkpointing;
  gboolean outside = g_str_has_prefix (run->ac_nesting, "outside");

  if (what[0] == '\0' || is (what, "none"))
    return TRUE;
  add (mapping, "[activation_checkpointing]\nmethod = %s\nuse_reentrant = %s\nearly_stop = %s",
       outside ? "torch.utils.checkpoint" : "apply_activation_checkpointing",
       is (run->ac_nesting, "outside_reentrant") ? "true" : "false",
       mapping->framework->early_stop ? "true" : "false");
  if (is (what, "op") || (g_str_has_prefix (what, "every:") && g_ascii_isdigit (what[6])))
    add (mapping, "select = %s", what);
  else if (is (what, "every:unknown"))
    add (mapping, "# which blocks is not published: every second one\nselect = every:2");
  else if (!is (what, "full"))
    return refuse (mapping, "activation checkpointing '%s' is not simulated", what);
  return TRUE;
}

char *
published_scenario (const RunSettings *run, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  Mapping mapping
      = { .run = run, .text = text, .error = error, .framework = find_framework (run->framework) };

  if (!add_model (&mapping) || !add_hardware (&mapping) || !read_month (&mapping))
    return NULL;
  add_software (&mapping);
  if (!add_batch (&mapping) || !add_fsdp (&mapping) || !add_checkpointing (&mapping))
    return NULL;
  return g_string_free (g_steal_pointer (&text), FALSE);
}

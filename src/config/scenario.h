/* A scenario as the rest of the program sees it: every key checked, every
 * default filled in. One struct a variant; nothing in it refers to a file. */
#pragma once

#include "config/choices.h"
#include "config/problems.h"

/* Where a block stands. */
typedef enum
{
  STACK_ALONE,   /* a model of one stack: causal attention */
  STACK_ENCODER, /* every token attends to all of the encoder's sequence */
  STACK_DECODER  /* causal attention, then cross-attention to what the encoder made */
} Stack;

#define N_STACKS 2

/* A transformer of one causal stack, or of an encoder and a decoder; or one kind of its blocks. */
typedef struct _ModelConfig ModelConfig;
struct _ModelConfig
{
  char *name;           /* of the source */
  guint layers;         /* blocks */
  guint encoder_layers; /* of them: the first so many are an encoder's; 0: there is none */
  guint hidden;
  guint heads;             /* 0: no attention */
  guint kv_heads;          /* grouped-query attention where below heads */
  guint head_dim;          /* of queries and keys */
  guint value_head_dim;    /* 0: the same */
  gboolean keys_as_values; /* no projection of the values */
  AttentionBias attention_bias;
  QkNorm qk_norm;       /* of queries and keys */
  guint sliding_window; /* tokens that one attends to; 0: all before it */
  guint kv_lora_rank;   /* multi-head latent attention: width of the latent; 0: none */
  guint q_lora_rank;    /* the same of the queries; 0: projected directly */
  guint rope_head_dim;  /* part of head_dim that is rotated, and shared by all heads' keys */
  guint ffn_hidden;     /* of an expert, where there are experts; 0: no feed-forward */
  gboolean gated_ffn;   /* three matrices (SwiGLU) instead of two */
  gboolean mlp_bias;
  guint experts; /* 0: dense */
  guint experts_per_token;
  guint expert_hidden;     /* width of what experts take and give; 0: hidden */
  guint shared_ffn_hidden; /* of the experts that every token passes; 0: none */
  gboolean router_bias;
  gboolean parallel_block; /* attention and feed-forward side by side, one residual */
  NormPlacement norm_placement;
  gint64 extra_matmul_parameters; /* of a block: matrices that every token is multiplied with */
  gint64 extra_parameters;        /* of a block: small tensors, counted but not timed */
  guint vocab;
  guint embedding_rows;   /* 0: vocab */
  guint embedding_hidden; /* 0: hidden; else projected to it and, before the head, back */
  gboolean tied_embeddings;
  gboolean head_bias;
  guint positions; /* learned position embeddings, of each stack; 0: none (rotary, ALiBi) */
  guint relative_positions; /* buckets of learned relative positions, of each stack; 0: none */
  OuterNorms outer_norms;
  gint64 outer_parameters; /* outside the blocks: counted but not timed */
  Normalization norm;
  gboolean norm_bias;
  Stack stack; /* of a kind of blocks */
  /* Where blocks differ: */
  char *block_kinds;     /* as the file has it */
  char *block_order;     /* as the file has it */
  ModelConfig *kinds;    /* n_kinds of them, under their names; the first is the model itself, or
                            of an encoder-decoder the encoder's (config/stacks.h) */
  guint n_kinds;         /* 0: all blocks are alike */
  guint8 *kind_of_block; /* by block */
};

#define MOST_BLOCK_KINDS 64
#define MOST_JOB_RANKS   (1u << 20)

/* A block has up to two halves, each with its norms and residual: what mixes the
 * tokens, which is attention or where there is none the extra matrices, and the
 * feed-forward. */
static inline gboolean
model_has_mixer (const ModelConfig *kind)
{
  return kind->heads > 0 || kind->extra_matmul_parameters > 0;
}

static inline gboolean
model_has_feed_forward (const ModelConfig *kind)
{
  return kind->ffn_hidden > 0;
}

static inline gboolean
model_has_encoder (const ModelConfig *model)
{
  return model->encoder_layers > 0;
}

static inline guint
model_stacks (const ModelConfig *model)
{
  return model_has_encoder (model) ? N_STACKS : 1;
}

static inline gboolean
model_has_final_norm (const ModelConfig *model)
{
  return model->outer_norms == OUTER_NORMS_FINAL || model->outer_norms == OUTER_NORMS_BOTH;
}

static inline gboolean
model_has_embedding_norm (const ModelConfig *model)
{
  return model->outer_norms == OUTER_NORMS_EMBEDDING || model->outer_norms == OUTER_NORMS_BOTH;
}

/* Does one matrix make queries, keys and values, as in the GPT family? */
static inline gboolean
model_has_one_qkv (const ModelConfig *kind)
{
  return kind->norm != NORM_RMSNORM;
}

/* Norms of a block over its width. */
static inline guint
model_norms_of_block (const ModelConfig *kind)
{
  guint halves = (guint)model_has_mixer (kind) + (guint)model_has_feed_forward (kind)
                 + (kind->stack == STACK_DECODER ? 1 : 0);

  if (kind->norm_placement == NORMS_SHARED)
    return MIN (halves, 1);
  return kind->norm_placement == NORMS_SANDWICH ? 2 * halves : halves;
}

/* The index of a block's kind, and the kind itself: its own widths in the model's place. */
static inline guint
model_kind_of_block (const ModelConfig *model, guint block)
{
  return model->n_kinds == 0 ? 0 : model->kind_of_block[block];
}

static inline const ModelConfig *
model_kind (const ModelConfig *model, guint kind)
{
  return model->n_kinds == 0 ? model : &model->kinds[kind];
}

typedef struct
{
  char *name;
  double matmul_flops; /* dense peak of the param dtype's tensor cores (bf16, fp16) */
  double fp32_flops;   /* peak of matmuls in fp32 (TF32 tensor cores off) */
  double memory_bytes_per_s;
  gint64 memory_bytes;          /* what the vendor sells as its capacity */
  gint64 reserved_memory_bytes; /* CUDA context and NCCL buffers, not for PyTorch */
  guint sms;
  double matmul_efficiency;    /* of the peak that a large GEMM reaches */
  double attention_efficiency; /* of the peak that fused attention reaches, forward */
  double attention_backward_efficiency;
  double memory_efficiency; /* of the bandwidth that an elementwise kernel reaches */
  double compute_slowdown;  /* a kernel runs at 1/(1+this) of its rate beside a collective */
  double matmul_fill_depth; /* added to k */
  double matmul_tail_waves; /* waves of tiles beyond those that are filled */
  double fp8_flops;         /* dense peak; 0: none */
  double fp8_efficiency, fp8_rowwise_efficiency;
  double flash1_triton_efficiency, flash1_efficiency; /* what auto stands for is filled in */
  double attention_overhead; /* keys that a query of a head of 128 costs besides */
  double speed_spread;       /* sigma of the speed of GPUs of the kind */
  double error_small, error_small_checkpointed; /* of step times, study/step_error.h; 0: unknown */
  double error_large, error_large_checkpointed;
  char *error_basis; /* what they rest on, in words */
} GpuConfig;

/* NCCL's protocols; the constants below are arrays of one figure each. */
typedef enum
{
  PROTOCOL_LL,
  PROTOCOL_LL128,
  PROTOCOL_SIMPLE,
  N_PROTOCOLS
} NcclProtocol;

/* Nodes of GPUs on one intra-node link each, joined by NICs. Figures as in docs/network.md. */
typedef struct
{
  char *name;
  char *fabric; /* in words, "" where not told */
  guint nodes;
  guint gpus_per_node;
  guint nics_per_node;    /* 0: none, only one node possible */
  double nic_bytes_per_s; /* one NIC, one direction, nominal */
  double nic_efficiency;
  IntraLink intra_link;
  double ring_bytes_per_s;            /* bus bandwidth of a ring inside one node */
  double intra_factor;                /* of it that is left in a ring over several nodes */
  double shard_copy_bytes_per_s;      /* copying the rank's own shard, out of place: all-gather */
  double reduce_copy_bytes_per_s;     /* the same of a reduce-scatter; 0: it costs nothing */
  double all_reduce_copy_bytes_per_s; /* the same of a ring all-reduce; 0: it costs nothing */
  double ramp;                        /* us^0.5: slow climb of the Simple protocol to its peak */
  double simple_overlap;              /* exponent that joins latency and transfer; 1: their sum */
  gint64 multi_node_ps;               /* added once where a ring spans nodes */
  gint64 base_ps[N_PROTOCOLS];
  gint64 step_ps[N_PROTOCOLS];    /* of a step inside the node */
  gint64 simple_reduce_step_ps;   /* of a step that reduces, inside the node, Simple */
  gint64 hop_ps[N_PROTOCOLS];     /* of a step between nodes */
  double efficiency[N_PROTOCOLS]; /* of the bandwidth that the protocol reaches; Simple: 1 */
  double nvls_bytes_per_s;        /* algorithm bandwidth of NVLS all-reduce; 0: none */
  gint64 nvls_base_ps;
  double nvls_ramp;               /* us^0.5 */
  guint nvls_ranks;               /* of a node that it takes at least */
  double nvls_tree_efficiency;    /* of NVLS and NICs that NVLSTree reaches; 0: none */
  double tree_efficiency;         /* of ring and NICs that a tree all-reduce reaches; 0: none */
  gint64 tree_ps;                 /* added once to a tree */
  double tree_hop_factor;         /* a tree's hop between nodes, of a ring's */
  double tree_ramp;               /* us^0.5 */
  double send_efficiency;         /* of a NIC that one send between nodes reaches */
  double all_to_all_efficiency;   /* of the NICs that an all-to-all reaches */
  double all_to_all_ramp;         /* us^0.5 */
  NcclGeneration nccl_generation; /* whose rows of NCCL's tuning table choose the protocol */
  NcclVersion nccl_version;       /* whose table */
  guint nccl_channels;
  double graph_bytes_per_s; /* ring bandwidth that NCCL's own tuning assumes */
  CpuVendor cpu;
  RankPlacement placement;        /* which ranks share a node */
  NodePlacement node_placement;   /* how the job's nodes lie under leaf switches */
  guint nodes_per_leaf;           /* that reach each other below the spine; 0: all */
  double oversubscription;        /* of the leaves' uplinks; 1: none */
  gboolean rail_optimised;        /* a leaf switch for each NIC of a node */
  double host_link_bytes_per_s;   /* of a GPU: pinned host memory, one direction */
  guint cpu_cores;                /* of a node */
  double cpu_core_bytes_per_s;    /* that one core streams */
  double host_memory_bytes_per_s; /* that all of a node's do */
  gint64 kernel_launch_ps;        /* host time to launch one kernel */
  gint64 collective_launch_ps;    /* host time to launch one collective */
  gint64 fsdp_hook_ps;            /* host time of one FSDP hook (pre/post forward/backward) */
  gint64 limiter_wakeup_ps;       /* host time after the rate limiter's wait really blocked */
} ClusterConfig;

/* What a framework runs besides FSDP itself. */
typedef struct
{
  char *name;
  gboolean compile; /* of each block */
  AttentionKernel attention;
  NormKernels norms;
  LossKernels loss;
  LossKeeps loss_keeps;
  guint train_metrics;          /* cross-entropies of the logits besides the loss */
  gboolean expandable_segments; /* of the caching allocator */
  gboolean synchronizes;        /* the host waits for the GPU at the end of a step */
  gint64 step_overhead_ps;      /* host time between steps */
} SoftwareConfig;

typedef enum
{
  TRAINABLE_ALL,
  TRAINABLE_LAST, /* some of the last blocks, final norm and head */
  TRAINABLE_LORA  /* adapters beside linear layers of all blocks */
} Trainable;

typedef struct
{
  guint micro_batch;
  guint seq_len;
  guint encoder_seq_len; /* of an encoder's sequences; what auto stands for is filled in */
  guint grad_accum;
  gboolean no_sync;
  double max_grad_norm;
  guint last_micro_batch; /* sequences; 0: as many as in the others */
  MatmulDtype matmul_dtype;
  Optimizer optimizer;
  Trainable trainable;
  guint trained_blocks; /* TRAINABLE_LAST: the last so many */
  guint lora_rank;
  guint lora_targets; /* set of LoraTarget (config/lora.h) */
} TrainingConfig;

#define RESHARD_AUTO         (-1)
#define RESHARD_TRUE         (-2)
#define RESHARD_ALL_BUT_LAST (-3)
#define RESHARD_FALSE        0

typedef struct
{
  FsdpApi api;
  guint torch_minor; /* 2.torch_minor */
  ShardingStrategy strategy;
  guint shard_group_size; /* ranks; what auto stands for is filled in */
  BackwardPrefetch backward_prefetch;
  gboolean forward_prefetch;
  gboolean use_orig_params;
  gboolean limit_all_gathers;
  gint reshard_after_forward;      /* RESHARD_…, or a group size */
  gboolean reshard_after_backward; /* fsdp2 */
  guint forward_prefetch_depth;    /* fsdp2: units listed explicitly; 0: none */
  guint backward_prefetch_depth;   /* fsdp2: the same; 0: the implicit prefetch of one */
  gboolean separate_reduce_scatter_group;
  guint reduce_scatter_input_buffers; /* fsdp2 */
  UnitLayout units;
  Dtype param_dtype;
  Dtype reduce_dtype;
  MasterDtype master_dtype;
  GatherDtype all_gather_dtype; /* of the blocks' linear weights */
  gboolean defer_all_reduce;    /* fsdp2, hybrid */
  gboolean cpu_offload;         /* not ddp */
  gboolean pin_memory;          /* fsdp2 */
} FsdpConfig;

typedef struct
{
  CheckpointMethod method;
  gboolean use_reentrant;
  gboolean early_stop;
  gboolean offload;         /* what a checkpointed block keeps, to the host */
  guint every;              /* select = every:K; 1: all */
  gboolean select_op;       /* select = op */
  gboolean select_children; /* select = children */
} CheckpointConfig;

static inline gboolean
checkpoint_has_block (const CheckpointConfig *checkpoint, guint block)
{
  return checkpoint->method != CHECKPOINT_NONE && block % checkpoint->every == 0;
}

#define TIMING_NOT_GIVEN (-1)

/* Picoseconds, TIMING_NOT_GIVEN, or 0: not launched at all. */
typedef struct
{
#define TIMING(key, what) gint64 key;
#include "config/timing.def"
#undef TIMING
} TimingConfig;

/* Some ranks or nodes and a figure for each, in the order of their numbers. */
typedef struct
{
  guint number;
  double value;
} Numbered;

typedef struct
{
  Numbered *items;
  guint n;
} NumberedList;

typedef struct
{
  Engine engine;
  guint steps;
  guint warmup_steps;
  RankMode ranks; /* what jitter and stragglers make of it is filled in */
  double compute_jitter;
  double compute_slowdown;     /* what auto stands for is filled in */
  double gpu_spread;           /* sigma of a factor that each GPU keeps */
  NumberedList stragglers;     /* ranks, and how many times as long their kernels take */
  NumberedList degraded_links; /* nodes, and the share of their NICs' rate that is left */
  NumberedList late_hosts;     /* ranks, and how many picoseconds their hosts lose each step */
  guint cuda_device_max_connections;
  guint omp_num_threads;
  guint64 seed;
} SimulationConfig;

/* Failures and restarts, which a whole training run has and a step has not. */
typedef struct
{
  double gpu_mtbf_ps;               /* of one GPU; 0: nothing fails */
  double checkpoint_interval_ps;    /* of training; below 0: the best */
  gint64 checkpoint_ps, restart_ps; /* below 0: not given */
} ReliabilityConfig;

typedef struct
{
  char *variant; /* its name; "base" where the file has none */
  char *title;
  ModelConfig model;
  GpuConfig gpu;
  ClusterConfig cluster;
  SoftwareConfig software;
  TrainingConfig training;
  FsdpConfig fsdp;
  CheckpointConfig checkpoint;
  TimingConfig timing;
  SimulationConfig simulation;
  ReliabilityConfig reliability;
} Scenario;

/* Shards, gradients and optimizer are the CPU's. */
static inline gboolean
scenario_offloads_params (const Scenario *scenario)
{
  return scenario->fsdp.cpu_offload && scenario->fsdp.api != API_DDP;
}

/* Anything at all is copied between host and GPU. */
static inline gboolean
scenario_offloads (const Scenario *scenario)
{
  return scenario_offloads_params (scenario)
         || (scenario->checkpoint.offload && scenario->checkpoint.method != CHECKPOINT_NONE);
}

static inline guint
scenario_ranks (const Scenario *scenario)
{
  return scenario->cluster.nodes * scenario->cluster.gpus_per_node;
}

/* Of a sequence; of an encoder-decoder, of its two together. */
static inline guint64
scenario_tokens_of_sequence (const Scenario *scenario)
{
  const TrainingConfig *training = &scenario->training;

  return (guint64)training->seq_len
         + (model_has_encoder (&scenario->model) ? training->encoder_seq_len : 0);
}

/* Fused attention takes no table of relative positions. */
static inline gboolean
scenario_has_scores_in_memory (const Scenario *scenario)
{
  return scenario->software.attention == ATTENTION_EAGER || scenario->model.relative_positions > 0;
}

/* Is nothing frozen? */
static inline gboolean
scenario_trains_all (const Scenario *scenario)
{
  return scenario->training.trainable == TRAINABLE_ALL;
}

static inline gboolean
scenario_trains_adapters (const Scenario *scenario)
{
  return scenario->training.trainable == TRAINABLE_LORA;
}

/* Or its adapters. A block that is not trained lies below all that is, and so has no backward. */
static inline gboolean
scenario_trains_block (const Scenario *scenario, guint block)
{
  return scenario->training.trainable != TRAINABLE_LAST
         || (guint64)block + scenario->training.trained_blocks >= scenario->model.layers;
}

/* Are no gradients of frozen weights computed beside adapters? FSDP1 lays both into one flat
 * parameter, whose views all have gradients. */
static inline gboolean
scenario_spares_frozen (const Scenario *scenario)
{
  return scenario_trains_adapters (scenario) && scenario->fsdp.api != API_FSDP1;
}

/* PEFT lets the embedding's output need a gradient where activations are checkpointed
 * (enable_input_require_grads). */
static inline gboolean
scenario_embedding_needs_gradient (const Scenario *scenario)
{
  return scenario_trains_all (scenario)
         || (scenario_trains_adapters (scenario) && scenario->checkpoint.method != CHECKPOINT_NONE);
}

/* A scenario file with its variants, in the file's order. */
typedef struct _ScenarioFile ScenarioFile;

/* Where and how to read. */
typedef struct
{
  const char *const *overrides; /* "section.key=value" of -s, NULL-terminated, or NULL */
  /* Reads a foreign model file (HF config.json) into the text of a model file;
   * NULL: none can be read. The caller frees the text. */
  char *(*load_foreign_model) (const char *path, GError **error);
} ScenarioOptions;

/* @source: a path, a shipped name, or "-" for standard input. NULL where
 * @problems holds what is wrong: every mistake of the file, its overrides and
 * variants, and of the model, GPU and cluster files it names. */
ScenarioFile *scenario_file_load (const char *source, const ScenarioOptions *options,
                                  Problems *problems);
/* A scenario held in memory; @path is where it would lie. */
ScenarioFile *scenario_file_load_text (const char *name, const char *path, const char *text,
                                       gsize length, const ScenarioOptions *options,
                                       Problems *problems);
void scenario_file_free (ScenarioFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ScenarioFile, scenario_file_free)

guint scenario_file_n_variants (const ScenarioFile *file);
const Scenario *scenario_file_variant (const ScenarioFile *file, guint index);
const char *scenario_file_name (const ScenarioFile *file); /* as given: path, shipped name or "-" */
const char *scenario_file_path (const ScenarioFile *file); /* where it was found; "-" as given */
/* The path of the model, GPU, cluster or software file in which the value of a key stands that the
 * first variant has; NULL where it stands elsewhere. */
const char *scenario_file_origin (const ScenarioFile *file, const char *section, const char *key);
const char *scenario_file_title (const ScenarioFile *file);
/* SHA-256, in hex, of the effective scenario: two files that mean the same hash alike. */
const char *scenario_file_sha256 (const ScenarioFile *file);

/* The effective scenario as a file that loads to the same: every key with its
 * value, where the value came from as a comment line, keys without effect under
 * the chosen api or method marked as such. The caller frees it. */
char *scenario_file_show (const ScenarioFile *file);

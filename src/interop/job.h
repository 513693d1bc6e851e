/* One training job as its settings files together make it: what each setting really is once
 * launcher, Trainer and their defaults have been laid over each other, and who said so. */
#pragma once

#include "config/choices.h"
#include "interop/finding.h"

/* A version as 1000 * major + minor: 4039 is 4.39. */
typedef struct
{
  guint torch, transformers, accelerate;
} Versions;

#define RELEASE(major, minor) ((major)*1000 + (minor))

/* "4.39" or "4.39.3"; FALSE where it is no version. */
gboolean version_parse (const char *text, guint *version);
char *version_format (guint version);

typedef enum
{
  TOOL_ACCELERATE,
  TOOL_TRAINER, /* without a launcher's file */
  TOOL_AXOLOTL,
  TOOL_TORCHTITAN,
  TOOL_TORCHTUNE,
  TOOL_FOUNDRY
} Tool;

typedef enum
{
  WRAP_NOTHING,
  WRAP_BLOCKS,
  WRAP_BY_SIZE
} WrapRule;

/* A value, and where it was said; tree NULL: nowhere, it is a default. */
typedef struct
{
  gint value;
  const SettingsTree *tree;
  guint line, column;
} JobSetting;

#define REENTRANT_UNSAID (-1)

/* Why backward prefetch is as it is. */
typedef enum
{
  PREFETCH_SAID,
  PREFETCH_LAUNCHERS_DEFAULT,
  PREFETCH_TRAINERS_DEFAULT,
  PREFETCH_RESET_BY_TRAINER, /* prefetch_culprit: what the launcher's file said */
  PREFETCH_UNDER_OLD_KEY     /* prefetch_culprit: the key that is ignored */
} PrefetchCause;

/* LoRA's adapters. */
typedef struct
{
  gboolean given;
  const char *unlike; /* a sentence: what of them is not simulated; NULL: they are */
  gint rank;          /* 0: not known */
  guint targets;      /* set of LoraTarget (config/lora.h); 0: not known */
} JobAdapters;

typedef struct
{
  Tool tool;
  Versions versions;
  JobAdapters adapters;
  gboolean has_trainer; /* of Hugging Face */
  gboolean is_fsdp;     /* FALSE: nothing turns it on */
  JobSetting api;       /* FsdpApi */
  JobSetting strategy;
  JobSetting reshard; /* fsdp2: RESHARD_… of config/scenario.h */
  JobSetting backward_prefetch, forward_prefetch, limit_all_gathers;
  PrefetchCause prefetch_cause;
  JobSetting prefetch_culprit;
  /* What stands in a file and is not read; tree NULL: nothing. */
  JobSetting ignored_strategy, ignored_reshard, ignored_offload;
  JobSetting fsdp_version; /* where somebody said it */
  JobSetting use_orig_params, sync_module_states, ram_loading, offload;
  JobSetting wrap;         /* WrapRule */
  JobSetting wrap_classes; /* where they stand; the value says nothing */
  GPtrArray *classes;      /* char *; may be empty */
  JobSetting min_num_params;
  JobSetting units; /* UnitLayout, where blocks are wrapped */
  /* FSDP's own checkpointing; the Trainer's; and how the latter is implemented. */
  JobSetting activation_checkpointing, gradient_checkpointing, use_reentrant;
  JobSetting inside_reentrant; /* of activation_checkpointing */
  gboolean whole_blocks;       /* checkpointed as one, where accelerate would take their children */
  JobSetting select_every;     /* 1: all blocks; 0: by op */
  JobSetting compile;
  JobSetting param_dtype, reduce_dtype;
  JobSetting machines, processes;              /* value 0: not known */
  JobSetting micro_batch, grad_accum, seq_len; /* the same */
  gboolean early_stop;
  const char *software;   /* a shipped profile */
  const char *model_name; /* as a file calls it, borrowed; or NULL */
  const char *model_type; /* of --model, borrowed; or NULL */
  GPtrArray *model_keys;  /* char *: "model.hidden=2048", of files that spell out the model */
  /* Files, for the lines to paste; NULL where there is none. */
  const SettingsTree *launcher, *trainer, *fsdp_config;
  const SettingsNode *fsdp_map; /* of the file that decides about FSDP */
  GPtrArray *trees;             /* SettingsTree: files that others name */
} Job;

/* All defaults of PyTorch and accelerate's launcher. */
void job_init (Job *job, Tool tool, const Versions *versions);
void job_clear (Job *job);

JobSetting job_default (gint value);
JobSetting job_said (gint value, const SettingsTree *tree, const SettingsMember *member);
/* Where a setting stands; the whole of the file that decides where nobody said it. */
Place job_place (const Job *job, const JobSetting *setting);

typedef enum
{
  NEST_NONE,
  NEST_OUTSIDE,
  NEST_INSIDE
} Nesting;

/* Where the checkpoints lie about FSDP's units, by the versions of the libraries. */
Nesting job_nesting (const Job *job);
gboolean job_is_reentrant (const Job *job);
/* Whether each child of a block is a checkpoint of its own. */
gboolean job_checkpoints_children (const Job *job);
/* Whether parameters are gathered again in the backward. */
gboolean job_gathers_again (const Job *job);
gboolean job_is_one_process (const Job *job);

/* The job as overrides of a scenario: char *, "section.key=value". The caller frees it. */
GPtrArray *job_overrides (const Job *job);

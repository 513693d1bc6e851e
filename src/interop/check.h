/* What somebody's settings will really do: their files read, laid over each other, and
 * judged by the versions of torch, transformers and accelerate. */
#pragma once

#include "interop/job.h"
#include "interop/settings_kind.h"

typedef struct
{
  Versions versions;
  const SettingsTree *trainer; /* the Trainer's file that goes with another one, or NULL */
  const char *model_type;      /* of the model to be trained, or NULL */
  const char *model_name;      /* the same as a name, or NULL */
  guint nodes, n_gpus;         /* of the cluster that it is asked for; 0: as the files say */
} CheckContext;

typedef struct
{
  SettingsKind kind;
  SettingsKind trainer_kind; /* of the file beside it; SETTINGS_OF_NOBODY: there is none */
  Job job;
  Findings *findings;
  /* What asks for something that is not modelled: the findings stand, but no costs
   * can be told. */
  Problems *unsupported;
} Check;

/* Judges the settings of @tree, of which @check borrows. FALSE, and @problems say what
 * the file is, where it holds no settings that are known. check_clear() it if TRUE. */
gboolean check_settings (const SettingsTree *tree, const CheckContext *context, Check *check,
                         Problems *problems);
void check_clear (Check *check);

/* ---- the parts of it ---- */

/* What the job as a whole brings about. */
void check_rules (const Job *job, const CheckContext *context, Findings *findings);
void check_checkpointing (const Job *job, Findings *findings);
void check_prefetch (const Job *job, Findings *findings);
void check_wrapping (const Job *job, Findings *findings);

/* The line that sets a key where this job would read it: of fsdp_config, in the syntax of its
 * file and with its prefix. The caller frees it. */
char *check_fsdp_line (const Job *job, const char *key, const char *value);
/* The same of the Trainer's arguments. */
char *check_trainer_line (const Job *job, const char *key, const char *value);

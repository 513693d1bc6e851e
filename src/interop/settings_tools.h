/* One reader a program whose settings are known: each lays its file over @job and adds what
 * can be found without knowing the rest of the job. What is not modelled is a problem in
 * @unsupported, and the reading goes on. */
#pragma once

#include "interop/job.h"

/* The launcher's file. */
void accelerate_read (const SettingsTree *tree, Job *job, Findings *findings,
                      Problems *unsupported);

/* The Trainer's arguments, @args, of @tree; NULL where only its fsdp_config is known, which is
 * then @config of @config_tree. Where @args name a file as fsdp_config, it is read. */
void trainer_read (const SettingsTree *tree, const SettingsNode *args,
                   const SettingsTree *config_tree, const SettingsNode *config, Job *job,
                   Findings *findings, Problems *unsupported);

void axolotl_read (const SettingsTree *tree, Job *job, Findings *findings, Problems *unsupported);
void torchtitan_read (const SettingsTree *tree, Job *job, Findings *findings,
                      Problems *unsupported);
void torchtune_read (const SettingsTree *tree, Job *job, Findings *findings, Problems *unsupported);
void foundry_read (const SettingsTree *tree, Job *job, Findings *findings, Problems *unsupported);

/* A parallel degree above 1 that asks for something other than data parallelism. */
void refuse_degree (const SettingsTree *tree, const SettingsNode *map, const char *key,
                    const char *what, Problems *unsupported);

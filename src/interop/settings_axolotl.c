#include <config.h>

#include "interop/settings_tools.h"

#include "interop/settings_reader.h"

/* axolotl hands its arguments to the Trainer and sets accelerate's environment itself. */
void
axolotl_read (const SettingsTree *tree, Job *job, Findings *findings, Problems *unsupported)
{
  const SettingsNode *root = settings_root (tree);
  const SettingsMember *replicas = settings_find (root, "dp_replicate_size");
  const SettingsReader fsdp = { tree, settings_map (root, "fsdp_config"), "fsdp_", findings };
  gint n;

  job->is_fsdp = FALSE;
  trainer_read (tree, root, NULL, NULL, job, findings, unsupported);
  reader_flag (&fsdp, "offload_params", &job->offload);
  refuse_degree (tree, root, "tensor_parallel_size", "tensor", unsupported);
  refuse_degree (tree, root, "context_parallel_size", "context", unsupported);
  refuse_degree (tree, root, "sequence_parallel_degree", "sequence", unsupported);
  refuse_degree (tree, root, "expert_parallel_size", "expert", unsupported);
  if (replicas != NULL && settings_is_count (replicas->value, &n) && n > 1)
    {
      job->strategy = job_said (STRATEGY_HYBRID_SHARD, tree, replicas);
      job->machines = job_default (n);
    }
}

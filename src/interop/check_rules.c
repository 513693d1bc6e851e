#include <config.h>

#include "interop/check.h"

#include "config/scenario.h"

/* ---- versions ---- */

static void
check_versions (const Job *job, Findings *findings)
{
  const Place place = job_place (job, &job->fsdp_version);
  g_autofree char *torch = version_format (job->versions.torch);
  g_autofree char *accelerate = version_format (job->versions.accelerate);

  if (job->api.value == API_FSDP2 && job->versions.torch < RELEASE (2, 6))
    findings_add (findings, FINDING_FSDP2_NEEDS_TORCH, &place,
                  "FSDP2 with torch %s; 2.6 or later is needed.", torch);
  if (job->fsdp_version.value == 2 && job->versions.accelerate < RELEASE (1, 6))
    findings_add (
        findings, FINDING_FSDP2_NEEDS_ACCELERATE, &place,
        "fsdp_version is not read by accelerate %s: the job runs FSDP1 with its defaults.",
        accelerate);
  if (job->has_trainer && job->versions.transformers >= RELEASE (5, 0)
      && job->fsdp_version.tree == NULL)
    {
      g_autofree char *line = check_fsdp_line (job, "version", "2");

      finding_set_fix (findings_add (findings, FINDING_FSDP_VERSION_UNSAID, &place,
                                     "fsdp_version is not given; FSDP1 is assumed here."),
                       "%s", line);
    }
}

/* ---- sharding ---- */

/* The lines of accelerate's file that start the whole cluster. */
static void
set_size_fix (Finding *finding, const CheckContext *context)
{
  finding_set_fix (finding, "num_machines: %u\nnum_processes: %u", context->nodes, context->n_gpus);
}

static void
check_ignored_strategy (const Job *job, Findings *findings)
{
  const JobSetting *ignored = &job->ignored_strategy;
  const Place place = job_place (job, ignored);
  const char *word = ShardingStrategy_words[ignored->value];
  Job wanted = *job;
  Finding *finding;

  if (ignored->tree == NULL)
    return;
  if (ignored->value == STRATEGY_FULL_SHARD)
    {
      findings_add (findings, FINDING_KEY_WITHOUT_EFFECT, &place,
                    "sharding_strategy says nothing to FSDP2, where reshard_after_forward does.");
      return;
    }
  if (ignored->value == STRATEGY_SHARD_GRAD_OP && !job_gathers_again (job))
    return;
  finding = findings_add (findings, FINDING_STRATEGY_IGNORED, &place,
                          "sharding_strategy %s is ignored by FSDP2: parameters are %s.", word,
                          job_gathers_again (job) ? "freed after the forward" : "kept");
  if (ignored->value != STRATEGY_SHARD_GRAD_OP)
    return;
  finding_set_fix (finding, "fsdp_config:\n  fsdp_reshard_after_forward: false");
  wanted.reshard.value = RESHARD_FALSE;
  finding_add_choice (finding, "reshard_after_forward false", job_overrides (&wanted));
}

static void
check_ignored_reshard (const Job *job, Findings *findings)
{
  const Place place = job_place (job, &job->ignored_reshard);
  Job wanted = *job;
  Finding *finding;

  if (job->ignored_reshard.tree == NULL)
    return;
  if (job->ignored_reshard.value || !job_gathers_again (job))
    {
      findings_add (findings, FINDING_KEY_WITHOUT_EFFECT, &place,
                    "reshard_after_forward says nothing to FSDP1, which this file asks for; "
                    "fsdp_version: 2 would make it count.");
      return;
    }
  finding = findings_add (findings, FINDING_RESHARD_IGNORED, &place,
                          "reshard_after_forward false is ignored by FSDP1, which this file asks "
                          "for: sharding_strategy is %s.",
                          ShardingStrategy_words[job->strategy.value]);
  finding_set_fix (finding, "fsdp_config:\n  fsdp_sharding_strategy: SHARD_GRAD_OP");
  wanted.strategy.value = STRATEGY_SHARD_GRAD_OP;
  finding_add_choice (finding, "SHARD_GRAD_OP", job_overrides (&wanted));
}

static gboolean
is_hybrid (const Job *job)
{
  return job->strategy.value == STRATEGY_HYBRID_SHARD
         || job->strategy.value == STRATEGY_HYBRID_SHARD_ZERO2;
}

static void
check_one_process (const Job *job, const CheckContext *context, Findings *findings)
{
  const Place place = job_place (job, &job->processes);
  Finding *finding = findings_add (findings, FINDING_ONE_PROCESS, &place,
                                   "num_processes 1: nothing is sharded, unless accelerate launch "
                                   "is given --num_processes.");

  if (context->n_gpus > 1)
    set_size_fix (finding, context);
  else
    finding_set_fix (finding, "num_processes: 8  # the GPUs of all nodes");
}

static void
check_sharding (const Job *job, const CheckContext *context, Findings *findings)
{
  const Place strategy = job_place (job, &job->strategy);
  const guint nodes = context->nodes > 0 ? context->nodes : (guint)job->machines.value;
  Job wanted = *job;

  if (job_is_one_process (job))
    check_one_process (job, context, findings);
  else if (is_hybrid (job) && nodes == 1 && job->tool == TOOL_ACCELERATE)
    {
      g_autofree char *line = check_fsdp_line (job, "sharding_strategy", "FULL_SHARD");
      Finding *finding = findings_add (
          findings, FINDING_HYBRID_ON_ONE_NODE, &strategy,
          "%s on one node replicates over nothing: it is %s.",
          ShardingStrategy_words[job->strategy.value],
          job->strategy.value == STRATEGY_HYBRID_SHARD ? "FULL_SHARD" : "SHARD_GRAD_OP");

      wanted.strategy.value = job->strategy.value == STRATEGY_HYBRID_SHARD ? STRATEGY_FULL_SHARD
                                                                           : STRATEGY_SHARD_GRAD_OP;
      finding_set_fix (finding, "%s", line);
      finding_add_choice (finding, ShardingStrategy_words[wanted.strategy.value],
                          job_overrides (&wanted));
    }
  check_ignored_strategy (job, findings);
  check_ignored_reshard (job, findings);
}

/* What FSDP2 does to the root, or torchtitan's "always" to the head. */
static void
check_root (const Job *job, Findings *findings)
{
  const Place place = job_place (job, &job->reshard);
  const gboolean is_titan = job->tool == TOOL_TORCHTITAN;
  Job wanted = *job;
  Finding *finding;

  if (job->api.value != API_FSDP2 || job->reshard.value != RESHARD_TRUE
      || job->versions.torch < RELEASE (2, 8) || job->wrap.value == WRAP_NOTHING)
    return;
  wanted.reshard.value = RESHARD_AUTO;
  finding
      = findings_add (findings, is_titan ? FINDING_HEAD_RESHARDED : FINDING_ROOT_RESHARDED, &place,
                      is_titan ? "the head is freed after its forward and gathered again at once."
                               : "the root unit, with embedding and head, is freed after the "
                                 "forward and gathered again; accelerate 1.14 keeps the head.");
  if (is_titan)
    finding_set_fix (finding, "[parallelism]\nfsdp_reshard_after_forward = \"default\"");
  finding_add_choice (finding, is_titan ? "default" : "root kept", job_overrides (&wanted));
}

/* ---- the rest ---- */

static void
check_loading (const Job *job, Findings *findings)
{
  const Place place = job_place (job, &job->sync_module_states);
  g_autofree char *line = check_fsdp_line (job, "sync_module_states", "true");

  if (job->api.value != API_FSDP1 || !job->ram_loading.value || job->sync_module_states.value)
    return;
  finding_set_fix (
      findings_add (findings, FINDING_RAM_LOADING, &place,
                    "cpu_ram_efficient_loading%s without sync_module_states.",
                    job->ram_loading.tree == NULL ? " (on where it is not named)" : ""),
      "%s", line);
}

static void
check_ignored_offload (const Job *job, Findings *findings)
{
  const Place place = job_place (job, &job->ignored_offload);
  Job wanted = *job;
  Finding *finding;

  if (job->ignored_offload.tree == NULL)
    return;
  finding = findings_add (findings, FINDING_TRAINER_KEY_IGNORED, &place,
                          "offload_params: the Trainer does not read it, so parameters stay on the "
                          "GPU; 'offload' in the argument fsdp moves them.");
  finding_set_fix (finding, "--fsdp \"full_shard auto_wrap offload\"");
  wanted.offload.value = TRUE;
  finding_add_choice (finding, "offload", job_overrides (&wanted));
}

static void
check_offload (const Job *job, Findings *findings)
{
  const Place place = job_place (job, &job->offload);
  Job wanted = *job;

  check_ignored_offload (job, findings);
  if (!job->offload.value)
    return;
  wanted.offload.value = FALSE;
  finding_add_choice (
      findings_add (findings, FINDING_PARAMS_ON_CPU, &place,
                    "parameters, gradients and optimizer lie in the host's memory."),
      "all on the GPU", job_overrides (&wanted));
}

static void
check_compile (const Job *job, Findings *findings)
{
  const Place place = job_place (job, &job->use_orig_params);
  g_autofree char *line = check_fsdp_line (job, "use_orig_params", "true");

  if (job->api.value == API_FSDP1 && job->compile.value && !job->use_orig_params.value)
    finding_set_fix (findings_add (findings, FINDING_COMPILE_NEEDS_ORIG_PARAMS, &place,
                                   "torch.compile with use_orig_params false."),
                     "%s", line);
}

static void
check_precision (const Job *job, Findings *findings)
{
  const Place place = job_place (job, &job->param_dtype);
  Job wanted = *job;
  Finding *finding;

  if (job->param_dtype.value != DTYPE_FP32
      || (job->tool != TOOL_ACCELERATE && job->tool != TOOL_TRAINER))
    return;
  wanted.param_dtype.value = wanted.reduce_dtype.value = DTYPE_BF16;
  finding = findings_add (findings, FINDING_FP32, &place,
                          "no mixed precision: parameters are gathered and gradients reduced in 32 "
                          "bits, unless the script says otherwise.");
  finding_set_fix (finding, "%s",
                   job->launcher != NULL ? "mixed_precision: bf16" : "\"bf16\": true,");
  finding_add_choice (finding, "bf16", job_overrides (&wanted));
}

static void
check_versions_of_forward (const Job *job, Findings *findings)
{
  const Place place = job_place (job, &job->forward_prefetch);
  g_autofree char *line = check_fsdp_line (job, "forward_prefetch", "false");

  if (job->api.value == API_FSDP2 && job->forward_prefetch.value
      && (job->tool == TOOL_ACCELERATE || job->tool == TOOL_TRAINER || job->tool == TOOL_AXOLOTL))
    finding_set_fix (findings_add (findings, FINDING_FORWARD_PREFETCH_FSDP2, &place,
                                   "forward_prefetch with FSDP2: accelerate stops with a "
                                   "ValueError."),
                     "%s", line);
}

static void
check_size (const Job *job, const CheckContext *context, Findings *findings)
{
  const gboolean other_machines
      = job->machines.tree != NULL && (guint)job->machines.value != context->nodes;
  const gboolean other_gpus
      = job->processes.tree != NULL && (guint)job->processes.value != context->n_gpus;
  const Place place = job_place (job, other_gpus ? &job->processes : &job->machines);

  if (context->n_gpus == 0 || job_is_one_process (job) || !(other_gpus || other_machines))
    return;
  set_size_fix (other_gpus ? findings_add (findings, FINDING_OTHER_GPUS, &place,
                                           "num_processes %d, but the cluster has %u GPUs.",
                                           job->processes.value, context->n_gpus)
                           : findings_add (findings, FINDING_OTHER_GPUS, &place,
                                           "num_machines %d, but the cluster has %u nodes.",
                                           job->machines.value, context->nodes),
                context);
}

void
check_rules (const Job *job, const CheckContext *context, Findings *findings)
{
  if (!job->is_fsdp)
    {
      const Place place = job_place (job, &job->api);

      findings_add (findings, FINDING_NOT_FSDP, &place, "nothing in this file turns FSDP on.");
      return;
    }
  check_versions (job, findings);
  check_sharding (job, context, findings);
  check_root (job, findings);
  check_wrapping (job, findings);
  check_prefetch (job, findings);
  check_checkpointing (job, findings);
  check_loading (job, findings);
  check_offload (job, findings);
  check_compile (job, findings);
  check_precision (job, findings);
  check_versions_of_forward (job, findings);
  check_size (job, context, findings);
}

#include <config.h>

#include "interop/check.h"

#include "config/scenario.h"

static Job
with_fsdps_own (const Job *job)
{
  Job wanted = *job;

  wanted.gradient_checkpointing.value = FALSE;
  wanted.activation_checkpointing.value = TRUE;
  wanted.inside_reentrant.value = FALSE;
  return wanted;
}

/* Both lines: one goes, the other comes. */
static void
set_swap_fix (Finding *finding, const Job *job)
{
  g_autofree char *off = check_trainer_line (job, "gradient_checkpointing", "false");
  g_autofree char *on = check_fsdp_line (job, "activation_checkpointing", "true");

  finding_set_fix (finding, "%s\n%s", off, on);
}

/* ---- both at once ---- */

static gboolean
find_both (const Job *job, Findings *findings)
{
  const Place place = job_place (job, &job->gradient_checkpointing);
  const JobSetting *other = &job->activation_checkpointing;
  const Place second = job_place (job, other);

  if (!job->has_trainer || !job->gradient_checkpointing.value || !other->value)
    return FALSE;
  set_swap_fix (findings_add (findings, FINDING_BOTH_CHECKPOINTINGS, &place,
                              "gradient_checkpointing here and activation_checkpointing in %s:%u: "
                              "the Trainer stops with a ValueError. Keep activation_checkpointing.",
                              second.file, second.line),
                job);
  return TRUE;
}

/* ---- around FSDP1 ---- */

static void
add_naive_choices (Finding *finding, const Job *job)
{
  const gboolean prefetches = job->backward_prefetch.value != PREFETCH_NONE;
  Job own = with_fsdps_own (job);
  Job other = own;

  finding_add_choice (finding, "activation_checkpointing", job_overrides (&own));
  other.backward_prefetch.value = prefetches ? PREFETCH_NONE : PREFETCH_BACKWARD_PRE;
  finding_add_choice (finding,
                      prefetches ? "the same without backward_prefetch"
                                 : "the same with backward_prefetch",
                      job_overrides (&other));
  other = *job;
  other.backward_prefetch.value = prefetches ? PREFETCH_NONE : PREFETCH_BACKWARD_PRE;
  finding_add_choice (finding,
                      prefetches ? "only without backward_prefetch" : "backward_prefetch alone",
                      job_overrides (&other));
}

static void
check_outside_fsdp1 (const Job *job, const Place *place, Findings *findings)
{
  g_autofree char *transformers = version_format (job->versions.transformers);
  g_autofree char *torch = version_format (job->versions.torch);
  Finding *finding;

  if (job_is_reentrant (job))
    {
      if (!job_gathers_again (job))
        return;
      finding = findings_add (
          findings, FINDING_NAIVE_CHECKPOINTING, place,
          "transformers %s checkpoints around each FSDP unit, reentrant: every block is "
          "all-gathered 2 times in the backward instead of 1, and backward_prefetch finds nothing "
          "to fetch.",
          transformers);
      set_swap_fix (finding, job);
      add_naive_choices (finding, job);
      return;
    }
  if (job->versions.torch < RELEASE (2, 1))
    {
      set_swap_fix (findings_add (findings, FINDING_NONREENTRANT_TOO_EARLY, place,
                                  "use_reentrant false around FSDP units fails with torch %s.",
                                  torch),
                    job);
      return;
    }
  set_swap_fix (
      findings_add (findings, FINDING_NONREENTRANT_OUTSIDE, place,
                    "use_reentrant false around FSDP units: no gather is doubled, but some "
                    "models stop with a CheckpointError."),
      job);
}

/* ---- around FSDP2 ---- */

static void
check_outside_fsdp2 (const Job *job, const Place *place, Findings *findings)
{
  g_autofree char *torch = version_format (job->versions.torch);
  const gboolean is_reentrant = job_is_reentrant (job);
  Finding *finding;
  Job wanted = with_fsdps_own (job);

  if (is_reentrant && job->versions.torch >= RELEASE (2, 6)
      && job->versions.torch < RELEASE (2, 10))
    {
      finding
          = findings_add (findings, FINDING_REENTRANT_FSDP2, place,
                          "a reentrant checkpoint around each FSDP2 unit with torch %s: every "
                          "block is gathered 2 times in the backward, and once more for nobody.",
                          torch);
      set_swap_fix (finding, job);
      finding_add_choice (finding, "activation_checkpointing", job_overrides (&wanted));
      wanted = *job;
      wanted.use_reentrant.value = FALSE;
      finding_add_choice (finding, "use_reentrant false", job_overrides (&wanted));
    }
  else if (!is_reentrant && job->versions.torch < RELEASE (2, 13))
    findings_add (
        findings, FINDING_RECOMPUTE_CAST, place,
        "checkpoints around FSDP2 units with torch %s: a model whose blocks get inputs of "
        "another dtype than the parameters' stops with a CheckpointError.",
        torch);
}

/* ---- inside ---- */

static void
check_inside (const Job *job, const Place *place, Findings *findings)
{
  g_autofree char *transformers = version_format (job->versions.transformers);
  g_autofree char *accelerate = version_format (job->versions.accelerate);

  if (job->gradient_checkpointing.value && job_gathers_again (job))
    findings_add (
        findings, FINDING_WARNING_OUTDATED, place,
        "transformers %s checkpoints inside the FSDP1 unit: no gather is doubled, whatever "
        "its warning about activation_checkpointing says.",
        transformers);
  else if (job_checkpoints_children (job))
    {
      Job wanted = *job;

      wanted.whole_blocks = TRUE;
      finding_add_choice (
          findings_add (
              findings, FINDING_CHILD_REGIONS, place,
              "accelerate %s checkpoints each child of a block by itself under FSDP2: about "
              "four tensors of a block stay in memory, not one.",
              accelerate),
          "one checkpoint a block", job_overrides (&wanted));
    }
}

void
check_checkpointing (const Job *job, Findings *findings)
{
  const Place place
      = job_place (job, job->activation_checkpointing.value ? &job->activation_checkpointing
                                                            : &job->gradient_checkpointing);
  const Nesting nesting = job_nesting (job);

  if (find_both (job, findings) || nesting == NEST_NONE)
    return;
  if (nesting == NEST_INSIDE)
    check_inside (job, &place, findings);
  else if (job->api.value == API_FSDP2)
    check_outside_fsdp2 (job, &place, findings);
  else
    check_outside_fsdp1 (job, &place, findings);
}

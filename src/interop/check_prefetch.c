#include <config.h>

#include "interop/check.h"

#include "config/scenario.h"

/* A finding that backward_prefetch of the file's own would mend. accelerate's own file spells the
 * key otherwise up to 0.25. */
static void
mend (Finding *finding, const Job *job, const char *label)
{
  const gboolean is_old = job->tool == TOOL_ACCELERATE && job->fsdp_config == NULL
                          && job->versions.accelerate < RELEASE (0, 26);
  g_autofree char *line = check_fsdp_line (
      job, is_old ? "backward_prefetch_policy" : "backward_prefetch", "BACKWARD_PRE");
  Job wanted = *job;

  wanted.backward_prefetch.value = PREFETCH_BACKWARD_PRE;
  finding_set_fix (finding, "%s", line);
  finding_add_choice (finding, label, job_overrides (&wanted));
}

static Finding *
find_old_key (const Job *job, Findings *findings)
{
  const Place place = job_place (job, &job->prefetch_culprit);
  g_autofree char *accelerate = version_format (job->versions.accelerate);

  return findings_add (
      findings, FINDING_OLD_PREFETCH_KEY, &place,
      "accelerate %s ignores this spelling of fsdp_backward_prefetch%s: there is no "
      "backward prefetch.",
      accelerate, job->versions.accelerate < RELEASE (1, 0) ? "_policy" : "");
}

static Finding *
find_default (const Job *job, Findings *findings)
{
  const Place place = job_place (job, &job->backward_prefetch);
  const Place culprit = job_place (job, &job->prefetch_culprit);

  switch (job->prefetch_cause)
    {
    case PREFETCH_UNDER_OLD_KEY:
      return find_old_key (job, findings);
    case PREFETCH_RESET_BY_TRAINER:
      return findings_add (findings, FINDING_TRAINER_RESETS_LAUNCHER, &culprit,
                           "%s here, but the Trainer's fsdp is set and its fsdp_config names no "
                           "backward_prefetch: it writes NO_PREFETCH over this line.",
                           BackwardPrefetch_words[job->prefetch_culprit.value]);
    case PREFETCH_TRAINERS_DEFAULT:
      return findings_add (findings, FINDING_TRAINER_NO_PREFETCH, &place,
                           "fsdp_config names no backward_prefetch, which the Trainer takes for "
                           "NO_PREFETCH.");
    case PREFETCH_LAUNCHERS_DEFAULT:
      return findings_add (findings, FINDING_NO_PREFETCH, &place,
                           "fsdp_backward_prefetch is not given, which accelerate takes for "
                           "NO_PREFETCH.");
    case PREFETCH_SAID:
    default:
      return findings_add (findings, FINDING_PREFETCH_OFF, &place,
                           "backward prefetch is turned off here.");
    }
}

void
check_prefetch (const Job *job, Findings *findings)
{
  const Place place = job_place (job, &job->backward_prefetch);
  const Place limiter = job_place (job, &job->limit_all_gathers);
  Job wanted = *job;
  Finding *finding;

  if (job->api.value != API_FSDP1 || job->wrap.value == WRAP_NOTHING)
    return;
  if (!job->limit_all_gathers.value)
    {
      finding = findings_add (
          findings, FINDING_LIMITER_OFF, &limiter,
          "limit_all_gathers is off%s: the host runs ahead, and gathered units "
          "pile up.",
          job->limit_all_gathers.tree == NULL ? ", accelerate's default up to 0.25" : "");
      wanted.limit_all_gathers.value = TRUE;
      finding_add_choice (finding, "limit_all_gathers", job_overrides (&wanted));
    }
  if (!job_gathers_again (job))
    return;
  if (job->backward_prefetch.value == PREFETCH_NONE)
    mend (find_default (job, findings), job, "backward_prefetch BACKWARD_PRE");
  else if (job->backward_prefetch.value == PREFETCH_BACKWARD_POST)
    mend (findings_add (findings, FINDING_BACKWARD_POST, &place,
                        "backward_prefetch is "
                        "BACKWARD_POST%s.",
                        job->backward_prefetch.tree == NULL ? ", Composer's default" : ""),
          job, "BACKWARD_PRE");
}

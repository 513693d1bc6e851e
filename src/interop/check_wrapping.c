#include <config.h>

#include "interop/check.h"

#include <string.h>

#include "config/choices.h"
#include "config/suggest.h"
#include "interop/block_classes.h"

static void
find_nothing_wrapped (const Job *job, Findings *findings)
{
  const Place place = job_place (job, &job->wrap);
  const gboolean by_size = job->min_num_params.tree != NULL && job->min_num_params.value == 0
                           && job->wrap.line == job->min_num_params.line;
  g_autofree char *line = check_fsdp_line (job, "auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
  Job wanted = *job;
  Finding *finding;

  if (job->wrap.value != WRAP_NOTHING)
    return;
  finding = findings_add (
      findings, FINDING_NOTHING_WRAPPED, &place,
      "%s: only the whole model is wrapped, one unit that is gathered before the first block and "
      "stays for the whole step.",
      by_size                  ? "size-based wrapping with min_num_params 0 wraps nothing"
      : job->has_trainer       ? "the argument fsdp has no auto_wrap"
      : job->wrap.tree != NULL ? "no auto_wrap_policy"
                               : "auto_wrap_policy is not given");
  if (job->has_trainer && job->trainer != NULL)
    finding_set_fix (finding, "%s",
                     settings_syntax (job->trainer) == SETTINGS_JSON
                         ? "\"fsdp\": \"full_shard auto_wrap\","
                         : "fsdp: full_shard auto_wrap");
  else
    finding_set_fix (finding, "%s", line);
  wanted.wrap.value = WRAP_BLOCKS;
  finding_add_choice (finding, "a unit a block", job_overrides (&wanted));
}

/* ---- classes ---- */

static void
set_class_fix (Finding *finding, const Job *job, const char *family)
{
  const char *class_name = block_class_of (family);
  g_autofree char *line = NULL;

  if (class_name == NULL)
    return;
  line = check_fsdp_line (job, "transformer_layer_cls_to_wrap", class_name);
  finding_set_fix (finding, "%s", line);
}

/* A class of another family, or a slip of the pen. */
static void
find_wrong_class (const Job *job, const char *class_name, const char *family, gboolean is_guess,
                  Findings *findings)
{
  const Place place = job_place (job, &job->wrap_classes);
  const char *wanted = block_class_of (family);
  g_auto (GStrv) names = g_strsplit (wanted != NULL ? wanted : "", ",", -1);
  const char *other = block_class_family (class_name);
  g_autofree char *blocks = g_strjoinv (" and ", names);
  g_autofree char *model = NULL;
  Finding *finding;

  if (wanted == NULL || block_class_belongs (class_name, family)
      || (other == NULL && suggest_nearest (class_name, (const char *const *)names) == NULL))
    return;
  model = is_guess ? g_strdup_printf ("by its name %s", job->model_name)
                   : g_strdup_printf ("model_type %s", family);
  finding = findings_add (findings, FINDING_WRONG_WRAP_CLASS, &place,
                          "%s is no class of the model (%s), whose blocks are %s: accelerate stops "
                          "with a ValueError.",
                          class_name, model, blocks);
  set_class_fix (finding, job, family);
}

static void
check_class (const Job *job, const char *class_name, const char *family, gboolean is_guess,
             Findings *findings)
{
  const Place place = job_place (job, &job->wrap_classes);

  switch (block_class_kind (class_name))
    {
    case CLASS_PART:
      set_class_fix (findings_add (findings, FINDING_WRAP_CLASS_IS_PART, &place,
                                   "%s is a part of a block: attention, norms and whatever else is "
                                   "outside it stay in the root unit, gathered for the whole step.",
                                   class_name),
                     job, family);
      break;
    case CLASS_MODEL:
      findings_add (findings, FINDING_WRAP_CLASS_IS_MODEL, &place,
                    "%s is the whole model, which is wrapped anyway.", class_name);
      break;
    case CLASS_BLOCK:
    case CLASS_UNKNOWN:
      if (family != NULL)
        find_wrong_class (job, class_name, family, is_guess, findings);
      break;
    }
}

/* Encoder and decoder of some families have a class each. */
static void
find_one_stack (const Job *job, const char *family, Findings *findings)
{
  const Place place = job_place (job, &job->wrap_classes);
  const char *wanted = block_class_of (family);
  g_auto (GStrv) names = g_strsplit (wanted != NULL ? wanted : "", ",", -1);
  const char *wrapped = NULL, *left = NULL;

  for (guint i = 0; names[i] != NULL; i++)
    if (g_ptr_array_find_with_equal_func (job->classes, names[i], g_str_equal, NULL))
      wrapped = names[i];
    else
      left = names[i];
  if (wrapped == NULL || left == NULL)
    return;
  set_class_fix (findings_add (findings, FINDING_ONE_STACK_WRAPPED, &place,
                               "%s is the class of one of two stacks: the other's blocks, %s, stay "
                               "in the root unit, gathered for the whole step.",
                               wrapped, left),
                 job, family);
}

static void
check_classes (const Job *job, Findings *findings)
{
  const gboolean is_guess = job->model_type == NULL;
  const char *family = job->model_type;

  if (is_guess && job->model_name != NULL)
    family = model_name_family (job->model_name);
  for (guint i = 0; i < job->classes->len; i++)
    check_class (job, g_ptr_array_index (job->classes, i), family, is_guess, findings);
  if (family != NULL)
    find_one_stack (job, family, findings);
}

/* A size says nothing where classes are wrapped. */
static void
check_size (const Job *job, Findings *findings)
{
  const Place place = job_place (job, &job->min_num_params);

  if (job->min_num_params.tree != NULL && job->wrap.value == WRAP_BLOCKS
      && job->min_num_params.value > 0)
    findings_add (findings, FINDING_KEY_WITHOUT_EFFECT, &place,
                  "min_num_params counts only with SIZE_BASED_WRAP.");
}

void
check_wrapping (const Job *job, Findings *findings)
{
  find_nothing_wrapped (job, findings);
  check_classes (job, findings);
  check_size (job, findings);
}

#include <config.h>

#include "interop/check.h"

#include <string.h>

#include "interop/settings_reader.h"
#include "interop/settings_tools.h"

/* ---- lines to paste ---- */

char *
check_fsdp_line (const Job *job, const char *key, const char *value)
{
  const SettingsTree *tree = job->fsdp_config != NULL ? job->fsdp_config : job->launcher;
  const SettingsSyntax syntax = tree != NULL ? settings_syntax (tree) : SETTINGS_JSON;
  const gboolean is_trainers = job->has_trainer && tree != job->launcher;
  const gboolean is_class = strcmp (key, "transformer_layer_cls_to_wrap") == 0;
  const gboolean is_lower = is_trainers && !is_class && job->tool != TOOL_AXOLOTL;
  g_autofree char *said = is_lower ? g_ascii_strdown (value, -1) : g_strdup (value);
  gboolean has_prefix = !is_trainers && job->tool == TOOL_ACCELERATE;
  g_autofree char *whole = NULL;
  g_autofree char *line = NULL;

  for (guint i = 0; job->fsdp_map != NULL && i < job->fsdp_map->members->len; i++)
    if (g_str_has_prefix (g_array_index (job->fsdp_map->members, SettingsMember, i).key, "fsdp_"))
      has_prefix = TRUE;
  whole = g_strconcat (has_prefix ? "fsdp_" : "", key, NULL);
  line = reader_line (syntax, whole, said);
  if (syntax == SETTINGS_YAML)
    return g_strdup_printf ("fsdp_config:\n  %s", line);
  if (is_trainers && tree == job->trainer)
    return g_strdup_printf ("\"fsdp_config\": { … %.*s }", (int)strlen (line) - 1, line);
  return g_steal_pointer (&line);
}

char *
check_trainer_line (const Job *job, const char *key, const char *value)
{
  if (job->trainer != NULL)
    return reader_line (settings_syntax (job->trainer), key, value);
  return g_strdup_printf ("--%s %s", key, value);
}

/* ---- reading ---- */

static Tool
tool_of (SettingsKind kind)
{
  static const Tool tools[] = { TOOL_ACCELERATE, TOOL_TRAINER,   TOOL_TRAINER, TOOL_AXOLOTL,
                                TOOL_TORCHTITAN, TOOL_TORCHTUNE, TOOL_FOUNDRY };

  return tools[kind];
}

/* Which of the two files of the Trainer's, if any, are its arguments and its fsdp_config. */
static void
read_trainer (const SettingsTree *one, SettingsKind kind_of_one, const SettingsTree *other,
              Check *check)
{
  const gboolean is_config = kind_of_one == SETTINGS_OF_FSDP_CONFIG;
  const SettingsTree *args = is_config ? other : one;
  const SettingsTree *config = is_config ? one : other;

  trainer_read (args, args != NULL ? settings_root (args) : NULL, config,
                config != NULL ? settings_root (config) : NULL, &check->job, check->findings,
                check->unsupported);
}

static void
read_settings (const SettingsTree *tree, const CheckContext *context, Check *check)
{
  Job *job = &check->job;

  switch (check->kind)
    {
    case SETTINGS_OF_ACCELERATE:
      accelerate_read (tree, job, check->findings, check->unsupported);
      if (context->trainer != NULL)
        read_trainer (context->trainer, check->trainer_kind, NULL, check);
      break;
    case SETTINGS_OF_TRAINER:
    case SETTINGS_OF_FSDP_CONFIG:
      job->is_fsdp = FALSE;
      read_trainer (tree, check->kind, context->trainer, check);
      break;
    case SETTINGS_OF_AXOLOTL:
      axolotl_read (tree, job, check->findings, check->unsupported);
      break;
    case SETTINGS_OF_TORCHTITAN:
      torchtitan_read (tree, job, check->findings, check->unsupported);
      break;
    case SETTINGS_OF_TORCHTUNE:
      torchtune_read (tree, job, check->findings, check->unsupported);
      break;
    case SETTINGS_OF_FOUNDRY:
      foundry_read (tree, job, check->findings, check->unsupported);
      break;
    case SETTINGS_OF_NOBODY:
      break;
    }
}

/* Whether @trainer, of @trainer_kind, can be laid over a file of @kind. */
static gboolean
goes_with (SettingsKind kind, const SettingsTree *trainer, SettingsKind trainer_kind,
           Problems *problems)
{
  const Place place = settings_place (trainer, 0, 0);
  const gboolean is_trainers
      = trainer_kind == SETTINGS_OF_TRAINER || trainer_kind == SETTINGS_OF_FSDP_CONFIG;

  if (!is_trainers)
    problems_add (problems, &place, NULL, NULL,
                  "settings of %s; --trainer takes the Trainer's arguments or its fsdp_config",
                  settings_kind_words (trainer_kind));
  else if (kind == trainer_kind)
    problems_add (problems, &place, NULL, NULL, "both files are %s; --trainer lays %s over them",
                  settings_kind_words (kind),
                  kind == SETTINGS_OF_TRAINER ? "an fsdp_config" : "the arguments");
  else if (kind != SETTINGS_OF_ACCELERATE && kind != SETTINGS_OF_TRAINER
           && kind != SETTINGS_OF_FSDP_CONFIG)
    problems_add (
        problems, &place, NULL, NULL,
        "--trainer goes with a file of accelerate or of the Trainer, and %s makes its own "
        "arguments",
        settings_kind_words (kind));
  else
    return TRUE;
  return FALSE;
}

gboolean
check_settings (const SettingsTree *tree, const CheckContext *context, Check *check,
                Problems *problems)
{
  const SettingsKind kind = settings_kind (tree, problems);
  const SettingsKind trainer_kind
      = context->trainer != NULL ? settings_kind (context->trainer, problems) : SETTINGS_OF_NOBODY;

  if (kind == SETTINGS_OF_NOBODY)
    return FALSE;
  if (context->trainer != NULL
      && (trainer_kind == SETTINGS_OF_NOBODY
          || !goes_with (kind, context->trainer, trainer_kind, problems)))
    return FALSE;
  *check = (Check){ .kind = kind,
                    .trainer_kind = trainer_kind,
                    .findings = findings_new (),
                    .unsupported = problems_new () };
  job_init (&check->job, tool_of (kind), &context->versions);
  read_settings (tree, context, check);
  check->job.model_type = context->model_type;
  if (context->model_name != NULL)
    check->job.model_name = context->model_name;
  /* Another program's job: that FSDP is off is no finding of its own. */
  if (check->job.is_fsdp || problems_count (check->unsupported) == 0)
    check_rules (&check->job, context, check->findings);
  findings_sort (check->findings);
  return TRUE;
}

void
check_clear (Check *check)
{
  job_clear (&check->job);
  findings_free (check->findings);
  problems_free (check->unsupported);
}

#include <config.h>

#include "study/check_study.h"

#include <string.h>

#include "config/data.h"
#include "config/text_file.h"
#include "fsdp/runtime.h"
#include "interop/block_classes.h"
#include "interop/scenario_findings.h"
#include "study/check_prices.h"

/* What stands in where nothing says which model and which machines. */
#define STAND_IN_MODEL   "llama2-7b"
#define STAND_IN_CLUSTER "dgx-a100-80g"
#define MOST_GPUS        16
#define USUAL_GPUS       8

/* The scenario's own name: it lies in the working folder, of which the paths of --model and
 * --cluster are. */
#define JOB "job"

/* ---- findings as the reports take them ---- */

static void
copy_findings (const Findings *findings, CheckedFile *file)
{
  for (guint i = 0; i < findings_count (findings); i++)
    {
      const Finding *from = findings_get (findings, i);
      CheckedFinding to;

      checked_finding_init (&to);
      to.code = finding_info (from->code)->code;
      to.severity = severity_word (from->severity);
      to.counts = from->severity != SEVERITY_NOTE;
      to.file = g_strdup (from->file);
      to.line = from->line;
      to.column = from->column;
      to.text = g_strdup (from->text);
      to.message = g_strdup (from->message);
      to.fix = g_strdup (from->fix);
      g_array_append_val (file->findings, to);
    }
}

static char *
describe_versions (const Versions *versions)
{
  g_autofree char *torch = version_format (versions->torch);
  g_autofree char *transformers = version_format (versions->transformers);
  g_autofree char *accelerate = version_format (versions->accelerate);

  return g_strdup_printf ("Judged for torch %s, transformers %s, accelerate %s.", torch,
                          transformers, accelerate);
}

/* ---- the job as a scenario ---- */

static const char *
model_of (const Job *job, const CheckRequest *request)
{
  const char *shipped;

  if (request->model != NULL)
    return request->model;
  shipped = job->model_name != NULL ? model_name_shipped (job->model_name) : NULL;
  return shipped != NULL ? shipped : STAND_IN_MODEL;
}

static guint
nodes_of (const Job *job, const CheckRequest *request)
{
  const guint machines = job->machines.value > 0 ? (guint)job->machines.value : 1;
  const guint processes = (guint)job->processes.value;

  if (request->nodes > 0)
    return request->nodes;
  return processes / machines > MOST_GPUS && processes % USUAL_GPUS == 0 ? processes / USUAL_GPUS
                                                                         : machines;
}

/* GPUs of a node where the files tell and the command line does not; else 0. */
static guint
gpus_per_node_of (const Job *job, const CheckRequest *request)
{
  const guint nodes = nodes_of (job, request);
  const guint processes = (guint)job->processes.value;

  if (request->cluster != NULL || request->nodes > 0 || processes <= 1 || processes < nodes
      || processes % nodes != 0 || processes / nodes > MOST_GPUS)
    return 0;
  return processes / nodes;
}

/* "section.key=value" as lines under their sections. */
static void
append_overrides (GString *text, const GPtrArray *overrides)
{
  g_autofree char *section = g_strdup ("");

  for (guint i = 0; i < overrides->len; i++)
    {
      g_auto (GStrv) parts = g_strsplit (g_ptr_array_index (overrides, i), ".", 2);

      if (strcmp (section, parts[0]) != 0)
        {
          g_string_append_printf (text, "[%s]\n", parts[0]);
          g_free (section);
          section = g_strdup (parts[0]);
        }
      g_string_append_printf (text, "%s\n", parts[1]);
    }
}

static char *
scenario_of (const Job *job, const CheckRequest *request)
{
  const guint gpus = gpus_per_node_of (job, request);
  const gboolean spells_model = request->model == NULL && job->model_keys->len > 0;
  g_autoptr (GPtrArray) overrides = job_overrides (job);
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "[model]\nsource=%s\n", model_of (job, request));
  for (guint i = 0; spells_model && i < job->model_keys->len; i++)
    g_string_append_printf (
        text, "%s\n", (const char *)g_ptr_array_index (job->model_keys, i) + strlen ("model."));
  g_string_append_printf (text, "[cluster]\nsource=%s\nnodes=%u\n",
                          request->cluster != NULL ? request->cluster : STAND_IN_CLUSTER,
                          nodes_of (job, request));
  if (gpus > 0)
    g_string_append_printf (text, "gpus_per_node=%u\n", gpus);
  append_overrides (text, overrides);
  return g_string_free (text, FALSE);
}

/* Of each choice only what differs from the job as it is, so that -s may change the rest. */
static void
drop_what_is_so (const Job *job, Findings *findings)
{
  g_autoptr (GPtrArray) now = job_overrides (job);

  for (guint i = 0; i < findings_count (findings); i++)
    {
      const GArray *choices = findings_get (findings, i)->choices;

      for (guint c = 0; c < choices->len; c++)
        {
          GPtrArray *overrides = g_array_index (choices, FindingChoice, c).overrides;

          for (guint o = overrides->len; o > 0; o--)
            if (g_ptr_array_find_with_equal_func (now, g_ptr_array_index (overrides, o - 1),
                                                  g_str_equal, NULL))
              g_ptr_array_remove_index (overrides, o - 1);
        }
    }
}

/* ---- what the costs are of ---- */

static char *
describe_job (const Scenario *scenario, const CheckRequest *request, const Job *job)
{
  const gboolean model_stands_in
      = request->model == NULL
        && (job->model_name == NULL || model_name_shipped (job->model_name) == NULL);
  GString *text = g_string_new (NULL);

  g_string_append_printf (
      text, "Costs are those of %s on %u %s node%s (%u GPU%s), micro_batch %u, seq_len %u",
      scenario->model.name, scenario->cluster.nodes, scenario->cluster.name,
      scenario->cluster.nodes == 1 ? "" : "s", scenario_ranks (scenario),
      scenario_ranks (scenario) == 1 ? "" : "s", scenario->training.micro_batch,
      scenario->training.seq_len);
  if (scenario->training.grad_accum > 1)
    g_string_append_printf (text, ", grad_accum %u", scenario->training.grad_accum);
  if (model_stands_in || request->cluster == NULL)
    g_string_append_printf (
        text, "; %s%s%s stand%s in for yours: give %s%s%s", model_stands_in ? "the model" : "",
        model_stands_in && request->cluster == NULL ? " and " : "",
        request->cluster == NULL ? "the cluster" : "",
        model_stands_in && request->cluster == NULL ? "" : "s", model_stands_in ? "--model" : "",
        model_stands_in && request->cluster == NULL ? ", " : "",
        request->cluster == NULL ? "--cluster" : "");
  g_string_append_c (text, '.');
  return g_string_free (text, FALSE);
}

/* Why nothing is simulated though something was found; NULL where something may be. */
static char *
reason_against_costs (const Check *check)
{
  const Job *job = &check->job;

  if (problems_count (check->unsupported) > 0)
    return problems_summary (check->unsupported);
  if (!job->is_fsdp)
    return NULL;
  return job->adapters.given ? g_strdup (job->adapters.unlike) : NULL;
}

static gboolean
has_choices (const Findings *findings)
{
  for (guint i = 0; i < findings_count (findings); i++)
    if (findings_get (findings, i)->choices->len > 0)
      return TRUE;
  return FALSE;
}

/* Whether costs are told: of what was found, or because a model or machines are named. */
static gboolean
wants_costs (const CheckRequest *request, const Findings *findings)
{
  return has_choices (findings) || request->model != NULL || request->cluster != NULL
         || request->nodes > 0;
}

/* The scenario by itself, for its sizes. */
static gboolean
price_job (const Check *check, const CheckRequest *request, CheckedFile *file)
{
  g_autofree char *base = scenario_of (&check->job, request);
  g_autoptr (GPtrArray) nothing = g_ptr_array_new ();
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (ScenarioFile) scenario
      = scenario_file_load_text (JOB, JOB, base, strlen (base), &request->how, problems);

  if (problems_count (problems) == 0)
    check_prices (JOB, base, nothing, check->findings, &request->how, request->n_threads, file,
                  problems);
  if (problems_count (problems) > 0)
    {
      file->no_costs = problems_summary (problems);
      return FALSE;
    }
  file->job = describe_job (scenario_file_variant (scenario, 0), request, &check->job);
  return TRUE;
}

/* ---- settings of other programs ---- */

/* GPUs of the cluster on the command line; 0 where none is given there. */
static guint
gpus_asked_for (const CheckRequest *request)
{
  g_autofree char *text = g_strdup_printf (
      "[model]\nsource=%s\n[cluster]\nsource=%s\nnodes=%u\n", STAND_IN_MODEL,
      request->cluster != NULL ? request->cluster : STAND_IN_CLUSTER, request->nodes);
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (ScenarioFile) file = NULL;

  if (request->nodes == 0)
    return 0;
  file = scenario_file_load_text (JOB, JOB, text, strlen (text), &request->how, problems);
  return problems_count (problems) == 0 ? scenario_ranks (scenario_file_variant (file, 0)) : 0;
}

static SettingsTree *
read_trainer (const CheckRequest *request, Problems *problems)
{
  g_autoptr (GError) error = NULL;
  gsize length;
  g_autofree char *text = text_file_read (request->trainer, &length, &error);

  if (text != NULL)
    return settings_read (request->trainer, text, length, problems);
  problems_add_io (problems, request->trainer, "cannot read it: %s", error->message);
  return NULL;
}

/* "accelerate's launcher, with the Hugging Face Trainer's arguments (args.json)" */
static char *
describe_kind (const Check *check, const CheckRequest *request)
{
  const char *kind = settings_kind_words (check->kind);

  if (request->trainer == NULL)
    return g_strdup (kind);
  return g_strdup_printf ("%s, with %s (%s)", kind, settings_kind_words (check->trainer_kind),
                          request->trainer);
}

static gboolean
check_foreign (const char *path, const char *text, gsize length, const CheckRequest *request,
               CheckedFile *file, Problems *problems)
{
  g_autoptr (SettingsTree) tree = settings_read (path, text, length, problems);
  g_autoptr (SettingsTree) trainer = NULL;
  CheckContext context = { .versions = request->versions,
                           .model_type = request->model_type,
                           .model_name = request->model,
                           .nodes = request->nodes };
  Check check;

  if (tree != NULL && request->trainer != NULL)
    trainer = read_trainer (request, problems);
  if (tree == NULL || (request->trainer != NULL && trainer == NULL))
    return FALSE;
  context.trainer = trainer;
  context.n_gpus = gpus_asked_for (request);
  if (!check_settings (tree, &context, &check, problems))
    return FALSE;
  file->kind = describe_kind (&check, request);
  copy_findings (check.findings, file);
  drop_what_is_so (&check.job, check.findings);
  file->no_costs = reason_against_costs (&check);
  file->is_modelled = problems_count (check.unsupported) == 0;
  if (file->no_costs == NULL && check.job.is_fsdp && wants_costs (request, check.findings))
    price_job (&check, request, file);
  problems_append (problems, check.unsupported);
  check_clear (&check);
  return TRUE;
}

/* ---- our own scenarios ---- */

/* What is said on the command line of other programs' settings. */
static gboolean
refuse_for_own (const char *path, const CheckRequest *request, Problems *problems)
{
  const struct
  {
    const char *option, *instead;
    gboolean is_given;
  } options[] = { { "--model", "-s model.source=…", request->model != NULL },
                  { "--cluster", "-s cluster.source=…", request->cluster != NULL },
                  { "--nodes", "-s cluster.nodes=…", request->nodes > 0 },
                  { "--trainer", "its own keys", request->trainer != NULL } };
  gboolean is_right = TRUE;

  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    if (options[i].is_given)
      {
        problems_add (problems, &(Place){ .file = path }, NULL, NULL,
                      "a scenario says that itself; in place of %s, %s changes it",
                      options[i].option, options[i].instead);
        is_right = FALSE;
      }
  return is_right;
}

static gboolean
check_own (const char *name, const char *path, const char *text, gsize length,
           const CheckRequest *request, CheckedFile *file, Problems *problems)
{
  g_autoptr (ScenarioFile) scenario
      = scenario_file_load_text (name, path, text, length, &request->how, problems);
  g_autoptr (Findings) findings = findings_new ();
  g_autoptr (GPtrArray) now = NULL;

  if (!refuse_for_own (path, request, problems))
    return FALSE;
  if (scenario == NULL || problems_count (problems) > 0)
    return FALSE;
  file->kind = g_strdup ("a scenario of fsdpsim");
  g_clear_pointer (&file->versions, g_free);
  now = scenario_findings (name, text, length, scenario, fsdp_check, findings);
  copy_findings (findings, file);
  if (has_choices (findings))
    {
      const Scenario *first = scenario_file_variant (scenario, 0);

      if (!check_prices (path, text, now, findings, &request->how, request->n_threads, file,
                         problems))
        return FALSE;
      file->job = g_strdup_printf ("Costs are those of variant %s.", first->variant);
    }
  return TRUE;
}

gboolean
check_study (const char *path, const CheckRequest *request, CheckedFile *file, Problems *problems)
{
  g_autoptr (GError) error = NULL;
  gsize length;
  g_autofree char *text = text_file_read (path, &length, &error);
  g_autofree char *shipped = NULL;

  file->file = g_strdup (path);
  file->versions = describe_versions (&request->versions);
  if (text == NULL && g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    {
      shipped = data_find (DATA_SCENARIO, path);
      if (shipped != NULL)
        text = text_file_read (shipped, &length, NULL);
    }
  if (text == NULL)
    {
      if (error->domain == G_FILE_ERROR)
        problems_add_io (problems, path, "cannot read it: %s", error->message);
      else
        problems_add (problems, &(Place){ .file = path }, NULL, NULL, "%s", error->message);
      return FALSE;
    }
  if (shipped != NULL || settings_is_scenario (path, text, length))
    return check_own (path, shipped != NULL ? shipped : path, text, length, request, file,
                      problems);
  return check_foreign (path, text, length, request, file, problems);
}

#include <config.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/scenarios.h"
#include "cli/selection.h"
#include "interop/settings_write.h"
#include "report/files.h"
#include "study/plan_report.h"

/* ---- what goes together ---- */

static gboolean
refuse (GError **error, const char *message)
{
  g_set_error (error, CLI_ERROR, EXIT_USAGE, "plan: %s", message);
  return FALSE;
}

static gboolean
goes_together (const Options *options, GError **error)
{
  const PlanLimits *limits = &options->limits;
  const gboolean plans = options->vary->len > 0 || options->folder != NULL || limits->deadline_s > 0
                         || limits->budget > 0 || limits->global_batch > 0
                         || options->budget.tokens > 0;

  if (options->find != FIND_NOTHING && plans)
    return refuse (error, "--find looks for one number: of the options of a plan only --gpus, "
                          "--headroom and -s go with it");
  if (limits->deadline_s > 0 && options->budget.tokens <= 0)
    return refuse (error, "--deadline needs --tokens, which say how much there is to train");
  if (limits->budget > 0 && options->budget.price_per_gpu_hour <= 0)
    return refuse (error, "--budget needs --tokens and --price, which say what training costs");
  return TRUE;
}

static ReportScenario
describe (const ScenarioFile *file)
{
  return (ReportScenario){ .scenario_name = scenario_file_name (file),
                           .title = scenario_file_title (file),
                           .sha256 = scenario_file_sha256 (file) };
}

/* ---- --find ---- */

static char *
format_find (const FindResult *result, const ReportScenario *scenario, const char *variant,
             Format format)
{
  if (format == FORMAT_CSV)
    return find_report_csv (result);
  if (format == FORMAT_JSON)
    return find_report_json (result, scenario);
  return find_report_table (result, scenario, variant);
}

static ExitCode
find (ScenarioFile *file, guint variant, const Options *options, GError **error)
{
  const ReportScenario scenario = describe (file);
  g_autofree char *text = NULL;
  FindResult result;
  ExitCode code;

  plan_find (file, variant, options->find, &options->limits, &result);
  text = format_find (&result, &scenario, scenario_file_variant (file, variant)->variant,
                      options->format);
  code = result.found ? EXIT_DONE : EXIT_ANSWER_IS_NO;
  find_result_clear (&result);
  return output_write (text, error) ? code : EXIT_INPUT_OUTPUT;
}

/* ---- a whole plan ---- */

static void
show_progress (guint n_done, guint n_jobs, gpointer data)
{
  progress_show (data, n_done, n_jobs, 0);
}

static char *
format_plan (const Plan *plan, const ReportScenario *scenario, Format format)
{
  if (format == FORMAT_CSV)
    return plan_report_csv (plan, scenario);
  if (format == FORMAT_JSON)
    return plan_report_json (plan, scenario);
  return plan_report_table (plan, scenario);
}

/* summary.csv, and the best as files for this program and for others. */
static gboolean
write_files (const Plan *plan, const ReportScenario *scenario, const char *folder, GError **error)
{
  guint n;
  const PlanChoice *choices = plan_choices (plan, &n);
  g_autofree char *csv = plan_report_csv (plan, scenario);
  g_autofree char *own = NULL;
  g_autofree char *accelerate = NULL;
  g_autofree char *torchtitan = NULL;

  if (!files_make_folder (folder, error) || !files_write (folder, "summary.csv", csv, error))
    return FALSE;
  if (n == 0)
    return TRUE;
  own = plan_write_scenario (plan, &choices[0]);
  accelerate = settings_accelerate_yaml (&choices[0].scenario);
  torchtitan = settings_torchtitan_toml (&choices[0].scenario);
  return files_write (folder, "scenario.ini", own, error)
         && files_write (folder, "accelerate.yaml", accelerate, error)
         && files_write (folder, "torchtitan.toml", torchtitan, error);
}

static ExitCode
report (const Plan *plan, const ReportScenario *scenario, const Options *options, GError **error)
{
  guint n;
  const PlanChoice *choices = plan_choices (plan, &n);
  g_autofree char *text = format_plan (plan, scenario, options->format);

  if (options->folder != NULL && !write_files (plan, scenario, options->folder, error))
    return EXIT_INPUT_OUTPUT;
  if (!output_write (text, error))
    return EXIT_INPUT_OUTPUT;
  if (options->folder != NULL && !options->quiet)
    output_message ("files are in %s", options->folder);
  return n > 0 && choices[0].meets_limits ? EXIT_DONE : EXIT_ANSWER_IS_NO;
}

static ExitCode
plan_scenario (ScenarioFile *file, guint variant, const Options *options, GError **error)
{
  const ReportScenario scenario = describe (file);
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (Plan) plan = NULL;
  PlanLimits limits = options->limits;
  Progress progress;

  limits.tokens = options->budget.tokens;
  limits.price_per_gpu_hour = options->budget.price_per_gpu_hour;
  g_ptr_array_add (options->vary, NULL);
  plan = plan_new (file, variant, &limits, (const char *const *)options->vary->pdata, problems);
  if (plan == NULL)
    {
      scenarios_are_right (problems, error);
      return EXIT_BAD_INPUT;
    }
  progress_begin (&progress, "plan", "searches", options->quiet);
  plan_run (plan, options->n_jobs, show_progress, &progress);
  progress_end (&progress);
  return report (plan, &scenario, options, error);
}

static ExitCode
plan (const Options *options, GError **error)
{
  g_autoptr (GPtrArray) files = NULL;
  ScenarioFile *file;
  guint variant;

  if (!goes_together (options, error))
    return EXIT_USAGE;
  files = scenarios_load (options, error);
  if (files == NULL)
    return EXIT_BAD_INPUT;
  file = g_ptr_array_index (files, 0);
  if (!selection_find_variant (file, options, &variant, error))
    return EXIT_USAGE;
  if (options->find != FIND_NOTHING)
    return find (file, variant, options, error);
  return plan_scenario (file, variant, options, error);
}

const Command plan_command = {
  .name = "plan",
  .arguments = "SCENARIO",
  .summary = "Search the settings that fit and train soonest or cheapest",
  .examples = "  fsdpsim plan llama2-7b-2xdgx-a100 --tokens 100B --gpus 64 --deadline 30d\n"
              "  fsdpsim plan llama2-7b-2xdgx-a100 --find micro_batch\n",
  .min_arguments = 1,
  .max_arguments = 1,
  .options = OPTION_SET | OPTION_OUTPUT | OPTION_FORMAT | OPTION_JOBS | OPTION_VARIANT | OPTION_VARY
             | OPTION_BUDGET | OPTION_PLAN,
  .run = plan,
};

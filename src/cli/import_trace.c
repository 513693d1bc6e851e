#include <config.h>

#include <string.h>

#include "cli/foreign_model.h"
#include "cli/import.h"
#include "cli/output.h"
#include "cli/scenarios.h"
#include "report/json_members.h"
#include "study/measured_scenario.h"

/* ---- which file is a trace ---- */

/* Members that every trace has one of near its beginning; no config.json has any. */
static gboolean
recognises_trace (const ImportInput *input)
{
  static const char *const members[]
      = { "\"traceEvents\"",      "\"schemaVersion\"",       "\"distributedInfo\"",
          "\"deviceProperties\"", "\"baseTimeNanoseconds\"", "\"ph\"" };

  if (input->length >= 2 && memcmp (input->head, "\x1F\x8B", 2) == 0)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    if (strstr (input->head, members[i]) != NULL)
      return TRUE;
  return FALSE;
}

/* ---- printing ---- */

static void
say_warnings (const Recorded *recorded)
{
  for (guint f = 0; f < recorded->files->len; f++)
    {
      const RecordedFile *file = g_ptr_array_index (recorded->files, f);

      for (guint w = 0; w < file->warnings->len; w++)
        output_message ("%s: %s", file->path, (const char *)g_ptr_array_index (file->warnings, w));
    }
}

static void
say_scenario (const char *path, const MeasuredScenario *scenario)
{
  for (guint i = 0; i < scenario->notes->len; i++)
    output_message ("%s: %s", path, (const char *)g_ptr_array_index (scenario->notes, i));
  output_message ("%s: measured %.3f ms a step, simulated with these figures %.3f ms (%+.2f %%), "
                  "variant %s",
                  path, 1e3 * scenario->measured_s, 1e3 * scenario->simulated_s,
                  100 * (scenario->simulated_s / scenario->measured_s - 1), scenario->variant);
}

static char *
format_json (const MeasuredStep *step, const MeasuredScenario *scenario, const char *file)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  json_member_text (builder, "fsdpsim_version", PACKAGE_VERSION);
  json_member_number (builder, "step_time_s", step->recorded->figures.step_time_s);
  json_member_whole (builder, "steps", step->n_steps);
  json_member_whole (builder, "rank", step->rank);
  json_member_whole (builder, "blocks", step->n_blocks);
  json_member_whole (builder, "micro_batches", step->n_micro_batches);
  json_builder_set_member_name (builder, "timing_s");
  json_builder_begin_object (builder);
  for (MeasuredKey key = 0; key < N_MEASURED; key++)
    if (step->times[key].n > 0)
      json_member_number (builder, measured_key_name (key),
                          (double)step->times[key].total / 1e12 / (double)step->times[key].n);
  json_builder_end_object (builder);
  if (scenario != NULL)
    {
      json_member_text (builder, "variant", scenario->variant);
      json_member_number (builder, "simulated_step_time_s", scenario->simulated_s);
    }
  json_member_text (builder, "file", file);
  json_builder_end_object (builder);
  return json_members_to_text (builder);
}

static char *
format_step (const MeasuredStep *step, const MeasuredScenario *scenario, Format format)
{
  g_autofree char *file = scenario != NULL ? g_strdup (scenario->text) : measured_step_file (step);

  if (format == FORMAT_JSON)
    return format_json (step, scenario, file);
  return format == FORMAT_CSV ? measured_step_csv (step, 0) : g_steal_pointer (&file);
}

/* ---- the kind ---- */

static gboolean
are_usable (const Options *options, GError **error)
{
  const char *option = options->fits_network                  ? "--network fitted"
                       : options->variant != NULL             ? "--variant"
                       : *options_overrides (options) != NULL ? "-s"
                                                              : NULL;

  for (guint i = 0; i < options->arguments->len; i++)
    if (strcmp (g_ptr_array_index (options->arguments, i), "-") == 0)
      {
        g_set_error (error, CLI_ERROR, EXIT_USAGE,
                     "a trace cannot be imported from standard input; name its file");
        return FALSE;
      }
  if (options->base_scenario == NULL && option != NULL)
    g_set_error (error, CLI_ERROR, EXIT_USAGE, "%s goes with --scenario SCENARIO", option);
  else if (options->base_scenario != NULL && strcmp (options->base_scenario, "-") == 0)
    g_set_error (error, CLI_ERROR, EXIT_USAGE, "--scenario -: takes a file or a shipped name");
  else
    return TRUE;
  return FALSE;
}

static MeasuredStep *
read_step (const Options *options, GError **error)
{
  g_autofree const char **paths = g_new0 (const char *, options->arguments->len + 1);
  const RecordedOptions study = { .paths = paths };

  for (guint i = 0; i < options->arguments->len; i++)
    paths[i] = g_ptr_array_index (options->arguments, i);
  return measured_step_read (&study, error);
}

static gboolean
make_scenario (MeasuredStep *step, const Options *options, MeasuredScenario *scenario,
               GError **error)
{
  const MeasuredScenarioOptions how = {
    .scenario = options->base_scenario,
    .variant = options->variant,
    .fits_network = options->fits_network,
    .overrides = options_overrides (options),
    .load_foreign_model = options->quiet ? foreign_model_load_quietly : foreign_model_load,
  };
  g_autoptr (Problems) problems = problems_new ();

  if (measured_scenario_make (step, &how, scenario, problems, error))
    return TRUE;
  if (*error == NULL)
    scenarios_are_right (problems, error);
  return FALSE;
}

static ExitCode
import_trace (const ImportInput *input, const Options *options, GError **error)
{
  const gboolean has_scenario = options->base_scenario != NULL;
  g_autoptr (MeasuredStep) step = NULL;
  MeasuredScenario scenario;
  g_autofree char *text = NULL;

  if (!are_usable (options, error))
    return EXIT_USAGE;
  step = read_step (options, error);
  if (step == NULL)
    return EXIT_BAD_INPUT;
  if (!has_scenario)
    measured_step_spread (step, step->n_blocks);
  if (!options->quiet)
    say_warnings (step->recorded);
  if (has_scenario && make_scenario (step, options, &scenario, error) && !options->quiet)
    say_scenario (input->path, &scenario);
  if (*error == NULL)
    {
      text = format_step (step, has_scenario ? &scenario : NULL, options->format);
      output_write (text, error);
    }
  if (has_scenario)
    measured_scenario_clear (&scenario);
  return EXIT_DONE;
}

const ImportKind import_trace_kind = {
  .what = "a profiler trace",
  .takes_many = TRUE,
  .recognises = recognises_trace,
  .run = import_trace,
};

#include <config.h>

#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/scenarios.h"
#include "cli/sweep_session.h"
#include "config/text_file.h"
#include "report/report.h"

/* ---- what is varied ---- */

static gboolean
add_points (Grid *grid, const char *name, Problems *problems)
{
  g_autoptr (GError) error = NULL;
  gsize length;
  g_autofree char *text = text_file_read (name, &length, &error);

  if (text != NULL)
    return grid_add_points (grid, name, text, length, problems);
  problems_add_io (problems, name, "cannot read: %s", error->message);
  return FALSE;
}

/* The options if there are any, else the scenario's own section. */
static gboolean
fill_grid (Grid *grid, const Options *options, const ScenarioFile *file, GError **error)
{
  g_autoptr (Problems) problems = problems_new ();

  for (guint i = 0; i < options->points->len; i++)
    add_points (grid, g_ptr_array_index (options->points, i), problems);
  for (guint i = 0; i < options->vary->len; i++)
    grid_add_option (grid, g_ptr_array_index (options->vary, i), problems);
  if (options->points->len + options->vary->len == 0)
    scenario_file_add_sweep (file, grid, problems);
  if (!scenarios_are_right (problems, error))
    return FALSE;
  if (grid_n_keys (grid) > 0)
    return TRUE;
  g_set_error (error, CLI_ERROR, EXIT_USAGE,
               "sweep: nothing to vary: %s has no [sweep]; give --vary or --points",
               scenario_file_name (file));
  return FALSE;
}

static void
say_overrides (const ScenarioFile *file, const Grid *grid, const Options *options)
{
  const KeyInfo *key;
  guint variant;

  if (!options->quiet && cells_override_variants (file, grid, &variant, &key))
    output_message ("[variant %s] sets %s.%s, which is varied: the varied values stand",
                    scenario_file_variant (file, variant)->variant, key->section, key->key);
}

static gboolean
reads_input_once (const Options *options, GError **error)
{
  guint n = 0;

  for (guint i = 0; i < options->points->len; i++)
    n += strcmp (g_ptr_array_index (options->points, i), "-") == 0;
  n += strcmp (g_ptr_array_index (options->arguments, 0), "-") == 0;
  if (n <= 1)
    return TRUE;
  g_set_error (error, CLI_ERROR, EXIT_USAGE, "standard input ('-') can be read only once");
  return FALSE;
}

static ExitCode
sweep_scenario (const Options *options, GError **error)
{
  g_autoptr (GPtrArray) files = NULL;
  g_autoptr (Grid) grid = grid_new ();
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (Sweep) sweep = NULL;
  ScenarioFile *file;

  if (!reads_input_once (options, error))
    return EXIT_USAGE;
  files = scenarios_load (options, error);
  if (files == NULL)
    return EXIT_BAD_INPUT;
  file = g_ptr_array_index (files, 0);
  if (!fill_grid (grid, options, file, error))
    return EXIT_BAD_INPUT;
  sweep = sweep_new (file, grid, &options->budget, options->n_repeats, options->shard,
                     options->n_shards);
  if (!sweep_check_sources (sweep, problems) && !scenarios_are_right (problems, error))
    return EXIT_BAD_INPUT;
  say_overrides (file, grid, options);
  return sweep_session_run (sweep, options, error);
}

/* ---- shards put together ---- */

static ExitCode
merge (const Options *options, GError **error)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new ();
  g_autofree char *summary = NULL;
  SweepIdentity identity;
  ExitCode code = EXIT_BAD_INPUT;

  for (guint i = 0; i < options->arguments->len; i++)
    g_ptr_array_add (paths, g_ptr_array_index (options->arguments, i));
  g_ptr_array_add (paths, NULL);
  summary = sweep_folder_merge ((const char *const *)paths->pdata, &identity, error);
  if (summary != NULL
      && (options->folder == NULL
          || sweep_folder_write (options->folder, &identity, summary, error)))
    code = sweep_session_print (summary, options, error);
  sweep_identity_clear (&identity);
  return code;
}

static gboolean
goes_together (const Options *options, GError **error)
{
  const gboolean varies = options->vary->len + options->points->len > 0 || options->n_shards > 1
                          || options->overrides->len > 1 || options->budget.tokens > 0
                          || options->n_repeats > 0;

  if (options->merge && varies)
    g_set_error (error, CLI_ERROR, EXIT_USAGE,
                 "sweep: --merge takes the folders of shards, and no option that runs one");
  else if (!options->merge && options->arguments->len > 1)
    g_set_error (error, CLI_ERROR, EXIT_USAGE, "sweep: got %u arguments; takes one SCENARIO",
                 options->arguments->len);
  else
    return TRUE;
  return FALSE;
}

static ExitCode
run_sweep (const Options *options, GError **error)
{
  if (!goes_together (options, error))
    return EXIT_USAGE;
  return options->merge ? merge (options, error) : sweep_scenario (options, error);
}

const Command sweep_command = {
  .name = "sweep",
  .arguments = "SCENARIO | --merge DIR...",
  .summary = "Run a scenario's variants over a grid of values, a row each",
  .examples = "  fsdpsim sweep llama2-7b-2xdgx-a100 --vary cluster.nodes=1..16*2 -o out\n"
              "  fsdpsim sweep slow-network --vary training.seq_len=2048,4096 -f csv\n",
  .min_arguments = 1,
  .max_arguments = G_MAXUINT,
  .options = OPTION_SET | OPTION_OUTPUT | OPTION_FORMAT | OPTION_JOBS | OPTION_SEED | OPTION_VARY
             | OPTION_SWEEP | OPTION_BUDGET | OPTION_REPEAT,
  .run = run_sweep,
};

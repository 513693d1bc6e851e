#include <config.h>

#include "cli/selection.h"

#include <math.h>
#include <string.h>

#include "cli/output.h"
#include "cli/progress.h"
#include "cli/scenarios.h"
#include "config/suggest.h"
#include "study/break_even.h"
#include "study/nodes_crossing.h"
#include "study/repeat.h"
#include "study/study_many.h"
#include "study/what_if.h"

#define MOST_RANK_PASSES 0x1p20

/* ---- names that tell variants apart ---- */

/* What a scenario is called in front of its variants' names: its file's name
 * without folder and suffix. */
static char *
scenario_label (const ScenarioFile *file)
{
  const char *name = scenario_file_name (file);
  g_autofree char *base = g_path_get_basename (name);

  if (strcmp (name, "-") == 0)
    return g_strdup ("stdin");
  if (g_str_has_suffix (base, ".ini"))
    base[strlen (base) - strlen (".ini")] = '\0';
  return g_steal_pointer (&base);
}

/* One label a file; of equal ones the second becomes "label#2", and so on. */
static GPtrArray *
scenario_labels (const GPtrArray *files)
{
  GPtrArray *labels = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) uses = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < files->len; i++)
    {
      char *label = scenario_label (g_ptr_array_index (files, i));
      const guint n = GPOINTER_TO_UINT (g_hash_table_lookup (uses, label)) + 1;

      g_hash_table_insert (uses, g_strdup (label), GUINT_TO_POINTER (n));
      g_ptr_array_add (labels, n > 1 ? g_strdup_printf ("%s#%u", label, n) : g_strdup (label));
      g_free (label);
    }
  return labels;
}

static gboolean
names_clash (const GArray *variants)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < variants->len; i++)
    if (!g_hash_table_add (seen, g_array_index (variants, Scenario, i).variant))
      return TRUE;
  return FALSE;
}

/* Where variants of several scenarios have the same name, all get their
 * scenario's before it; a scenario with one variant is called by its own alone. */
static void
make_names_unique (Selection *selection)
{
  g_autoptr (GPtrArray) labels = scenario_labels (selection->files);

  if (!names_clash (selection->variants))
    return;
  for (guint i = 0; i < selection->variants->len; i++)
    {
      Scenario *variant = &g_array_index (selection->variants, Scenario, i);
      const guint file = (guint)(selection->report.entries[i].scenario - selection->scenarios);
      const char *label = g_ptr_array_index (labels, file);

      if (scenario_file_n_variants (g_ptr_array_index (selection->files, file)) == 1)
        variant->variant = g_strdup (label);
      else
        variant->variant = g_strconcat (label, ":", variant->variant, NULL);
      g_ptr_array_add (selection->names, variant->variant);
    }
}

/* ---- what --variant and --ranks ask for ---- */

static gboolean
find_variant (const ScenarioFile *file, const char *name, guint *index, GError **error)
{
  const guint n = scenario_file_n_variants (file);
  g_autofree const char **names = g_new0 (const char *, n + 1);
  g_autofree char *clause = NULL;

  for (guint i = 0; i < n; i++)
    {
      names[i] = scenario_file_variant (file, i)->variant;
      if (strcmp (names[i], name) == 0)
        {
          *index = i;
          return TRUE;
        }
    }
  clause = suggest_clause (name, names);
  g_set_error (error, CLI_ERROR, EXIT_USAGE, "--variant %s: %s has no such variant%s", name,
               scenario_file_name (file), clause);
  return FALSE;
}

static gboolean
ranks_exist (const Selection *selection, const Options *options, GError **error)
{
  for (guint i = 0; i < selection->variants->len; i++)
    for (guint k = 0; k < options->ranks->len; k++)
      {
        const Scenario *variant = &g_array_index (selection->variants, Scenario, i);
        const guint rank = g_array_index (options->ranks, guint, k);

        if (rank < scenario_ranks (variant))
          continue;
        g_set_error (error, CLI_ERROR, EXIT_USAGE, "--ranks: %s has ranks 0 to %u, and no %u",
                     variant->variant, scenario_ranks (variant) - 1, rank);
        return FALSE;
      }
  return TRUE;
}

/* Timelines are held in memory: about 4 KB a rank, block and pass, with their files. */
static gboolean
ranks_fit (const Selection *selection, const Options *options, GError **error)
{
  for (guint i = 0; i < selection->variants->len; i++)
    {
      const Scenario *variant = &g_array_index (selection->variants, Scenario, i);
      const guint n_ranks = options->all_ranks ? scenario_ranks (variant) : options->ranks->len;
      const double passes
          = (double)variant->model.layers * variant->training.grad_accum
            * ((double)variant->simulation.steps + variant->simulation.warmup_steps);
      const double most = MAX (MOST_RANK_PASSES / passes, 1);

      if (n_ranks <= most)
        continue;
      g_set_error (error, CLI_ERROR, EXIT_USAGE,
                   "--ranks: timelines of %u ranks of %s are too much; up to %.0f would do",
                   n_ranks, variant->variant, floor (most));
      return FALSE;
    }
  return TRUE;
}

/* ---- filling the selection ---- */

static void
describe_files (Selection *selection)
{
  selection->scenarios = g_new (ReportScenario, selection->files->len);
  for (guint i = 0; i < selection->files->len; i++)
    {
      const ScenarioFile *file = g_ptr_array_index (selection->files, i);

      selection->scenarios[i] = (ReportScenario){
        .scenario_name = scenario_file_name (file),
        .title = scenario_file_title (file),
        .sha256 = scenario_file_sha256 (file),
      };
    }
}

static void
add_variant (Selection *selection, guint file_index, guint variant_index)
{
  const ScenarioFile *file = g_ptr_array_index (selection->files, file_index);
  const guint n = ++selection->report.n_entries;

  g_array_append_vals (selection->variants, scenario_file_variant (file, variant_index), 1);
  selection->report.entries = g_renew (ReportEntry, selection->report.entries, n);
  selection->report.entries[n - 1] = (ReportEntry){ .scenario = &selection->scenarios[file_index] };
}

static gboolean
load_files (Selection *selection, const Options *options, GError **error)
{
  *selection = (Selection){
    .files = scenarios_load (options, error),
    .variants = g_array_new (FALSE, FALSE, sizeof (Scenario)),
    .names = g_ptr_array_new_with_free_func (g_free),
    .report = { .budget = options->budget },
  };
  if (selection->files == NULL)
    return FALSE;
  describe_files (selection);
  return TRUE;
}

gboolean
selection_load (Selection *selection, const Options *options, GError **error)
{
  gboolean loaded = load_files (selection, options, error);

  for (guint i = 0; loaded && i < selection->files->len; i++)
    for (guint k = 0; k < scenario_file_n_variants (g_ptr_array_index (selection->files, i)); k++)
      add_variant (selection, i, k);
  if (loaded)
    make_names_unique (selection);
  loaded
      = loaded && ranks_exist (selection, options, error) && ranks_fit (selection, options, error);
  if (!loaded)
    selection_clear (selection);
  return loaded;
}

gboolean
selection_load_one (Selection *selection, const Options *options, GError **error)
{
  gboolean loaded = load_files (selection, options, error);
  guint index = 0;

  if (loaded && options->variant != NULL)
    loaded
        = find_variant (g_ptr_array_index (selection->files, 0), options->variant, &index, error);
  if (loaded)
    add_variant (selection, 0, index);
  loaded
      = loaded && ranks_exist (selection, options, error) && ranks_fit (selection, options, error);
  if (!loaded)
    selection_clear (selection);
  return loaded;
}

gboolean
selection_find_variant (const ScenarioFile *file, const Options *options, guint *index,
                        GError **error)
{
  *index = 0;
  return options->variant == NULL || find_variant (file, options->variant, index, error);
}

void
selection_clear (Selection *selection)
{
  for (guint i = 0; i < selection->report.n_entries; i++)
    study_run_clear (&selection->report.entries[i].run);
  g_free (selection->report.entries);
  g_array_unref (selection->variants);
  g_ptr_array_unref (selection->names);
  g_free (selection->scenarios);
  g_free (selection->efforts);
  g_free (selection->report.break_evens);
  g_clear_pointer (&selection->files, g_ptr_array_unref);
}

/* ---- simulating it ---- */

static void
show_progress (guint n_done, guint n_jobs, gpointer data)
{
  progress_show (data, n_done, n_jobs, 0);
}

static void
say_effort (const StudyJob *job)
{
  const StudyEffort *effort = &job->effort;
  const double seconds = (double)MAX (job->wall_us, 1) / G_USEC_PER_SEC;
  const double work = (double)effort->n_instructions * effort->n_simulated_ranks;

  output_message ("%s: %s, %u instructions, %u of %u ranks simulated, %.1f ms, %.1f M/s",
                  job->scenario->variant, effort->used_events ? "event engine" : "one pass",
                  effort->n_instructions, effort->n_simulated_ranks, scenario_ranks (job->scenario),
                  seconds * 1000, work / seconds / 1e6);
}

void
selection_simulate (Selection *selection, const Options *options, const char *command)
{
  const guint n = selection->report.n_entries;
  const StudyOptions study = {
    .ranks = (const guint *)options->ranks->data,
    .n_ranks = options->ranks->len,
    .all_ranks = options->all_ranks,
  };
  Progress progress;
  g_autofree StudyJob *jobs = g_new0 (StudyJob, n);

  progress_begin (&progress, command, "variants", options->quiet);
  for (guint i = 0; i < n; i++)
    {
      jobs[i].scenario = &g_array_index (selection->variants, Scenario, i);
      jobs[i].run = &selection->report.entries[i].run;
    }
  study_run_many (jobs, n, &study, options->n_jobs, show_progress, &progress);
  progress_end (&progress);
  selection->efforts = g_new (StudyEffort, n);
  for (guint i = 0; i < n; i++)
    selection->efforts[i] = jobs[i].effort;
  for (guint i = 0; options->verbose && i < n; i++)
    say_effort (&jobs[i]);
}

void
selection_repeat (Selection *selection, const Options *options, const char *command)
{
  const guint n = selection->report.n_entries;
  g_autofree ReportRun **runs = g_new (ReportRun *, n);
  Progress progress;

  if (options->n_repeats == 0)
    return;
  for (guint i = 0; i < n; i++)
    runs[i] = &selection->report.entries[i].run;
  progress_begin (&progress, command, "repeats", options->quiet);
  repeat_study (runs, n, options->n_repeats, options->n_jobs, show_progress, &progress);
  progress_end (&progress);
  selection->report.n_repeats = options->n_repeats;
}

void
selection_explain (Selection *selection, const Options *options)
{
  for (guint i = 0; i < selection->report.n_entries; i++)
    what_if_study (&selection->report.entries[i].run, &selection->efforts[i], options->n_jobs);
}

typedef struct
{
  const Selection *selection;
  Grid *grid;
  GPtrArray *cells; /* Cells, one a file */
} BreakEvenSearch;

static CrossingSide
crossing_side (const BreakEvenSearch *search, guint index)
{
  const Selection *selection = search->selection;
  const ReportScenario *scenario = selection->report.entries[index].scenario;
  guint first = index;

  while (first > 0 && selection->report.entries[first - 1].scenario == scenario)
    first--;
  return (CrossingSide){
    .cells = g_ptr_array_index (search->cells, scenario - selection->scenarios),
    .variant = index - first,
    .scenario = &g_array_index (selection->variants, Scenario, index),
  };
}

static void
find_break_even (guint index, gpointer data)
{
  const BreakEvenSearch *search = data;
  const CrossingSide variant = crossing_side (search, index), baseline = crossing_side (search, 0);
  BreakEven *break_even = &search->selection->report.break_evens[index];

  if (index == 0)
    return;
  break_even_find (variant.scenario, baseline.scenario, break_even);
  nodes_crossing_find (&variant, &baseline, &break_even->crossing);
}

void
selection_break_even (Selection *selection, const Options *options)
{
  const guint n = selection->report.n_entries;
  BreakEvenSearch search = {
    .selection = selection,
    .grid = nodes_crossing_grid (),
    .cells = g_ptr_array_new_with_free_func ((GDestroyNotify)cells_free),
  };

  for (guint i = 0; i < selection->files->len; i++)
    g_ptr_array_add (search.cells,
                     cells_new (g_ptr_array_index (selection->files, i), search.grid));
  selection->report.break_evens = g_new0 (BreakEven, n);
  study_pool_run (n, options->n_jobs, find_break_even, &search, NULL, NULL);
  g_ptr_array_unref (search.cells);
  grid_free (search.grid);
}

/* ---- reporting it ---- */

static char *
format_report (const Report *report, Format format, char *(*table) (const Report *report))
{
  if (format == FORMAT_CSV)
    return report_summary_csv (report);
  if (format == FORMAT_JSON)
    return report_json (report);
  return table (report);
}

static ExitCode
answer (const Report *report)
{
  for (guint i = 0; i < report->n_entries; i++)
    if (report->entries[i].run.figures.status != RUN_OK)
      return EXIT_ANSWER_IS_NO;
  return EXIT_DONE;
}

ExitCode
selection_report (const Selection *selection, const Options *options,
                  char *(*table) (const Report *report), GError **error)
{
  const Report *report = &selection->report;
  g_autofree char *text = format_report (report, options->format, table);

  if (options->folder != NULL && !report_write_files (report, options->folder, error))
    return EXIT_INPUT_OUTPUT;
  if (!output_write (text, error))
    return EXIT_INPUT_OUTPUT;
  if (options->folder != NULL && !options->quiet)
    output_message ("files are in %s", options->folder);
  return answer (report);
}

#include <config.h>

#include "study/measured_scenario.h"

#include <math.h>
#include <string.h>

#include "config/text_file.h"
#include "cost/params.h"
#include "study/measured_format.h"
#include "study/network_fit.h"
#include "study/study.h"

/* A network that predicts what was measured to this is left as it is. */
#define GOOD_FIT 1e-3

#define LEAST_COPIES_S 1e-8 /* a difference below is rounding */

typedef struct
{
  MeasuredStep *step;
  const MeasuredScenarioOptions *options;
  MeasuredScenario *out;
  ScenarioFile *base;
  const Scenario *measured; /* the variant of it that was measured */
  GArray *settings;         /* IniSetting, all texts in @texts */
  GStringChunk *texts;
} Making;

static void G_GNUC_PRINTF (2, 3) note (const Making *making, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_ptr_array_add (making->out->notes, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

static void
set (const Making *making, const char *section, const char *key, const char *value)
{
  const IniSetting setting = {
    .section = g_string_chunk_insert (making->texts, section),
    .key = g_string_chunk_insert (making->texts, key),
    .value = g_string_chunk_insert (making->texts, value),
  };

  g_array_append_val (making->settings, setting);
}

static gboolean G_GNUC_PRINTF (2, 3) fail (GError **error, const char *format, ...)
{
  va_list arguments;
  g_autofree char *message = NULL;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error_literal (error, TRACE_ERROR, TRACE_ERROR_NO_TRACE, message);
  return FALSE;
}

/* ---- which variant was measured ---- */

static const Scenario *
find_variant (const ScenarioFile *file, const char *name)
{
  for (guint i = 0; name != NULL && i < scenario_file_n_variants (file); i++)
    if (strcmp (scenario_file_variant (file, i)->variant, name) == 0)
      return scenario_file_variant (file, i);
  return NULL;
}

static gboolean
choose_variant (Making *making, GError **error)
{
  const char *wanted = making->options->variant;

  making->measured
      = find_variant (making->base, wanted != NULL ? wanted : making->step->recorded->name);
  if (making->measured == NULL && wanted != NULL)
    return fail (error, "--variant %s: %s has no such variant", wanted, making->options->scenario);
  if (making->measured == NULL)
    making->measured = scenario_file_variant (making->base, 0);
  making->out->variant = g_strdup (making->measured->variant);
  return TRUE;
}

/* ---- what does not go together ---- */

static void
warn_of_slow_ranks (const Making *making)
{
  const SimulationConfig *simulation = &making->measured->simulation;

  if (simulation->stragglers.n > 0 || simulation->compute_jitter > 0)
    note (making,
          "the scenario slows ranks down (simulation.straggler, simulation.compute_jitter), "
          "and the times are the slowest rank's already: it is slowed twice");
}

/* Kernels that no launch on the host explains take their part of the measured step alone. */
static void
warn_of_untold_kernels (const Making *making)
{
  const MeasuredStep *step = making->step;
  const double untold_s = step->recorded->figures.busy_s[TIMELINE_COMPUTE];

  if (step->times[MEASURED_forward].n == 0 && step->times[MEASURED_backward].n == 0)
    note (making,
          "forward and backward are simulated, not measured: nothing tells what %.3f ms of kernels "
          "a step are for, as their launches on the host would",
          1e3 * untold_s);
}

static void
compare_sizes (const Making *making)
{
  const MeasuredStep *step = making->step;
  const Scenario *scenario = making->measured;
  const RecordedFile *file = g_ptr_array_index (step->recorded->files, 0);

  if (file->world_size > 0 && file->world_size != scenario_ranks (scenario))
    note (making,
          "the trace is of %" G_GINT64_FORMAT " ranks, the scenario has %u: -s cluster.nodes=N, "
          "cluster.gpus_per_node=N",
          file->world_size, scenario_ranks (scenario));
  if (step->n_blocks > 0 && step->n_blocks != scenario->model.layers)
    note (making, "the trace has %u blocks, the scenario's model %u", step->n_blocks,
          scenario->model.layers);
  if (step->n_micro_batches > 0 && step->n_micro_batches != scenario->training.grad_accum)
    note (making,
          "the trace has %u micro-batch%s a step, the scenario %u: "
          "-s training.grad_accum=%u",
          step->n_micro_batches, step->n_micro_batches == 1 ? "" : "es",
          scenario->training.grad_accum, step->n_micro_batches);
}

/* Settings of FSDP and checkpointing show in how often something is gathered and reduced. */
static void
compare_counts (const Making *making, const Figures *simulated)
{
  const Recorded *recorded = making->step->recorded;
  const UnitFigures *measured = &recorded->figures.all;
  const UnitFigures *all = &simulated->all;
  const struct
  {
    const char *words;
    double measured, simulated;
  } counts[] = {
    { "all-gathers in the forward", measured->all_gathers_forward, all->all_gathers_forward },
    { "all-gathers in the backward", measured->all_gathers_backward, all->all_gathers_backward },
    { "reduce-scatters", measured->reduce_scatters, all->reduce_scatters },
    { "all-reduces", measured->all_reduces, all->all_reduces },
  };

  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    if (recorded->has_units && fabs (counts[i].measured - counts[i].simulated) >= 0.5)
      note (making,
            "the trace has %.4g %s a step, the scenario %.4g: it was recorded under other "
            "settings",
            counts[i].measured, counts[i].words, counts[i].simulated);
}

/* ---- settings ---- */

static void
add_overrides (const Making *making)
{
  for (guint i = 0; making->options->overrides[i] != NULL; i++)
    {
      g_auto (GStrv) sides = g_strsplit (making->options->overrides[i], "=", 2);
      g_auto (GStrv) names = g_strsplit (sides[0], ".", 2);

      set (making, names[0], names[1], sides[1]);
    }
}

/* Files that the scenario names beside itself: the new one may lie elsewhere. */
static void
add_sources (const Making *making, const IniFile *ini)
{
  g_autofree char *folder = g_path_get_dirname (scenario_file_path (making->base));
  guint n;
  const IniSection *sections = ini_sections (ini, &n);

  for (guint s = 0; s < n; s++)
    for (guint i = 0; i < sections[s].n_entries; i++)
      {
        const IniEntry *entry = ini_entry (ini, sections[s].first + i);
        g_autofree char *path = g_canonicalize_filename (entry->value, NULL);
        g_autofree char *beside = g_build_filename (folder, entry->value, NULL);
        g_autofree char *whole = g_canonicalize_filename (beside, NULL);
        const gboolean is_there = g_file_test (whole, G_FILE_TEST_EXISTS);

        if (strcmp (entry->key, "source") != 0 && !g_str_has_suffix (entry->key, ".source"))
          continue;
        if (entry->value[0] == '\0' || g_path_is_absolute (entry->value)
            || (!is_there && !g_file_test (path, G_FILE_TEST_EXISTS)))
          continue;
        set (making, sections[s].name, entry->key, is_there ? whole : path);
      }
}

static void
add_times (const Making *making, gboolean with_network)
{
  GArray *settings = measured_settings (making->step, with_network);

  for (guint i = 0; i < settings->len; i++)
    {
      const IniSetting *setting = &g_array_index (settings, IniSetting, i);

      set (making, setting->section, setting->key, setting->value);
    }
  measured_settings_free (settings);
}

/* DDP reduces buckets, not blocks: a block's share of all that it reduced. */
static void
share_buckets (const Making *making)
{
  static const MeasuredKey keys[] = { MEASURED_all_reduce, MEASURED_root_all_reduce,
                                      MEASURED_embed_all_reduce, MEASURED_head_all_reduce };
  const Scenario *scenario = making->measured;
  const double block_bytes
      = (double)params_count (&scenario->model).block * dtype_bytes (scenario->fsdp.reduce_dtype);
  MeasuredTime all = { 0 };

  if (scenario->fsdp.api != API_DDP)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      MeasuredTime *time = &making->step->times[keys[i]];

      all.total += time->total;
      all.bytes += time->bytes;
      *time = (MeasuredTime){ 0 };
    }
  if (all.bytes > 0)
    making->step->times[MEASURED_all_reduce]
        = (MeasuredTime){ .total = llround ((double)all.total / (double)all.bytes * block_bytes),
                          .n = 1,
                          .bytes = llround (block_bytes),
                          .is_spread = TRUE };
}

/* ---- the network ---- */

static guint
shard_ranks (const Scenario *scenario)
{
  const gboolean is_hybrid = scenario->fsdp.strategy == STRATEGY_HYBRID_SHARD
                             || scenario->fsdp.strategy == STRATEGY_HYBRID_SHARD_ZERO2;

  return is_hybrid && scenario->fsdp.api != API_DDP ? scenario->fsdp.shard_group_size
                                                    : scenario_ranks (scenario);
}

/* All-gathers and reduce-scatters of the shard group: the all-reduces of a hybrid's replicas
 * share their links, and are no lone collectives. */
static NcclTests *
collectives_of (const Making *making)
{
  const Scenario *scenario = making->measured;
  const guint ranks = shard_ranks (scenario);
  const guint nodes
      = (ranks + scenario->cluster.gpus_per_node - 1) / scenario->cluster.gpus_per_node;
  NcclTests *tests = g_new0 (NcclTests, 1);
  TimelineOp kind;

  tests->rows = g_array_new (FALSE, FALSE, sizeof (NcclTestsRow));
  tests->n_runs = 1;
  for (MeasuredKey key = 0; key < N_MEASURED; key++)
    {
      const MeasuredTime *time = &making->step->times[key];
      NcclTestsRow row = { .ranks = ranks,
                           .nodes = MIN (nodes, scenario->cluster.nodes),
                           .out_of_place_us = (double)NAN,
                           .in_place_us = (double)NAN };

      if (time->n == 0 || time->bytes <= 0 || !measured_key_is_collective (key, &kind)
          || kind == TIMELINE_ALL_REDUCE)
        continue;
      row.kind = kind == TIMELINE_ALL_GATHER ? COLLECTIVE_ALL_GATHER : COLLECTIVE_REDUCE_SCATTER;
      row.bytes = time->bytes / (gint64)time->n;
      if (kind == TIMELINE_ALL_GATHER && scenario->fsdp.api == API_FSDP2)
        row.in_place_us = (double)measured_mean (time) / 1e6;
      else
        row.out_of_place_us = (double)measured_mean (time) / 1e6;
      g_array_append_val (tests->rows, row);
    }
  return tests;
}

static gboolean
add_network (const Making *making, GError **error)
{
  g_autoptr (NcclTests) tests = collectives_of (making);
  g_autoptr (NetworkFit) fit = NULL;

  if (tests->rows->len == 0)
    return fail (error,
                 "--network fitted: the trace has no all-gather or reduce-scatter whose size "
                 "is told");
  fit = network_fit (making->measured, tests, "the trace", error);
  if (fit == NULL)
    return FALSE;
  note (making,
        "network: median error of %u collectives %.1f %% as the scenario has it, %.1f %% fitted",
        fit->n_times, 100 * fit->median_before, 100 * fit->median);
  for (guint i = 0; fit->median_before > GOOD_FIT && i < fit->keys->len; i++)
    {
      g_autofree char *value = NULL;
      const char *key = network_fit_constant (fit, i, &value);
      g_autofree char *text = g_strdup_printf ("%s  # fitted to the trace", value);

      set (making, "cluster", key, text);
    }
  return TRUE;
}

/* ---- the new scenario ---- */

static gboolean
simulate (const Making *making, const ScenarioFile *file, Figures *figures)
{
  const StudyOptions options = { 0 };
  StudyEffort effort;
  ReportRun run;

  study_run (find_variant (file, making->out->variant), &options, &run, &effort);
  *figures = run.figures;
  figures->reason = g_strdup (run.figures.reason);
  figures->units = NULL;
  study_run_clear (&run);
  return figures_did_run (figures);
}

/* The text with the settings so far and the times. FALSE where something is wrong with it. */
static gboolean
try_times (Making *making, const char *text, const IniFile *ini, Figures *figures,
           Problems *problems)
{
  const ScenarioOptions how = { .load_foreign_model = making->options->load_foreign_model };
  const guint n_settings = making->settings->len;
  g_autoptr (ScenarioFile) file = NULL;

  add_times (making, !making->options->fits_network);
  g_free (making->out->text);
  making->out->text = ini_edit (text, ini, (const IniSetting *)(void *)making->settings->data,
                                making->settings->len);
  g_array_set_size (making->settings, n_settings);
  file = scenario_file_load_text (making->options->scenario, "measured.ini", making->out->text,
                                  strlen (making->out->text), &how, problems);
  if (problems_count (problems) > 0)
    return FALSE;
  if (!simulate (making, file, figures))
    note (making, "%s: %s", making->out->variant, figures->reason);
  return TRUE;
}

/* Copies on the compute stream that the scenario does not make, as the sums of gradients of
 * several micro-batches, belong to the backward, which [timing] lets hold them; those that it
 * makes and the trace has as kernels of the backward are not counted twice. */
static gboolean
move_copies (const Making *making, const Figures *simulated)
{
  MeasuredStep *step = making->step;
  MeasuredTime *backward = &step->times[MEASURED_backward];
  const double missing_s
      = step->recorded->figures.busy_s[TIMELINE_COPY] - simulated->busy_s[TIMELINE_COPY];
  const SimTime missing = llround (missing_s * 1e12) * step->n_steps;

  if (backward->n == 0 || !figures_did_run (simulated) || fabs (missing_s) < LEAST_COPIES_S)
    return FALSE;
  if (-missing > backward->total / 2)
    return FALSE; /* other work than what the scenario describes */
  backward->total += missing;
  return TRUE;
}

static void
prepend_comments (Making *making)
{
  GString *text = g_string_new (NULL);
  const MeasuredScenario *out = making->out;

  measured_append_comments (text, making->step, shard_ranks (making->measured));
  g_string_append_printf (
      text, "# Simulated with them, variant %s: %.3f ms a step (%+.2f %%).\n%s\n", out->variant,
      1e3 * out->simulated_s, 100 * (out->simulated_s / out->measured_s - 1),
      !making->options->fits_network
          ? "# Collectives are fixed as measured: for other node counts, sizes or networks "
            "import with\n# --network fitted."
          : "# The network's constants are fitted to the collectives, which other node "
            "counts and sizes\n# change.");
  g_string_append (text, out->text);
  g_free (making->out->text);
  making->out->text = g_string_free (text, FALSE);
}

static gboolean
make (Making *making, const char *text, const IniFile *ini, Problems *problems, GError **error)
{
  Figures figures = { 0 };
  gboolean is_made;

  if (!choose_variant (making, error))
    return FALSE;
  measured_step_spread (making->step, making->measured->model.layers);
  share_buckets (making);
  compare_sizes (making);
  warn_of_slow_ranks (making);
  warn_of_untold_kernels (making);
  add_sources (making, ini);
  add_overrides (making);
  if (making->options->fits_network && !add_network (making, error))
    return FALSE;
  is_made = try_times (making, text, ini, &figures, problems);
  if (is_made && move_copies (making, &figures))
    {
      g_free (figures.reason);
      is_made = try_times (making, text, ini, &figures, problems);
    }
  if (is_made && figures_did_run (&figures))
    compare_counts (making, &figures);
  making->out->measured_s = making->step->recorded->figures.step_time_s;
  making->out->simulated_s = figures.step_time_s;
  g_free (figures.reason);
  if (is_made)
    prepend_comments (making);
  return is_made;
}

gboolean
measured_scenario_make (MeasuredStep *step, const MeasuredScenarioOptions *options,
                        MeasuredScenario *scenario, Problems *problems, GError **error)
{
  const ScenarioOptions how
      = { .overrides = options->overrides, .load_foreign_model = options->load_foreign_model };
  g_autoptr (ScenarioFile) base = scenario_file_load (options->scenario, &how, problems);
  Making making = { .step = step, .options = options, .out = scenario, .base = base };
  g_autofree char *text = NULL;
  g_autoptr (IniFile) ini = NULL;
  gboolean is_made;
  gsize length;

  *scenario = (MeasuredScenario){ .notes = g_ptr_array_new_with_free_func (g_free) };
  if (problems_count (problems) > 0)
    return FALSE;
  text = text_file_read (scenario_file_path (base), &length, error);
  if (text == NULL)
    return FALSE;
  ini = ini_parse (options->scenario, text, length, problems);
  making.settings = g_array_new (FALSE, FALSE, sizeof (IniSetting));
  making.texts = g_string_chunk_new (4096);
  is_made = make (&making, text, ini, problems, error);
  g_array_unref (making.settings);
  g_string_chunk_free (making.texts);
  return is_made;
}

void
measured_scenario_clear (MeasuredScenario *scenario)
{
  g_free (scenario->text);
  g_free (scenario->variant);
  g_ptr_array_unref (scenario->notes);
}

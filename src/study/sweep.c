#include <config.h>

#include "study/sweep.h"

#include "report/goodput.h"
#include "report/summary.h"
#include "study/repeat.h"

#define TICK_US (G_USEC_PER_SEC / 20)

struct _Sweep
{
  ScenarioFile *file;
  const Grid *grid;
  Cells *cells;
  SummaryExtras extras;
  guint n_repeats;
  ReportScenario scenario;
  SweepIdentity identity;
  char *columns;
};

static char *
write_columns (const Grid *grid, const SummaryExtras *extras)
{
  g_autofree char *summary = summary_columns (extras);
  GString *text = g_string_new (NULL);

  for (guint k = 0; k < grid_n_keys (grid); k++)
    g_string_append_printf (text, "%s.%s,", grid_key (grid, k)->section, grid_key (grid, k)->key);
  g_string_append (text, summary);
  return g_string_free (text, FALSE);
}

/* Of what the rows hold beside the scenario's own figures. */
static char *
hash (const Sweep *sweep)
{
  g_autofree char *grid = grid_describe (sweep->grid);
  g_autofree char *sources = cells_describe_sources (sweep->cells);
  g_autofree char *text
      = g_strdup_printf ("%s\n%s\n%.17g %.17g %u\n%s\n%s", sweep->scenario.scenario_name,
                         sweep->columns, sweep->extras.budget.tokens,
                         sweep->extras.budget.price_per_gpu_hour, sweep->n_repeats, grid, sources);

  return g_compute_checksum_for_string (G_CHECKSUM_SHA256, text, -1);
}

/* Whether failures count in any row. */
static gboolean
has_goodput (const ScenarioFile *file, const Grid *grid)
{
  for (guint i = 0; i < scenario_file_n_variants (file); i++)
    if (goodput_is_asked (&scenario_file_variant (file, i)->reliability))
      return TRUE;
  for (guint k = 0; k < grid_n_keys (grid); k++)
    if (g_str_equal (grid_key (grid, k)->section, "reliability"))
      return TRUE;
  return FALSE;
}

Sweep *
sweep_new (ScenarioFile *file, const Grid *grid, const Budget *budget, guint n_repeats, guint shard,
           guint n_shards)
{
  Sweep *sweep = g_new0 (Sweep, 1);

  g_assert (shard >= 1 && shard <= n_shards);
  sweep->file = file;
  sweep->grid = grid;
  sweep->cells = cells_new (file, grid);
  sweep->extras = (SummaryExtras){ *budget, n_repeats > 0, has_goodput (file, grid) };
  sweep->n_repeats = n_repeats;
  sweep->scenario = (ReportScenario){ .scenario_name = scenario_file_name (file),
                                      .title = scenario_file_title (file),
                                      .sha256 = scenario_file_sha256 (file) };
  sweep->columns = write_columns (grid, &sweep->extras);
  sweep->identity = (SweepIdentity){ .version = g_strdup (PACKAGE_VERSION),
                                     .scenario_sha256 = g_strdup (scenario_file_sha256 (file)),
                                     .sweep_sha256 = hash (sweep),
                                     .shard = shard,
                                     .n_shards = n_shards,
                                     .n_cells = grid_n_cells (grid),
                                     .n_variants = scenario_file_n_variants (file) };
  return sweep;
}

void
sweep_free (Sweep *sweep)
{
  if (sweep == NULL)
    return;
  sweep_identity_clear (&sweep->identity);
  cells_free (sweep->cells);
  g_free (sweep->columns);
  g_free (sweep);
}

gboolean
sweep_check_sources (Sweep *sweep, Problems *problems)
{
  return cells_check_sources (sweep->cells, problems);
}

const SweepIdentity *
sweep_identity (const Sweep *sweep)
{
  return &sweep->identity;
}

const char *
sweep_columns (const Sweep *sweep)
{
  return sweep->columns;
}

gsize
sweep_n_rows (const Sweep *sweep)
{
  return sweep_identity_shard_cells (&sweep->identity) * sweep->identity.n_variants;
}

/* ---- a row ---- */

static gsize
cell_of (const Sweep *sweep, gsize row, guint *variant)
{
  const SweepIdentity *identity = &sweep->identity;

  *variant = (guint)(row % identity->n_variants);
  return row / identity->n_variants * identity->n_shards + identity->shard - 1;
}

char *
sweep_row (Sweep *sweep, gsize row, RunStatus *status)
{
  const StudyOptions options = { 0 };
  guint variant;
  const gsize cell = cell_of (sweep, row, &variant);
  g_autofree char *reason = NULL;
  StudyEffort effort;
  Scenario scenario;
  ReportRun run = { .scenario = &scenario };
  ReportRun *const runs[] = { &run };
  Csv csv;

  if (cells_fill (sweep->cells, cell, variant, &scenario, &reason))
    study_run (&scenario, &options, &run, &effort);
  else
    figures_refuse (&run.figures, RUN_FAILED, reason);
  if (sweep->n_repeats > 0)
    repeat_study (runs, 1, sweep->n_repeats, 1, NULL, NULL);
  csv_begin_rows (&csv);
  for (guint k = 0; k < grid_n_keys (sweep->grid); k++)
    csv_add_text (&csv, grid_value (sweep->grid, cell, k));
  summary_add_fields (&csv, scenario.variant, &sweep->scenario, &run, &sweep->extras);
  *status = run.figures.status;
  study_run_clear (&run);
  cells_clear_scenario (&scenario);
  return csv_finish (&csv);
}

char *
sweep_describe_row (const Sweep *sweep, gsize row)
{
  guint variant;
  const gsize cell = cell_of (sweep, row, &variant);
  GString *text = g_string_new (NULL);

  for (guint k = 0; k < grid_n_keys (sweep->grid); k++)
    g_string_append_printf (text, "%s%s.%s=%s", k > 0 ? " " : "",
                            grid_key (sweep->grid, k)->section, grid_key (sweep->grid, k)->key,
                            grid_value (sweep->grid, cell, k));
  if (sweep->identity.n_variants > 1)
    g_string_append_printf (text, "%svariant %s", text->len > 0 ? ", " : "",
                            scenario_file_variant (sweep->file, variant)->variant);
  return g_string_free (text, FALSE);
}

/* ---- many rows ---- */

typedef struct
{
  gsize row;
  char *text;
  RunStatus status;
} Done;

/* What the threads share, under the mutex. */
typedef struct
{
  Sweep *sweep;
  const gboolean *is_done;
  gsize next;
  gsize n_rows;
  guint n_working; /* threads */
  gboolean stop;
  GArray *done; /* Done, not yet handed on */
  GMutex mutex;
  GCond changed;
} Crew;

static gboolean
take_next (Crew *crew, gsize *row)
{
  while (crew->next < crew->n_rows && crew->is_done[crew->next])
    crew->next++;
  *row = crew->next++;
  return *row < crew->n_rows && !crew->stop;
}

static void
work (gpointer data, gpointer user_data)
{
  Crew *crew = user_data;
  Done done;

  (void)data;
  g_mutex_lock (&crew->mutex);
  while (take_next (crew, &done.row))
    {
      g_mutex_unlock (&crew->mutex);
      done.text = sweep_row (crew->sweep, done.row, &done.status);
      g_mutex_lock (&crew->mutex);
      g_array_append_val (crew->done, done);
    }
  crew->n_working--;
  g_cond_signal (&crew->changed);
  g_mutex_unlock (&crew->mutex);
}

/* Hands on what is done, and ticks, until nobody works any more. */
static void
listen (Crew *crew, const SweepListener *listener, gpointer data)
{
  gboolean is_over = FALSE;

  while (!is_over)
    {
      const gint64 until_us = g_get_monotonic_time () + TICK_US;
      g_autoptr (GArray) done = NULL;

      g_mutex_lock (&crew->mutex);
      while (crew->n_working > 0 && g_cond_wait_until (&crew->changed, &crew->mutex, until_us))
        ;
      is_over = crew->n_working == 0;
      done = crew->done;
      crew->done = g_array_new (FALSE, FALSE, sizeof (Done));
      g_mutex_unlock (&crew->mutex);
      for (guint i = 0; i < done->len; i++)
        {
          const Done *row = &g_array_index (done, Done, i);

          listener->take_row (row->row, row->text, row->status, data);
        }
      if (listener->tick (data))
        continue;
      g_mutex_lock (&crew->mutex);
      crew->stop = TRUE;
      g_mutex_unlock (&crew->mutex);
    }
}

void
sweep_run (Sweep *sweep, const gboolean *is_done, guint n_threads, const SweepListener *listener,
           gpointer data)
{
  Crew crew = { .sweep = sweep,
                .is_done = is_done,
                .n_rows = sweep_n_rows (sweep),
                .n_working = n_threads,
                .done = g_array_new (FALSE, FALSE, sizeof (Done)) };
  GThreadPool *pool;

  g_mutex_init (&crew.mutex);
  g_cond_init (&crew.changed);
  pool = g_thread_pool_new (work, &crew, (gint)n_threads, FALSE, NULL);
  for (guint i = 0; i < n_threads; i++)
    g_thread_pool_push (pool, &crew, NULL);
  listen (&crew, listener, data);
  g_thread_pool_free (pool, FALSE, TRUE);
  g_array_unref (crew.done);
  g_cond_clear (&crew.changed);
  g_mutex_clear (&crew.mutex);
}

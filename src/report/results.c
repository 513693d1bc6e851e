#include <config.h>

#include <math.h>
#include <string.h>

#include "report/results_files.h"

#define MAX_DETAILS_BYTES (256 * 1024 * 1024)

static const struct
{
  const char *name;
  const ResultsReader *reader; /* of a CSV file */
} files[N_RESULTS_FILES] = {
  [RESULTS_SUMMARY] = { "summary.csv", &results_summary_reader },
  [RESULTS_DELTAS] = { "deltas.csv", &results_deltas_reader },
  [RESULTS_TIMELINE] = { "timeline.csv", &results_timeline_reader },
  [RESULTS_MEMORY] = { "memory.csv", &results_memory_reader },
  [RESULTS_DETAILS] = { "report.json", NULL },
  [RESULTS_UNITS] = { "per_unit.csv", &results_units_reader },
  [RESULTS_RANKS] = { "ranks.csv", &results_ranks_reader },
  [RESULTS_WAITS] = { "waits.csv", &results_waits_reader },
};

const char *
results_file_name (ResultsFile file)
{
  g_assert (file < N_RESULTS_FILES);
  return files[file].name;
}

Results *
results_new (void)
{
  Results *results = g_new0 (Results, 1);

  results->variants = g_ptr_array_new_with_free_func (results_variant_free);
  results->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  return results;
}

void
results_free (Results *results)
{
  if (results == NULL)
    return;
  g_hash_table_unref (results->by_name);
  g_ptr_array_unref (results->variants);
  g_strfreev (results->keys);
  g_free (results->title);
  g_free (results);
}

gboolean
results_add (Results *results, ResultsFile file, const char *name, const char *text, gsize length,
             GError **error)
{
  g_assert (file < N_RESULTS_FILES);
  if (file == RESULTS_DETAILS)
    return results_take_details (results, name, text, length, error);
  if (!results_read_text (name, text, length, files[file].reader, results, error))
    return FALSE;
  results_finish_timelines (results);
  return TRUE;
}

static gboolean
read_details (Results *results, const char *path, GError **error)
{
  gsize length;
  g_autofree char *text = results_load_file (path, MAX_DETAILS_BYTES, &length, error);

  return text != NULL && results_take_details (results, path, text, length, error);
}

static gboolean
read_one (Results *results, const char *folder, ResultsFile file, GError **error)
{
  g_autofree char *path = g_build_filename (folder, files[file].name, NULL);

  if (file != RESULTS_SUMMARY && !g_file_test (path, G_FILE_TEST_EXISTS))
    return TRUE;
  if (file == RESULTS_DETAILS)
    return read_details (results, path, error);
  return results_read_file (path, files[file].reader, results, error);
}

/* The first thing that can be missing: a folder, or results in it. */
static gboolean
has_results (const char *folder, GError **error)
{
  g_autofree char *path = g_build_filename (folder, files[RESULTS_SUMMARY].name, NULL);

  if (!g_file_test (folder, G_FILE_TEST_IS_DIR) || g_file_test (path, G_FILE_TEST_EXISTS))
    return TRUE;
  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
               "%s holds no results: there is no summary.csv; compare, run and sweep write one "
               "with -o %s",
               folder, folder);
  return FALSE;
}

static gboolean
has_rows (const Results *results, const char *folder, GError **error)
{
  if (results->variants->len > 0)
    return TRUE;
  g_set_error (error, RESULTS_ERROR, RESULTS_ERROR_BAD, "%s/%s: no rows below the header", folder,
               files[RESULTS_SUMMARY].name);
  return FALSE;
}

Results *
results_read (const char *folder, GError **error)
{
  g_autoptr (Results) results = results_new ();

  if (!has_results (folder, error) || !read_one (results, folder, RESULTS_SUMMARY, error)
      || !has_rows (results, folder, error))
    return NULL;
  for (guint file = RESULTS_SUMMARY + 1; file < N_RESULTS_FILES; file++)
    if (!read_one (results, folder, file, error))
      return NULL;
  results_finish_timelines (results);
  return g_steal_pointer (&results);
}

gboolean
results_did_run (const ResultsVariant *variant)
{
  return isfinite (variant->step_time_s) && variant->step_time_s > 0;
}

gboolean
results_fits (const ResultsVariant *variant)
{
  return results_did_run (variant) && strcmp (variant->status, "ok") == 0;
}

gboolean
results_is_sweep (const Results *results)
{
  return results->keys != NULL && results->keys[0] != NULL;
}

gboolean
results_is_plan (const Results *results)
{
  return results_is_sweep (results) && isfinite (results_variant (results, 0)->on_front);
}

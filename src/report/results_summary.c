/* summary.csv, deltas.csv and per_unit.csv. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "report/results_files.h"

/* NUMBER, TEXT or OPTIONAL number (column, member of ResultsVariant). */
#define COLUMNS(NUMBER, TEXT, OPTIONAL)                                                            \
  TEXT (variant, name)                                                                             \
  TEXT (scenario, scenario)                                                                        \
  TEXT (scenario_sha256, scenario_sha256)                                                          \
  TEXT (fsdpsim_version, version)                                                                  \
  TEXT (status, status)                                                                            \
  TEXT (reason, reason)                                                                            \
  TEXT (peak_phase, peak_phase)                                                                    \
  NUMBER (step_time_s, step_time_s)                                                                \
  NUMBER (tokens_per_s, tokens_per_s)                                                              \
  NUMBER (tokens_per_s_per_gpu, tokens_per_s_per_gpu)                                              \
  NUMBER (mfu_percent, mfu_percent)                                                                \
  NUMBER (hfu_percent, hfu_percent)                                                                \
  NUMBER (all_gathers, all_gathers)                                                                \
  NUMBER (reduce_scatters, reduce_scatters)                                                        \
  NUMBER (all_reduces, all_reduces)                                                                \
  NUMBER (comm_bytes, comm_bytes)                                                                  \
  NUMBER (compute_s, compute_s)                                                                    \
  NUMBER (exposed_comm_s, exposed_comm_s)                                                          \
  NUMBER (host_bound_s, host_bound_s)                                                              \
  NUMBER (peak_allocated_bytes, peak_allocated_bytes)                                              \
  NUMBER (peak_reserved_bytes, peak_reserved_bytes)                                                \
  OPTIONAL (days, days)                                                                            \
  OPTIONAL (gpu_hours, gpu_hours)                                                                  \
  OPTIONAL (cost, cost)                                                                            \
  OPTIONAL (gpus, gpus)                                                                            \
  OPTIONAL (meets_limits, meets_limits)                                                            \
  OPTIONAL (on_front, on_front)

#define WANTED(column, member)   { #column, FALSE },
#define OPTIONAL(column, member) { #column, TRUE },
static const ResultsColumn columns[] = { COLUMNS (WANTED, WANTED, OPTIONAL) };
#undef WANTED
#undef OPTIONAL

typedef struct
{
  gsize offset; /* into ResultsVariant */
  gboolean is_text;
} Member;

#define NUMBER(column, member) { G_STRUCT_OFFSET (ResultsVariant, member), FALSE },
#define TEXT(column, member)   { G_STRUCT_OFFSET (ResultsVariant, member), TRUE },
static const Member members[] = { COLUMNS (NUMBER, TEXT, NUMBER) };
#undef NUMBER
#undef TEXT

void
results_variant_free (gpointer data)
{
  ResultsVariant *variant = data;

  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    if (members[i].is_text)
      g_free (G_STRUCT_MEMBER (char *, variant, members[i].offset));
  g_strfreev (variant->key_values);
  timeline_free (variant->timeline);
  g_clear_pointer (&variant->stream_ends, g_array_unref);
  g_clear_pointer (&variant->memory, g_array_unref);
  g_clear_pointer (&variant->units, g_ptr_array_unref);
  g_clear_pointer (&variant->waits, g_ptr_array_unref);
  g_free (variant);
}

/* What stands before the column "variant" is what a sweep varied. */
static char **
copy_before_variant (const GPtrArray *header, const GPtrArray *values)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (guint i = 0; i < header->len && strcmp (header->pdata[i], "variant") != 0; i++)
    g_strv_builder_add (builder, values->pdata[i]);
  return g_strv_builder_end (builder);
}

static gboolean
take_summary (const ResultsRow *row, gpointer data, GError **error)
{
  Results *results = data;
  ResultsVariant *variant = g_new0 (ResultsVariant, 1);

  variant->row = results->variants->len;
  g_ptr_array_add (results->variants, variant);
  variant->throughput_delta_percent = variant->capacity_bytes = (double)NAN;
  if (results->keys == NULL)
    results->keys = copy_before_variant (row->header, row->header);
  variant->key_values = copy_before_variant (row->header, row->fields);
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    if (members[i].is_text)
      G_STRUCT_MEMBER (char *, variant, members[i].offset) = g_strdup (row->values[i]);
    else if (!results_row_number (row, i, &G_STRUCT_MEMBER (double, variant, members[i].offset),
                                  error))
      return FALSE;
  if (!g_hash_table_contains (results->by_name, variant->name))
    g_hash_table_insert (results->by_name, variant->name, variant);
  return TRUE;
}

const ResultsReader results_summary_reader = { columns, G_N_ELEMENTS (columns), take_summary };

ResultsVariant *
results_find_variant (const Results *results, const ResultsRow *row, GError **error)
{
  ResultsVariant *variant = g_hash_table_lookup (results->by_name, row->values[0]);

  if (variant == NULL)
    results_row_error (row, 0, error, "'%.80s' is not in %s", row->values[0],
                       results_file_name (RESULTS_SUMMARY));
  return variant;
}

/* ---- deltas.csv ---- */

static const ResultsColumn delta_columns[]
    = { { "variant", FALSE }, { "throughput_delta_percent", FALSE } };

static gboolean
take_delta (const ResultsRow *row, gpointer data, GError **error)
{
  ResultsVariant *variant = results_find_variant (data, row, error);

  return variant != NULL && results_row_number (row, 1, &variant->throughput_delta_percent, error);
}

const ResultsReader results_deltas_reader
    = { delta_columns, G_N_ELEMENTS (delta_columns), take_delta };

/* ---- per_unit.csv ---- */

static const ResultsColumn unit_columns[] = { { "variant", FALSE },
                                              { "unit", FALSE },
                                              { "all_gathers_forward", FALSE },
                                              { "all_gathers_backward", FALSE },
                                              { "reduce_scatters", FALSE },
                                              { "all_reduces", FALSE },
                                              { "all_gather_exposed_s", FALSE },
                                              { "reduce_scatter_exposed_s", FALSE } };

static void
unit_free (gpointer data)
{
  ResultsUnit *unit = data;

  g_free (unit->unit);
  g_free (unit);
}

static gboolean
take_unit (const ResultsRow *row, gpointer data, GError **error)
{
  ResultsVariant *variant = results_find_variant (data, row, error);
  ResultsUnit *unit;

  if (variant == NULL)
    return FALSE;
  if (variant->units == NULL)
    variant->units = g_ptr_array_new_with_free_func (unit_free);
  unit = g_new0 (ResultsUnit, 1);
  unit->unit = g_strdup (row->values[1]);
  g_ptr_array_add (variant->units, unit);
  return results_row_number (row, 2, &unit->all_gathers_forward, error)
         && results_row_number (row, 3, &unit->all_gathers_backward, error)
         && results_row_number (row, 4, &unit->reduce_scatters, error)
         && results_row_number (row, 5, &unit->all_reduces, error)
         && results_row_number (row, 6, &unit->all_gather_exposed_s, error)
         && results_row_number (row, 7, &unit->reduce_scatter_exposed_s, error);
}

const ResultsReader results_units_reader = { unit_columns, G_N_ELEMENTS (unit_columns), take_unit };

#include <config.h>

#include "study/validation_report.h"

#include <math.h>

#include "report/csv.h"
#include "report/format.h"
#include "report/json_members.h"
#include "report/text_table.h"
#include "study/ab_pairs.h"

/* ---- for people ---- */

static void
add_heads (TextTable *table, const char *first)
{
  static const char *const heads[]
      = { "runs", "mean", "mean abs", "median", "p90", "worst", "rank" };

  text_table_add (table, first);
  for (guint i = 0; i < G_N_ELEMENTS (heads); i++)
    text_table_add (table, heads[i]);
}

static void
add_figures (TextTable *table, const char *name, const ErrorFigures *figures)
{
  char buffer[FORMAT_SIZE];

  text_table_add (table, name);
  g_snprintf (buffer, sizeof buffer, "%u", figures->n);
  text_table_add (table, buffer);
  for (ErrorFigure i = 0; i < ERROR_RANK; i++)
    text_table_add (table, format_real (buffer, i == ERROR_SIGNED_MEAN ? "%+.2f" : "%.2f",
                                        100 * figures->values[i]));
  text_table_add (table, isnan (figures->values[ERROR_RANK])
                             ? "-"
                             : format_real (buffer, "%.3f", figures->values[ERROR_RANK]));
}

/* The groups of one metric that have any run of it; an empty line between kinds. */
static void
append_metric (GString *text, const GArray *groups, Metric metric)
{
  static const char *const heads[] = { "throughput, errors in %", "peak memory, errors in %" };
  g_autoptr (TextTable) table = text_table_new (N_ERROR_FIGURES + 2);
  const char *kind = NULL;

  if (g_array_index (groups, ErrorGroup, 0).metrics[metric].n == 0)
    return;
  add_heads (table, heads[metric]);
  for (guint i = 0; i < groups->len; i++)
    {
      const ErrorGroup *group = &g_array_index (groups, ErrorGroup, i);
      g_autofree char *name = g_strcmp0 (group->kind, "quality") == 0
                                  ? g_strconcat ("quality ", group->name, NULL)
                                  : g_strdup (group->name);

      if (group->metrics[metric].n == 0)
        continue;
      if (kind != NULL && g_strcmp0 (kind, group->kind) != 0)
        for (guint c = 0; c < N_ERROR_FIGURES + 2; c++)
          text_table_add (table, "");
      kind = group->kind;
      add_figures (table, name, &group->metrics[metric]);
    }
  g_string_append_c (text, '\n');
  text_table_render (table, text);
}

/* Runs without a prediction, those with the same reason together. */
static void
append_reasons (GString *text, const Validation *validation)
{
  g_autofree gboolean *told = g_new0 (gboolean, validation->n + 1);

  for (guint i = 0; i < validation->n; i++)
    {
      const char *reason = validation->predictions[i].reason;
      g_autoptr (GString) line = NULL;

      if (reason == NULL || told[i])
        continue;
      line = g_string_new (reason);
      for (guint k = i; k < validation->n; k++)
        if (g_strcmp0 (validation->predictions[k].reason, reason) == 0)
          {
            const PublishedRun *run = validation->predictions[k].run;
            g_autofree char *place = published_run_place (run);

            told[k] = TRUE;
            g_string_append_printf (line, "%s%s (%s)", k == i ? ": " : ", ", run->result.id, place);
          }
      text_append_wrapped (text, line->str, 2);
    }
}

guint
validation_count_unpredicted (const Validation *validation)
{
  guint n = 0;

  for (guint i = 0; i < validation->n; i++)
    n += validation->predictions[i].reason != NULL;
  return n;
}

static guint
count_tight (const Validation *validation)
{
  guint n = 0;

  for (guint i = 0; i < validation->n; i++)
    n += validation->predictions[i].reason == NULL && !validation->predictions[i].fits;
  return n;
}

char *
validation_reasons (const Validation *validation)
{
  const guint n = validation_count_unpredicted (validation);
  GString *text;

  if (n == 0)
    return NULL;
  text = g_string_new (NULL);
  g_string_append_printf (text, "%u without a prediction:\n", n);
  append_reasons (text, validation);
  return g_string_free (text, FALSE);
}

/* The allocator retries in every step, which slows the run in a way that is not predicted. */
static guint
count_near_limit (const Validation *validation)
{
  guint n = 0;

  for (guint i = 0; i < validation->n; i++)
    n += validation->predictions[i].fits && validation->predictions[i].retries > 0;
  return n;
}

static void
append_pairs (GString *text, const Validation *validation)
{
  AbPairs pairs;

  ab_pairs_count (validation, &pairs);
  if (pairs.n_pairs > 0)
    g_string_append_printf (
        text,
        "%u pairs of runs that differ in one setting are published as more than "
        "%.0f %% apart, %u with the predicted sign",
        pairs.n_pairs, 100 * AB_LEAST_DIFFERENCE, pairs.n_right);
  for (guint i = 0; i < pairs.wrong->len; i++)
    g_string_append_printf (text, "%s%s", i == 0 ? "; not " : ", ",
                            (const char *)g_ptr_array_index (pairs.wrong, i));
  if (pairs.n_pairs > 0)
    g_string_append_c (text, '\n');
  ab_pairs_clear (&pairs);
}

char *
validation_table (const Validation *validation, const char *name)
{
  GString *text = g_string_new ("# " PACKAGE_STRING "\n");
  g_autoptr (GArray) groups = error_groups_new (validation);
  const guint n_unpredicted = validation_count_unpredicted (validation);
  g_autofree char *reasons = validation_reasons (validation);

  g_string_append_printf (text, "# runs     %u of %s\n", validation->n, name);
  g_string_append (text, "# errors   predicted over measured, less one; rank: Spearman's "
                         "correlation of the two\n");
  for (Metric metric = 0; metric < N_METRICS; metric++)
    append_metric (text, groups, metric);
  if (reasons != NULL)
    g_string_append_printf (text, "\n%s", reasons);
  g_string_append_printf (text,
                          "\n%u runs predicted, of which %u would not fit and %u are near out of "
                          "memory\n",
                          validation->n - n_unpredicted, count_tight (validation),
                          count_near_limit (validation));
  append_pairs (text, validation);
  return g_string_free (text, FALSE);
}

/* ---- for programs ---- */

char *
validation_csv (const Validation *validation)
{
  Csv csv;

  csv_begin (&csv, "id,metric,measured,predicted,relative_error,fits");
  for (guint i = 0; i < validation->n; i++)
    for (Metric metric = 0; metric < N_METRICS; metric++)
      {
        const Prediction *prediction = &validation->predictions[i];

        if (prediction->reason != NULL)
          continue;
        csv_add_text (&csv, prediction->run->result.id);
        csv_add_text (&csv, metric_name (metric));
        csv_add_number (&csv, prediction->measured[metric]);
        csv_add_number (&csv, prediction->predicted[metric]);
        csv_add_number (&csv, prediction_error (prediction, metric));
        csv_add_integer (&csv, prediction->fits);
        csv_end_row (&csv);
      }
  return csv_finish (&csv);
}

static void
add_group (JsonBuilder *builder, const ErrorGroup *group)
{
  json_builder_begin_object (builder);
  json_member_text (builder, "kind", group->kind);
  json_member_text (builder, "name", group->name);
  for (Metric metric = 0; metric < N_METRICS; metric++)
    {
      const ErrorFigures *figures = &group->metrics[metric];

      json_builder_set_member_name (builder, metric_name (metric));
      json_builder_begin_object (builder);
      json_member_whole (builder, "runs", figures->n);
      for (ErrorFigure i = 0; i < N_ERROR_FIGURES; i++)
        json_member_number (builder, error_figure_name (i), figures->values[i]);
      json_builder_end_object (builder);
    }
  json_builder_end_object (builder);
}

static void
add_prediction (JsonBuilder *builder, const Prediction *prediction)
{
  json_builder_begin_object (builder);
  json_member_text (builder, "id", prediction->run->result.id);
  if (prediction->reason != NULL)
    json_member_text (builder, "reason", prediction->reason);
  for (Metric metric = 0; metric < N_METRICS; metric++)
    {
      json_builder_set_member_name (builder, metric_name (metric));
      json_builder_begin_object (builder);
      json_member_number (builder, "measured", prediction->measured[metric]);
      json_member_number (builder, "predicted", prediction->predicted[metric]);
      json_member_number (builder, "relative_error", prediction_error (prediction, metric));
      json_builder_end_object (builder);
    }
  json_builder_set_member_name (builder, "fits");
  json_builder_add_boolean_value (builder, prediction->fits);
  json_builder_end_object (builder);
}

static void
add_pairs (JsonBuilder *builder, const Validation *validation)
{
  AbPairs pairs;

  ab_pairs_count (validation, &pairs);
  json_builder_set_member_name (builder, "ab_pairs");
  json_builder_begin_object (builder);
  json_member_whole (builder, "differ", pairs.n_pairs);
  json_member_whole (builder, "right_sign", pairs.n_right);
  json_builder_set_member_name (builder, "wrong");
  json_builder_begin_array (builder);
  for (guint i = 0; i < pairs.wrong->len; i++)
    json_builder_add_string_value (builder, g_ptr_array_index (pairs.wrong, i));
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  ab_pairs_clear (&pairs);
}

static void
add_meta (JsonBuilder *builder, const char *name)
{
  json_builder_set_member_name (builder, "meta");
  json_builder_begin_object (builder);
  json_member_text (builder, "fsdpsim_version", PACKAGE_VERSION);
  json_member_text (builder, "table", name);
  json_builder_end_object (builder);
}

char *
validation_json (const Validation *validation, const char *name)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (GArray) groups = error_groups_new (validation);

  json_builder_begin_object (builder);
  add_meta (builder, name);
  json_builder_set_member_name (builder, "errors");
  json_builder_begin_array (builder);
  for (guint i = 0; i < groups->len; i++)
    add_group (builder, &g_array_index (groups, ErrorGroup, i));
  json_builder_end_array (builder);
  json_builder_set_member_name (builder, "runs");
  json_builder_begin_array (builder);
  for (guint i = 0; i < validation->n; i++)
    add_prediction (builder, &validation->predictions[i]);
  json_builder_end_array (builder);
  add_pairs (builder, validation);
  json_builder_end_object (builder);
  return json_members_to_text (builder);
}

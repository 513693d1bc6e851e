#include <config.h>

#include "study/calibration_report.h"

#include <math.h>
#include <string.h>

#include "config/units.h"
#include "report/csv.h"
#include "report/format.h"
#include "report/json_members.h"
#include "report/text_table.h"
#include "study/error_figures.h"

static const CalibratedParameter *
parameter (const Calibration *calibration, guint k)
{
  return &g_array_index (calibration->parameters, CalibratedParameter, k);
}

/* "a100-sxm-80g" of ".../a100-sxm-80g.ini". */
static char *
name_of_file (const char *path)
{
  char *name = g_path_get_basename (path);

  if (g_str_has_suffix (name, ".ini"))
    name[strlen (name) - strlen (".ini")] = '\0';
  return name;
}

/* With its unit, to four digits. */
static char *
format_value (const KeyInfo *key, double value)
{
  char buffer[FORMAT_SIZE];

  switch (key->unit)
    {
    case UNIT_KIND_PERCENT:
      return g_strdup_printf ("%s%%", format_real (buffer, "%.4g", 100 * value));
    case UNIT_KIND_TIME:
      return g_strdup_printf ("%sus", format_real (buffer, "%.4g", value / 1e6));
    default:
      return g_strdup (format_real (buffer, "%.4g", value));
    }
}

/* ---- for people ---- */

static void
add_texts (TextTable *table, const char *const *texts)
{
  for (guint i = 0; texts[i] != NULL; i++)
    text_table_add (table, texts[i]);
}

static void
add_parameter (TextTable *table, const CalibratedParameter *of)
{
  g_autofree char *file = name_of_file (of->file);
  g_autofree char *name = g_strdup_printf ("%s %s.%s", file, of->key->section, of->key->key);
  g_autofree char *start = format_value (of->key, of->start);
  g_autofree char *value = format_value (of->key, of->value);
  g_autofree char *low = format_value (of->key, of->low);
  g_autofree char *high = format_value (of->key, of->high);
  g_autofree char *n_runs = g_strdup_printf ("%u", of->n_runs);

  add_texts (table, (const char *const[]){ name, n_runs, start, value, low, high, NULL });
}

static void
append_parameters (GString *text, const Calibration *calibration)
{
  g_autoptr (TextTable) table = text_table_new (6);

  add_texts (table, (const char *const[]){ "parameter", "runs", "before", "fitted", "least", "most",
                                           NULL });
  for (guint k = 0; k < calibration->parameters->len; k++)
    if (parameter (calibration, k)->is_moved)
      add_parameter (table, parameter (calibration, k));
  text_table_render (table, text);
}

static void
add_errors (TextTable *table, const char *kind, const char *name, const Validation *validation)
{
  g_autoptr (GArray) groups = error_groups_new (validation);

  for (guint i = 0; i < groups->len; i++)
    {
      const ErrorGroup *group = &g_array_index (groups, ErrorGroup, i);
      const ErrorFigures *figures = &group->metrics[METRIC_TOKENS_PER_S_PER_GPU];
      g_autofree char *label = NULL;
      const double rank = figures->values[ERROR_RANK];
      char buffer[FORMAT_SIZE];

      if (strcmp (group->kind, kind) != 0 || figures->n == 0)
        continue;
      label = g_strdup_printf ("%s %s", group->name, name);
      text_table_add (table, label);
      text_table_add (table, format_real (buffer, "%.0f", figures->n));
      for (ErrorFigure figure = ERROR_SIGNED_MEAN; figure <= ERROR_WORST; figure++)
        text_table_add (table, format_real (buffer, figure == ERROR_SIGNED_MEAN ? "%+.2f" : "%.2f",
                                            100 * figures->values[figure]));
      text_table_add (table, isnan (rank) ? "-" : format_real (buffer, "%.3f", rank));
    }
}

static void
append_errors (GString *text, const Calibration *calibration)
{
  static const char *const kinds[] = { "all", "gpu", "source" };
  g_autoptr (TextTable) table = text_table_new (8);

  add_texts (table, (const char *const[]){ "errors in %", "runs", "mean", "mean abs", "median",
                                           "p90", "worst", "rank", NULL });
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      add_errors (table, kinds[i], "before", &calibration->start);
      add_errors (table, kinds[i], "fitted", &calibration->fitted);
      add_errors (table, kinds[i], "held back", &calibration->crossed);
    }
  text_table_render (table, text);
}

char *
calibration_table (const Calibration *calibration, const char *name)
{
  GString *text = g_string_new ("# " PACKAGE_STRING "\n");

  g_string_append_printf (text, "# runs     %u of %s\n", calibration->start.n, name);
  g_string_append_printf (text,
                          "# folds    %u; least and most are over the folds, held back is each "
                          "fold as the others predict it\n\n",
                          calibration->n_folds);
  append_parameters (text, calibration);
  g_string_append_c (text, '\n');
  append_errors (text, calibration);
  if (calibration->n_judged > 0)
    g_string_append_printf (text,
                            "\n90 %% intervals of the other folds: %u of %u held-back runs are "
                            "inside\n",
                            calibration->n_inside, calibration->n_judged);
  return g_string_free (text, FALSE);
}

/* ---- for programs ---- */

char *
calibration_csv (const Calibration *calibration)
{
  Csv csv;

  csv_begin (&csv, "file,section,key,start,fitted,low,high,runs");
  for (guint k = 0; k < calibration->parameters->len; k++)
    {
      const CalibratedParameter *of = parameter (calibration, k);
      g_autofree char *file = name_of_file (of->file);

      if (!of->is_moved)
        continue;
      csv_add_text (&csv, file);
      csv_add_text (&csv, of->key->section);
      csv_add_text (&csv, of->key->key);
      csv_add_number (&csv, of->start);
      csv_add_number (&csv, of->value);
      csv_add_number (&csv, of->low);
      csv_add_number (&csv, of->high);
      csv_add_integer (&csv, of->n_runs);
      csv_end_row (&csv);
    }
  return csv_finish (&csv);
}

static void
add_json_parameter (JsonBuilder *builder, const CalibratedParameter *of)
{
  g_autofree char *file = name_of_file (of->file);
  const struct
  {
    const char *name;
    double value;
  } numbers[] = { { "start", of->start },
                  { "fitted", of->value },
                  { "low", of->low },
                  { "high", of->high },
                  { "runs", of->n_runs } };

  json_builder_begin_object (builder);
  json_member_text (builder, "file", file);
  json_member_text (builder, "section", of->key->section);
  json_member_text (builder, "key", of->key->key);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      json_builder_set_member_name (builder, numbers[i].name);
      json_builder_add_double_value (builder, numbers[i].value);
    }
  json_builder_end_object (builder);
}

static void
add_json_errors (JsonBuilder *builder, const char *name, const Validation *validation)
{
  ErrorFigures figures;

  error_figures_measure (validation, NULL, validation->n, METRIC_TOKENS_PER_S_PER_GPU, &figures);
  json_builder_set_member_name (builder, name);
  json_builder_begin_object (builder);
  json_member_whole (builder, "runs", figures.n);
  for (ErrorFigure i = 0; i < N_ERROR_FIGURES && figures.n > 1; i++)
    {
      json_builder_set_member_name (builder, error_figure_name (i));
      json_builder_add_double_value (builder, figures.values[i]);
    }
  json_builder_end_object (builder);
}

char *
calibration_json (const Calibration *calibration, const char *name)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "meta");
  json_builder_begin_object (builder);
  json_member_text (builder, "fsdpsim_version", PACKAGE_VERSION);
  json_member_text (builder, "table", name);
  json_builder_end_object (builder);
  json_builder_set_member_name (builder, "parameters");
  json_builder_begin_array (builder);
  for (guint k = 0; k < calibration->parameters->len; k++)
    if (parameter (calibration, k)->is_moved)
      add_json_parameter (builder, parameter (calibration, k));
  json_builder_end_array (builder);
  add_json_errors (builder, "before", &calibration->start);
  add_json_errors (builder, "fitted", &calibration->fitted);
  add_json_errors (builder, "held_back", &calibration->crossed);
  json_member_whole (builder, "intervals_judged", calibration->n_judged);
  json_member_whole (builder, "intervals_inside", calibration->n_inside);
  json_builder_end_object (builder);
  return json_members_to_text (builder);
}

/* ---- files ---- */

char **
calibration_files (const Calibration *calibration)
{
  GPtrArray *files = g_ptr_array_new ();

  for (guint k = 0; k < calibration->parameters->len; k++)
    {
      const CalibratedParameter *of = parameter (calibration, k);

      if (of->is_moved && !g_ptr_array_find_with_equal_func (files, of->file, g_str_equal, NULL))
        g_ptr_array_add (files, g_strdup (of->file));
    }
  g_ptr_array_add (files, NULL);
  return (char **)g_ptr_array_free (files, FALSE);
}

char *
calibration_file (const Calibration *calibration, const char *path, const char *name)
{
  GString *text = g_string_new (NULL);
  g_autofree char *source = name_of_file (path);

  for (guint k = 0; k < calibration->parameters->len; k++)
    {
      const CalibratedParameter *of = parameter (calibration, k);
      g_autofree char *value = format_value (of->key, of->value);
      g_autofree char *low = format_value (of->key, of->low);
      g_autofree char *high = format_value (of->key, of->high);

      if (!of->is_moved || strcmp (of->file, path) != 0)
        continue;
      if (text->len == 0)
        g_string_append_printf (text,
                                "[%s]\nsource = %s\ntitle = %s, calibrated\n"
                                "provenance = Fitted by fsdpsim calibrate to %s, %u folds.\n\n",
                                of->key->section, source, source, name, calibration->n_folds);
      g_string_append_printf (text, "%s = %s # %u runs; %s to %s over the folds\n", of->key->key,
                              value, of->n_runs, low, high);
    }
  return g_string_free (text, FALSE);
}

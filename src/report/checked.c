#include <config.h>

#include "report/checked.h"

#include <math.h>

#include "report/csv.h"
#include "report/json_members.h"

/* ---- making and freeing ---- */

static void
way_clear (gpointer data)
{
  CheckedWay *way = data;

  g_free (way->label);
  figures_clear (&way->figures);
}

static void
finding_clear (gpointer data)
{
  CheckedFinding *finding = data;

  g_free (finding->file);
  g_free (finding->text);
  g_free (finding->message);
  g_free (finding->fix);
  g_array_unref (finding->ways);
}

void
checked_file_init (CheckedFile *file)
{
  *file = (CheckedFile){ .is_modelled = TRUE,
                         .findings = g_array_new (FALSE, FALSE, sizeof (CheckedFinding)) };
  g_array_set_clear_func (file->findings, finding_clear);
}

void
checked_file_clear (CheckedFile *file)
{
  g_free (file->file);
  g_free (file->kind);
  g_free (file->versions);
  g_free (file->no_costs);
  if (file->job != NULL)
    way_clear (&file->now);
  g_free (file->job);
  g_array_unref (file->findings);
}

void
checked_finding_init (CheckedFinding *finding)
{
  *finding = (CheckedFinding){ .ways = g_array_new (FALSE, FALSE, sizeof (CheckedWay)) };
  g_array_set_clear_func (finding->ways, way_clear);
}

gboolean
checked_file_is_sound (const CheckedFile *file)
{
  for (guint i = 0; i < file->findings->len; i++)
    if (g_array_index (file->findings, CheckedFinding, i).counts)
      return FALSE;
  return file->is_modelled;
}

/* ---- rows ---- */

static double
figure (const Figures *figures, double value)
{
  return figures != NULL && figures_did_run (figures) ? value : (double)NAN;
}

double
checked_gain_percent (const Figures *now, const Figures *then)
{
  if (!figures_did_run (now) || !figures_did_run (then) || now->step_time_s <= 0)
    return (double)NAN;
  return (then->tokens_per_s / now->tokens_per_s - 1) * 100;
}

static void
add_figures (Csv *csv, const Figures *figures)
{
  csv_add_seconds (csv, figure (figures, figures != NULL ? figures->step_time_s : 0));
  csv_add_number (csv, figure (figures, figures != NULL ? figures->tokens_per_s : 0));
  csv_add_seconds (csv, figure (figures, figures != NULL ? figures->exposed_comm_s : 0));
  csv_add_number (csv, figure (figures, figures != NULL ? figures->all.all_gathers_forward
                                                              + figures->all.all_gathers_backward
                                                        : 0));
  csv_add_bytes (csv,
                 figure (figures, figures != NULL ? (double)figures->peak_allocated_bytes : 0));
  csv_add_integer (csv, figures != NULL && figures->fits ? 1 : 0);
}

static void
add_row (Csv *csv, const CheckedFile *file, const CheckedFinding *finding, const CheckedWay *way)
{
  const Figures *now = file->job != NULL ? &file->now.figures : NULL;
  const Figures *then = way != NULL ? &way->figures : NULL;

  csv_add_text (csv, finding->file);
  csv_add_integer (csv, finding->line);
  csv_add_integer (csv, finding->column);
  csv_add_text (csv, finding->code);
  csv_add_text (csv, finding->severity);
  csv_add_text (csv, finding->message);
  csv_add_text (csv, finding->fix != NULL ? finding->fix : "");
  csv_add_text (csv, way != NULL ? way->label : "");
  csv_add_number (csv,
                  now != NULL && then != NULL ? checked_gain_percent (now, then) : (double)NAN);
  add_figures (csv, now);
  add_figures (csv, then);
  csv_end_row (csv);
}

char *
checked_csv (const GPtrArray *files)
{
  Csv csv;

  csv_begin (&csv,
             "file,line,column,code,severity,message,fix,instead,throughput_delta_percent,"
             "step_time_s,tokens_per_s,exposed_comm_s,all_gathers,peak_allocated_bytes,fits,"
             "instead_step_time_s,instead_tokens_per_s,instead_exposed_comm_s,instead_all_gathers,"
             "instead_peak_allocated_bytes,instead_fits");
  for (guint f = 0; f < files->len; f++)
    {
      const CheckedFile *file = g_ptr_array_index (files, f);

      for (guint i = 0; i < file->findings->len; i++)
        {
          const CheckedFinding *finding = &g_array_index (file->findings, CheckedFinding, i);

          for (guint w = 0; w < finding->ways->len; w++)
            add_row (&csv, file, finding, &g_array_index (finding->ways, CheckedWay, w));
          if (finding->ways->len == 0)
            add_row (&csv, file, finding, NULL);
        }
    }
  return csv_finish (&csv);
}

/* ---- JSON ---- */

static void
add_way (JsonBuilder *builder, const CheckedWay *way, const Figures *now)
{
  const Figures *figures = &way->figures;

  json_builder_begin_object (builder);
  json_member_text (builder, "settings", way->label);
  json_member_text (builder, "status", run_status_name (figures->status));
  json_member_text (builder, "reason",
                    figures->reason != NULL && *figures->reason != '\0' ? figures->reason : NULL);
  json_member_number (builder, "step_time_s", figures->step_time_s);
  json_member_number (builder, "tokens_per_s", figures->tokens_per_s);
  json_member_number (builder, "tokens_per_s_per_gpu", figures->tokens_per_s_per_gpu);
  if (now != figures)
    json_member_number (builder, "throughput_delta_percent", checked_gain_percent (now, figures));
  json_member_number (builder, "mfu_percent", figures->mfu_percent);
  json_member_number (builder, "exposed_comm_s", figures->exposed_comm_s);
  json_member_count (builder, "all_gathers",
                     figures->all.all_gathers_forward + figures->all.all_gathers_backward);
  json_member_count (builder, "peak_allocated_bytes", (double)figures->peak_allocated_bytes);
  json_builder_set_member_name (builder, "fits");
  json_builder_add_boolean_value (builder, figures->fits);
  json_builder_end_object (builder);
}

static void
add_finding (JsonBuilder *builder, const CheckedFile *file, const CheckedFinding *finding)
{
  json_builder_begin_object (builder);
  json_member_text (builder, "code", finding->code);
  json_member_text (builder, "severity", finding->severity);
  json_member_text (builder, "file", finding->file);
  json_member_whole (builder, "line", finding->line);
  json_member_whole (builder, "column", finding->column);
  json_member_text (builder, "message", finding->message);
  json_member_text (builder, "fix", finding->fix);
  json_builder_set_member_name (builder, "instead");
  json_builder_begin_array (builder);
  for (guint w = 0; w < finding->ways->len; w++)
    add_way (builder, &g_array_index (finding->ways, CheckedWay, w), &file->now.figures);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
}

static void
add_file (JsonBuilder *builder, const CheckedFile *file)
{
  json_builder_begin_object (builder);
  json_member_text (builder, "file", file->file);
  json_member_text (builder, "kind", file->kind);
  json_member_text (builder, "versions", file->versions);
  json_builder_set_member_name (builder, "sound");
  json_builder_add_boolean_value (builder, checked_file_is_sound (file));
  json_member_text (builder, "job", file->job);
  json_member_text (builder, "no_costs", file->no_costs);
  json_builder_set_member_name (builder, "now");
  if (file->job != NULL)
    add_way (builder, &file->now, &file->now.figures);
  else
    json_builder_add_null_value (builder);
  json_builder_set_member_name (builder, "findings");
  json_builder_begin_array (builder);
  for (guint i = 0; i < file->findings->len; i++)
    add_finding (builder, file, &g_array_index (file->findings, CheckedFinding, i));
  json_builder_end_array (builder);
  json_builder_end_object (builder);
}

char *
checked_json (const GPtrArray *files)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  json_member_text (builder, "fsdpsim_version", PACKAGE_VERSION);
  json_builder_set_member_name (builder, "files");
  json_builder_begin_array (builder);
  for (guint f = 0; f < files->len; f++)
    add_file (builder, g_ptr_array_index (files, f));
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  return json_members_to_text (builder);
}

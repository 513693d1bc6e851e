/* The files with one row a variant or a unit: summary, deltas, per_unit. */
#include <config.h>

#include <math.h>

#include "report/csv.h"
#include "report/deltas.h"
#include "report/goodput.h"
#include "report/names.h"
#include "report/report.h"
#include "report/summary.h"

/* ---- summary.csv ---- */

static void
add_step_figures (Csv *csv, const Figures *figures)
{
  csv_add_seconds (csv, figures->step_time_s);
  csv_add_number (csv, figures->tokens_per_s);
  csv_add_number (csv, figures->tokens_per_s_per_gpu);
  csv_add_number (csv, figures->mfu_percent);
  csv_add_number (csv, figures->hfu_percent);
  csv_add_number (csv, figures_all_gathers (&figures->all));
  csv_add_number (csv, figures->all.reduce_scatters);
  csv_add_number (csv, figures->all.all_reduces);
  csv_add_bytes (csv, figures->all.bytes);
  csv_add_seconds (csv, figures->compute_s);
  csv_add_seconds (csv, figures->exposed_comm_s);
  csv_add_seconds (csv, figures->host_bound_s);
}

static void
add_memory_figures (Csv *csv, const Figures *figures)
{
  const gboolean known = figures_know_memory (figures);

  csv_add_bytes (csv, known ? (double)figures->peak_allocated_bytes : (double)NAN);
  csv_add_bytes (csv, known ? (double)figures->peak_reserved_bytes : (double)NAN);
  csv_add_integer (csv, figures->fits ? 1 : 0);
}

char *
summary_columns (const SummaryExtras *extras)
{
  return g_strconcat ("variant,step_time_s,tokens_per_s,tokens_per_s_per_gpu,mfu_percent,"
                      "hfu_percent,all_gathers,reduce_scatters,all_reduces,comm_bytes,compute_s,"
                      "exposed_comm_s,host_bound_s,peak_allocated_bytes,peak_reserved_bytes,fits,"
                      "scenario,scenario_sha256,fsdpsim_version,status,reason,peak_phase,"
                      "step_time_low_s,step_time_high_s",
                      budget_columns (&extras->budget), extras->has_noise ? NOISE_COLUMNS : "",
                      extras->has_goodput ? GOODPUT_COLUMNS : "", NULL);
}

void
summary_add_fields (Csv *csv, const char *variant, const ReportScenario *scenario,
                    const ReportRun *run, const SummaryExtras *extras)
{
  const Figures *figures = &run->figures;

  csv_add_text (csv, variant);
  add_step_figures (csv, figures);
  add_memory_figures (csv, figures);
  csv_add_text (csv, scenario->scenario_name);
  csv_add_text (csv, scenario->sha256);
  csv_add_text (csv, PACKAGE_VERSION);
  csv_add_text (csv, run_status_name (figures->status));
  csv_add_text (csv, figures->reason);
  csv_add_text (csv, figures_know_memory (figures) ? peak_phase_name (figures->memory.phase) : "");
  csv_add_seconds (csv, figures->step_time_low_s);
  csv_add_seconds (csv, figures->step_time_high_s);
  budget_add_fields (&extras->budget, &run->facts, figures, csv);
  if (extras->has_noise)
    noise_add_fields (run->noise, &run->facts, csv);
  if (extras->has_goodput)
    goodput_add_fields (&run->facts, figures, csv);
}

char *
report_summary_csv (const Report *report)
{
  g_auto (GStrv) names = variant_names (report);
  const SummaryExtras extras
      = { report->budget, report->n_repeats > 0, report_has_goodput (report) };
  g_autofree char *columns = summary_columns (&extras);
  Csv csv;

  csv_begin (&csv, columns);
  for (guint i = 0; i < report->n_entries; i++)
    {
      summary_add_fields (&csv, names[i], report->entries[i].scenario, &report->entries[i].run,
                          &extras);
      csv_end_row (&csv);
    }
  return csv_finish (&csv);
}

/* ---- deltas.csv ---- */

char *
report_deltas_csv (const Report *report)
{
  g_auto (GStrv) names = variant_names (report);
  Csv csv;

  csv_begin (&csv, "variant,baseline,step_time_delta_s,throughput_delta_percent,all_gathers_delta,"
                   "reduce_scatters_delta,exposed_comm_delta_s,peak_allocated_delta_bytes");
  for (guint i = 1; i < report->n_entries; i++)
    {
      Deltas deltas;

      deltas_measure (&report->entries[i].run.figures, &report->entries[0].run.figures, &deltas);
      csv_add_text (&csv, names[i]);
      csv_add_text (&csv, names[0]);
      csv_add_seconds (&csv, deltas.step_time_s);
      csv_add_number (&csv, deltas.throughput_percent);
      csv_add_number (&csv, deltas.all_gathers);
      csv_add_number (&csv, deltas.reduce_scatters);
      csv_add_seconds (&csv, deltas.exposed_comm_s);
      csv_add_bytes (&csv, deltas.peak_allocated_bytes);
      csv_end_row (&csv);
    }
  return csv_finish (&csv);
}

/* ---- per_unit.csv ---- */

static void
add_unit (Csv *csv, const char *variant, const UnitFigures *unit)
{
  g_autofree char *unit_name = timeline_unit_name (unit->unit);

  csv_add_text (csv, variant);
  csv_add_text (csv, unit_name);
  csv_add_number (csv, unit->all_gathers_forward);
  csv_add_number (csv, unit->all_gathers_backward);
  csv_add_number (csv, unit->reduce_scatters);
  csv_add_number (csv, unit->all_reduces);
  csv_add_seconds (csv, unit->all_gather_exposed_s);
  csv_add_seconds (csv, unit->reduce_scatter_exposed_s);
  csv_end_row (csv);
}

char *
report_per_unit_csv (const Report *report)
{
  g_auto (GStrv) names = variant_names (report);
  Csv csv;

  csv_begin (&csv, "variant,unit,all_gathers_forward,all_gathers_backward,reduce_scatters,"
                   "all_reduces,all_gather_exposed_s,reduce_scatter_exposed_s");
  for (guint i = 0; i < report->n_entries; i++)
    {
      const Figures *figures = &report->entries[i].run.figures;

      for (guint u = 0; u < figures->n_units; u++)
        add_unit (&csv, names[i], &figures->units[u]);
    }
  return csv_finish (&csv);
}

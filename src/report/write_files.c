#include <config.h>

#include "report/files.h"
#include "report/names.h"
#include "report/report.h"

static gboolean
write_tables (const Report *report, const char *folder, GError **error)
{
  static const struct
  {
    const char *name;
    char *(*write) (const Report *report);
  } files[] = {
    { "timeline.csv", report_timeline_csv },
    { "memory.csv", report_memory_csv },
    { "per_unit.csv", report_per_unit_csv },
    { "ranks.csv", report_ranks_csv },
    { "waits.csv", report_waits_csv },
    { "deltas.csv", report_deltas_csv },
    { "report.json", report_json },
    { "summary.csv", report_summary_csv }, /* last: where it stands, the others do */
  };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *text = files[i].write (report);

      if (!files_write (folder, files[i].name, text, error))
        return FALSE;
    }
  return TRUE;
}

/* A variant that did not run has no trace: that of an earlier run goes. */
static gboolean
write_traces (const Report *report, const char *folder, GError **error)
{
  g_auto (GStrv) names = variant_names (report);
  g_auto (GStrv) safe_names = file_names ((const char *const *)names);

  for (guint i = 0; i < report->n_entries; i++)
    {
      g_autofree char *name = g_strdup_printf ("trace-%s.json", safe_names[i]);
      g_autofree char *text = NULL;

      if (report->entries[i].run.timelines != NULL)
        text = report_trace_json (&report->entries[i]);
      if (!files_replace (folder, name, text, error))
        return FALSE;
    }
  return TRUE;
}

/* Of the only variant of a run. */
static gboolean
write_what_if (const Report *report, const char *folder, GError **error)
{
  const ReportRun *run = &report->entries[0].run;
  g_autofree char *text = NULL;

  if (run->what_if != NULL)
    text = what_if_csv (run->what_if, run->figures.step_time_s);
  return files_replace (folder, "what_if.csv", text, error);
}

static gboolean
write_break_evens (const Report *report, const char *folder, GError **error)
{
  g_auto (GStrv) names = variant_names (report);
  g_autofree char *text = NULL;

  if (report->break_evens != NULL)
    text = break_even_csv (report->break_evens, (const char *const *)names);
  return files_replace (folder, "break_even.csv", text, error);
}

gboolean
report_write_files (const Report *report, const char *folder, GError **error)
{
  return files_make_folder (folder, error) && write_traces (report, folder, error)
         && write_what_if (report, folder, error) && write_break_evens (report, folder, error)
         && write_tables (report, folder, error);
}

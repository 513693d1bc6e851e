#include "config.h"

#include <errno.h>

#include <glib/gstdio.h>

#include "report/names.h"
#include "report/report.h"

/* Whole or not at all: a new file takes the place of the old one by rename. */
static gboolean
write_whole (const char *folder, const char *name, const char *text, GError **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  if (g_file_set_contents_full (path, text, -1,
                                G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_ONLY_EXISTING,
                                0666, error))
    return TRUE;
  g_prefix_error (error, "cannot write %s: ", path);
  return FALSE;
}

static gboolean
make_folder (const char *folder, GError **error)
{
  int saved_errno;

  if (g_mkdir_with_parents (folder, 0777) == 0)
    return TRUE;
  saved_errno = errno;
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (saved_errno),
               "cannot make the folder %s: %s", folder, g_strerror (saved_errno));
  return FALSE;
}

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
    { "deltas.csv", report_deltas_csv },
    { "report.json", report_json },
    { "summary.csv", report_summary_csv }, /* last: where it stands, the others do */
  };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *text = files[i].write (report);

      if (!write_whole (folder, files[i].name, text, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
write_traces (const Report *report, const char *folder, GError **error)
{
  g_auto (GStrv) names = variant_names (report);
  g_auto (GStrv) safe_names = file_names ((const char *const *)names);

  for (guint i = 0; i < report->n_entries; i++)
    {
      g_autofree char *name = g_strdup_printf ("trace-%s.json", safe_names[i]);
      g_autofree char *text = NULL;

      if (report->entries[i].run.timelines == NULL)
        continue;
      text = report_trace_json (&report->entries[i].run);
      if (!write_whole (folder, name, text, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
report_write_files (const Report *report, const char *folder, GError **error)
{
  return make_folder (folder, error) && write_traces (report, folder, error)
         && write_tables (report, folder, error);
}

#include <config.h>

#include "report/checked.h"

#include <math.h>
#include <string.h>

#include "report/text_table.h"

#define GIB (1024.0 * 1024.0 * 1024.0)

/* ---- places ---- */

static void
append_place (GString *text, const CheckedFinding *finding)
{
  g_string_append (text, finding->file);
  if (finding->line > 0)
    g_string_append_printf (text, ":%u", finding->line);
  if (finding->line > 0 && finding->column > 0)
    g_string_append_printf (text, ":%u", finding->column);
  g_string_append_printf (text, ": %s: %s\n", finding->severity, finding->code);
}

/* The line with a caret, as mistakes in scenarios are shown. */
static void
append_line (GString *text, const CheckedFinding *finding)
{
  if (finding->text == NULL || finding->line == 0)
    return;
  g_string_append_printf (text, "    %.96s\n", finding->text);
  if (finding->column > 0 && finding->column <= MIN (strlen (finding->text), 96))
    g_string_append_printf (text, "    %*s^\n", (int)finding->column - 1, "");
}

static void
append_lines (GString *text, const char *lines, guint indent)
{
  g_auto (GStrv) parts = g_strsplit (lines, "\n", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    g_string_append_printf (text, "%*s%s\n", (int)indent, "", parts[i]);
}

/* ---- costs ---- */

static void
add_number (TextTable *table, const Figures *figures, guint decimals, double value)
{
  char number[64] = "-";

  if (figures_did_run (figures) && isfinite (value))
    g_snprintf (number, sizeof number, "%.*f", (int)decimals, value);
  text_table_add (table, number);
}

static void
add_gain (TextTable *table, const Figures *now, const Figures *then)
{
  const double gain = checked_gain_percent (now, then);
  char number[64] = "-";

  if (now != then && isfinite (gain))
    g_snprintf (number, sizeof number, "%+.1f", gain);
  text_table_add (table, number);
}

/* Beside other ways (@gains) a column says what each gains, alone what the job makes of its GPUs.
 */
static void
add_way (TextTable *table, const CheckedWay *way, const Figures *now, gboolean gains)
{
  const Figures *figures = &way->figures;

  text_table_add (table, way->label);
  add_number (table, figures, 1, figures->step_time_s * 1000);
  add_number (table, figures, 0, figures->tokens_per_s_per_gpu);
  if (gains)
    add_gain (table, now, figures);
  else
    add_number (table, figures, 1, figures->mfu_percent);
  add_number (table, figures, 0,
              figures->all.all_gathers_forward + figures->all.all_gathers_backward);
  add_number (table, figures, 1, figures->exposed_comm_s * 1000);
  add_number (table, figures, 1, (double)figures->peak_allocated_bytes / GIB);
  text_table_add (table, !figures_did_run (figures) ? "-" : figures->fits ? "yes" : "no");
}

static void
append_reason (GString *text, const CheckedWay *way, guint indent)
{
  const char *reason = way->figures.reason;

  if (figures_did_run (&way->figures) || reason == NULL || *reason == '\0')
    return;
  g_string_append_printf (text, "%*s%s: ", (int)indent, "", way->label);
  text_append_wrapped (text, reason, indent + 2);
}

/* The job as it is, and @ways beside it. */
static void
append_costs (GString *text, const CheckedFile *file, const GArray *ways, guint indent)
{
  const gboolean gains = ways->len > 0;
  const char *const head[] = {
    "",         "step ms", "tokens/s per GPU", gains ? "%" : "MFU %", "all-gathers", "exposed ms",
    "peak GiB", "fits"
  };
  g_autoptr (TextTable) table = text_table_new (G_N_ELEMENTS (head));
  g_autoptr (GString) rows = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (head); i++)
    text_table_add (table, head[i]);
  add_way (table, &file->now, &file->now.figures, gains);
  for (guint w = 0; w < ways->len; w++)
    add_way (table, &g_array_index (ways, CheckedWay, w), &file->now.figures, gains);
  text_table_render (table, rows);
  g_strchomp (rows->str);
  append_lines (text, rows->str, indent);
  append_reason (text, &file->now, indent);
  for (guint w = 0; w < ways->len; w++)
    append_reason (text, &g_array_index (ways, CheckedWay, w), indent);
}

/* ---- the whole ---- */

static void
append_finding (GString *text, const CheckedFile *file, const CheckedFinding *finding)
{
  append_place (text, finding);
  append_line (text, finding);
  g_string_append (text, "  ");
  text_append_wrapped (text, finding->message, 2);
  if (finding->fix != NULL)
    {
      g_string_append (text, "  Corrected:\n");
      append_lines (text, finding->fix, 6);
    }
  if (finding->ways->len > 0 && file->job != NULL)
    append_costs (text, file, finding->ways, 2);
  g_string_append_c (text, '\n');
}

static gboolean
has_ways (const CheckedFile *file)
{
  for (guint i = 0; i < file->findings->len; i++)
    if (g_array_index (file->findings, CheckedFinding, i).ways->len > 0)
      return TRUE;
  return FALSE;
}

static void
append_head (GString *text, const CheckedFile *file)
{
  g_autofree char *head = g_strdup_printf ("%s: settings of %s.%s%s", file->file, file->kind,
                                           file->versions != NULL ? " " : "",
                                           file->versions != NULL ? file->versions : "");

  text_append_wrapped (text, head, 2);
  if (file->job != NULL)
    text_append_wrapped (text, file->job, 2);
  else if (file->no_costs != NULL)
    {
      g_autofree char *why = g_strdup_printf ("No costs: %s", file->no_costs);

      text_append_wrapped (text, why, 2);
    }
  if (file->job != NULL && !has_ways (file))
    {
      g_autoptr (GArray) none = g_array_new (FALSE, FALSE, sizeof (CheckedWay));

      append_costs (text, file, none, 2);
    }
  g_string_append_c (text, '\n');
}

static void
append_count (GString *text, guint n, const char *word, gboolean *is_first)
{
  if (n == 0)
    return;
  g_string_append_printf (text, "%s%u %s%s", *is_first ? "" : ", ", n, word, n == 1 ? "" : "s");
  *is_first = FALSE;
}

static void
append_counts (GString *text, const CheckedFile *file)
{
  guint n[3] = { 0 };
  gboolean is_first = TRUE;

  for (guint i = 0; i < file->findings->len; i++)
    {
      const CheckedFinding *finding = &g_array_index (file->findings, CheckedFinding, i);

      n[strcmp (finding->severity, "error") == 0 ? 0 : finding->counts ? 1 : 2]++;
    }
  g_string_append_printf (text, "%s: ", file->file);
  append_count (text, n[0], "error", &is_first);
  append_count (text, n[1], "warning", &is_first);
  append_count (text, n[2], "note", &is_first);
  if (!file->is_modelled)
    g_string_append_printf (text, "%snot all of it is modelled", is_first ? "" : "; ");
  else if (n[0] + n[1] == 0)
    g_string_append (text, is_first ? "sound" : "; sound");
  g_string_append_c (text, '\n');
}

char *
checked_table (const GPtrArray *files)
{
  GString *text = g_string_new (NULL);

  for (guint f = 0; f < files->len; f++)
    {
      const CheckedFile *file = g_ptr_array_index (files, f);

      if (f > 0)
        g_string_append_c (text, '\n');
      append_head (text, file);
      for (guint i = 0; i < file->findings->len; i++)
        append_finding (text, file, &g_array_index (file->findings, CheckedFinding, i));
      append_counts (text, file);
    }
  return g_string_free (text, FALSE);
}

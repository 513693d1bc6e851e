#include <config.h>

#include "study/plan_find.h"

#include "report/csv.h"
#include "report/format.h"
#include "report/json_members.h"
#include "report/text_table.h"

static const char *const names[]
    = { [FIND_MICRO_BATCH] = "micro_batch", [FIND_SEQ_LEN] = "seq_len", [FIND_NODES] = "nodes" };

static double
margin_percent (const FindProbe *probe)
{
  return 100 * (1 - (double)probe->reserved_bytes / (double)probe->capacity_bytes);
}

/* ---- for people ---- */

static void
append_answer (const FindResult *result, GString *text)
{
  const FindProbe *best = &result->best;
  const char *extreme = result->what == FIND_NODES ? "fewest" : "largest";

  if (result->found)
    g_string_append_printf (text, "%s %s that %s: %u\n", extreme, names[result->what],
                            result->what == FIND_NODES ? "fit" : "fits", best->value);
  else if (result->what == FIND_NODES)
    g_string_append_printf (text, "no number of nodes up to %u fits\n", best->value);
  else
    g_string_append_printf (text, "no %s fits, not even %u\n", names[result->what], best->value);
}

/* "72.4 of 78.2 GiB, 5.8 GiB (7.4 %) left; most of it activations, at block.31 (steady step)" */
static void
append_use (const FindProbe *probe, GString *text)
{
  char reserved[FORMAT_SIZE], capacity[FORMAT_SIZE], left[FORMAT_SIZE], percent[FORMAT_SIZE];
  g_autofree char *unit = timeline_unit_name (probe->unit);
  const gint64 spare = probe->capacity_bytes - probe->reserved_bytes;

  g_string_append_printf (
      text, "  %s of %s GiB, %s GiB (%s %%) %s; most of it %s, at %s (%s)\n",
      format_gib (reserved, probe->reserved_bytes), format_gib (capacity, probe->capacity_bytes),
      format_gib (left, ABS (spare)), format_fixed (percent, 1, ABS (margin_percent (probe))),
      spare >= 0 ? "left" : "too much", memory_kind_words (probe->owner), unit,
      format_peak_phase (probe->phase));
}

static void
append_probe (const FindProbe *probe, GString *text)
{
  if (probe->is_possible)
    append_use (probe, text);
  else
    text_append_wrapped (text, probe->reason, 2);
}

static void
append_next (const FindResult *result, GString *text)
{
  const FindProbe *next = &result->next;
  char reserved[FORMAT_SIZE], limit[FORMAT_SIZE];
  g_autofree char *line = NULL;

  if (next->value == 0)
    return;
  if (next->is_possible)
    line = g_strdup_printf (
        "  %u would need %s GiB of the %s that may be used, most of it %s", next->value,
        format_gib (reserved, next->reserved_bytes),
        format_gib (limit, plan_usable_bytes (next->capacity_bytes, result->headroom)),
        memory_kind_words (next->owner));
  else
    line = g_strdup_printf ("  %u: %s", next->value, next->reason);
  text_append_wrapped (text, line, 4);
}

char *
find_report_table (const FindResult *result, const ReportScenario *scenario, const char *variant)
{
  GString *text = g_string_new ("# " PACKAGE_STRING "\n");
  char percent[FORMAT_SIZE];

  g_string_append_printf (text,
                          "# scenario  %s (%s, %.12s)\n# variant   %s\n# limits    %s %% of the "
                          "memory stays free\n\n",
                          scenario->title, scenario->scenario_name, scenario->sha256, variant,
                          format_real (percent, "%.3g", 100 * result->headroom));
  append_answer (result, text);
  append_probe (&result->best, text);
  append_next (result, text);
  return g_string_free (text, FALSE);
}

/* ---- for programs ---- */

char *
find_report_csv (const FindResult *result)
{
  const FindProbe *best = &result->best, *next = &result->next;
  g_autofree char *unit = timeline_unit_name (best->unit);
  Csv csv;

  csv_begin (&csv, "find,value,fits,peak_allocated_bytes,peak_reserved_bytes,capacity_bytes,"
                   "margin_percent,owner,peak_phase,peak_unit,reason,next_value,"
                   "next_reserved_bytes,next_reason");
  csv_add_text (&csv, names[result->what]);
  csv_add_integer (&csv, best->value);
  csv_add_integer (&csv, result->found);
  csv_add_integer (&csv, best->allocated_bytes);
  csv_add_integer (&csv, best->reserved_bytes);
  csv_add_integer (&csv, best->capacity_bytes);
  csv_add_number (&csv, margin_percent (best));
  csv_add_text (&csv, memory_kind_name (best->owner));
  csv_add_text (&csv, peak_phase_name (best->phase));
  csv_add_text (&csv, unit);
  csv_add_text (&csv, best->reason != NULL ? best->reason : "");
  csv_add_integer (&csv, next->value);
  csv_add_integer (&csv, next->reserved_bytes);
  csv_add_text (&csv, next->reason != NULL ? next->reason : "");
  csv_end_row (&csv);
  return csv_finish (&csv);
}

static void
add_probe (JsonBuilder *builder, const char *name, const FindProbe *probe)
{
  g_autofree char *unit = timeline_unit_name (probe->unit);

  json_builder_set_member_name (builder, name);
  if (probe->value == 0)
    {
      json_builder_add_null_value (builder);
      return;
    }
  json_builder_begin_object (builder);
  json_member_whole (builder, "value", probe->value);
  json_member_whole (builder, "fits", probe->fits);
  if (probe->is_possible)
    {
      json_member_whole (builder, "peak_allocated_bytes", probe->allocated_bytes);
      json_member_whole (builder, "peak_reserved_bytes", probe->reserved_bytes);
      json_member_whole (builder, "capacity_bytes", probe->capacity_bytes);
      json_builder_set_member_name (builder, "margin_percent");
      json_builder_add_double_value (builder, margin_percent (probe));
      json_member_text (builder, "owner", memory_kind_name (probe->owner));
      json_member_text (builder, "peak_phase", peak_phase_name (probe->phase));
      json_member_text (builder, "peak_unit", unit);
    }
  json_member_text (builder, "reason", probe->reason != NULL ? probe->reason : "");
  json_builder_end_object (builder);
}

char *
find_report_json (const FindResult *result, const ReportScenario *scenario)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "meta");
  json_builder_begin_object (builder);
  json_member_text (builder, "fsdpsim_version", PACKAGE_VERSION);
  json_member_text (builder, "scenario", scenario->scenario_name);
  json_member_text (builder, "scenario_sha256", scenario->sha256);
  json_builder_end_object (builder);
  json_member_text (builder, "find", names[result->what]);
  json_member_whole (builder, "found", result->found);
  add_probe (builder, result->found ? "best" : "nearest", &result->best);
  add_probe (builder, "next", &result->next);
  json_builder_end_object (builder);
  return json_members_to_text (builder);
}

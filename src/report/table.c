/* The comparison as a table, and in words where each difference comes from. */
#include <config.h>

#include <math.h>

#include "report/deltas.h"
#include "report/format.h"
#include "report/names.h"
#include "report/table_head.h"
#include "report/text_table.h"

/* ---- cells ---- */

/* Decimals that show times of the longest step's size to a tenth of a permille. */
static guint
decimals_of_ms (const Report *report)
{
  double longest_ms = 0;

  for (guint i = 0; i < report->n_entries; i++)
    if (figures_did_run (&report->entries[i].run.figures))
      longest_ms = MAX (longest_ms, 1e3 * report->entries[i].run.figures.step_time_s);
  return longest_ms >= 1e4 ? 0 : longest_ms >= 100 ? 1 : longest_ms >= 10 ? 2 : 3;
}

static const char *
or_dash (const char *number)
{
  return g_str_equal (number, "NaN") ? "-" : number;
}

static void
add_ms (TextTable *table, guint decimals, double seconds)
{
  char buffer[FORMAT_SIZE];

  text_table_add (table, or_dash (format_fixed (buffer, decimals, 1e3 * seconds)));
}

static void
add_rate (TextTable *table, double value)
{
  char buffer[FORMAT_SIZE];

  text_table_add (table, or_dash (format_fixed (buffer, value >= 1000 ? 0 : 1, value)));
}

static void
add_signed_percent (TextTable *table, double value)
{
  char buffer[FORMAT_SIZE];

  text_table_add (table, or_dash (format_real (buffer, "%+.1f", value)));
}

static void
add_collectives (TextTable *table, const Figures *figures)
{
  char gathers[FORMAT_SIZE], scatters[FORMAT_SIZE], reduces[FORMAT_SIZE];
  g_autofree char *text = g_strdup_printf (
      "%s/%s/%s", format_real (gathers, "%.6g", figures_all_gathers (&figures->all)),
      format_real (scatters, "%.6g", figures->all.reduce_scatters),
      format_real (reduces, "%.6g", figures->all.all_reduces));

  text_table_add (table, figures_did_run (figures) ? text : "-");
}

static void
add_memory (TextTable *table, const Figures *figures)
{
  char allocated[FORMAT_SIZE], reserved[FORMAT_SIZE];
  g_autofree char *text
      = g_strdup_printf ("%s/%s", format_gib (allocated, figures->peak_allocated_bytes),
                         format_gib (reserved, figures->peak_reserved_bytes));

  text_table_add (table, figures_did_run (figures) ? text : "-");
}

/* "1407-1578", without decimals where the step has one. */
static void
add_interval (TextTable *table, guint decimals, const Figures *figures)
{
  char low[FORMAT_SIZE], high[FORMAT_SIZE];
  const guint coarser = decimals > 0 ? decimals - 1 : 0;
  g_autofree char *text
      = g_strdup_printf ("%s-%s", format_fixed (low, coarser, 1e3 * figures->step_time_low_s),
                         format_fixed (high, coarser, 1e3 * figures->step_time_high_s));

  text_table_add (table, isnan (figures->step_time_low_s) ? "-" : text);
}

/* Only jobs with replicas have all-reduces that are worth a column. */
static gboolean
has_all_reduces (const Report *report)
{
  for (guint i = 0; i < report->n_entries; i++)
    if (report->entries[i].run.figures.all.all_reduces > 0)
      return TRUE;
  return FALSE;
}

static gboolean
has_intervals (const Report *report)
{
  for (guint i = 0; i < report->n_entries; i++)
    if (!isnan (report->entries[i].run.figures.step_time_low_s))
      return TRUE;
  return FALSE;
}

/* ---- the table ---- */

/* Columns that not every table has. */
typedef struct
{
  gboolean interval, all_reduce;
} Shown;

static void
add_texts (TextTable *table, const char *const *texts)
{
  for (guint i = 0; texts[i] != NULL; i++)
    text_table_add (table, texts[i]);
}

static void
add_head (TextTable *table, const Shown *shown)
{
  static const char *const over[] = { "tokens/s", "delta", "MFU", "", "", NULL };
  static const char *const under[] = { "per GPU", "%", "%", "AG/RS/AR", "AG", "RS", NULL };
  static const char *const over_end[] = { "recom-", "host-", "peak GiB", "", NULL };
  static const char *const under_end[] = { "pute", "bound", "alloc/rsvd", "fits", NULL };

  add_texts (table, (const char *const[]){ "", "step", NULL });
  if (shown->interval)
    text_table_add (table, "90 %");
  add_texts (table, over);
  if (shown->all_reduce)
    text_table_add (table, "");
  text_table_add_wide (table, "exposed ms");
  add_texts (table, over_end);
  add_texts (table, (const char *const[]){ "variant", "ms", NULL });
  if (shown->interval)
    text_table_add (table, "interval");
  add_texts (table, under);
  if (shown->all_reduce)
    text_table_add (table, "AR");
  add_texts (table, under_end);
}

/* "retries": only because the allocator gives back what it had cached, in every step. */
static const char *
fits_word (const Figures *figures)
{
  if (!figures->fits)
    return "no";
  return figures->memory.retries > 0 ? "retries" : "yes";
}

static void
add_row (TextTable *table, const char *name, const Figures *figures, const Figures *baseline,
         guint decimals, const Shown *shown)
{
  Deltas deltas;

  deltas_measure (figures, baseline, &deltas);
  text_table_add (table, name);
  add_ms (table, decimals, figures->step_time_s);
  if (shown->interval)
    add_interval (table, decimals, figures);
  add_rate (table, figures->tokens_per_s_per_gpu);
  add_signed_percent (table, figures == baseline ? (double)NAN : deltas.throughput_percent);
  add_rate (table, figures->mfu_percent);
  add_collectives (table, figures);
  add_ms (table, decimals, figures->exposed_s[TIMELINE_ALL_GATHER]);
  add_ms (table, decimals, figures->exposed_s[TIMELINE_REDUCE_SCATTER]);
  if (shown->all_reduce)
    add_ms (table, decimals, figures->exposed_s[TIMELINE_ALL_REDUCE]);
  add_ms (table, decimals, figures->busy_s[TIMELINE_RECOMPUTE]);
  add_ms (table, decimals, figures->host_bound_s);
  add_memory (table, figures);
  text_table_add (table, figures_did_run (figures) ? fits_word (figures) : "-");
}

static void
append_table (const Report *report, const char *const *names, guint decimals, GString *text)
{
  const Shown shown
      = { .interval = has_intervals (report), .all_reduce = has_all_reduces (report) };
  g_autoptr (TextTable) table
      = text_table_new (12 + (guint)shown.interval + (guint)shown.all_reduce);

  add_head (table, &shown);
  for (guint i = 0; i < report->n_entries; i++)
    add_row (table, names[i], &report->entries[i].run.figures, &report->entries[0].run.figures,
             decimals, &shown);
  text_table_render (table, text);
}

/* ---- the sentences ---- */

static void
append_count (GString *list, double delta, const char *what)
{
  char buffer[FORMAT_SIZE];

  if (delta == 0)
    return;
  g_string_append_printf (list, "%s%s %s%s %s", list->len > 0 ? ", " : "",
                          format_real (buffer, "%.6g", fabs (delta)), what,
                          fabs (delta) == 1 ? "" : "s", delta < 0 ? "fewer" : "more");
}

/* "32 all-gathers fewer; ", or "". */
static char *
describe_counts (const Deltas *deltas)
{
  GString *list = g_string_new (NULL);

  append_count (list, deltas->all_gathers, "all-gather");
  append_count (list, deltas->reduce_scatters, "reduce-scatter");
  append_count (list, deltas->all_reduces, "all-reduce");
  if (list->len > 0)
    g_string_append (list, "; ");
  return g_string_free (list, FALSE);
}

static gboolean
is_zero_at (double seconds, guint decimals)
{
  return fabs (1e3 * seconds) < 0.5 * pow (10, -(double)decimals);
}

/* The biggest of the parts not yet in @told that shows at all, or N_STEP_PARTS. */
static StepPart
biggest_part (const Deltas *deltas, guint told, guint decimals)
{
  StepPart biggest = N_STEP_PARTS;

  for (StepPart part = 0; part < N_STEP_PARTS; part++)
    if ((told & (1u << part)) == 0 && !is_zero_at (deltas->parts_s[part], decimals)
        && (biggest == N_STEP_PARTS
            || fabs (deltas->parts_s[part]) > fabs (deltas->parts_s[biggest])))
      biggest = part;
  return biggest;
}

/* Parts by size, then those that stayed: "exposed all-gather 54.6 ms less,
 * exposed reduce-scatter 54.6 ms less; recompute the same". */
static char *
describe_parts (const Deltas *deltas, const Figures *figures, guint decimals)
{
  GString *list = g_string_new (NULL);
  char buffer[FORMAT_SIZE];
  guint told = 0;
  StepPart part;

  while ((part = biggest_part (deltas, told, decimals)) != N_STEP_PARTS)
    {
      g_string_append_printf (list, "%s%s %s ms %s", list->len > 0 ? ", " : "",
                              step_part_words (part),
                              format_fixed (buffer, decimals, 1e3 * fabs (deltas->parts_s[part])),
                              deltas->parts_s[part] < 0 ? "less" : "more");
      told |= 1u << part;
    }
  if (list->len == 0)
    g_string_append (list, "no part of the step differs");
  else if ((told & (1u << PART_RECOMPUTE)) == 0 && figures->busy_s[TIMELINE_RECOMPUTE] > 0)
    g_string_append (list, "; recompute the same");
  return g_string_free (list, FALSE);
}

/* "21.1 % faster than", by tokens a second and GPU. */
static char *
describe_speed (double percent)
{
  char buffer[FORMAT_SIZE];

  if (fabs (percent) < 0.05)
    return g_strdup ("as fast as");
  return g_strdup_printf ("%s %% %s than", format_fixed (buffer, 1, fabs (percent)),
                          percent > 0 ? "faster" : "slower");
}

static char *
describe_difference (const char *name, const char *baseline_name, const ReportRun *run,
                     const ReportRun *baseline, guint decimals)
{
  char step[FORMAT_SIZE], baseline_step[FORMAT_SIZE];
  const double tokens = run->facts.tokens_per_step / run->facts.n_ranks;
  const double baseline_tokens = baseline->facts.tokens_per_step / baseline->facts.n_ranks;
  g_autofree char *speed = NULL;
  g_autofree char *counts = NULL;
  g_autofree char *parts = NULL;
  Deltas deltas;

  deltas_measure (&run->figures, &baseline->figures, &deltas);
  speed = describe_speed (deltas.throughput_percent);
  counts = describe_counts (&deltas);
  parts = describe_parts (&deltas, &run->figures, decimals);
  return g_strdup_printf (
      "%s is %s %s (step of %s against %s ms%s): %s%s.", name, speed, baseline_name,
      format_fixed (step, decimals, 1e3 * run->figures.step_time_s),
      format_fixed (baseline_step, decimals, 1e3 * baseline->figures.step_time_s),
      tokens == baseline_tokens ? "" : ", with other tokens a step", counts, parts);
}

static void
append_verdict (const char *name, const Figures *figures, GString *text)
{
  g_autofree char *line = NULL;

  if (figures->status == RUN_OK)
    return;
  line = g_strdup_printf ("%s %s: %s.", name,
                          figures->status == RUN_DOES_NOT_FIT ? "does not fit"
                          : figures->status == RUN_REFUSED    ? "is refused"
                                                              : "failed",
                          figures->reason);
  text_append_wrapped (text, line, 2);
}

/* What "retries" in the table stands for. */
static void
append_retries (const char *name, const Figures *figures, GString *text)
{
  g_autofree char *line = NULL;

  if (figures->status != RUN_OK || figures->memory.retries == 0)
    return;
  line = g_strdup_printf ("%s is near out of memory (retries): %u times a step the allocator waits "
                          "for the GPU and gives back what it had cached, which the step time does "
                          "not hold.",
                          name, figures->memory.retries);
  text_append_wrapped (text, line, 2);
}

static void
append_sentences (const Report *report, const char *const *names, guint decimals, GString *text)
{
  const ReportRun *baseline = &report->entries[0].run;

  for (guint i = 1; i < report->n_entries; i++)
    {
      const ReportRun *run = &report->entries[i].run;
      g_autofree char *sentence = NULL;

      if (!figures_did_run (&run->figures) || !figures_did_run (&baseline->figures))
        continue;
      sentence = describe_difference (names[i], names[0], run, baseline, decimals);
      text_append_wrapped (text, sentence, 2);
    }
  for (guint i = 0; i < report->n_entries; i++)
    {
      append_verdict (names[i], &report->entries[i].run.figures, text);
      append_retries (names[i], &report->entries[i].run.figures, text);
    }
}

static void
append_break_evens (const Report *report, const char *const *names, GString *text)
{
  if (report->break_evens == NULL)
    return;
  g_string_append_c (text, '\n');
  for (guint i = 1; i < report->n_entries; i++)
    {
      const BreakEven *break_even = &report->break_evens[i];
      g_autofree char *line = break_even_words (break_even, names[i], names[0]);
      g_autofree char *crossing = nodes_crossing_words (&break_even->crossing, names[i], names[0]);

      text_append_wrapped (text, line, 2);
      if (crossing != NULL)
        text_append_wrapped (text, crossing, 2);
    }
}

char *
report_comparison_table (const Report *report)
{
  g_auto (GStrv) names = variant_names (report);
  const guint decimals = decimals_of_ms (report);
  GString *text = g_string_new (NULL);

  table_head_append (report, (const char *const *)names, text);
  g_string_append (text, "# columns   AG/RS/AR: all-gathers, reduce-scatters, all-reduces of a "
                         "rank and step;\n#           exposed: the compute stream idles while "
                         "they run\n\n");
  append_table (report, (const char *const *)names, decimals, text);
  report_append_budget (report, (const char *const *)names, text);
  report_append_goodput (report, (const char *const *)names, text);
  report_append_noise (report, (const char *const *)names, text);
  report_append_spreads (report, (const char *const *)names, text);
  append_break_evens (report, (const char *const *)names, text);
  g_string_append_c (text, '\n');
  append_sentences (report, (const char *const *)names, decimals, text);
  return g_string_free (text, FALSE);
}

/* One run in depth. */
#include <config.h>

#include <math.h>

#include "report/deltas.h"
#include "report/format.h"
#include "report/names.h"
#include "report/run_table.h"
#include "report/table_head.h"
#include "report/text_table.h"

static void
add_fixed (TextTable *table, guint decimals, double value)
{
  char buffer[FORMAT_SIZE];

  text_table_add (table, format_fixed (buffer, decimals, value));
}

/* ---- the step's parts, and the critical path ---- */

static void
add_share (TextTable *table, const char *what, double seconds, double of_s)
{
  if (seconds == 0)
    return;
  text_table_add (table, what);
  add_fixed (table, 3, 1e3 * seconds);
  add_fixed (table, 1, 100 * seconds / of_s);
}

static void
add_share_head (TextTable *table, const char *what)
{
  text_table_add (table, what);
  text_table_add (table, "ms");
  text_table_add (table, "%");
}

static void
append_parts (const Figures *figures, GString *text)
{
  g_autoptr (TextTable) table = text_table_new (3);
  double parts_s[N_STEP_PARTS];

  step_parts (figures, parts_s);
  add_share_head (table, "the step, seen from the compute stream");
  for (StepPart part = 0; part < N_STEP_PARTS; part++)
    add_share (table, step_part_words (part), parts_s[part], figures->step_time_s);
  add_share (table, "step", figures->step_time_s, figures->step_time_s);
  text_table_render (table, text);
  g_string_append_c (text, '\n');
}

/* "compute 91.0 %, collectives 7.1 %, host 1.9 %" */
static void
append_path_shares (const CriticalPath *path, double of_s, GString *text)
{
  SimTime collectives = path->waiting_for_ranks, compute = 0;
  char of_compute[FORMAT_SIZE], of_collectives[FORMAT_SIZE], of_host[FORMAT_SIZE];

  for (TimelineOp op = 0; op < N_TIMELINE_OPS; op++)
    *(timeline_op_is_collective (op) ? &collectives : &compute) += path->by_op[op];
  g_string_append_printf (
      text, "compute and copies %s %%, collectives %s %%, host %s %% of the path\n\n",
      format_fixed (of_compute, 1, 100 * sim_time_seconds (compute) / of_s),
      format_fixed (of_collectives, 1, 100 * sim_time_seconds (collectives) / of_s),
      format_fixed (of_host, 1, 100 * sim_time_seconds (path->host) / of_s));
}

static void
append_critical_path (const Timeline *timeline, const Figures *figures, GString *text)
{
  g_autoptr (TextTable) table = text_table_new (3);
  const guint n_steps = timeline_n_reported_steps (timeline);
  const double step_s = figures->step_time_s;
  CriticalPath path;

  critical_path_find (timeline, &path);
  add_share_head (table, "the critical path");
  for (TimelineOp op = 0; op < N_TIMELINE_OPS; op++)
    add_share (table, timeline_op_name (op), sim_time_seconds (path.by_op[op]) / n_steps, step_s);
  add_share (table, "waiting for other ranks", sim_time_seconds (path.waiting_for_ranks) / n_steps,
             step_s);
  add_share (table, "host", sim_time_seconds (path.host) / n_steps, step_s);
  text_table_render (table, text);
  append_path_shares (&path, n_steps * step_s, text);
  critical_path_clear (&path);
}

static void
append_what_if (const ReportRun *run, GString *text)
{
  if (run->what_if != NULL)
    what_if_append (run->what_if, run->figures.step_time_s, text);
  else
    g_string_append (text, "what if: left out, a run of this size takes too long to repeat\n\n");
}

/* ---- collectives ---- */

/* Units that the table shows as one: the blocks, with the least and most of each. */
typedef struct
{
  UnitFigures least, most, sum;
  guint n_units;
} UnitGroup;

static void
group_add (UnitGroup *group, const UnitFigures *unit)
{
  if (group->n_units++ == 0)
    {
      group->least = group->most = *unit;
      group->sum = (UnitFigures){ .unit = unit->unit };
    }
#define SPREAD(field)                                                                              \
  group->least.field = MIN (group->least.field, unit->field);                                      \
  group->most.field = MAX (group->most.field, unit->field);                                        \
  group->sum.field += unit->field
  SPREAD (all_gathers_forward);
  SPREAD (all_gathers_backward);
  SPREAD (reduce_scatters);
  SPREAD (all_reduces);
  SPREAD (all_gather_exposed_s);
  SPREAD (reduce_scatter_exposed_s);
  SPREAD (all_reduce_exposed_s);
#undef SPREAD
}

static void
add_spread (TextTable *table, double least, double most)
{
  char least_text[FORMAT_SIZE], most_text[FORMAT_SIZE];
  g_autofree char *text = g_strdup_printf ("%s-%s", format_real (least_text, "%.6g", least),
                                           format_real (most_text, "%.6g", most));

  text_table_add (table, least == most ? format_real (most_text, "%.6g", most) : text);
}

static void
add_group (TextTable *table, const char *name, const UnitGroup *group)
{
  text_table_add (table, name);
  add_spread (table, group->least.all_gathers_forward, group->most.all_gathers_forward);
  add_spread (table, group->least.all_gathers_backward, group->most.all_gathers_backward);
  add_spread (table, group->least.reduce_scatters, group->most.reduce_scatters);
  add_spread (table, group->least.all_reduces, group->most.all_reduces);
  add_fixed (table, 3, 1e3 * group->sum.all_gather_exposed_s);
  add_fixed (table, 3, 1e3 * group->sum.reduce_scatter_exposed_s);
  add_fixed (table, 3, 1e3 * group->sum.all_reduce_exposed_s);
}

static void
add_one (TextTable *table, const char *name, const UnitFigures *unit)
{
  UnitGroup group = { .n_units = 0 };

  group_add (&group, unit);
  add_group (table, name, &group);
}

static void
add_blocks (TextTable *table, const char *what, const UnitGroup *blocks)
{
  g_autofree char *name = g_strdup_printf ("%u %s, each", blocks->n_units, what);

  if (blocks->n_units > 0)
    add_group (table, name, blocks);
}

/* Of a block whose attention and MLP are units of their own, what is left. */
static void
add_parts (TextTable *table, const Figures *figures)
{
  static const char *const names[N_BLOCK_PARTS] = { "attentions", "MLPs" };
  UnitGroup parts[N_BLOCK_PARTS] = { { .n_units = 0 } };

  for (guint u = 0; u < figures->n_units; u++)
    if (figures->units[u].unit >= UNIT_FIRST_PART)
      group_add (&parts[(figures->units[u].unit - UNIT_FIRST_PART) % N_BLOCK_PARTS],
                 &figures->units[u]);
  for (guint part = 0; part < N_BLOCK_PARTS; part++)
    add_blocks (table, names[part], &parts[part]);
}

static void
add_collectives_head (TextTable *table)
{
  static const char *const over[] = { "", "all-gathers", "all-gathers", "reduce-", "all-", "", "" };
  static const char *const under[]
      = { "collectives a step", "forward", "backward", "scatters", "reduces", "AG", "RS", "AR" };

  for (guint i = 0; i < G_N_ELEMENTS (over); i++)
    text_table_add (table, over[i]);
  text_table_add_wide (table, "exposed ms, in all");
  for (guint i = 0; i < G_N_ELEMENTS (under); i++)
    text_table_add (table, under[i]);
}

void
run_table_append_collectives (const Figures *figures, GString *text)
{
  g_autoptr (TextTable) table = text_table_new (8);
  UnitGroup blocks = { .n_units = 0 };
  char buffer[FORMAT_SIZE];

  add_collectives_head (table);
  for (guint u = 0; u < figures->n_units; u++)
    if (figures->units[u].unit >= UNIT_FIRST_BLOCK && figures->units[u].unit < UNIT_FIRST_PART)
      group_add (&blocks, &figures->units[u]);
    else if (figures->units[u].unit < UNIT_FIRST_BLOCK)
      {
        g_autofree char *name = timeline_unit_name (figures->units[u].unit);

        add_one (table, name, &figures->units[u]);
      }
  add_blocks (table, "blocks", &blocks);
  add_parts (table, figures);
  add_one (table, "together", &figures->all);
  text_table_render (table, text);
  g_string_append_printf (text, "%s GB of collectives' buffers a rank and step\n\n",
                          format_real (buffer, "%.4g", figures->all.bytes / 1e9));
}

/* ---- memory ---- */

static void
add_gib (TextTable *table, const char *what, gint64 bytes, gint64 capacity_bytes)
{
  char buffer[FORMAT_SIZE];

  if (bytes == 0)
    return;
  text_table_add (table, what);
  text_table_add (table, format_gib (buffer, bytes));
  add_fixed (table, 1, 100.0 * (double)bytes / (double)capacity_bytes);
}

/* Each stream has a pool of its own, and no memory goes from one to the other. */
static void
add_pools (TextTable *table, const ReportRun *run)
{
  const Timeline *timeline = g_ptr_array_index (run->timelines, 0);

  for (guint i = 0; i < MIN (timeline->stream_names->len, ALLOCATOR_STREAMS); i++)
    {
      g_autofree char *what = g_strdup_printf (
          "  by stream %s", (char *)g_ptr_array_index (timeline->stream_names, i));

      add_gib (table, what, run->figures.memory.reserved_by_pool[i], run->facts.capacity_bytes);
    }
}

static void
append_memory (const ReportRun *run, GString *text)
{
  g_autoptr (TextTable) table = text_table_new (3);
  const Figures *figures = &run->figures;
  const MemoryPeak *peak = &figures->memory.peaks[figures->memory.phase];
  const gint64 capacity_bytes = run->facts.capacity_bytes;
  g_autofree char *unit = timeline_unit_name (peak->unit);
  g_autofree char *head = g_strdup_printf ("memory at the peak (%s, at %s)",
                                           format_peak_phase (figures->memory.phase), unit);

  text_table_add (table, head);
  text_table_add (table, "GiB");
  text_table_add (table, "% of GPU");
  for (MemoryKind kind = 0; kind < N_MEMORY_KINDS; kind++)
    add_gib (table, memory_kind_words (kind), peak->by_kind[kind], capacity_bytes);
  add_gib (table, "allocated", figures->peak_allocated_bytes, capacity_bytes);
  add_gib (table, "reserved by the allocator", figures->peak_reserved_bytes, capacity_bytes);
  add_pools (table, run);
  add_gib (table, "capacity that PyTorch can have", capacity_bytes, capacity_bytes);
  text_table_render (table, text);
  g_string_append_c (text, '\n');
}

/* ---- the whole ---- */

static void
append_head_line (const char *name, const Figures *figures, GString *text)
{
  char step[FORMAT_SIZE], tokens[FORMAT_SIZE], mfu[FORMAT_SIZE], hfu[FORMAT_SIZE];

  g_string_append_printf (
      text, "\nvariant %s: %s ms a step, %s tokens/s per GPU, MFU %s %%, HFU %s %%\n", name,
      format_fixed (step, 3, 1e3 * figures->step_time_s),
      format_fixed (tokens, 1, figures->tokens_per_s_per_gpu),
      format_fixed (mfu, 1, figures->mfu_percent), format_fixed (hfu, 1, figures->hfu_percent));
}

/* "90 % interval: 1280.4 to 1337.3 ms, 2.2 % either way; it rests on 77 published runs…". */
static void
append_interval (const ReportRun *run, GString *text)
{
  const Figures *figures = &run->figures;
  const char *basis = run->scenario != NULL ? run->scenario->gpu.error_basis : NULL;
  char low[FORMAT_SIZE], high[FORMAT_SIZE], share[FORMAT_SIZE];

  if (!isnan (figures->step_time_low_s))
    {
      g_string_append_printf (text, "90 %% interval: %s to %s ms, %s %% either way",
                              format_fixed (low, 1, 1e3 * figures->step_time_low_s),
                              format_fixed (high, 1, 1e3 * figures->step_time_high_s),
                              format_fixed (share, 1, 100 * run->facts.step_error));
      if (basis != NULL && basis[0] != '\0')
        g_string_append_printf (text, "\n  rests on %s", basis);
      g_string_append_c (text, '\n');
    }
  g_string_append_c (text, '\n');
}

static double
percent_exposed (const Figures *figures, TimelineOp op)
{
  return figures->step_time_s > 0 ? 100 * figures->exposed_s[op] / figures->step_time_s : 0;
}

/* The slow zone before out of memory. */
static void
append_retries (const Figures *figures, GString *text)
{
  g_autofree char *line = NULL;

  if (figures->status != RUN_OK || figures->memory.retries == 0)
    return;
  line = g_strdup_printf ("near out of memory: %u times a step the allocator waits for the GPU and "
                          "gives back what it had cached, which the step time does not hold",
                          figures->memory.retries);
  text_append_wrapped (text, line, 2);
}

/* "fits: 45.5 of 78.0 GiB; 9 % of the step is exposed all-gather, 9 % exposed reduce-scatter" */
static void
append_verdict (const ReportRun *run, GString *text)
{
  const Figures *figures = &run->figures;
  char reserved[FORMAT_SIZE], capacity[FORMAT_SIZE], gather[FORMAT_SIZE], scatter[FORMAT_SIZE];
  g_autofree char *line = NULL;

  if (figures->status == RUN_OK)
    line = g_strdup_printf (
        "fits: %s of %s GiB; %s %% of the step is exposed all-gather, %s %% exposed "
        "reduce-scatter",
        format_gib (reserved, figures->peak_reserved_bytes),
        format_gib (capacity, run->facts.capacity_bytes),
        format_fixed (gather, 1, percent_exposed (figures, TIMELINE_ALL_GATHER)),
        format_fixed (scatter, 1, percent_exposed (figures, TIMELINE_REDUCE_SCATTER)));
  else
    line = g_strdup_printf ("%s: %s",
                            figures->status == RUN_DOES_NOT_FIT ? "does not fit"
                                                                : run_status_name (figures->status),
                            figures->reason);
  text_append_wrapped (text, line, 2);
  append_retries (figures, text);
}

static void
append_run (const char *name, const ReportRun *run, GString *text)
{
  if (figures_did_run (&run->figures))
    {
      append_head_line (name, &run->figures, text);
      append_interval (run, text);
      append_parts (&run->figures, text);
      append_critical_path (g_ptr_array_index (run->timelines, 0), &run->figures, text);
      append_what_if (run, text);
      report_append_ranks (run, text);
      run_table_append_collectives (&run->figures, text);
      append_memory (run, text);
    }
  append_verdict (run, text);
}

char *
report_run_table (const Report *report)
{
  g_auto (GStrv) names = variant_names (report);
  GString *text = g_string_new (NULL);

  table_head_append (report, (const char *const *)names, text);
  for (guint i = 0; i < report->n_entries; i++)
    append_run (names[i], &report->entries[i].run, text);
  report_append_budget (report, (const char *const *)names, text);
  report_append_goodput (report, (const char *const *)names, text);
  report_append_noise (report, (const char *const *)names, text);
  return g_string_free (text, FALSE);
}

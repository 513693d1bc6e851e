/* The figures for programs: names as in the CSV files, null for a missing number. */
#include <config.h>

#include <math.h>

#include "report/deltas.h"
#include "report/goodput.h"
#include "report/json_members.h"
#include "report/names.h"
#include "report/rank_waits.h"
#include "report/report.h"

static void
add_meta (JsonBuilder *builder, const Report *report)
{
  json_builder_set_member_name (builder, "meta");
  json_builder_begin_object (builder);
  json_member_text (builder, "fsdpsim_version", PACKAGE_VERSION);
  if (report->n_entries > 0)
    {
      const ReportEntry *entry = &report->entries[0];

      json_member_text (builder, "scenario", entry->scenario->scenario_name);
      json_member_text (builder, "title", entry->scenario->title);
      json_member_text (builder, "scenario_sha256", entry->scenario->sha256);
      json_member_count (builder, "seed", (double)entry->run.scenario->simulation.seed);
    }
  json_builder_end_object (builder);
}

static void
add_step (JsonBuilder *builder, const Figures *figures)
{
  json_member_number (builder, "step_time_s", figures->step_time_s);
  json_member_number (builder, "step_time_low_s", figures->step_time_low_s);
  json_member_number (builder, "step_time_high_s", figures->step_time_high_s);
  json_member_number (builder, "tokens_per_s", figures->tokens_per_s);
  json_member_number (builder, "tokens_per_s_per_gpu", figures->tokens_per_s_per_gpu);
  json_member_number (builder, "mfu_percent", figures->mfu_percent);
  json_member_number (builder, "hfu_percent", figures->hfu_percent);
  json_member_count (builder, "all_gathers", figures_all_gathers (&figures->all));
  json_member_count (builder, "reduce_scatters", figures->all.reduce_scatters);
  json_member_count (builder, "all_reduces", figures->all.all_reduces);
  json_member_count (builder, "comm_bytes", figures->all.bytes);
  json_member_number (builder, "compute_s", figures->compute_s);
  json_member_number (builder, "exposed_comm_s", figures->exposed_comm_s);
  json_member_number (builder, "host_bound_s", figures->host_bound_s);
}

static void
add_parts (JsonBuilder *builder, const Figures *figures)
{
  static const char *const names[N_STEP_PARTS]
      = { [PART_EXPOSED_ALL_GATHER] = "exposed_all_gather_s",
          [PART_EXPOSED_REDUCE_SCATTER] = "exposed_reduce_scatter_s",
          [PART_EXPOSED_ALL_REDUCE] = "exposed_all_reduce_s",
          [PART_FORWARD] = "forward_s",
          [PART_RECOMPUTE] = "recompute_s",
          [PART_BACKWARD] = "backward_s",
          [PART_OPTIMIZER] = "optimizer_s",
          [PART_COPIES] = "copies_s",
          [PART_HOST_BOUND] = "host_bound_s" };
  double parts_s[N_STEP_PARTS];

  step_parts (figures, parts_s);
  json_builder_set_member_name (builder, "parts");
  json_builder_begin_object (builder);
  for (guint part = 0; part < N_STEP_PARTS; part++)
    json_member_number (builder, names[part], parts_s[part]);
  json_builder_end_object (builder);
}

static void
add_memory (JsonBuilder *builder, const ReportRun *run)
{
  const Figures *figures = &run->figures;
  const MemoryPeak *peak = &figures->memory.peaks[figures->memory.phase];

  json_builder_set_member_name (builder, "memory_at_peak");
  json_builder_begin_object (builder);
  if (figures_did_run (figures))
    {
      g_autofree char *unit = timeline_unit_name (peak->unit);

      json_member_text (builder, "unit", unit);
      for (guint kind = 0; kind < N_MEMORY_KINDS; kind++)
        {
          g_autofree char *name = g_strconcat (memory_kind_name (kind), "_bytes", NULL);

          json_member_count (builder, name, (double)peak->by_kind[kind]);
        }
    }
  json_builder_end_object (builder);
}

static void
add_fit (JsonBuilder *builder, const ReportRun *run)
{
  const Figures *figures = &run->figures;
  const gboolean did_run = figures_did_run (figures);

  json_member_count (builder, "peak_allocated_bytes",
                     did_run ? (double)figures->peak_allocated_bytes : (double)NAN);
  json_member_count (builder, "peak_reserved_bytes",
                     did_run ? (double)figures->peak_reserved_bytes : (double)NAN);
  json_member_count (builder, "capacity_bytes", (double)run->facts.capacity_bytes);
  json_member_count (builder, "fits", figures->fits);
  json_member_count (builder, "allocator_retries", did_run ? figures->memory.retries : (double)NAN);
  json_member_text (builder, "status", run_status_name (figures->status));
  json_member_text (builder, "reason", figures->reason);
  json_member_text (builder, "peak_phase", did_run ? peak_phase_name (figures->memory.phase) : "");
}

static void
add_budget (JsonBuilder *builder, const Budget *budget, const ReportRun *run)
{
  const Expense expense = budget_spend (budget, &run->facts, &run->figures);

  if (budget->tokens <= 0)
    return;
  json_member_number (builder, "days", expense.days);
  json_member_number (builder, "gpu_hours", expense.gpu_hours);
  if (budget->price_per_gpu_hour > 0)
    json_member_number (builder, "cost", expense.cost);
}

static void
add_noise (JsonBuilder *builder, const Noise *noise, const RunFacts *facts)
{
  if (noise == NULL)
    return;
  json_builder_set_member_name (builder, "noise");
  json_builder_begin_object (builder);
  json_member_count (builder, "repeats", noise->n);
  json_member_number (builder, "step_time_mean_s", noise->mean_s);
  json_member_number (builder, "step_time_p50_s", noise->p50_s);
  json_member_number (builder, "step_time_p99_s", noise->p99_s);
  json_member_number (builder, "step_time_fastest_s", noise->fastest_s);
  json_member_number (builder, "step_time_slowest_s", noise->slowest_s);
  json_member_number (builder, "tokens_per_s_mean", facts->tokens_per_step / noise->mean_s);
  json_member_number (builder, "tokens_per_s_p50", facts->tokens_per_step / noise->p50_s);
  json_member_number (builder, "tokens_per_s_p99", facts->tokens_per_step / noise->p99_s);
  json_builder_end_object (builder);
}

static void
add_goodput (JsonBuilder *builder, const ReportRun *run)
{
  const Goodput goodput = goodput_of (&run->facts, &run->figures);

  if (!goodput_is_asked (&run->facts.reliability))
    return;
  json_member_number (builder, "goodput_percent", 100 * goodput.ratio);
  json_member_number (builder, "effective_tokens_per_s", goodput.ratio * run->figures.tokens_per_s);
  json_member_number (builder, "checkpoint_interval_s", goodput.interval_s);
  json_member_number (builder, "failures_per_day", goodput.failures_per_day);
}

static void
add_critical_path (JsonBuilder *builder, const ReportRun *run)
{
  const Timeline *timeline = run->timelines != NULL ? g_ptr_array_index (run->timelines, 0) : NULL;
  CriticalPath path;
  double n_steps;

  if (timeline == NULL)
    return;
  n_steps = timeline_n_reported_steps (timeline);
  critical_path_find (timeline, &path);
  json_builder_set_member_name (builder, "critical_path");
  json_builder_begin_object (builder);
  for (TimelineOp op = 0; op < N_TIMELINE_OPS; op++)
    {
      g_autofree char *name = g_strconcat (timeline_op_name (op), "_s", NULL);

      if (path.by_op[op] > 0)
        json_member_number (builder, name, sim_time_seconds (path.by_op[op]) / n_steps);
    }
  json_member_number (builder, "waiting_for_ranks_s",
                      sim_time_seconds (path.waiting_for_ranks) / n_steps);
  json_member_number (builder, "host_s", sim_time_seconds (path.host) / n_steps);
  json_builder_end_object (builder);
  critical_path_clear (&path);
}

static void
add_what_if (JsonBuilder *builder, const ReportRun *run)
{
  if (run->what_if == NULL)
    return;
  json_builder_set_member_name (builder, "what_if");
  json_builder_begin_object (builder);
  for (WhatIfKind kind = 0; kind < N_WHAT_IFS; kind++)
    json_member_number (builder, what_if_name (kind), run->what_if->step_time_s[kind]);
  json_member_number (builder, "compute_alone", run->what_if->compute_alone_s);
  json_member_number (builder, "wire_alone", run->what_if->wire_alone_s);
  json_builder_end_object (builder);
}

static void
add_deltas (JsonBuilder *builder, const Figures *figures, const Figures *baseline,
            const char *baseline_name)
{
  Deltas deltas;

  deltas_measure (figures, baseline, &deltas);
  json_builder_set_member_name (builder, "deltas");
  json_builder_begin_object (builder);
  json_member_text (builder, "baseline", baseline_name);
  json_member_number (builder, "step_time_delta_s", deltas.step_time_s);
  json_member_number (builder, "throughput_delta_percent", deltas.throughput_percent);
  json_member_count (builder, "all_gathers_delta", deltas.all_gathers);
  json_member_count (builder, "reduce_scatters_delta", deltas.reduce_scatters);
  json_member_number (builder, "exposed_comm_delta_s", deltas.exposed_comm_s);
  json_member_count (builder, "peak_allocated_delta_bytes", deltas.peak_allocated_bytes);
  json_builder_end_object (builder);
}

static void
add_break_even (JsonBuilder *builder, const BreakEven *break_even)
{
  const NodesCrossing *crossing = &break_even->crossing;
  const gboolean found = break_even->is == BREAK_EVEN_FOUND;
  const gboolean crosses = crossing->is == NODES_CROSSING_FOUND;

  json_builder_set_member_name (builder, "break_even");
  json_builder_begin_object (builder);
  json_member_number (builder, "factor", found ? break_even->factor : (double)NAN);
  json_member_number (builder, "bandwidth_bytes_per_s",
                      found ? break_even->bytes_per_s : (double)NAN);
  json_member_count (builder, "faster_below", found && break_even->faster_if_slower);
  json_member_count (builder, "always_faster", break_even->is == BREAK_EVEN_ALWAYS_FASTER);
  json_member_count (builder, "always_slower", break_even->is == BREAK_EVEN_ALWAYS_SLOWER);
  json_member_text (builder, "nodes_case", nodes_crossing_case (crossing));
  json_member_number (builder, "nodes", crosses ? crossing->nodes : (double)NAN);
  json_member_count (builder, "faster_from_nodes", crosses && crossing->faster_on_more);
  json_builder_end_object (builder);
}

static void
add_units (JsonBuilder *builder, const Figures *figures)
{
  json_builder_set_member_name (builder, "per_unit");
  json_builder_begin_array (builder);
  for (guint u = 0; u < figures->n_units; u++)
    {
      const UnitFigures *unit = &figures->units[u];
      g_autofree char *name = timeline_unit_name (unit->unit);

      json_builder_begin_object (builder);
      json_member_text (builder, "unit", name);
      json_member_count (builder, "all_gathers_forward", unit->all_gathers_forward);
      json_member_count (builder, "all_gathers_backward", unit->all_gathers_backward);
      json_member_count (builder, "reduce_scatters", unit->reduce_scatters);
      json_member_count (builder, "all_reduces", unit->all_reduces);
      json_member_number (builder, "all_gather_exposed_s", unit->all_gather_exposed_s);
      json_member_number (builder, "reduce_scatter_exposed_s", unit->reduce_scatter_exposed_s);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

static void
add_variant (JsonBuilder *builder, const Report *report, char **names, guint index)
{
  const ReportEntry *entry = &report->entries[index];

  json_builder_begin_object (builder);
  json_member_text (builder, "variant", names[index]);
  json_member_text (builder, "scenario", entry->scenario->scenario_name);
  json_member_text (builder, "scenario_sha256", entry->scenario->sha256);
  add_step (builder, &entry->run.figures);
  add_fit (builder, &entry->run);
  add_budget (builder, &report->budget, &entry->run);
  add_goodput (builder, &entry->run);
  add_noise (builder, entry->run.noise, &entry->run.facts);
  add_parts (builder, &entry->run.figures);
  add_critical_path (builder, &entry->run);
  add_what_if (builder, &entry->run);
  rank_spread_add_json (builder, entry->run.spread);
  add_memory (builder, &entry->run);
  if (index > 0)
    add_deltas (builder, &entry->run.figures, &report->entries[0].run.figures, names[0]);
  if (index > 0 && report->break_evens != NULL)
    add_break_even (builder, &report->break_evens[index]);
  add_units (builder, &entry->run.figures);
  json_builder_end_object (builder);
}

char *
report_json (const Report *report)
{
  g_auto (GStrv) names = variant_names (report);
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  add_meta (builder, report);
  json_builder_set_member_name (builder, "variants");
  json_builder_begin_array (builder);
  for (guint i = 0; i < report->n_entries; i++)
    add_variant (builder, report, names, i);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  return json_members_to_text (builder);
}

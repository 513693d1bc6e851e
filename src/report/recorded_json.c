/* A recorded run for programs: names as in the CSV files, null for a missing number. */
#include <config.h>

#include <math.h>

#include "report/json_members.h"
#include "report/recorded.h"

static void
add_texts (JsonBuilder *builder, const char *name, const GPtrArray *texts)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_array (builder);
  for (guint i = 0; i < texts->len; i++)
    json_builder_add_string_value (builder, g_ptr_array_index (texts, i));
  json_builder_end_array (builder);
}

static double
or_nan (gint64 value)
{
  return value < 0 ? (double)NAN : (double)value;
}

static void
add_file (JsonBuilder *builder, const RecordedFile *file)
{
  json_builder_begin_object (builder);
  json_member_text (builder, "path", file->path);
  json_member_text (builder, "gpu", file->gpu);
  json_member_count (builder, "rank", or_nan (file->rank));
  json_member_count (builder, "world_size", or_nan (file->world_size));
  json_member_count (builder, "bytes", (double)file->n_bytes);
  json_member_count (builder, "events", (double)file->n_events);
  json_member_count (builder, "kernels", (double)file->n_kernels);
  json_member_count (builder, "copies", (double)file->n_copies);
  json_member_count (builder, "nccl_kernels", (double)file->n_nccl_kernels);
  add_texts (builder, "nccl_kernels_by_kind", file->kinds);
  json_member_count (builder, "host_collectives", (double)file->n_host_collectives);
  add_texts (builder, "warnings", file->warnings);
  json_builder_end_object (builder);
}

static void
add_by_op (JsonBuilder *builder, const char *name, const double values[N_TIMELINE_OPS])
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_object (builder);
  for (guint op = 0; op < N_TIMELINE_OPS; op++)
    if (timeline_op_is_collective (op))
      json_member_count (builder, timeline_op_name (op), values[op]);
  json_builder_end_object (builder);
}

static void
add_rank (JsonBuilder *builder, const RecordedRank *rank)
{
  json_builder_begin_object (builder);
  json_member_count (builder, "rank", rank->rank);
  json_member_count (builder, "steps", rank->n_steps);
  json_member_count (builder, "step_time_s", rank->step_time_s);
  json_member_count (builder, "step_time_low_s", rank->shortest_s);
  json_member_count (builder, "step_time_high_s", rank->longest_s);
  json_member_count (builder, "compute_s", rank->compute_s);
  json_member_count (builder, "exposed_comm_s", recorded_sum (rank->exposed_s));
  json_member_count (builder, "host_bound_s", rank->host_bound_s);
  json_member_count (builder, "copies_s", rank->copies_s);
  json_member_count (builder, "waiting_s", recorded_waiting (rank));
  add_by_op (builder, "calls", rank->collective_n);
  add_by_op (builder, "time_s", rank->collective_s);
  add_by_op (builder, "exposed_s", rank->exposed_s);
  json_builder_end_object (builder);
}

static void
add_unit (JsonBuilder *builder, guint32 unit)
{
  g_autofree char *name = timeline_unit_name (unit);

  json_member_text (builder, "unit", name);
}

static void
add_units (JsonBuilder *builder, const Figures *figures)
{
  json_builder_set_member_name (builder, "per_unit");
  json_builder_begin_array (builder);
  for (guint u = 0; u < figures->n_units; u++)
    {
      const UnitFigures *unit = &figures->units[u];

      json_builder_begin_object (builder);
      add_unit (builder, unit->unit);
      json_member_count (builder, "all_gathers_forward", unit->all_gathers_forward);
      json_member_count (builder, "all_gathers_backward", unit->all_gathers_backward);
      json_member_count (builder, "reduce_scatters", unit->reduce_scatters);
      json_member_count (builder, "all_reduces", unit->all_reduces);
      json_member_count (builder, "all_gather_exposed_s", unit->all_gather_exposed_s);
      json_member_count (builder, "reduce_scatter_exposed_s", unit->reduce_scatter_exposed_s);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

static void
add_collectives (JsonBuilder *builder, const Recorded *job)
{
  json_builder_set_member_name (builder, "collectives");
  json_builder_begin_array (builder);
  for (guint i = 0; i < job->collectives->len; i++)
    {
      const RecordedCollective *row = &g_array_index (job->collectives, RecordedCollective, i);

      json_builder_begin_object (builder);
      add_unit (builder, row->label.unit);
      json_member_text (builder, "phase", timeline_phase_name (row->label.phase));
      json_member_count (builder, "micro_batch", row->label.micro_batch);
      json_member_text (builder, "op", timeline_op_name (row->label.op));
      json_member_count (builder, "calls", row->n);
      json_member_count (builder, "redundant_calls", row->redundant);
      json_member_count (builder, "bytes", row->bytes);
      json_member_count (builder, "time_s", row->seconds);
      json_member_count (builder, "waiting_s", row->waiting_s);
      json_member_count (builder, "exposed_s", row->exposed_s);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

static void
add_redundancies (JsonBuilder *builder, const Recorded *job)
{
  json_builder_set_member_name (builder, "redundant_all_gathers");
  json_builder_begin_array (builder);
  for (guint i = 0; i < job->redundancies->len; i++)
    {
      const RecordedRedundancy *one = &g_array_index (job->redundancies, RecordedRedundancy, i);

      json_builder_begin_object (builder);
      add_unit (builder, one->unit);
      json_member_text (builder, "phase", timeline_phase_name (PHASE_BACKWARD));
      json_member_count (builder, "micro_batch", one->micro_batch);
      json_member_count (builder, "all_gathers", one->gathers);
      json_member_count (builder, "redundant", one->redundant);
      json_member_count (builder, "all_gathers_exposed_s", one->gathers_exposed_s);
      json_member_count (builder, "redundant_time_s", one->seconds);
      json_member_count (builder, "redundant_exposed_s", one->exposed_s);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

static void
add_gap_end (JsonBuilder *builder, const char *name, gboolean has, const TimelineLabel *label)
{
  json_builder_set_member_name (builder, name);
  if (!has)
    {
      json_builder_add_null_value (builder);
      return;
    }
  json_builder_begin_object (builder);
  add_unit (builder, label->unit);
  json_member_text (builder, "phase", timeline_phase_name (label->phase));
  json_member_count (builder, "micro_batch", label->micro_batch);
  json_member_text (builder, "op", timeline_op_name (label->op));
  json_builder_end_object (builder);
}

static void
add_gaps (JsonBuilder *builder, const Recorded *job)
{
  json_builder_set_member_name (builder, "longest_host_bound_gaps");
  json_builder_begin_array (builder);
  for (guint i = 0; i < job->gaps->len; i++)
    {
      const RecordedGap *gap = &g_array_index (job->gaps, RecordedGap, i);

      json_builder_begin_object (builder);
      json_member_count (builder, "step", gap->step);
      json_member_count (builder, "start_s", sim_time_seconds (gap->start));
      json_member_count (builder, "length_s", sim_time_seconds (gap->length));
      add_gap_end (builder, "after", gap->has_before, &gap->before);
      add_gap_end (builder, "before", gap->has_after, &gap->after);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

static void
add_steps (JsonBuilder *builder, const Recorded *job)
{
  json_builder_set_member_name (builder, "steps");
  json_builder_begin_array (builder);
  for (guint i = 0; i < job->steps->len; i++)
    {
      const RecordedStep *step = &g_array_index (job->steps, RecordedStep, i);
      const Exposure *parts = &step->exposure;

      json_builder_begin_object (builder);
      json_member_count (builder, "start_s", sim_time_seconds (step->start));
      json_member_count (builder, "step_time_s", sim_time_seconds (parts->total));
      json_member_count (builder, "compute_s", sim_time_seconds (parts->compute));
      json_member_count (builder, "exposed_comm_s", sim_time_seconds (exposure_exposed (parts)));
      json_member_count (builder, "host_bound_s", sim_time_seconds (parts->host_bound));
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

static void
add_figures (JsonBuilder *builder, const Recorded *job)
{
  const Figures *figures = &job->figures;

  json_member_count (builder, "step_time_s", figures->step_time_s);
  json_member_count (builder, "tokens_per_s", figures->tokens_per_s);
  json_member_count (builder, "tokens_per_s_per_gpu", figures->tokens_per_s_per_gpu);
  json_member_count (builder, "mfu_percent", figures->mfu_percent);
  json_member_count (builder, "hfu_percent", figures->hfu_percent);
  json_member_count (builder, "all_gathers", figures_all_gathers (&figures->all));
  json_member_count (builder, "reduce_scatters", figures->all.reduce_scatters);
  json_member_count (builder, "all_reduces", figures->all.all_reduces);
  json_member_count (builder, "comm_bytes", figures->all.bytes);
  json_member_count (builder, "compute_s", figures->compute_s);
  json_member_count (builder, "exposed_comm_s", figures->exposed_comm_s);
  json_member_count (builder, "host_bound_s", figures->host_bound_s);
}

static void
add_busy (JsonBuilder *builder, const Figures *figures)
{
  json_builder_set_member_name (builder, "compute_by_op");
  json_builder_begin_object (builder);
  for (guint op = 0; op < N_TIMELINE_OPS; op++)
    if (!timeline_op_is_collective (op) && op != TIMELINE_WAIT)
      {
        g_autofree char *name = g_strconcat (timeline_op_name (op), "_s", NULL);

        json_member_count (builder, name, figures->busy_s[op]);
      }
  json_builder_end_object (builder);
}

static void
add_job (JsonBuilder *builder, const Recorded *job)
{
  json_builder_begin_object (builder);
  json_member_text (builder, "variant", job->name);
  json_builder_set_member_name (builder, "files");
  json_builder_begin_array (builder);
  for (guint i = 0; i < job->files->len; i++)
    add_file (builder, g_ptr_array_index (job->files, i));
  json_builder_end_array (builder);
  json_member_text (builder, "steps_by", job->steps_by);
  json_member_text (builder, "units_by", job->units_by);
  add_figures (builder, job);
  add_busy (builder, &job->figures);
  json_builder_set_member_name (builder, "ranks");
  json_builder_begin_array (builder);
  for (guint i = 0; i < job->ranks->len; i++)
    add_rank (builder, &g_array_index (job->ranks, RecordedRank, i));
  json_builder_end_array (builder);
  add_units (builder, &job->figures);
  add_collectives (builder, job);
  add_redundancies (builder, job);
  add_gaps (builder, job);
  add_steps (builder, job);
  json_builder_end_object (builder);
}

char *
recorded_json (const GPtrArray *jobs)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "meta");
  json_builder_begin_object (builder);
  json_member_text (builder, "fsdpsim_version", PACKAGE_VERSION);
  json_builder_end_object (builder);
  json_builder_set_member_name (builder, "variants");
  json_builder_begin_array (builder);
  for (guint i = 0; i < jobs->len; i++)
    add_job (builder, g_ptr_array_index (jobs, i));
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  return json_members_to_text (builder);
}

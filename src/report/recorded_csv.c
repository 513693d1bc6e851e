#include <config.h>

#include "report/csv.h"
#include "report/recorded.h"

char *
recorded_collectives_csv (const GPtrArray *jobs)
{
  Csv csv;

  csv_begin (&csv, "variant,rank,unit,phase,micro_batch,op,calls,redundant_calls,bytes,time_s,"
                   "waiting_s,exposed_s");
  for (guint i = 0; i < jobs->len; i++)
    {
      const Recorded *job = g_ptr_array_index (jobs, i);

      for (guint c = 0; c < job->collectives->len; c++)
        {
          const RecordedCollective *row = &g_array_index (job->collectives, RecordedCollective, c);
          g_autofree char *unit = timeline_unit_name (row->label.unit);

          csv_add_text (&csv, job->name);
          csv_add_integer (&csv, g_array_index (job->ranks, RecordedRank, job->slowest).rank);
          csv_add_text (&csv, unit);
          csv_add_text (&csv, timeline_phase_name (row->label.phase));
          csv_add_integer (&csv, row->label.micro_batch);
          csv_add_text (&csv, timeline_op_name (row->label.op));
          csv_add_number (&csv, row->n);
          csv_add_number (&csv, row->redundant);
          csv_add_bytes (&csv, row->bytes);
          csv_add_seconds (&csv, row->seconds);
          csv_add_seconds (&csv, row->waiting_s);
          csv_add_seconds (&csv, row->exposed_s);
          csv_end_row (&csv);
        }
    }
  return csv_finish (&csv);
}

char *
recorded_ranks_csv (const GPtrArray *jobs)
{
  Csv csv;

  csv_begin (&csv, "variant,rank,steps,step_time_s,step_time_low_s,step_time_high_s,compute_s,"
                   "exposed_comm_s,host_bound_s,copies_s,collective_s,waiting_s");
  for (guint i = 0; i < jobs->len; i++)
    {
      const Recorded *job = g_ptr_array_index (jobs, i);

      for (guint r = 0; r < job->ranks->len; r++)
        {
          const RecordedRank *rank = &g_array_index (job->ranks, RecordedRank, r);

          csv_add_text (&csv, job->name);
          csv_add_integer (&csv, rank->rank);
          csv_add_integer (&csv, rank->n_steps);
          csv_add_seconds (&csv, rank->step_time_s);
          csv_add_seconds (&csv, rank->shortest_s);
          csv_add_seconds (&csv, rank->longest_s);
          csv_add_seconds (&csv, rank->compute_s);
          csv_add_seconds (&csv, recorded_sum (rank->exposed_s));
          csv_add_seconds (&csv, rank->host_bound_s);
          csv_add_seconds (&csv, rank->copies_s);
          csv_add_seconds (&csv, recorded_sum (rank->collective_s));
          csv_add_seconds (&csv, recorded_waiting (rank));
          csv_end_row (&csv);
        }
    }
  return csv_finish (&csv);
}

static void
add_step (Csv *csv, const Recorded *job, guint index)
{
  const RecordedStep *step = &g_array_index (job->steps, RecordedStep, index);
  const Exposure *parts = &step->exposure;
  const SimTime times[] = { step->start,
                            parts->total,
                            parts->compute,
                            exposure_exposed (parts),
                            parts->host_bound,
                            parts->exposed[TIMELINE_ALL_GATHER],
                            parts->exposed[TIMELINE_REDUCE_SCATTER],
                            parts->exposed[TIMELINE_ALL_REDUCE],
                            parts->busy[TIMELINE_FORWARD],
                            parts->busy[TIMELINE_RECOMPUTE],
                            parts->busy[TIMELINE_BACKWARD],
                            parts->busy[TIMELINE_OPTIMIZER] };

  csv_add_text (csv, job->name);
  csv_add_integer (csv, g_array_index (job->ranks, RecordedRank, job->slowest).rank);
  csv_add_integer (csv, index + 1);
  for (guint i = 0; i < G_N_ELEMENTS (times); i++)
    csv_add_seconds (csv, sim_time_seconds (times[i]));
  csv_end_row (csv);
}

char *
recorded_steps_csv (const GPtrArray *jobs)
{
  Csv csv;

  csv_begin (&csv, "variant,rank,step,start_s,step_time_s,compute_s,exposed_comm_s,host_bound_s,"
                   "all_gather_exposed_s,reduce_scatter_exposed_s,all_reduce_exposed_s,forward_s,"
                   "recompute_s,backward_s,optimizer_s");
  for (guint i = 0; i < jobs->len; i++)
    {
      const Recorded *job = g_ptr_array_index (jobs, i);

      for (guint s = 0; s < job->steps->len; s++)
        add_step (&csv, job, s);
    }
  return csv_finish (&csv);
}

/* ---- the files that a simulated run has too ---- */

typedef struct
{
  Report report;
  Scenario *scenarios; /* nothing but names */
} Borrowed;

static void
borrow (const GPtrArray *jobs, Borrowed *borrowed)
{
  *borrowed = (Borrowed){
    .report = { .entries = g_new0 (ReportEntry, jobs->len), .n_entries = jobs->len },
    .scenarios = g_new0 (Scenario, jobs->len),
  };
  for (guint i = 0; i < jobs->len; i++)
    {
      const Recorded *job = g_ptr_array_index (jobs, i);
      ReportEntry *entry = &borrowed->report.entries[i];

      borrowed->scenarios[i].variant = job->name;
      entry->scenario = &job->scenario;
      entry->run.scenario = &borrowed->scenarios[i];
      entry->run.facts = job->facts;
      entry->run.figures = job->figures;
    }
}

static char *
write_borrowed (const GPtrArray *jobs, char *(*write) (const Report *report))
{
  Borrowed borrowed;
  char *text;

  borrow (jobs, &borrowed);
  text = write (&borrowed.report);
  g_free (borrowed.scenarios);
  g_free (borrowed.report.entries);
  return text; /* cppcheck-suppress returnDanglingLifetime */
}

char *
recorded_per_unit_csv (const GPtrArray *jobs)
{
  return write_borrowed (jobs, report_per_unit_csv);
}

char *
recorded_summary_csv (const GPtrArray *jobs)
{
  return write_borrowed (jobs, report_summary_csv);
}

char *
recorded_deltas_csv (const GPtrArray *jobs)
{
  return write_borrowed (jobs, report_deltas_csv);
}

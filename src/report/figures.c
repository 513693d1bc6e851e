#include <config.h>

#include <math.h>

#include "report/figures.h"
#include "report/format.h"

const char *
run_status_name (RunStatus status)
{
  static const char *const names[] = { "ok", "does_not_fit", "refused", "failed" };

  g_assert (status < G_N_ELEMENTS (names));
  return names[status];
}

static double
ratio (double value, double of)
{
  return of > 0 ? value / of : (double)NAN;
}

/* ---- collectives by unit ---- */

/* Times in picoseconds: whole numbers, so exact in a double. */
static void
count_collective (const TimelineRecord *record, SimTime exposed, UnitFigures *sums)
{
  const guint n = !record->is_carried;

  if (record->label.op != TIMELINE_OTHER_COLLECTIVE)
    sums->bytes += n * (double)record->bytes;
  switch (record->label.op)
    {
    case TIMELINE_ALL_GATHER:
      if (record->label.phase == PHASE_BACKWARD)
        sums->all_gathers_backward += n;
      else
        sums->all_gathers_forward += n;
      sums->all_gather_exposed_s += (double)exposed;
      break;
    case TIMELINE_REDUCE_SCATTER:
      sums->reduce_scatters += n;
      sums->reduce_scatter_exposed_s += (double)exposed;
      break;
    case TIMELINE_ALL_REDUCE:
      sums->all_reduces += n;
      sums->all_reduce_exposed_s += (double)exposed;
      break;
    case TIMELINE_OTHER_COLLECTIVE:
      break;
    default:
      g_assert_not_reached ();
    }
}

static void
mean_of_sums (UnitFigures *figures, double n_steps)
{
  const double n_ps = n_steps * (double)PICOSECONDS_PER_SECOND;

  figures->all_gathers_forward /= n_steps;
  figures->all_gathers_backward /= n_steps;
  figures->reduce_scatters /= n_steps;
  figures->all_reduces /= n_steps;
  figures->bytes /= n_steps;
  figures->all_gather_exposed_s /= n_ps;
  figures->reduce_scatter_exposed_s /= n_ps;
  figures->all_reduce_exposed_s /= n_ps;
}

static gboolean
has_collectives (const UnitFigures *figures)
{
  return figures_all_gathers (figures) + figures->reduce_scatters + figures->all_reduces > 0;
}

/* Drops units without collectives: embedding and head inside the root unit. */
static void
keep_units (const GArray *units, double n_steps, Figures *figures)
{
  figures->units = g_new0 (UnitFigures, units->len);
  for (guint32 unit = 0; unit < units->len; unit++)
    {
      UnitFigures mean = g_array_index (units, UnitFigures, unit);

      if (!has_collectives (&mean))
        continue;
      mean.unit = unit;
      mean_of_sums (&mean, n_steps);
      figures->units[figures->n_units++] = mean;
    }
}

/* ---- sums over windows ---- */

void
figures_sum_init (FiguresSum *sum)
{
  *sum = (FiguresSum){ .units = g_array_new (FALSE, TRUE, sizeof (UnitFigures)) };
}

void
figures_sum_clear (FiguresSum *sum)
{
  g_clear_pointer (&sum->units, g_array_unref);
}

void
figures_sum_add (FiguresSum *sum, const Timeline *timeline, const Exposure *exposure,
                 const SimTime *per_record)
{
  exposure_add (&sum->exposure, exposure);
  for (guint32 i = timeline_first_reported (timeline); i < timeline->records->len; i++)
    {
      const TimelineRecord *record = timeline_record (timeline, i);

      if (!timeline_op_is_collective (record->label.op))
        continue;
      if (record->label.unit >= sum->units->len)
        g_array_set_size (sum->units, record->label.unit + 1);
      count_collective (record, per_record[i],
                        &g_array_index (sum->units, UnitFigures, record->label.unit));
      count_collective (record, per_record[i], &sum->all);
    }
}

static double
mean_s (SimTime time, guint n_steps)
{
  return sim_time_seconds (time) / n_steps;
}

void
figures_from_sum (const FiguresSum *sum, guint n_steps, Figures *figures)
{
  const Exposure *exposure = &sum->exposure;
  SimTime exposed = 0;

  for (guint op = 0; op < N_TIMELINE_OPS; op++)
    {
      exposed += exposure->exposed[op];
      figures->exposed_s[op] = mean_s (exposure->exposed[op], n_steps);
      figures->busy_s[op] = mean_s (exposure->busy[op], n_steps);
    }
  figures->step_time_s = mean_s (exposure->total, n_steps);
  figures->compute_s = mean_s (exposure->compute, n_steps);
  figures->exposed_comm_s = mean_s (exposed, n_steps);
  figures->host_bound_s = mean_s (exposure->host_bound, n_steps);
  figures->all = sum->all;
  mean_of_sums (&figures->all, n_steps);
  keep_units (sum->units, n_steps, figures);
}

static void
measure_time (const Timeline *timeline, Figures *figures)
{
  g_autofree SimTime *per_record = g_new (SimTime, timeline->records->len + 1);
  Exposure exposure;
  FiguresSum sum;

  figures_sum_init (&sum);
  exposure_measure (timeline, &exposure, per_record);
  figures_sum_add (&sum, timeline, &exposure, per_record);
  figures_from_sum (&sum, timeline_n_reported_steps (timeline), figures);
  figures_sum_clear (&sum);
}

void
figures_set_rates (const RunFacts *facts, Figures *figures)
{
  const double peak_flops = facts->peak_flops * facts->n_ranks;

  figures->step_time_low_s = figures->step_time_s / (1 + facts->step_error);
  figures->step_time_high_s = figures->step_time_s * (1 + facts->step_error);
  figures->tokens_per_s = ratio (facts->tokens_per_step, figures->step_time_s);
  figures->tokens_per_s_per_gpu = ratio (figures->tokens_per_s, facts->n_ranks);
  figures->mfu_percent
      = 100 * ratio (facts->model_flops_per_token * figures->tokens_per_s, peak_flops);
  figures->hfu_percent
      = 100 * ratio (facts->hardware_flops_per_token * figures->tokens_per_s, peak_flops);
}

/* ---- memory ---- */

/* "needs 93.2 GiB of 78.5 GiB; 88.1 GiB are allocated at the peak (steady step,
 * block.31), most of it activations". */
static char *
why_it_does_not_fit (const Figures *figures, const RunFacts *facts)
{
  const MemoryPeak *peak = &figures->memory.peaks[figures->memory.phase];
  g_autofree char *unit = timeline_unit_name (peak->unit);
  char needed[FORMAT_SIZE], capacity[FORMAT_SIZE], allocated[FORMAT_SIZE];
  MemoryKind most = 0;

  for (MemoryKind kind = 0; kind < N_MEMORY_KINDS; kind++)
    if (peak->by_kind[kind] > peak->by_kind[most])
      most = kind;
  return g_strdup_printf ("needs %s GiB of %s GiB; %s GiB are allocated at the peak (%s, %s), "
                          "most of it %s",
                          format_gib (needed, figures->peak_reserved_bytes),
                          format_gib (capacity, facts->capacity_bytes),
                          format_gib (allocated, figures->peak_allocated_bytes),
                          format_peak_phase (figures->memory.phase), unit,
                          memory_kind_words (most));
}

static void
measure_memory (const Timeline *timeline, const RunFacts *facts, Figures *figures)
{
  const AllocatorRules rules = { .expandable_segments = facts->expandable_segments,
                                 .capacity_bytes = facts->capacity_bytes };

  memory_measure (timeline, &rules, &figures->memory);
  figures->peak_allocated_bytes = figures->memory.peaks[figures->memory.phase].allocated;
  figures->peak_reserved_bytes = figures->memory.reserved;
  figures->fits = !figures->memory.out_of_memory;
}

void
figures_measure (const Timeline *timeline, const RunFacts *facts, Figures *figures)
{
  *figures = (Figures){ 0 };
  measure_time (timeline, figures);
  figures_set_rates (facts, figures);
  measure_memory (timeline, facts, figures);
  figures->status = figures->fits ? RUN_OK : RUN_DOES_NOT_FIT;
  figures->reason = figures->fits ? g_strdup ("") : why_it_does_not_fit (figures, facts);
}

void
figures_refuse (Figures *figures, RunStatus status, const char *reason)
{
  const double none = (double)NAN;

  g_assert (status == RUN_REFUSED || status == RUN_FAILED);
  *figures = (Figures){
    .status = status,
    .reason = g_strdup (reason),
    .step_time_s = none,
    .step_time_low_s = none,
    .step_time_high_s = none,
    .tokens_per_s = none,
    .tokens_per_s_per_gpu = none,
    .mfu_percent = none,
    .hfu_percent = none,
    .all = { .all_gathers_forward = none,
             .all_gathers_backward = none,
             .reduce_scatters = none,
             .all_reduces = none,
             .bytes = none,
             .all_gather_exposed_s = none,
             .reduce_scatter_exposed_s = none,
             .all_reduce_exposed_s = none },
    .compute_s = none,
    .exposed_comm_s = none,
    .host_bound_s = none,
  };
  for (guint op = 0; op < N_TIMELINE_OPS; op++)
    figures->busy_s[op] = figures->exposed_s[op] = none;
}

void
figures_clear (Figures *figures)
{
  g_clear_pointer (&figures->reason, g_free);
  g_clear_pointer (&figures->units, g_free);
}

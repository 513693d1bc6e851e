#include <config.h>

#include "study/what_if.h"

#include <math.h>

#include "study/study_pool.h"

/* Instructions times ranks: about a second on one core. */
#define MOST_WORK 3e7

#define FASTER 1.25

/* ---- other hardware ---- */

static void
scale_time (gint64 *time_ps, double factor)
{
  if (*time_ps != TIMING_NOT_GIVEN)
    *time_ps = (gint64)llround ((double)*time_ps * factor);
}

static void
scale_given_collectives (TimingConfig *timing, double factor)
{
  gint64 *const times[]
      = { &timing->all_gather,       &timing->reduce_scatter,       &timing->all_reduce,
          &timing->root_all_gather,  &timing->root_reduce_scatter,  &timing->root_all_reduce,
          &timing->embed_all_gather, &timing->embed_reduce_scatter, &timing->embed_all_reduce,
          &timing->head_all_gather,  &timing->head_reduce_scatter,  &timing->head_all_reduce };

  for (guint i = 0; i < G_N_ELEMENTS (times); i++)
    scale_time (times[i], factor);
}

static void
scale_links (ClusterConfig *cluster, double factor)
{
  cluster->ring_bytes_per_s *= factor;
  cluster->graph_bytes_per_s *= factor;
  cluster->nvls_bytes_per_s *= factor;
}

void
what_if_scale_network (Scenario *scenario, double factor)
{
  if (scenario->cluster.nodes > 1)
    scenario->cluster.nic_bytes_per_s *= factor;
  else
    scale_links (&scenario->cluster, factor);
  scale_given_collectives (&scenario->timing, 1 / factor);
}

static void
halve_latencies (ClusterConfig *cluster)
{
  gint64 *const times[] = { &cluster->multi_node_ps, &cluster->simple_reduce_step_ps,
                            &cluster->nvls_base_ps, &cluster->tree_ps };

  for (guint i = 0; i < G_N_ELEMENTS (times); i++)
    scale_time (times[i], 0.5);
  for (NcclProtocol protocol = 0; protocol < N_PROTOCOLS; protocol++)
    {
      scale_time (&cluster->base_ps[protocol], 0.5);
      scale_time (&cluster->step_ps[protocol], 0.5);
      scale_time (&cluster->hop_ps[protocol], 0.5);
    }
}

static void
halve_host (Scenario *scenario)
{
  ClusterConfig *cluster = &scenario->cluster;
  gint64 *const times[] = { &cluster->kernel_launch_ps, &cluster->collective_launch_ps,
                            &cluster->fsdp_hook_ps,     &cluster->limiter_wakeup_ps,
                            &scenario->timing.host_op,  &scenario->timing.limiter_wakeup };

  for (guint i = 0; i < G_N_ELEMENTS (times); i++)
    scale_time (times[i], 0.5);
  cluster->cpu_core_bytes_per_s *= 2; /* clips and runs the optimizer of offloaded shards */
  cluster->host_memory_bytes_per_s *= 2;
}

void
what_if_apply (Scenario *scenario, WhatIfKind kind)
{
  GpuConfig *gpu = &scenario->gpu;

  switch (kind)
    {
    case WHAT_IF_NICS:
      what_if_scale_network (scenario, 2);
      break;
    case WHAT_IF_LINKS:
      scale_links (&scenario->cluster, 2);
      if (scenario->cluster.nodes == 1)
        scale_given_collectives (&scenario->timing, 0.5);
      break;
    case WHAT_IF_LATENCY:
      halve_latencies (&scenario->cluster);
      break;
    case WHAT_IF_MATMULS:
      gpu->matmul_flops *= FASTER;
      gpu->fp32_flops *= FASTER;
      gpu->fp8_flops *= FASTER;
      break;
    case WHAT_IF_MEMORY:
      gpu->memory_bytes_per_s *= FASTER;
      break;
    case WHAT_IF_HOST:
      halve_host (scenario);
      break;
    case WHAT_IF_NO_SLOWDOWN:
      scenario->simulation.compute_slowdown = 0;
      break;
    case N_WHAT_IFS:
      break;
    }
}

/* NICs on one node, and a slowdown that is none, change nothing. */
static gboolean
makes_sense (const Scenario *scenario, WhatIfKind kind)
{
  return (kind != WHAT_IF_NICS || scenario->cluster.nodes > 1)
         && (kind != WHAT_IF_NO_SLOWDOWN || scenario->simulation.compute_slowdown > 0);
}

/* ---- bounds ---- */

/* Of one step, the collectives of the lane that is busiest. */
static double
wire_alone_s (const Timeline *timeline)
{
  double by_lane[N_TIMELINE_LANES] = { 0 };
  double most = 0;

  for (guint32 i = timeline_first_reported (timeline); i < timeline->records->len; i++)
    {
      const TimelineRecord *record = timeline_record (timeline, i);

      if (timeline_op_is_collective (record->label.op))
        by_lane[record->lane] += sim_time_seconds (record->end - record->peers_from);
    }
  for (guint lane = 0; lane < N_TIMELINE_LANES; lane++)
    most = MAX (most, by_lane[lane]);
  return most / timeline_n_reported_steps (timeline);
}

/* ---- all of it ---- */

typedef struct
{
  const Scenario *scenario;
  WhatIf *what_if;
} Study;

static void
study_kind (guint index, gpointer data)
{
  const Study *study = data;
  const StudyOptions options = { 0 };
  const WhatIfKind kind = index;
  Scenario scenario = *study->scenario; /* shallow */
  StudyEffort effort;
  ReportRun run;

  study->what_if->step_time_s[kind] = (double)NAN;
  if (!makes_sense (&scenario, kind) && kind != WHAT_IF_NO_SLOWDOWN)
    return;
  what_if_apply (&scenario, kind);
  study_run (&scenario, &options, &run, &effort);
  if (figures_did_run (&run.figures) && makes_sense (study->scenario, kind))
    study->what_if->step_time_s[kind] = run.figures.step_time_s;
  if (figures_did_run (&run.figures) && kind == WHAT_IF_NO_SLOWDOWN)
    {
      study->what_if->compute_alone_s = run.figures.compute_s;
      study->what_if->wire_alone_s = wire_alone_s (g_ptr_array_index (run.timelines, 0));
    }
  study_run_clear (&run);
}

void
what_if_study (ReportRun *run, const StudyEffort *effort, guint n_threads)
{
  const double work = (double)effort->n_instructions * effort->n_simulated_ranks;
  Study study = { run->scenario, NULL };

  if (!figures_did_run (&run->figures) || work > MOST_WORK)
    return;
  study.what_if = run->what_if = g_new0 (WhatIf, 1);
  study_pool_run (N_WHAT_IFS, n_threads, study_kind, &study, NULL, NULL);
}

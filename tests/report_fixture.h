/* A comparison made by hand, for tests of reports: 32 blocks on 16 ranks, one
 * warm-up and one reported step, block times of 4 ms forward, 4 ms recompute and
 * 8 ms backward, collectives of 1.76 ms, of the root 0.5 ms.
 *
 * wrapper: gathers hide under compute but for the first two, reduce-scatters but
 * for the last two: 0.5 + 1.76 + 32 x 4 + 32 x 12 + 1.76 + 0.5 = 516.52 ms.
 * naive: all but the last block also wait in the backward pass for the reduce-
 * scatter before them and then for a gather of their own: 31 x 3.52 ms more are
 * 625.64 ms. It gathers each block three times: 3 x 32 + 1, against 2 x 32 + 1. */
#pragma once

#include "report/report.h"
#include "timeline_fixture.h"

#define FIXTURE_BLOCKS      32
#define FIXTURE_MS          G_GINT64_CONSTANT (1000000000)
#define FIXTURE_GATHER      (176 * FIXTURE_MS / 100)
#define FIXTURE_ROOT_GATHER (FIXTURE_MS / 2)
#define FIXTURE_GIB         (G_GINT64_CONSTANT (1) << 30)

typedef struct
{
  Timeline *timeline;
  gboolean is_naive;
  SimTime compute, comm; /* when each is free */
  SimTime host;
  guint32 last_compute, last_comm; /* the record before on each */
} FixtureStep;

static inline void
fixture_add_compute (FixtureStep *step, TimelineOp op, TimelinePhase phase, guint32 unit,
                     SimTime ready, SimTime duration)
{
  const SimTime start = MAX (step->compute, ready);
  TimelineRecord *record = fixture_record (step->timeline, LANE_COMPUTE, FIXTURE_COMPUTE, op, unit,
                                           start, start + duration);

  record->label.phase = phase;
  record->waited_for = ready > step->compute ? step->last_comm : step->last_compute;
  record->waited_why = ready > step->compute ? WAITED_FOR_EVENT : WAITED_FOR_STREAM;
  step->last_compute = step->timeline->records->len - 1;
  step->compute = start + duration;
}

static inline void
fixture_add_collective (FixtureStep *step, TimelineOp op, TimelinePhase phase, guint32 unit,
                        SimTime ready)
{
  const SimTime start = MAX (step->comm, ready);
  const SimTime duration = unit == UNIT_ROOT ? FIXTURE_ROOT_GATHER : FIXTURE_GATHER;
  TimelineRecord *record
      = fixture_record (step->timeline, LANE_COMM_SHARD,
                        op == TIMELINE_ALL_GATHER ? FIXTURE_UNSHARD : FIXTURE_POST_BACKWARD, op,
                        unit, start, start + duration);

  record->label.phase = phase;
  record->bytes = unit == UNIT_ROOT ? 524296192 : 404766720;
  record->waited_for = ready > step->comm ? step->last_compute : step->last_comm;
  record->waited_why = ready > step->comm ? WAITED_FOR_EVENT : WAITED_FOR_COMMUNICATOR;
  step->last_comm = step->timeline->records->len - 1;
  step->comm = start + duration;
}

/* The host blocks until then, where it got so far already. */
static inline void
fixture_add_wait (FixtureStep *step, guint32 unit, SimTime until)
{
  TimelineRecord *record;

  if (until <= step->host)
    return;
  record = fixture_record (step->timeline, LANE_HOST, G_MAXUINT8, TIMELINE_WAIT, unit, step->host,
                           until);
  record->waited_for = step->last_compute;
  record->waited_why = WAITED_FOR_EVENT;
  step->host = until;
}

static inline void
fixture_add_forward (FixtureStep *step, gint64 activation_bytes)
{
  fixture_add_collective (step, TIMELINE_ALL_GATHER, PHASE_FORWARD, UNIT_ROOT, step->compute);
  for (guint32 block = 0; block < FIXTURE_BLOCKS; block++)
    {
      const guint32 unit = UNIT_FIRST_BLOCK + block;

      fixture_add_wait (step, unit, step->compute - 4 * FIXTURE_MS);
      fixture_change (step->timeline, step->host, MEMORY_UNSHARDED_PARAMS, 404766720, 0,
                      FIXTURE_UNSHARD, unit);
      fixture_add_collective (step, TIMELINE_ALL_GATHER, PHASE_FORWARD, unit,
                              step->compute - 4 * FIXTURE_MS);
      fixture_add_compute (step, TIMELINE_FORWARD, PHASE_FORWARD, unit, step->comm, 4 * FIXTURE_MS);
      fixture_change (step->timeline, step->host, MEMORY_ACTIVATIONS, activation_bytes, 0,
                      FIXTURE_COMPUTE, unit);
      fixture_change (step->timeline, step->host, MEMORY_UNSHARDED_PARAMS, -404766720,
                      step->compute, FIXTURE_UNSHARD, unit);
    }
}

/* A gather that runs under the compute before it or beside it. */
static inline void
fixture_add_hidden_gather (FixtureStep *step, guint32 unit)
{
  fixture_add_collective (step, TIMELINE_ALL_GATHER, PHASE_BACKWARD, unit,
                          step->compute - 4 * FIXTURE_MS);
}

static inline void
fixture_add_backward_block (FixtureStep *step, guint32 block)
{
  const guint32 unit = UNIT_FIRST_BLOCK + block;
  const gboolean gathers_late = step->is_naive && block < FIXTURE_BLOCKS - 1;

  if (gathers_late)
    fixture_add_collective (step, TIMELINE_ALL_GATHER, PHASE_BACKWARD, unit, step->compute);
  fixture_add_compute (step, TIMELINE_RECOMPUTE, PHASE_BACKWARD, unit,
                       gathers_late ? step->comm : 0, 4 * FIXTURE_MS);
  if (gathers_late)
    fixture_add_hidden_gather (step, unit);
  else if (!step->is_naive && block > 0)
    fixture_add_hidden_gather (step, unit - 1);
  fixture_add_compute (step, TIMELINE_BACKWARD, PHASE_BACKWARD, unit, 0, 8 * FIXTURE_MS);
  fixture_add_collective (step, TIMELINE_REDUCE_SCATTER, PHASE_BACKWARD, unit, step->compute);
}

static inline void
fixture_add_backward (FixtureStep *step, gint64 activation_bytes)
{
  const guint32 last = UNIT_FIRST_BLOCK + FIXTURE_BLOCKS - 1;

  fixture_add_hidden_gather (step, last);
  if (step->is_naive)
    fixture_add_hidden_gather (step, last);
  for (guint32 block = FIXTURE_BLOCKS; block-- > 0;)
    {
      const guint32 unit = UNIT_FIRST_BLOCK + block;

      fixture_change (step->timeline, step->host, MEMORY_UNSHARDED_PARAMS, 404766720, 0,
                      FIXTURE_UNSHARD, unit);
      fixture_change (step->timeline, step->host, MEMORY_UNSHARDED_GRADS, 404766720, 0,
                      FIXTURE_COMPUTE, unit);
      fixture_add_backward_block (step, block);
      fixture_add_wait (step, unit, step->compute - 8 * FIXTURE_MS);
      fixture_change (step->timeline, step->host, MEMORY_UNSHARDED_PARAMS, -404766720,
                      step->compute, FIXTURE_UNSHARD, unit);
      fixture_change (step->timeline, step->host, MEMORY_UNSHARDED_GRADS, -404766720, step->comm,
                      FIXTURE_COMPUTE, unit);
      fixture_change (step->timeline, step->host, MEMORY_ACTIVATIONS, -activation_bytes, step->host,
                      FIXTURE_COMPUTE, unit);
    }
  fixture_add_collective (step, TIMELINE_REDUCE_SCATTER, PHASE_BACKWARD, UNIT_ROOT, 0);
}

static inline void
fixture_add_step (FixtureStep *step, gint64 activation_bytes)
{
  const guint32 first_record = step->timeline->records->len;
  const guint32 first_change = step->timeline->changes->len;

  fixture_add_forward (step, activation_bytes);
  fixture_add_backward (step, activation_bytes);
  if (step->timeline->steps->len == 0)
    fixture_change (step->timeline, step->host, MEMORY_OPTIMIZER, 6 * FIXTURE_GIB, 0,
                    FIXTURE_COMPUTE, UNIT_ROOT);
  fixture_add_compute (step, TIMELINE_OPTIMIZER, PHASE_OPTIMIZER, UNIT_ROOT, step->comm, 0);
  fixture_end_of_step (step->timeline, first_record, first_change, step->compute);
}

/* 3 GiB of parameters and of gradients at load, 6 GiB of optimizer states from the
 * end of the first step on; a block keeps @activation_bytes. */
static inline Timeline *
fixture_step_timeline (gboolean is_naive, gint64 activation_bytes)
{
  FixtureStep step = { .timeline = fixture_timeline (),
                       .is_naive = is_naive,
                       .last_compute = RECORD_NONE,
                       .last_comm = RECORD_NONE };

  fixture_change (step.timeline, 0, MEMORY_PARAMS, 3 * FIXTURE_GIB, 0, FIXTURE_COMPUTE, UNIT_ROOT);
  fixture_change (step.timeline, 0, MEMORY_GRADS, 3 * FIXTURE_GIB, 0, FIXTURE_COMPUTE, UNIT_ROOT);
  fixture_add_step (&step, activation_bytes);
  step.timeline->n_warmup_steps = 1;
  step.timeline->origin = step.compute;
  fixture_add_step (&step, activation_bytes);
  return step.timeline;
}

/* ---- the comparison ---- */

#define FIXTURE_MAX_ENTRIES 8

typedef struct
{
  ReportScenario scenario;
  Scenario variants[FIXTURE_MAX_ENTRIES];
  ReportEntry entries[FIXTURE_MAX_ENTRIES];
  Report report;
} FixtureReport;

static const RunFacts fixture_facts = { .n_ranks = 16,
                                        .peak_flops = 312e12,
                                        .tokens_per_step = 16 * 4096,
                                        .model_flops_per_token = 45e9,
                                        .hardware_flops_per_token = 58e9,
                                        .capacity_bytes = 78 * FIXTURE_GIB };

static inline void
fixture_report_begin (FixtureReport *fixture)
{
  *fixture = (FixtureReport){ .scenario = { .scenario_name = "llama2-7b-2-nodes",
                                            .title = "Llama-2 7B on two A100 nodes",
                                            .sha256 = "0123456789abcdef0123456789abcdef"
                                                      "0123456789abcdef0123456789abcdef" } };
  fixture->report.entries = fixture->entries;
}

static inline ReportRun *
fixture_report_add (FixtureReport *fixture, const char *variant)
{
  const guint index = fixture->report.n_entries++;
  Scenario *scenario = &fixture->variants[index];

  g_assert (index < FIXTURE_MAX_ENTRIES);
  scenario->variant = (char *)variant;
  scenario->title = (char *)fixture->scenario.title;
  scenario->model = (ModelConfig){ .name = (char *)"llama2-7b", .layers = FIXTURE_BLOCKS };
  scenario->gpu.name = (char *)"A100-SXM4-80GB";
  scenario->cluster
      = (ClusterConfig){ .name = (char *)"dgx-a100-80g", .nodes = 2, .gpus_per_node = 8 };
  scenario->training
      = (TrainingConfig){ .micro_batch = 1, .seq_len = 4096, .grad_accum = 1, .no_sync = TRUE };
  scenario->fsdp = (FsdpConfig){ .torch_minor = 8, .shard_group_size = 8 };
  scenario->simulation = (SimulationConfig){ .steps = 1, .warmup_steps = 1, .seed = 1 };
  fixture->entries[index].scenario = &fixture->scenario;
  fixture->entries[index].run.scenario = scenario;
  fixture->entries[index].run.facts = fixture_facts;
  return &fixture->entries[index].run;
}

/* Takes @timeline. */
static inline ReportRun *
fixture_report_add_run (FixtureReport *fixture, const char *variant, Timeline *timeline)
{
  ReportRun *run = fixture_report_add (fixture, variant);

  run->timelines = g_ptr_array_new_with_free_func ((GDestroyNotify)timeline_free);
  g_ptr_array_add (run->timelines, timeline);
  figures_measure (timeline, &run->facts, &run->figures);
  return run;
}

static inline ReportRun *
fixture_report_refuse (FixtureReport *fixture, const char *variant, const char *reason)
{
  ReportRun *run = fixture_report_add (fixture, variant);

  figures_refuse (&run->figures, RUN_REFUSED, reason);
  return run;
}

/* naive and wrapper; the blocks of neither keep much. */
static inline void
fixture_report_naive_and_wrapper (FixtureReport *fixture)
{
  fixture_report_begin (fixture);
  fixture_report_add_run (fixture, "naive", fixture_step_timeline (TRUE, FIXTURE_GIB));
  fixture_report_add_run (fixture, "wrapper", fixture_step_timeline (FALSE, FIXTURE_GIB));
}

static inline void
fixture_report_clear (FixtureReport *fixture)
{
  for (guint i = 0; i < fixture->report.n_entries; i++)
    {
      ReportRun *run = &fixture->entries[i].run;

      figures_clear (&run->figures);
      g_clear_pointer (&run->timelines, g_ptr_array_unref);
    }
}

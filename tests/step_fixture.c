#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "step_fixture.h"

Scenario
scenario_of_round_numbers (void)
{
  Scenario scenario = {
    .model = { .layers = N_BLOCKS,
               .hidden = 64,
               .heads = 4,
               .kv_heads = 4,
               .head_dim = 16,
               .ffn_hidden = 128,
               .vocab = 256 },
    .gpu = { .matmul_flops = 1e12,
             .fp32_flops = 1e12,
             .memory_bytes_per_s = 1e12,
             .memory_bytes = G_GINT64_CONSTANT (1) << 36,
             .sms = 100,
             .matmul_efficiency = 1,
             .attention_efficiency = 1,
             .attention_backward_efficiency = 1,
             .memory_efficiency = 1 },
    .cluster = { .nodes = 2,
                 .gpus_per_node = 8,
                 .nics_per_node = 8,
                 .nic_bytes_per_s = 25e9,
                 .nic_efficiency = 1,
                 .ring_bytes_per_s = 200e9,
                 .intra_factor = 1,
                 .shard_copy_bytes_per_s = 500e9,
                 .efficiency = { 1, 1, 1 },
                 .nccl_channels = 24,
                 .graph_bytes_per_s = 200e9 },
    .training = { .micro_batch = 1, .seq_len = 16, .grad_accum = 1, .no_sync = TRUE },
    .fsdp = { .api = API_FSDP1,
              .torch_minor = 8,
              .strategy = STRATEGY_FULL_SHARD,
              .shard_group_size = 16,
              .limit_all_gathers = TRUE,
              .reshard_after_forward = RESHARD_AUTO,
              .reshard_after_backward = TRUE,
              .param_dtype = DTYPE_BF16,
              .reduce_dtype = DTYPE_BF16 },
    .checkpoint = { .every = 1, .early_stop = TRUE },
    .simulation = { .steps = 1, .warmup_steps = 1, .seed = 1 },
  };

  scenario.timing.forward = 4000 * US;
  scenario.timing.recompute = 4000 * US;
  scenario.timing.backward = 8000 * US;
  scenario.timing.all_gather = 1760 * US;
  scenario.timing.reduce_scatter = 1760 * US;
  scenario.timing.root_all_gather = 500 * US;
  scenario.timing.root_reduce_scatter = 500 * US;
  scenario.timing.embed_all_gather = scenario.timing.head_all_gather = 500 * US;
  scenario.timing.embed_reduce_scatter = scenario.timing.head_reduce_scatter = 500 * US;
  return scenario;
}

void
use_naive (Scenario *scenario)
{
  scenario->checkpoint.method = CHECKPOINT_OUTSIDE;
  scenario->checkpoint.use_reentrant = TRUE;
}

void
use_wrapper (Scenario *scenario)
{
  scenario->checkpoint.method = CHECKPOINT_INSIDE;
}

void
use_hybrid (Scenario *scenario)
{
  scenario->fsdp.strategy = STRATEGY_HYBRID_SHARD;
  scenario->fsdp.shard_group_size = 8;
  scenario->timing.all_reduce = 1000 * US;
  scenario->timing.root_all_reduce = 200 * US;
}

Timeline *
run (const Scenario *scenario)
{
  g_autoptr (GError) error = NULL;
  StepCost cost;

  step_cost_new (scenario, &cost);
  g_autoptr (Program) program = fsdp_program (scenario, &cost, &error);
  g_autoptr (Network) network = network_new (&scenario->cluster);
  EngineOptions options = { .n_ranks = scenario_ranks (scenario), .folded = TRUE };
  EngineResult result;

  assert_null (error);
  engine_run (program, network, &options, NULL, 0, &result);
  Timeline *timeline = g_ptr_array_steal_index (result.timelines, 0);
  engine_result_clear (&result);
  return timeline;
}

SimTime
step_time (const Scenario *scenario)
{
  g_autoptr (Timeline) timeline = run (scenario);

  return timeline_reported_time (timeline);
}

#define ALL_UNITS G_MAXUINT32

static Counts
count_of (const Timeline *timeline, guint32 unit)
{
  Counts counts = { 0 };

  for (guint32 i = timeline_first_reported (timeline); i < timeline->records->len; i++)
    {
      const TimelineRecord *record = timeline_record (timeline, i);

      if (unit != ALL_UNITS && record->label.unit != unit)
        continue;
      if (record->label.op == TIMELINE_ALL_GATHER && record->label.phase == PHASE_FORWARD)
        counts.forward_gathers++;
      else if (record->label.op == TIMELINE_ALL_GATHER)
        counts.backward_gathers++;
      counts.scatters += record->label.op == TIMELINE_REDUCE_SCATTER;
      counts.reduces += record->label.op == TIMELINE_ALL_REDUCE;
    }
  return counts;
}

Counts
count (const Timeline *timeline, guint32 unit)
{
  return count_of (timeline, unit);
}

Counts
count_all (const Timeline *timeline)
{
  return count_of (timeline, ALL_UNITS);
}

static void
assert_same_counts (Counts got, Counts want)
{
  assert_int_equal (got.forward_gathers, want.forward_gathers);
  assert_int_equal (got.backward_gathers, want.backward_gathers);
  assert_int_equal (got.scatters, want.scatters);
  assert_int_equal (got.reduces, want.reduces);
}

void
assert_counts (const Scenario *scenario, guint32 unit, Counts want)
{
  g_autoptr (Timeline) timeline = run (scenario);

  assert_same_counts (count (timeline, unit), want);
}

void
assert_all_counts (const Scenario *scenario, Counts want)
{
  g_autoptr (Timeline) timeline = run (scenario);

  assert_same_counts (count_all (timeline), want);
}

guint
count_copies (const Scenario *scenario, guint32 unit)
{
  g_autoptr (Timeline) timeline = run (scenario);
  guint n = 0;

  for (guint32 i = timeline_first_reported (timeline); i < timeline->records->len; i++)
    n += timeline_record (timeline, i)->label.op == TIMELINE_COPY
         && timeline_record (timeline, i)->label.unit == unit;
  return n;
}

SimTime
start_of (const Timeline *timeline, TimelineOp op, TimelinePhase phase, guint block)
{
  for (guint32 i = timeline_first_reported (timeline); i < timeline->records->len; i++)
    {
      const TimelineRecord *record = timeline_record (timeline, i);

      if (record->label.op == op && record->label.phase == phase
          && record->label.unit == UNIT_FIRST_BLOCK + block)
        return record->start - timeline->origin;
    }
  fail ();
  return 0;
}

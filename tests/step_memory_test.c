#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "step_fixture.h"
#include "timeline/memory.h"

static void
no_checkpointing (Scenario *scenario)
{
  scenario->checkpoint.method = CHECKPOINT_NONE;
}

static void
selected_ops (Scenario *scenario)
{
  use_wrapper (scenario);
  scenario->checkpoint.select_op = TRUE;
}

static void (*const checkpointings[]) (Scenario *)
    = { no_checkpointing, use_naive, use_wrapper, selected_ops };
static const FsdpApi apis[] = { API_FSDP1, API_FSDP2, API_DDP };
static const UnitLayout layouts[] = { UNITS_ROOT_AND_BLOCKS, UNITS_EMBED_BLOCKS_HEAD, UNITS_ONE };
static const LossKeeps losses[] = { LOSS_KEEPS_LOG_PROBABILITIES, LOSS_KEEPS_LOGITS };
static const ShardingStrategy strategies[]
    = { STRATEGY_FULL_SHARD, STRATEGY_SHARD_GRAD_OP, STRATEGY_HYBRID_SHARD };

#define N_CASES (3 * 3 * 4 * 3 * 2)

/* One of all combinations of the lists above that PyTorch takes: FSDP1 takes no reentrant
 * checkpoints within one unit. */
static Scenario
scenario_of_case (guint number)
{
  Scenario scenario = scenario_of_round_numbers ();

  scenario.fsdp.api = apis[number % 3];
  scenario.fsdp.strategy = strategies[number / 3 % 3];
  if (scenario.fsdp.strategy == STRATEGY_HYBRID_SHARD)
    use_hybrid (&scenario);
  checkpointings[number / 9 % 4](&scenario);
  scenario.fsdp.units = layouts[number / 36 % 3];
  if (!fsdp_check (&scenario, NULL))
    scenario.checkpoint.use_reentrant = FALSE;
  scenario.software.loss_keeps = losses[number / 108];
  scenario.simulation.steps = 2;
  scenario.fsdp.reduce_dtype = number % 2 == 0 ? DTYPE_BF16 : DTYPE_FP32;
  return scenario;
}

/* What each kind holds at the end of a later step is what it held at its begin, and at
 * no moment less than nothing; together they are what is allocated. */
static void
memory_returns_to_where_it_was (void **state)
{
  (void)state;
  for (guint number = 0; number < N_CASES; number++)
    {
      const Scenario scenario = scenario_of_case (number);
      g_autoptr (Timeline) timeline = run (&scenario);
      MemoryLevel level = { 0 }, before = { 0 };

      for (guint i = 0; i < timeline->changes->len; i++)
        {
          gint64 sum = 0;

          if (i == timeline_step (timeline, 2)->first_change)
            before = level;
          memory_level_apply (&level, &g_array_index (timeline->changes, MemoryChange, i));
          for (MemoryKind kind = 0; kind < N_MEMORY_KINDS; kind++)
            {
              assert_true (level.by_kind[kind] >= 0);
              sum += level.by_kind[kind];
            }
          assert_int_equal (sum, level.allocated);
        }
      assert_memory_equal (&level, &before, sizeof level);
      assert_true (before.by_kind[MEMORY_ACTIVATIONS] == 0);
    }
}

/* What is reserved is never less than what is allocated, whatever the segments. */
static void
reserved_holds_what_is_allocated (void **state)
{
  static const AllocatorRules rules[] = { { 0 }, { .expandable_segments = TRUE } };
  (void)state;

  for (guint number = 0; number < N_CASES; number++)
    {
      const Scenario scenario = scenario_of_case (number);
      g_autoptr (Timeline) timeline = run (&scenario);
      MemoryUse use[2];

      for (guint i = 0; i < 2; i++)
        {
          memory_measure (timeline, &rules[i], &use[i]);
          assert_true (use[i].reserved >= use[i].peaks[use[i].phase].allocated);
        }
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (memory_returns_to_where_it_was),
    cmocka_unit_test (reserved_holds_what_is_allocated),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "step_fixture.h"
#include "timeline/memory.h"

/* The model of round numbers: a block is 32,896 elements, embedding and head 16,384 each, the
 * final norm 64. */
#define BLOCK 32896
#define HEAD  16384
#define NORM  64

/* The last two of 32 blocks, final norm and head are trained. */
static Scenario
last_two (FsdpApi api, UnitLayout units)
{
  Scenario scenario = scenario_of_round_numbers ();

  scenario.fsdp.api = api;
  scenario.fsdp.units = units;
  scenario.training.trainable = TRAINABLE_LAST;
  scenario.training.trained_blocks = 2;
  return scenario;
}

/* What is allocated of a kind at the end of the run, or at most. */
static gint64
held (const Scenario *scenario, MemoryKind kind, gboolean at_most)
{
  g_autoptr (Timeline) timeline = run (scenario);
  MemoryLevel level = { 0 };
  gint64 most = 0;

  for (guint i = 0; i < timeline->changes->len; i++)
    {
      memory_level_apply (&level, &g_array_index (timeline->changes, MemoryChange, i));
      most = MAX (most, level.by_kind[kind]);
    }
  return at_most ? most : level.by_kind[kind];
}

/* ---- FSDP1 ---- */

static const Counts trained = { 1, 1, 1, 0 };
static const Counts frozen = { 1, 0, 0, 0 };

/* Of 35 units all are gathered forward; head and two blocks again in backward; these and the root
 * (the final norm, which is kept) are scattered. The prefetch before block 30's backward finds that
 * block 29 needs no gather (_needs_pre_backward_unshard). */
static void
fsdp1_gathers_frozen_units_in_forward_alone (void **state)
{
  (void)state;
  Scenario scenario = last_two (API_FSDP1, UNITS_EMBED_BLOCKS_HEAD);

  assert_counts (&scenario, UNIT_EMBED, frozen);
  assert_counts (&scenario, UNIT_FIRST_BLOCK + 29, frozen);
  assert_counts (&scenario, UNIT_FIRST_BLOCK + 30, trained);
  assert_counts (&scenario, UNIT_FIRST_BLOCK + 31, trained);
  assert_counts (&scenario, UNIT_HEAD, trained);
  assert_all_counts (&scenario, (Counts){ 35, 3, 4, 0 });
  use_wrapper (&scenario);
  assert_all_counts (&scenario, (Counts){ 35, 3, 4, 0 });
  scenario.training.trained_blocks = 0;
  assert_all_counts (&scenario, (Counts){ 35, 1, 2, 0 });
}

/* Gathers of root, embedding and block 0 (0.5 + 0.5 + 1.76), 32 x 4 forward, gathers of the head
 * and of block 31 that nothing hides (0.5 + 1.76), 2 x 8 backward, scatters of block 30 and of the
 * root (1.76 + 0.5): 151.28. The wrapper computes two blocks again, 2 x 4. With nothing but the
 * head trained there are no blocks' backward and gathers, and the scatters are the head's and the
 * root's: 2.76 + 128 + 0.5 + 1 = 132.26. */
static void
fsdp1_goes_back_through_what_is_trained (void **state)
{
  (void)state;
  Scenario scenario = last_two (API_FSDP1, UNITS_EMBED_BLOCKS_HEAD);

  assert_int_equal (step_time (&scenario), 151280 * US);
  use_wrapper (&scenario);
  assert_int_equal (step_time (&scenario), 159280 * US);
  scenario.training.trained_blocks = 0;
  assert_int_equal (step_time (&scenario), 132260 * US);
}

/* Kept after forward, frozen units are freed by the final callback (_catch_all_reshard), and so
 * gathered again in each step. */
static void
fsdp1_frees_what_was_kept (void **state)
{
  (void)state;
  Scenario scenario = last_two (API_FSDP1, UNITS_EMBED_BLOCKS_HEAD);

  scenario.fsdp.strategy = STRATEGY_SHARD_GRAD_OP;
  assert_all_counts (&scenario, (Counts){ 35, 0, 4, 0 });
  assert_int_equal (held (&scenario, MEMORY_UNSHARDED_PARAMS, FALSE), 0);
}

static void
assert_refused (const Scenario *scenario, const char *reason)
{
  g_autoptr (GError) error = NULL;
  StepCost cost;

  step_cost_new (scenario, &cost);
  g_autoptr (Program) program = fsdp_program (scenario, &cost, &error);

  assert_null (program);
  assert_non_null (strstr (error->message, reason));
}

static void
fsdp1_flattens_one_kind_of_tensors (void **state)
{
  (void)state;
  Scenario scenario = last_two (API_FSDP1, UNITS_ROOT_AND_BLOCKS);

  assert_refused (&scenario, "uniform requires_grad when use_orig_params=False");
  scenario.fsdp.units = UNITS_ONE;
  assert_refused (&scenario, "uniform requires_grad when use_orig_params=False");
  scenario.fsdp.units = UNITS_EMBED_BLOCKS_HEAD;
  scenario.model.outer_norms = OUTER_NORMS_BOTH;
  assert_refused (&scenario, "norm or projection of the embedding");
}

/* ---- FSDP2 ---- */

/* The root stays gathered and scatters the head's and the final norm's gradients; blocks 31 and 30
 * are gathered again; block 30 prefetches block 29 by the order of the forward, in vain. */
static void
fsdp2_gathers_one_frozen_block_in_vain (void **state)
{
  (void)state;
  Scenario scenario = last_two (API_FSDP2, UNITS_ROOT_AND_BLOCKS);

  assert_counts (&scenario, UNIT_ROOT, (Counts){ 1, 0, 1, 0 });
  assert_counts (&scenario, UNIT_FIRST_BLOCK + 31, trained);
  assert_counts (&scenario, UNIT_FIRST_BLOCK + 30, trained);
  assert_counts (&scenario, UNIT_FIRST_BLOCK + 29, (Counts){ 1, 1, 0, 0 });
  assert_counts (&scenario, UNIT_FIRST_BLOCK + 28, frozen);
  scenario.training.trained_blocks = 0;
  assert_all_counts (&scenario, (Counts){ 33, 1, 1, 0 });
  scenario.fsdp.reshard_after_forward = RESHARD_FALSE;
  assert_all_counts (&scenario, (Counts){ 33, 0, 1, 0 });
  assert_int_equal (held (&scenario, MEMORY_UNSHARDED_PARAMS, FALSE), 0);
}

/* Block 30's inputs need no gradient, so its post-backward hook is the final callback's, behind the
 * root's, which ends before it: gathers of root and block 0 (0.5 + 1.76), 32 x 4 forward, 2 x 8
 * backward, scatters of the root and of block 30 (0.5 + 1.76): 148.52. */
static void
fsdp2_reduces_the_lowest_block_last (void **state)
{
  (void)state;
  Scenario scenario = last_two (API_FSDP2, UNITS_ROOT_AND_BLOCKS);
  SimTime root = 0;

  assert_int_equal (step_time (&scenario), 148520 * US);
  g_autoptr (Timeline) timeline = run (&scenario);
  for (guint32 i = timeline_first_reported (timeline); i < timeline->records->len; i++)
    {
      const TimelineRecord *record = timeline_record (timeline, i);

      if (record->label.op == TIMELINE_REDUCE_SCATTER && record->label.unit == UNIT_ROOT)
        {
          root = record->start - timeline->origin;
          assert_int_equal (record->bytes, (HEAD + NORM) * 2); /* the embedding's are not there */
        }
    }
  assert_int_equal (root, (500 + 1760 + 128000 + 16000) * US);
  assert_int_equal (start_of (timeline, TIMELINE_REDUCE_SCATTER, PHASE_BACKWARD, 30),
                    root + 500 * US);
}

/* ---- DDP ---- */

/* One all-reduce of 2 x 32,896 + 16,384 + 64 = 82,240 elements, less than the first bucket's 1 MiB.
 * It begins with the last gradient: 128 + 16 ms, then 82,240 times 0.1 us. */
static void
ddp_has_buckets_for_gradients_alone (void **state)
{
  (void)state;
  Scenario scenario = last_two (API_DDP, UNITS_ROOT_AND_BLOCKS);

  scenario.timing.all_reduce = BLOCK * (US / 10);
  assert_all_counts (&scenario, (Counts){ 0, 0, 0, 1 });
  assert_int_equal (step_time (&scenario), 144000 * US + 82240 * (US / 10));
}

/* ---- memory ---- */

/* Two states of 4 bytes for a rank's sixteenth: of two blocks 2 x 2056, of the head 1024, of the
 * norm 4 elements. DDP has all of them on each rank. FSDP2's root has head and norm together, 1028.
 */
static void
only_what_is_trained_has_optimizer_states (void **state)
{
  (void)state;
  Scenario scenario = last_two (API_FSDP1, UNITS_EMBED_BLOCKS_HEAD);

  assert_int_equal (held (&scenario, MEMORY_OPTIMIZER, FALSE), 2 * 4 * (2 * 2056 + 1024 + 4));
  scenario = last_two (API_FSDP2, UNITS_ROOT_AND_BLOCKS);
  assert_int_equal (held (&scenario, MEMORY_OPTIMIZER, FALSE), 2 * 4 * (2 * 2056 + 1028));
  scenario.fsdp.api = API_DDP;
  assert_int_equal (held (&scenario, MEMORY_OPTIMIZER, FALSE), 2 * 4 * (2 * BLOCK + HEAD + NORM));
  /* All parameters are there: 1,085,504 of 4 bytes. */
  assert_int_equal (held (&scenario, MEMORY_PARAMS, FALSE), 1085504 * 4);
}

/* Two trained blocks more are two blocks' saved activations more, or two blocks' inputs. */
static void
frozen_blocks_keep_no_activations (void **state)
{
  (void)state;
  StepCost cost;

  for (guint i = 0; i < 2; i++)
    {
      Scenario scenario = last_two (API_FSDP2, UNITS_ROOT_AND_BLOCKS);

      if (i == 1)
        use_wrapper (&scenario);
      step_cost_new (&scenario, &cost);
      gint64 of_two = held (&scenario, MEMORY_ACTIVATIONS, TRUE);
      scenario.training.trained_blocks = 4;
      assert_int_equal (held (&scenario, MEMORY_ACTIVATIONS, TRUE) - of_two,
                        2 * (i == 0 ? cost.kinds[0].saved_bytes : cost.kinds[0].input_bytes));
    }
}

/* After a step nothing is left but shards and states, in every runtime and layout, with and without
 * checkpoints, accumulation and parameters that stay. */
static void
nothing_is_left_over (void **state)
{
  static const FsdpApi apis[] = { API_FSDP1, API_FSDP2, API_FSDP2, API_FSDP2, API_DDP };
  static const UnitLayout layouts[] = { UNITS_EMBED_BLOCKS_HEAD, UNITS_EMBED_BLOCKS_HEAD,
                                        UNITS_ATTENTION_AND_MLP, UNITS_ONE, UNITS_ROOT_AND_BLOCKS };
  (void)state;

  for (guint number = 0; number < 5 * 16; number++)
    {
      Scenario scenario = last_two (apis[number % 5], layouts[number % 5]);
      guint bits = number / 5;

      scenario.training.trained_blocks = (bits & 1) != 0 ? 2 : 0;
      if ((bits & 2) != 0)
        use_wrapper (&scenario);
      scenario.checkpoint.select_children = layouts[number % 5] == UNITS_ATTENTION_AND_MLP;
      if ((bits & 4) != 0)
        scenario.fsdp.strategy = STRATEGY_SHARD_GRAD_OP;
      scenario.training.grad_accum = (bits & 8) != 0 ? 2 : 1;
      for (MemoryKind kind = 0; kind < N_MEMORY_KINDS; kind++)
        if (kind != MEMORY_PARAMS && kind != MEMORY_OPTIMIZER && scenario.fsdp.api != API_DDP)
          assert_int_equal (held (&scenario, kind, FALSE), 0);
      assert_int_equal (held (&scenario, MEMORY_ACTIVATIONS, FALSE), 0);
    }
}

/* ---- FLOPs ---- */

/* Of a frozen block the forward alone, 2 of 6 FLOPs a parameter and 4 of 12 x hidden x seq_len. */
static void
model_flops_are_those_of_the_passes (void **state)
{
  (void)state;
  Scenario scenario = scenario_of_round_numbers ();
  StepCost all, some;

  step_cost_new (&scenario, &all);
  scenario = last_two (API_FSDP2, UNITS_ROOT_AND_BLOCKS);
  step_cost_new (&scenario, &some);
  assert_int_equal (all.trained_params, 1085504);
  assert_int_equal (some.trained_params, 2 * BLOCK + HEAD + NORM);
  assert_int_equal ((gint64)(all.model_flops_per_token - some.model_flops_per_token),
                    30 * (4 * BLOCK + 8 * 64 * 16));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (fsdp1_gathers_frozen_units_in_forward_alone),
    cmocka_unit_test (fsdp1_goes_back_through_what_is_trained),
    cmocka_unit_test (fsdp1_frees_what_was_kept),
    cmocka_unit_test (fsdp1_flattens_one_kind_of_tensors),
    cmocka_unit_test (fsdp2_gathers_one_frozen_block_in_vain),
    cmocka_unit_test (fsdp2_reduces_the_lowest_block_last),
    cmocka_unit_test (ddp_has_buckets_for_gradients_alone),
    cmocka_unit_test (only_what_is_trained_has_optimizer_states),
    cmocka_unit_test (frozen_blocks_keep_no_activations),
    cmocka_unit_test (nothing_is_left_over),
    cmocka_unit_test (model_flops_are_those_of_the_passes),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}

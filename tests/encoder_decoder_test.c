#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "config/block_kinds.h"
#include "config/stacks.h"
#include "config_fixture.h"
#include "cost/params.h"
#include "cost/tensors.h"
#include "step_fixture.h"
#include "timeline/memory.h"

/* ---- a model of round numbers ---- */

#define ENCODER_LAYERS 16
#define STACK_TIME     (200 * US)

/* Half of the 32 blocks are an encoder's. In bf16, BART's way: positions and the norm behind the
 * embedding are each stack's own, and the table of tokens is shared. */
static Scenario
bart (FsdpApi api, UnitLayout units)
{
  Scenario scenario = scenario_of_round_numbers ();

  scenario.fsdp.api = api;
  scenario.fsdp.units = units;
  scenario.model.encoder_layers = ENCODER_LAYERS;
  scenario.model.tied_embeddings = TRUE;
  scenario.model.positions = 16;
  scenario.model.outer_norms = OUTER_NORMS_EMBEDDING;
  scenario.training.encoder_seq_len = 16;
  scenario.timing.encoder_norm_forward = scenario.timing.encoder_norm_backward = 0;
  scenario.timing.stack_all_gather = scenario.timing.stack_reduce_scatter = STACK_TIME;
  stacks_build (&scenario.model);
  return scenario;
}

/* T5's: a stack has but the norm behind its blocks. */
static Scenario
t5 (FsdpApi api, UnitLayout units)
{
  Scenario scenario = bart (api, units);

  scenario.model.positions = 0;
  scenario.model.outer_norms = OUTER_NORMS_FINAL;
  return scenario;
}

/* Frees what stacks_build() made. */
static void
clear (Scenario *scenario)
{
  block_kinds_clear_built (&scenario->model);
}

static SimTime
step_time_of (Scenario scenario)
{
  SimTime time = step_time (&scenario);

  clear (&scenario);
  return time;
}

/* ---- collectives ---- */

/* Wrapped flat, the 32 blocks and the root are gathered and scattered as those of any model. */
static void
blocks_alone_are_as_in_a_decoder (void **state)
{
  static const FsdpApi apis[] = { API_FSDP1, API_FSDP2 };
  (void)state;

  for (guint i = 0; i < G_N_ELEMENTS (apis); i++)
    {
      Scenario scenario = bart (apis[i], UNITS_ROOT_AND_BLOCKS);

      assert_all_counts (&scenario, (Counts){ 33, 32, 33, 0 });
      clear (&scenario);
    }
}

/* Wrapped too, each stack is one unit more, gathered twice as a block is. */
static void
stacks_are_units_around_their_blocks (void **state)
{
  static const FsdpApi apis[] = { API_FSDP1, API_FSDP2 };
  (void)state;

  for (guint i = 0; i < G_N_ELEMENTS (apis); i++)
    {
      Scenario scenario = bart (apis[i], UNITS_STACKS_AND_BLOCKS);

      assert_counts (&scenario, UNIT_ENCODER, (Counts){ 1, 1, 1, 0 });
      assert_counts (&scenario, UNIT_DECODER, (Counts){ 1, 1, 1, 0 });
      assert_counts (&scenario, UNIT_ROOT, (Counts){ 1, 0, 1, 0 });
      assert_all_counts (&scenario, (Counts){ 35, 34, 35, 0 });
      clear (&scenario);
    }
}

/* A stack that owns nothing has no unit: post-norm blocks with sines for positions. */
static void
an_empty_stack_is_not_gathered (void **state)
{
  static const FsdpApi apis[] = { API_FSDP1, API_FSDP2 };
  (void)state;

  for (guint i = 0; i < G_N_ELEMENTS (apis); i++)
    {
      Scenario scenario = bart (apis[i], UNITS_STACKS_AND_BLOCKS);

      scenario.model.positions = 0;
      scenario.model.outer_norms = OUTER_NORMS_NONE;
      assert_all_counts (&scenario, (Counts){ 33, 32, 33, 0 });
      clear (&scenario);
    }
}

/* ---- time ---- */

/* Root and block 0 (0.5 + 1.76), 32 x 4, 32 x 8, scatters of block 0 and the root (1.76 + 0.5). */
static void
a_flat_step_is_that_of_a_decoder (void **state)
{
  (void)state;
  assert_int_equal (step_time_of (bart (API_FSDP1, UNITS_ROOT_AND_BLOCKS)), 388520 * US);
  assert_int_equal (step_time_of (bart (API_FSDP2, UNITS_ROOT_AND_BLOCKS)), 388520 * US);
}

/* The chain of prefetches is broken between the stacks: block 16 prefetches the encoder, whose
 * pre-backward alone prefetches block 15, behind the scatters of block 16 and of the decoder
 * (1.76 + 0.2) on the one communicator. With 1.76 of its own that stands open; and the encoder's
 * gather and scatter (2 x 0.2) at the ends of the step. 388.52 + 3.72 + 0.4 = 392.64. */
static void
a_stack_breaks_the_chain_of_prefetches (void **state)
{
  (void)state;
  Scenario scenario = bart (API_FSDP1, UNITS_STACKS_AND_BLOCKS);

  scenario.fsdp.limit_all_gathers = FALSE;
  assert_int_equal (step_time_of (scenario), 392640 * US);
}

/* Under the limiter a gather waits until the last unit but one has been freed, which behind block
 * 31 is block 31 itself, since the decoder is freed with it: 1.76 more. */
static void
a_stack_counts_for_the_limiter (void **state)
{
  (void)state;
  assert_int_equal (step_time_of (bart (API_FSDP1, UNITS_STACKS_AND_BLOCKS)), 394400 * US);
}

/* FSDP1 scatters a unit when its gradients are there, which T5's stacks have when their backward
 * begins; FSDP2, when those of its inputs are. The decoder's scatter (0.2) then is not behind block
 * 16's: 392.64 - 0.2; nor is the encoder's behind block 0's: - 0.2. Compute waits for neither. */
static void
t5_stacks_are_scattered_first (void **state)
{
  (void)state;
  Scenario scenario = t5 (API_FSDP1, UNITS_STACKS_AND_BLOCKS);

  scenario.fsdp.limit_all_gathers = FALSE;
  assert_int_equal (step_time_of (scenario), 392240 * US);
}

static SimTime
start_of_unit (const Timeline *timeline, TimelineOp op, guint32 unit)
{
  for (guint32 i = timeline_first_reported (timeline); i < timeline->records->len; i++)
    {
      const TimelineRecord *record = timeline_record (timeline, i);

      if (record->label.op == op && record->label.phase == PHASE_BACKWARD
          && record->label.unit == unit)
        return record->start;
    }
  fail ();
  return 0;
}

/* Is the gather of a unit issued before the head's backward? The host takes 1 ms a launch, so that
 * nothing is ahead. */
static gboolean
is_gathered_before_head (BackwardPrefetch prefetch, UnitLayout units, guint32 unit)
{
  Scenario scenario = bart (API_FSDP1, units);

  scenario.fsdp.backward_prefetch = prefetch;
  scenario.timing.host_op = 1000 * US;
  scenario.timing.head_backward = 3000 * US;
  scenario.timing.forward = scenario.timing.backward = US;
  g_autoptr (Timeline) timeline = run (&scenario);
  gboolean before = start_of_unit (timeline, TIMELINE_ALL_GATHER, unit)
                    < start_of_unit (timeline, TIMELINE_BACKWARD, UNIT_HEAD);

  clear (&scenario);
  return before;
}

/* pytorch#108190: from the units that have ended none leads to the first of the backward. Before
 * the backward the root prefetches the last unit that ended its forward. */
static void
backward_post_does_not_prefetch_the_first (void **state)
{
  const guint32 last = UNIT_FIRST_BLOCK + N_BLOCKS - 1;
  (void)state;

  assert_true (is_gathered_before_head (PREFETCH_BACKWARD_PRE, UNITS_ROOT_AND_BLOCKS, last));
  assert_false (is_gathered_before_head (PREFETCH_BACKWARD_POST, UNITS_ROOT_AND_BLOCKS, last));
  assert_true (
      is_gathered_before_head (PREFETCH_BACKWARD_PRE, UNITS_STACKS_AND_BLOCKS, UNIT_DECODER));
  assert_false (
      is_gathered_before_head (PREFETCH_BACKWARD_POST, UNITS_STACKS_AND_BLOCKS, UNIT_DECODER));
}

/* ---- parameters ---- */

static const char small_t5[]
    = "[model]\nlayers = 12\nencoder_layers = 6\nhidden = 512\nheads = 8\nhead_dim = 64\n"
      "ffn_hidden = 2048\ngated_ffn = false\nvocab = 32128\ntied_embeddings = true\n"
      "relative_positions = 32\n[cluster]\nsource = tiny_cluster.ini\n[training]\nseq_len = 64\n";

static gint64
sum_of_tensors (const ModelConfig *model)
{
  g_autoptr (GArray) tensors = tensors_new ();
  gint64 sum = 0;

  tensors_add_embedding (tensors, model);
  for (guint block = 0; block < model->layers; block++)
    tensors_add_block (tensors, model_kind (model, model_kind_of_block (model, block)));
  tensors_add_head (tensors, model);
  for (guint i = 0; i < tensors->len; i++)
    sum += g_array_index (tensors, ParamTensor, i).elements;
  return sum;
}

/* t5-small: 32,128 x 512 tokens; six times four matrices of 512 x 512, two of 512 x 2,048 and two
 * norms; six times four more and three norms; two tables of 32 x 8; two norms at the ends.
 * 16,449,536 + 6 (1,048,576 + 2,097,152 + 1,024) + 6 (2,097,152 + 2,097,152 + 1,536) + 512 + 1,024
 * = 60,506,624, which is what the library counts. */
static void
t5_small_has_its_parameters (void **state)
{
  (void)state;
  g_autoptr (ScenarioFile) file = fixture_load (small_t5, NULL);
  const ModelConfig *model = &scenario_file_variant (file, 0)->model;

  assert_int_equal (params_count (model).total, 60506624);
  assert_int_equal (sum_of_tensors (model), 60506624);
  assert_string_equal (model_kind (model, model_kind_of_block (model, 6))->name, "decoder.first");
  assert_string_equal (model_kind (model, model_kind_of_block (model, 7))->name, "decoder");
}

/* Positions and both norms outside the blocks are each stack's. */
static void
each_stack_has_ends_of_its_own (void **state)
{
  (void)state;
  Scenario scenario = bart (API_FSDP1, UNITS_ROOT_AND_BLOCKS);
  gint64 before = params_count (&scenario.model).total;

  scenario.model.positions += 8;
  assert_int_equal (params_count (&scenario.model).total - before, 2 * 8 * 64);
  scenario.model.outer_norms = OUTER_NORMS_BOTH;
  assert_int_equal (params_count (&scenario.model).total - before, 2 * 8 * 64 + 2 * 64);
  assert_int_equal (params_count (&scenario.model).total, sum_of_tensors (&scenario.model));
  clear (&scenario);
}

/* ---- cost ---- */

static void
measure (Scenario *scenario, StepCost *cost)
{
  scenario->model.norm = NORM_LAYERNORM_PLAIN; /* no weights, so that matmuls are all */
  block_kinds_clear_built (&scenario->model);
  stacks_build (&scenario->model);
  memset (&scenario->timing, 0xff, sizeof scenario->timing); /* TIMING_NOT_GIVEN */
  step_cost_new (scenario, cost);
}

/* MFU counts three times what matmuls and attention of the forward do, embeddings apart. */
static void
model_flops_are_those_of_the_passes (void **state)
{
  (void)state;
  Scenario scenario = bart (API_FSDP1, UNITS_ROOT_AND_BLOCKS);
  StepCost cost;
  double forward = 0;

  scenario.model.tied_embeddings = FALSE;
  scenario.model.outer_norms = OUTER_NORMS_NONE;
  scenario.training.micro_batch = 3;
  scenario.training.seq_len = 32;
  scenario.training.encoder_seq_len = 48;
  measure (&scenario, &cost);
  for (guint block = 0; block < N_BLOCKS; block++)
    forward += cost.kinds[model_kind_of_block (&scenario.model, block)].forward.flops;
  forward += cost.head_forward.flops;
  assert_int_equal ((gint64)(cost.model_flops_per_token * 3 * (32 + 48)), (gint64)(3 * forward));
  clear (&scenario);
}

/* Of an encoder of 48 tokens a decoder's block projects keys and values, 2 x 64 x 64 weights, and
 * attends to all of them with 64 wide queries. Twice as many tokens bring as much again:
 * 2 x 48 x 8,192 + 4 x 32 x 48 x 64. */
static void
cross_attention_grows_with_the_encoder (void **state)
{
  (void)state;
  Scenario scenario = bart (API_FSDP1, UNITS_ROOT_AND_BLOCKS);
  StepCost shorter, longer;

  scenario.training.seq_len = 32;
  scenario.training.encoder_seq_len = 48;
  measure (&scenario, &shorter);
  scenario.training.encoder_seq_len = 96;
  measure (&scenario, &longer);
  assert_int_equal ((gint64)(longer.kinds[1].forward.flops - shorter.kinds[1].forward.flops),
                    2 * 48 * 8192 + 4 * 32 * 48 * 64);
  assert_int_equal (longer.encoder_output_bytes, 96 * 64 * 2);
  clear (&scenario);
}

/* Relative positions leave scores in memory: in place of a logarithm in fp32 for each of 4 heads,
 * the 16 probabilities in fp32 and bf16; the same of cross-attention. */
static void
relative_positions_keep_their_scores (void **state)
{
  (void)state;
  Scenario scenario = t5 (API_FSDP1, UNITS_ROOT_AND_BLOCKS);
  StepCost fused, relative;

  measure (&scenario, &fused);
  scenario.model.relative_positions = 32;
  measure (&scenario, &relative);
  assert_int_equal (relative.kinds[0].saved_bytes - fused.kinds[0].saved_bytes,
                    16 * 4 * (16 * (4 + 2) - 4));
  assert_int_equal (relative.kinds[1].saved_bytes - fused.kinds[1].saved_bytes,
                    2 * 16 * 4 * (16 * (4 + 2) - 4));
  assert_int_equal (relative.kinds[2].params.total - relative.kinds[0].params.total, 32 * 4);
  clear (&scenario);
}

/* ---- what holds of all ---- */

static const FsdpApi all_apis[] = { API_FSDP1, API_FSDP2, API_DDP };
static const UnitLayout all_layouts[]
    = { UNITS_ROOT_AND_BLOCKS, UNITS_STACKS_AND_BLOCKS, UNITS_ONE };

/* Shards, gradients' absence and optimizer states are what is left after each step. */
static void
nothing_is_left_over (void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (all_apis) * G_N_ELEMENTS (all_layouts); i++)
    {
      Scenario scenario = bart (all_apis[i % 3], all_layouts[i / 3]);
      MemoryLevel level = { 0 };

      scenario.training.grad_accum = 2;
      scenario.model.tied_embeddings = i % 2 == 0;
      g_autoptr (Timeline) timeline = run (&scenario);
      for (guint k = 0; k < timeline->changes->len; k++)
        memory_level_apply (&level, &g_array_index (timeline->changes, MemoryChange, k));
      assert_int_equal (level.by_kind[MEMORY_ACTIVATIONS], 0);
      assert_int_equal (level.by_kind[MEMORY_UNSHARDED_GRADS], 0);
      if (scenario.fsdp.api != API_DDP)
        assert_int_equal (level.by_kind[MEMORY_UNSHARDED_PARAMS], 0);
      clear (&scenario);
    }
}

static void
executors_agree (void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (all_apis) * G_N_ELEMENTS (all_layouts); i++)
    {
      Scenario one_pass = bart (all_apis[i % 3], all_layouts[i / 3]);
      Scenario events = bart (all_apis[i % 3], all_layouts[i / 3]);

      one_pass.simulation.engine = ENGINE_ONE_PASS;
      events.simulation.engine = ENGINE_EVENTS;
      events.simulation.ranks = RANKS_ALL;
      assert_int_equal (step_time_of (one_pass), step_time_of (events));
    }
}

/* ---- what is refused ---- */

static void
what_is_not_modelled_is_refused (void **state)
{
  static const char *const mistakes[][2] = {
    { "model.encoder_layers=12", "encoder_layers 12 of 12 layers leave no decoder" },
    { "model.experts=4", "beside an encoder (encoder_layers = 6): experts; experts = 0 would do" },
    { "model.sliding_window=16", "(encoder_layers = 6): a window" },
    { "model.qk_norm=head", "(encoder_layers = 6): qk_norm" },
    { "model.parallel_block=true", "(encoder_layers = 6): parallel_block" },
    { "model.embedding_hidden=64", "embeddings of another width" },
    { "training.encoder_seq_len=67108864", "[training] encoder_seq_len: " },
    { "training.trainable=head", "(encoder_layers = 6): frozen weights" },
    { "fsdp.units=embed_blocks_head", "(encoder_layers = 6): units = embed_blocks_head" },
    { "model.encoder_layers=0", "relative_positions are modelled for encoder-decoders" },
  };
  (void)state;

  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++)
    {
      const char *const overrides[] = { mistakes[i][0], "model.experts_per_token=2", NULL };
      g_autofree char *found = fixture_mistakes (small_t5, overrides);

      if (strstr (found, mistakes[i][1]) == NULL)
        print_error ("%s: %s", mistakes[i][0], found);
      assert_non_null (strstr (found, mistakes[i][1]));
    }
}

static void
stacks_are_refused_without_an_encoder (void **state)
{
  static const char *const overrides[] = { "fsdp.units=stacks_and_blocks", NULL };
  (void)state;
  g_autofree char *found = fixture_mistakes (TINY, overrides);

  assert_non_null (strstr (found, "the model has no encoder (encoder_layers = 0)"));
}

/* BART's table of positions serves sequences no longer than it. */
static void
an_encoder_ends_with_its_positions (void **state)
{
  static const char *const overrides[]
      = { "model.relative_positions=0", "model.positions=64", "training.encoder_seq_len=65", NULL };
  (void)state;
  g_autofree char *found = fixture_mistakes (small_t5, overrides);

  assert_non_null (strstr (found, "encoder_seq_len 65 is over the 64 learned positions"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (blocks_alone_are_as_in_a_decoder),
    cmocka_unit_test (stacks_are_units_around_their_blocks),
    cmocka_unit_test (an_empty_stack_is_not_gathered),
    cmocka_unit_test (a_flat_step_is_that_of_a_decoder),
    cmocka_unit_test (a_stack_breaks_the_chain_of_prefetches),
    cmocka_unit_test (a_stack_counts_for_the_limiter),
    cmocka_unit_test (t5_stacks_are_scattered_first),
    cmocka_unit_test (backward_post_does_not_prefetch_the_first),
    cmocka_unit_test (t5_small_has_its_parameters),
    cmocka_unit_test (each_stack_has_ends_of_its_own),
    cmocka_unit_test (model_flops_are_those_of_the_passes),
    cmocka_unit_test (cross_attention_grows_with_the_encoder),
    cmocka_unit_test (relative_positions_keep_their_scores),
    cmocka_unit_test (nothing_is_left_over),
    cmocka_unit_test (executors_agree),
    cmocka_unit_test (what_is_not_modelled_is_refused),
    cmocka_unit_test (stacks_are_refused_without_an_encoder),
    cmocka_unit_test (an_encoder_ends_with_its_positions),
  };
  return cmocka_run_group_tests (tests, fixture_enter_data, NULL);
}

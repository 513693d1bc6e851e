#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>

#include "cost_fixture.h"

#define SECOND(piece) (PIECE_SECOND_HALF + (piece))

/* Attention and MLP are units of their own. */
static Scenario
scenario_in_pieces (void)
{
  Scenario scenario = llama_scenario ();

  scenario.fsdp.torch_minor = 8;
  scenario.fsdp.units = UNITS_ATTENTION_AND_MLP;
  scenario.checkpoint
      = (CheckpointConfig){ .method = CHECKPOINT_INSIDE, .early_stop = TRUE, .every = 1 };
  return scenario;
}

static BlockCost
block_of (const Scenario *scenario)
{
  StepCost cost;

  step_cost_new (scenario, &cost);
  return cost.kinds[0];
}

/* 1 B for each of 1024 x 1024 elements takes 1.048576 us. Norm: 36 B in 8 kernels. Attention:
 * 2,621,440 weights, 107.374182 us, 42.949673 for itself, rotary 20 and copies 4 B on 1280 a token:
 * 181.781135 us in 4 + 1 + 6 + 2 kernels. MLP: 6,291,456 weights, 257.698038, and 10 B on 2048:
 * 278.669558 us in 3 + 2. A sum: 6 B. */
static void
a_forward_is_cut_where_its_modules_end (void **state)
{
  Scenario scenario = scenario_in_pieces ();
  BlockCost block = block_of (&scenario);

  (void)state;
  assert_run (&block.pieces[PIECE_NORM_BEFORE].forward, 37748736, 8);
  assert_run (&block.pieces[PIECE_INSIDE].forward, 181781135, 13);
  assert_run (&block.pieces[PIECE_NORM_BEHIND].forward, 0, 0);
  assert_run (&block.pieces[PIECE_SUM].forward, 6291456, 1);
  assert_run (&block.pieces[SECOND (PIECE_NORM_BEFORE)].forward, 37748736, 8);
  assert_run (&block.pieces[SECOND (PIECE_INSIDE)].forward, 278669558, 5);
  assert_run (&block.pieces[SECOND (PIECE_SUM)].forward, 6291456, 1);
  assert_int_equal (block.pieces[PIECE_INSIDE].forward.host_ps, 13 * 5000000);
}

/* Matmuls twice. Attention: 134.217728 us for itself, row sums and cast 10 B on 1024, rotary 20 and
 * repeats 4 B on 1280, two sums of gradients 12 B: 52 B, 54.525952 us. MLP: 18 B on 2048 and a sum:
 * 42 B, 44.040192 us. Norm: 92 B. */
static void
a_backward_is_cut_there_too (void **state)
{
  Scenario scenario = scenario_in_pieces ();
  BlockCost block = block_of (&scenario);

  (void)state;
  assert_int_equal (block.pieces[PIECE_NORM_BEFORE].backward.time_ps, 96468992);
  assert_int_equal (block.pieces[PIECE_INSIDE].backward.time_ps, 403492045);
  assert_int_equal (block.pieces[PIECE_SUM].backward.time_ps, 6291456);
  assert_int_equal (block.pieces[SECOND (PIECE_INSIDE)].backward.time_ps, 559436268);
}

/* ---- no kernel is lost, none counted twice ---- */

typedef void (*ChangeModel) (ModelConfig *model);

static void
leave_as_it_is (ModelConfig *model)
{
  (void)model;
}

static void
make_gpt (ModelConfig *model)
{
  model->norm = NORM_LAYERNORM;
  model->gated_ffn = FALSE;
}

static void
make_parallel (ModelConfig *model)
{
  model->parallel_block = TRUE;
}

static void
make_parallel_behind_one_norm (ModelConfig *model)
{
  model->norm_placement = NORMS_SHARED;
}

static void
make_sandwich (ModelConfig *model)
{
  model->norm_placement = NORMS_SANDWICH;
}

static void
make_experts (ModelConfig *model)
{
  model->experts = 8;
  model->experts_per_token = 2;
  model->shared_ffn_hidden = 512;
}

static void
leave_out_the_feed_forward (ModelConfig *model)
{
  model->ffn_hidden = 0;
}

static void
leave_out_attention (ModelConfig *model)
{
  model->heads = 0;
}

static const ChangeModel models[] = { leave_as_it_is,
                                      make_gpt,
                                      make_parallel,
                                      make_parallel_behind_one_norm,
                                      make_sandwich,
                                      make_experts,
                                      leave_out_the_feed_forward,
                                      leave_out_attention };

#define RUN_OF(piece, pass) (*(const KernelRun *)((const char *)(piece) + (pass)))

/* Times of eight pieces are rounded eight times, a whole one's once: 4 ps apart at most. */
static void
assert_sum (const BlockCost *block, gsize pass, const KernelRun *whole)
{
  KernelRun sum = { 0 };

  for (guint i = 0; i < N_BLOCK_PIECES; i++)
    {
      const KernelRun run = RUN_OF (&block->pieces[i], pass);

      sum.time_ps += run.time_ps;
      sum.host_ps += run.host_ps;
      sum.n_kernels += run.n_kernels;
      sum.flops += run.flops;
      sum.bytes += run.bytes;
    }
  assert_in_range (sum.time_ps - whole->time_ps + 4, 0, 8);
  assert_int_equal (sum.n_kernels, whole->n_kernels);
  assert_int_equal (sum.host_ps, whole->host_ps);
  assert_true (fabs (sum.flops - whole->flops) <= 1e-12 * whole->flops);
  assert_true (fabs (sum.bytes - whole->bytes) <= 1e-12 * whole->bytes);
}

static void
pieces_make_up_the_block (void **state)
{
  (void)state;
  for (guint i = 0; i < 4 * G_N_ELEMENTS (models); i++)
    {
      Scenario scenario = scenario_in_pieces ();
      BlockCost block;

      models[i / 4](&scenario.model);
      scenario.checkpoint.early_stop = i % 2 == 0;
      scenario.checkpoint.select_op = i / 2 % 2 == 0;
      block = block_of (&scenario);
      assert_sum (&block, G_STRUCT_OFFSET (BlockPiece, forward), &block.forward);
      assert_sum (&block, G_STRUCT_OFFSET (BlockPiece, backward), &block.backward);
      assert_sum (&block, G_STRUCT_OFFSET (BlockPiece, recompute),
                  cost_recompute (&scenario, &block));
    }
}

/* ---- recomputes ---- */

/* The whole block's stops within the MLP, before its down matmul: 85.899346 us. */
static void
the_recompute_of_a_block_leaves_its_last_unit_early (void **state)
{
  Scenario scenario = scenario_in_pieces ();
  BlockCost block = block_of (&scenario);

  (void)state;
  assert_int_equal (block.unfinished_piece, SECOND (PIECE_INSIDE));
  assert_run (&block.pieces[SECOND (PIECE_INSIDE)].recompute, 192770212, 4);
  assert_run (&block.pieces[SECOND (PIECE_SUM)].recompute, 0, 0);
  assert_run (&block.pieces[PIECE_INSIDE].recompute, 181781135, 13);
  assert_run (&block.pieces[PIECE_SUM].recompute, 6291456, 1);
  leave_out_the_feed_forward (&scenario.model);
  assert_int_equal (block_of (&scenario).unfinished_piece, PIECE_INSIDE);
}

/* A norm behind the MLP saves its input, so that the MLP runs to its end; before 2.1, and
 * reentrant, nothing stops early. */
static void
no_unit_is_left_early_where_all_of_it_is_needed (void **state)
{
  Scenario sandwich = scenario_in_pieces ();
  Scenario old = scenario_in_pieces ();
  Scenario reentrant = scenario_in_pieces ();

  (void)state;
  make_sandwich (&sandwich.model);
  old.fsdp.torch_minor = 0;
  reentrant.checkpoint.use_reentrant = TRUE;
  assert_int_equal (block_of (&sandwich).unfinished_piece, N_BLOCK_PIECES);
  assert_int_equal (block_of (&old).unfinished_piece, N_BLOCK_PIECES);
  assert_int_equal (block_of (&reentrant).unfinished_piece, N_BLOCK_PIECES);
}

/* Each child stops by itself: attention before its output matmul (42.949673 us), the MLP before
 * down (85.899346), the norm before its weight is multiplied with: 4 B. Sums are in no child. */
static void
children_stop_early_each_by_itself (void **state)
{
  Scenario scenario = scenario_in_pieces ();
  BlockCost block;

  (void)state;
  scenario.checkpoint.select_children = TRUE;
  block = block_of (&scenario);
  assert_run (&block.pieces[PIECE_INSIDE].recompute, 138831462, 12);
  assert_run (&block.pieces[SECOND (PIECE_INSIDE)].recompute, 192770212, 4);
  assert_run (&block.pieces[PIECE_NORM_BEFORE].recompute, 37748736 - 4194304, 7);
  assert_run (&block.pieces[PIECE_SUM].recompute, 0, 0);
  assert_run (&block.pieces[SECOND (PIECE_SUM)].recompute, 0, 0);
  assert_int_equal (block.unfinished_piece, N_BLOCK_PIECES);
  scenario.checkpoint.early_stop = FALSE;
  block = block_of (&scenario);
  assert_run (&block.pieces[PIECE_INSIDE].recompute, 181781135, 13);
  assert_run (&block.pieces[PIECE_SUM].recompute, 0, 0);
}

/* Of query, key, value, output, gate, up and down the first, third, fifth and seventh are kept, and
 * attention: key and output, 1024 x (256 + 1024) weights, 53.687091 us, are computed again, with
 * rotary and copies, 31.457280; up, 85.899346, with SiLU and product, 20.971520. */
static void
selected_ops_are_left_out_of_their_pieces (void **state)
{
  Scenario scenario = scenario_in_pieces ();
  BlockCost block;

  (void)state;
  scenario.checkpoint.select_op = TRUE;
  block = block_of (&scenario);
  assert_run (&block.pieces[PIECE_INSIDE].recompute, 85144371, 10);
  assert_run (&block.pieces[SECOND (PIECE_INSIDE)].recompute, 106870866, 3);
}

/* Norms and sums keep their inputs, attention and MLP theirs: four tensors of 2 x 1024 B a token.
 */
static void
children_keep_their_inputs (void **state)
{
  Scenario scenario = scenario_in_pieces ();
  BlockCost block;

  (void)state;
  scenario.checkpoint.select_children = TRUE;
  block = block_of (&scenario);
  assert_int_equal (block.children_input_bytes, 4 * 1024 * 2048);
  /* queries, keys, values (copied out), output, and 4 B a head; gate, SiLU, up, product */
  assert_int_equal (block.pieces[PIECE_INSIDE].saved_bytes, 1024 * (8 * 1024 + 32));
  assert_int_equal (block.pieces[SECOND (PIECE_INSIDE)].saved_bytes, 1024 * 8 * 2048);
}

/* ---- given times ---- */

static void
a_given_time_is_shared_half_and_half (void **state)
{
  Scenario scenario = scenario_in_pieces ();
  BlockCost block;

  (void)state;
  scenario.timing.forward = 7;
  block = block_of (&scenario);
  assert_run (&block.pieces[PIECE_INSIDE].forward, 3, 1);
  assert_run (&block.pieces[SECOND (PIECE_INSIDE)].forward, 4, 1);
  assert_run (&block.pieces[PIECE_NORM_BEFORE].forward, 0, 0);
  assert_run (&block.pieces[PIECE_SUM].forward, 0, 0);
  assert_true (block.pieces[PIECE_INSIDE].forward.fixed);
  assert_false (block.pieces[PIECE_INSIDE].backward.fixed);
  leave_out_the_feed_forward (&scenario.model);
  assert_run (&block_of (&scenario).pieces[PIECE_INSIDE].forward, 7, 1);
}

static void
whole_blocks_are_not_measured_in_pieces (void **state)
{
  Scenario scenario = scenario_in_pieces ();

  (void)state;
  scenario.fsdp.units = UNITS_ROOT_AND_BLOCKS;
  assert_false (cost_is_in_pieces (&scenario));
  scenario.checkpoint.select_children = TRUE;
  assert_true (cost_is_in_pieces (&scenario));
  scenario.checkpoint.method = CHECKPOINT_NONE;
  assert_false (cost_is_in_pieces (&scenario));
  scenario.fsdp.units = UNITS_ATTENTION_AND_MLP;
  scenario.fsdp.api = API_DDP;
  assert_false (cost_is_in_pieces (&scenario));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_forward_is_cut_where_its_modules_end),
    cmocka_unit_test (a_backward_is_cut_there_too),
    cmocka_unit_test (pieces_make_up_the_block),
    cmocka_unit_test (the_recompute_of_a_block_leaves_its_last_unit_early),
    cmocka_unit_test (no_unit_is_left_early_where_all_of_it_is_needed),
    cmocka_unit_test (children_stop_early_each_by_itself),
    cmocka_unit_test (selected_ops_are_left_out_of_their_pieces),
    cmocka_unit_test (children_keep_their_inputs),
    cmocka_unit_test (a_given_time_is_shared_half_and_half),
    cmocka_unit_test (whole_blocks_are_not_measured_in_pieces),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

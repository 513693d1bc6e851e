#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <math.h>
#include <cmocka.h>

#include "config_fixture.h"
#include "study/plan.h"
#include "study/plan_find.h"
#include "study/plan_memory.h"
#include "study/study.h"
#include "study_fixture.h"

/* Llama-2 7B on DGX A100, with "key=value" words apart by blanks. */
static ScenarioFile *
llama (const char *words)
{
  g_autofree char *all
      = g_strconcat ("cluster.source=dgx-a100-80g ",
                     strstr (words, "model.source") ? "" : "model.source=llama2-7b ",
                     strstr (words, "nodes") ? "" : "cluster.nodes=2 ", words, NULL);

  return load_words (all);
}

/* ---- memory that is certain ---- */

/* Two ranks: 7B is 6,738,415,616 parameters, of which each of 16 ranks keeps 421,150,976 in 4
 * bytes, and in 8 bytes of optimizer states: 5,053,811,712 bytes. Activations come on top. */
static void
shards_and_states_are_certain (void **state)
{
  g_autoptr (ScenarioFile) file = llama ("");
  g_autoptr (ScenarioFile) sgd = llama ("training.optimizer=sgd");
  const Scenario *scenario = scenario_file_variant (file, 0);
  StepCost cost;
  gint64 activations;

  (void)state;
  step_cost_new (scenario, &cost);
  activations = cost.head_saved_bytes + 32 * cost.kinds[0].saved_bytes;
  assert_int_equal (plan_memory_at_least (scenario, &cost), 5053811712 + activations);
  assert_int_equal (plan_memory_at_least (scenario_file_variant (sgd, 0), &cost),
                    5053811712 / 3 + activations);
}

/* What is ruled out without a simulation would not have fitted. */
static void
a_simulation_never_needs_less (void **state)
{
  static const char *const cases[] = {
    "training.micro_batch=1",
    "training.micro_batch=3 activation_checkpointing.method=apply_activation_checkpointing",
    "training.micro_batch=2 activation_checkpointing.method=torch.utils.checkpoint",
    "activation_checkpointing.method=apply_activation_checkpointing "
    "activation_checkpointing.select=every:3",
    "activation_checkpointing.method=apply_activation_checkpointing "
    "activation_checkpointing.select=op",
    "fsdp.sharding_strategy=SHARD_GRAD_OP training.grad_accum=2",
    "fsdp.sharding_strategy=HYBRID_SHARD",
    "fsdp.sharding_strategy=NO_SHARD",
    "fsdp.api=fsdp2 fsdp.reshard_after_forward=false",
    "fsdp.api=fsdp2 fsdp.units=embed_blocks_head training.optimizer=adamw_fused",
    "simulation.warmup_steps=0",
    "training.seq_len=128",
  };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (ScenarioFile) file = llama (cases[i]);
      const Scenario *scenario = scenario_file_variant (file, 0);
      const StudyOptions options = { 0 };
      StudyEffort effort;
      ReportRun run;
      StepCost cost;

      step_cost_new (scenario, &cost);
      study_run (scenario, &options, &run, &effort);
      if (run.figures.peak_allocated_bytes < plan_memory_at_least (scenario, &cost))
        fail_msg ("%s: %" G_GINT64_FORMAT " allocated, at least %" G_GINT64_FORMAT, cases[i],
                  run.figures.peak_allocated_bytes, plan_memory_at_least (scenario, &cost));
      study_run_clear (&run);
    }
}

/* ---- spaces ---- */

static const char *const nothing_varied[] = { NULL };

/* Sequences of a step: nodes x 8 GPUs x micro-batch x accumulation. With 64 of them and up to 4
 * nodes: 8 at once on one node leave accumulations of 8, 4, 2 and 1; 16 on two 4, 2 and 1;
 * three nodes make 24, which 64 is no multiple of; 32 on four 2 and 1. */
static void
accumulation_holds_the_global_batch (void **state)
{
  static const PlanJob wanted[] = { { 1, 1, 8 }, { 1, 2, 4 }, { 1, 4, 2 }, { 1, 8, 1 }, { 2, 1, 4 },
                                    { 2, 2, 2 }, { 2, 4, 1 }, { 4, 1, 2 }, { 4, 2, 1 } };
  const PlanLimits limits = { .max_gpus = 32, .global_batch = 64 };
  g_autoptr (ScenarioFile) file = llama ("");
  g_autoptr (Problems) problems = problems_new ();
  PlanSpace space;

  (void)state;
  assert_true (plan_space_init (&space, file, 0, &limits, nothing_varied, problems));
  assert_int_equal (space.jobs->len, G_N_ELEMENTS (wanted));
  assert_memory_equal (space.jobs->data, wanted, sizeof wanted);
  assert_int_equal (grid_n_cells (space.grid), space.n_rest * space.jobs->len);
  plan_space_clear (&space);
}

static void
a_list_of_the_users_replaces_an_axis (void **state)
{
  static const char *const vary[] = { "cluster.nodes=2,3",
                                      "training.micro_batch=5",
                                      "fsdp.sharding_strategy=FULL_SHARD",
                                      "activation_checkpointing.select=all",
                                      "fsdp.backward_prefetch=BACKWARD_PRE",
                                      "fsdp.limit_all_gathers=true,false",
                                      NULL };
  const PlanLimits limits = { 0 };
  g_autoptr (ScenarioFile) file = llama ("");
  g_autoptr (Problems) problems = problems_new ();
  PlanSpace space;

  (void)state;
  assert_true (plan_space_init (&space, file, 0, &limits, vary, problems));
  assert_int_equal (grid_n_cells (space.grid), 2 * 2 * 2); /* with and without offload */
  assert_int_equal (space.n_on_gpu, 2);
  plan_space_clear (&space);
}

static void
the_users_offload_is_not_searched (void **state)
{
  static const char *const vary[] = { "fsdp.cpu_offload=true,false", NULL };
  const PlanLimits limits = { 0 };
  g_autoptr (ScenarioFile) file = llama ("");
  g_autoptr (ScenarioFile) ddp = llama ("fsdp.api=ddp");
  g_autoptr (Problems) problems = problems_new ();
  PlanSpace space;

  (void)state;
  assert_true (plan_space_init (&space, file, 0, &limits, vary, problems));
  assert_int_equal (space.n_on_gpu, space.n_rest);
  plan_space_clear (&space);
  assert_true (plan_space_init (&space, ddp, 0, &limits, nothing_varied, problems));
  assert_int_equal (space.n_on_gpu, space.n_rest);
  plan_space_clear (&space);
}

/* ---- plans ---- */

/* Accumulations over four are reckoned up from three and four; the best is simulated whole. */
static void
long_accumulations_are_reckoned_up (void **state)
{
  static const char *const vary[] = { "training.micro_batch=1,2", "training.grad_accum=24", NULL };
  const PlanLimits limits = { 0 };
  g_autoptr (ScenarioFile) file = llama ("cluster.nodes=4");
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (Plan) plan = plan_new (file, 0, &limits, vary, problems);
  const PlanChoice *choices;
  guint n, n_reckoned = 0;

  (void)state;
  assert_non_null (plan);
  plan_run (plan, 2, NULL, NULL);
  choices = plan_choices (plan, &n);
  assert_true (n > 0);
  for (gsize cell = 0; cell < grid_n_cells (plan_grid (plan)); cell++)
    {
      const PlanCandidate *candidate = plan_candidate (plan, cell);
      const StudyOptions options = { 0 };
      StudyEffort effort;
      Scenario scenario;
      ReportRun run;

      if (candidate->verdict != PLAN_FITS || candidate->is_exact)
        continue;
      n_reckoned++;
      plan_fill (plan, cell, &scenario);
      study_run (&scenario, &options, &run, &effort);
      assert_true (fabs (candidate->step_time_s / run.figures.step_time_s - 1) < 1e-3);
      study_run_clear (&run);
      cells_clear_scenario (&scenario);
    }
  assert_true (n_reckoned > 0);
  for (guint i = 1; i < n; i++)
    assert_true (choices[i - 1].run.figures.tokens_per_s >= choices[i].run.figures.tokens_per_s);
}

/* On the front each is faster than all that are cheaper. */
static void
nothing_on_the_front_is_beaten (void **state)
{
  const PlanLimits limits
      = { .max_gpus = 64, .tokens = 1e12, .deadline_s = 40 * 86400, .headroom = 0.05 };
  g_autoptr (ScenarioFile) file = llama ("");
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (Plan) plan = plan_new (file, 0, &limits, nothing_varied, problems);
  const PlanChoice *choices;
  guint n, n_front = 0;

  (void)state;
  plan_run (plan, 2, NULL, NULL);
  choices = plan_choices (plan, &n);
  for (guint i = 0; i < n; i++)
    {
      const Figures *figures = &choices[i].run.figures;

      assert_true ((double)figures->peak_reserved_bytes
                   <= 0.95 * (double)choices[i].run.facts.capacity_bytes);
      assert_int_equal (choices[i].meets_limits, choices[i].expense.days <= 40);
      n_front += choices[i].is_on_front;
      for (guint k = 0; k < n && choices[i].is_on_front; k++)
        assert_false (choices[k].run.figures.tokens_per_s > figures->tokens_per_s
                      && choices[k].expense.gpu_hours < choices[i].expense.gpu_hours);
    }
  assert_true (n_front >= 2);
}

/* 7B on two GPUs: 16 bytes a parameter are 54 GB on each, so small micro-batches fit on the GPU
 * alone; with shards on the host larger ones do. Each candidate with offload has a twin without,
 * n_on_gpu cells before it. */
static void
offload_is_tried_where_nothing_else_fits (void **state)
{
  const PlanLimits limits = { 0 };
  g_autoptr (ScenarioFile) file = llama ("cluster.nodes=1 cluster.gpus_per_node=2");
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (Plan) plan = plan_new (file, 0, &limits, nothing_varied, problems);
  const guint keys[] = { 3 };
  guint n_needed = 0, n_not_needed = 0;
  PlanSpace space;

  (void)state;
  assert_true (plan_space_init (&space, file, 0, &limits, nothing_varied, problems));
  assert_string_equal (grid_key (space.grid, keys[0])->key, "cpu_offload");
  plan_run (plan, 2, NULL, NULL);
  for (gsize cell = 0; cell < grid_n_cells (space.grid); cell++)
    {
      const gboolean offloads = g_str_equal (grid_value (plan_grid (plan), cell, keys[0]), "true");
      const PlanVerdict verdict = plan_candidate (plan, cell)->verdict;

      assert_int_equal (offloads, cell % space.n_rest >= space.n_on_gpu);
      if (!offloads)
        {
          assert_int_not_equal (verdict, PLAN_NOT_NEEDED);
          continue;
        }
      const PlanVerdict twin = plan_candidate (plan, cell - space.n_on_gpu)->verdict;

      n_not_needed += verdict == PLAN_NOT_NEEDED && twin == PLAN_FITS;
      n_needed += verdict == PLAN_FITS;
      if (twin == PLAN_FITS)
        assert_int_equal (verdict, PLAN_NOT_NEEDED);
      if (verdict == PLAN_FITS)
        assert_true (twin == PLAN_TOO_BIG || twin == PLAN_DOES_NOT_FIT || twin == PLAN_NOT_REACHED);
    }
  assert_true (n_needed > 0 && n_not_needed > 0);
  plan_space_clear (&space);
}

/* 70B on 16 ranks, 8 of a node: parameters, gradients and two states of 4 bytes are
 * 68,976,648,192 x 16 / 2 bytes on each host. */
static void
hosts_hold_what_is_offloaded (void **state)
{
  g_autoptr (ScenarioFile) file = llama ("model.source=llama2-70b fsdp.cpu_offload=true");
  const Scenario *scenario = scenario_file_variant (file, 0);
  StepCost cost;

  (void)state;
  step_cost_new (scenario, &cost);
  assert_int_equal (plan_host_memory (scenario, &cost), G_GINT64_CONSTANT (68976648192) * 16 / 2);
}

/* ---- --find ---- */

static void
the_value_beyond_does_not_fit (void **state)
{
  const PlanLimits limits = { .headroom = 0.1 };
  g_autoptr (ScenarioFile) file = llama ("");
  FindResult result;

  (void)state;
  plan_find (file, 0, FIND_MICRO_BATCH, &limits, &result);
  assert_true (result.found);
  assert_int_equal (result.next.value, result.best.value + 1);
  assert_true ((double)result.best.reserved_bytes <= 0.9 * (double)result.best.capacity_bytes);
  assert_true ((double)result.next.reserved_bytes > 0.9 * (double)result.next.capacity_bytes);
  find_result_clear (&result);
  plan_find (file, 0, FIND_SEQ_LEN, &limits, &result);
  assert_true (result.found);
  assert_int_equal (result.best.value % 128, 0);
  assert_int_equal (result.next.value, result.best.value + 128);
  find_result_clear (&result);
}

/* 70B needs 12 bytes a parameter in shards and states alone, 828 GB: over one node of 640. */
static void
the_fewest_nodes_are_found (void **state)
{
  PlanLimits limits = { 0 };
  g_autoptr (ScenarioFile) file = llama (
      "model.source=llama2-70b activation_checkpointing.method=apply_activation_checkpointing");
  FindResult result;

  (void)state;
  plan_find (file, 0, FIND_NODES, &limits, &result);
  assert_true (result.found);
  assert_true (result.best.value >= 2);
  assert_int_equal (result.next.value, result.best.value - 1);
  assert_false (result.next.fits);
  find_result_clear (&result);
  limits.max_gpus = 8;
  plan_find (file, 0, FIND_NODES, &limits, &result);
  assert_false (result.found);
  assert_int_equal (result.best.value, 1);
  find_result_clear (&result);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (shards_and_states_are_certain),
    cmocka_unit_test (a_simulation_never_needs_less),
    cmocka_unit_test (accumulation_holds_the_global_batch),
    cmocka_unit_test (a_list_of_the_users_replaces_an_axis),
    cmocka_unit_test (the_users_offload_is_not_searched),
    cmocka_unit_test (long_accumulations_are_reckoned_up),
    cmocka_unit_test (nothing_on_the_front_is_beaten),
    cmocka_unit_test (offload_is_tried_where_nothing_else_fits),
    cmocka_unit_test (hosts_hold_what_is_offloaded),
    cmocka_unit_test (the_value_beyond_does_not_fit),
    cmocka_unit_test (the_fewest_nodes_are_found),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

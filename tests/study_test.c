#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>

#include "study/step_error.h"
#include "study/study_many.h"
#include "study_fixture.h"

static ScenarioFile *
load (const GPtrArray *overrides)
{
  return load_overrides ((const char *const *)overrides->pdata);
}

/* A job of two nodes whose overrides are words apart by spaces. */
static GPtrArray *
job (const char *words)
{
  GPtrArray *overrides = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) parts = g_strsplit (words, " ", -1);

  g_ptr_array_add (overrides, g_strdup ("model.source=llama2-7b"));
  g_ptr_array_add (overrides, g_strdup ("cluster.source=dgx-a100-80g"));
  g_ptr_array_add (overrides, g_strdup ("cluster.nodes=2"));
  for (guint i = 0; parts[i] != NULL; i++)
    if (*parts[i] != '\0')
      g_ptr_array_add (overrides, g_strdup (parts[i]));
  g_ptr_array_add (overrides, NULL);
  return overrides;
}

/* Round times; all that is not named here is 0. */
#define ROUND_TIMES                                                                                \
  "timing.forward=4ms timing.recompute=4ms timing.backward=8ms "                                   \
  "timing.all_gather=1.76ms timing.reduce_scatter=1.76ms "                                         \
  "timing.root_all_gather=0.5ms timing.root_reduce_scatter=0.5ms "                                 \
  "timing.embed_forward=0s timing.head_forward=0s timing.head_backward=0s "                        \
  "timing.embed_backward=0s timing.all_reduce=0s timing.root_all_reduce=0s "                       \
  "timing.embed_all_gather=0s timing.embed_reduce_scatter=0s timing.embed_all_reduce=0s "          \
  "timing.head_all_gather=0s timing.head_reduce_scatter=0s timing.head_all_reduce=0s "             \
  "timing.grad_clip=0s timing.optimizer_step=0s timing.fsdp_copies=0s timing.host_op=0s "          \
  "timing.limiter_wakeup=0s simulation.compute_slowdown=0% "

#define WRAPPER "activation_checkpointing.method=apply_activation_checkpointing "
#define NAIVE                                                                                      \
  "activation_checkpointing.method=torch.utils.checkpoint "                                        \
  "activation_checkpointing.use_reentrant=true "
#define PREFETCH "fsdp.backward_prefetch="

typedef struct
{
  const char *words;
  SimTime step_ps;
} StepCase;

/* In units of 0.01 ms: 32 blocks, F = R = 400, B = 800, a block's all-gather and
 * reduce-scatter A = S = 176, the root's a = s = 50.
 *
 * none, prefetched: a + A before block 0 can run, then 32 F and 32 B hide all
 * but the last: S of block 0, then s behind it.
 *   50 + 176 + 12800 + 25600 + 176 + 50 = 38852
 * none, NO_PREFETCH: after each of 31 backwards the host gathers the next block
 * behind the reduce-scatter on the same communicator: S + A exposed.
 *   38852 + 31 x 352 = 49764
 * wrapper: R before each B.                   38852 + 32 x 400 = 51652
 * wrapper, NO_PREFETCH:                       49764 + 12800    = 62564
 * naive: the recompute's own all-gather takes the prefetched flag away, so that
 * nothing is prefetched whatever the setting: as wrapper, NO_PREFETCH = 62564
 * SHARD_GRAD_OP, none: no block is gathered in backward, with or without
 * prefetch, and reduce-scatters are hidden: as none, prefetched = 38852. */
static void
step_times_are_those_worked_out_by_hand (void **state)
{
  static const StepCase cases[] = {
    { PREFETCH "BACKWARD_PRE", 38852 },
    { PREFETCH "NO_PREFETCH", 49764 },
    { WRAPPER PREFETCH "BACKWARD_PRE", 51652 },
    { WRAPPER PREFETCH "BACKWARD_POST", 51652 },
    { WRAPPER PREFETCH "NO_PREFETCH", 62564 },
    { NAIVE PREFETCH "BACKWARD_PRE", 62564 },
    { NAIVE PREFETCH "BACKWARD_POST", 62564 },
    { NAIVE PREFETCH "NO_PREFETCH", 62564 },
    { "fsdp.sharding_strategy=SHARD_GRAD_OP " PREFETCH "BACKWARD_PRE", 38852 },
    { "fsdp.sharding_strategy=SHARD_GRAD_OP " PREFETCH "NO_PREFETCH", 38852 },
  };
  static const char *const executors[] = {
    "simulation.engine=one_pass",
    "simulation.engine=events",
    "simulation.engine=one_pass simulation.ranks=all",
    "simulation.engine=events simulation.ranks=all",
  };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases) * G_N_ELEMENTS (executors); i++)
    {
      const StepCase *wanted = &cases[i / G_N_ELEMENTS (executors)];
      const char *executor = executors[i % G_N_ELEMENTS (executors)];
      g_autofree char *words = g_strjoin (" ", ROUND_TIMES, wanted->words, executor, NULL);
      g_autoptr (GPtrArray) overrides = job (words);
      g_autoptr (ScenarioFile) file = load (overrides);
      const StudyOptions options = { 0 };
      StudyEffort effort;
      ReportRun run;
      SimTime step_ps;

      study_run (scenario_file_variant (file, 0), &options, &run, &effort);
      step_ps = timeline_reported_time (g_ptr_array_index (run.timelines, 0));
      if (step_ps != wanted->step_ps * 10 * PICOSECONDS_PER_MICROSECOND)
        fail_msg ("%s %s: %" G_GINT64_FORMAT " ps", wanted->words, executor, step_ps);
      assert_int_equal (effort.n_simulated_ranks, strstr (executor, "all") != NULL ? 16 : 1);
      assert_int_equal (effort.used_events, strstr (executor, "events") != NULL);
      study_run_clear (&run);
    }
}

static guint
rank_of (const ReportRun *run, guint index)
{
  return ((const Timeline *)g_ptr_array_index (run->timelines, index))->rank;
}

/* Rank 9 computes half as fast and is the slowest; 3 and 5 were asked for, 3 twice. */
static void
the_slowest_rank_comes_before_those_asked_for (void **state)
{
  g_autoptr (GPtrArray) overrides = job ("simulation.straggler=9:2");
  g_autoptr (ScenarioFile) file = load (overrides);
  const Scenario *scenario = scenario_file_variant (file, 0);
  static const guint wanted[] = { 3, 5, 3 };
  StudyOptions options = { .ranks = wanted, .n_ranks = G_N_ELEMENTS (wanted) };
  StudyEffort effort;
  ReportRun run;

  (void)state;
  study_run (scenario, &options, &run, &effort);
  assert_int_equal (run.timelines->len, 3);
  assert_int_equal (rank_of (&run, 0), 9);
  assert_int_equal (rank_of (&run, 1), 3);
  assert_int_equal (rank_of (&run, 2), 5);
  study_run_clear (&run);

  options = (StudyOptions){ .all_ranks = TRUE };
  study_run (scenario, &options, &run, &effort);
  assert_int_equal (run.timelines->len, 16);
  assert_int_equal (rank_of (&run, 0), 9);
  for (guint i = 1; i < 16; i++)
    assert_int_equal (rank_of (&run, i), i <= 9 ? i - 1 : i);
  study_run_clear (&run);
}

/* 6,738,415,616 parameters less 32000 x 4096 of the embedding, 6 FLOPs each, and
 * 12 x 32 x 4096 x 4096 of attention. Checkpointing all blocks adds a third of what
 * the blocks do: 202,383,360 parameters a block, of which its two norms
 * (2 x 4096) do no matmul, 2 FLOPs each, and 4 x 4096 x 4096 of attention. */
static void
facts_count_tokens_and_flops (void **state)
{
  static const char *const words[]
      = { "training.micro_batch=2 training.grad_accum=3", NAIVE "training.micro_batch=2 " };
  const double model_flops = 6.0 * (6738415616 - 32000 * 4096) + 12.0 * 32 * 4096 * 4096;
  const double recompute_flops = 32 * (2.0 * (202383360 - 2 * 4096) + 4.0 * 4096 * 4096);
  const StudyOptions options = { 0 };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    {
      g_autoptr (GPtrArray) overrides = job (words[i]);
      g_autoptr (ScenarioFile) file = load (overrides);
      const Scenario *scenario = scenario_file_variant (file, 0);
      StudyEffort effort;
      ReportRun run;

      study_run (scenario, &options, &run, &effort);
      assert_int_equal (run.facts.n_ranks, 16);
      assert_true (run.facts.tokens_per_step == (i == 0 ? 3 : 1) * 2.0 * 4096 * 16);
      assert_true (run.facts.model_flops_per_token == model_flops);
      assert_true (run.facts.hardware_flops_per_token
                   == model_flops + (i == 0 ? 0 : recompute_flops));
      assert_true (run.facts.capacity_bytes
                   == scenario->gpu.memory_bytes - scenario->gpu.reserved_memory_bytes);
      study_run_clear (&run);
    }
}

#define REFUSED "fsdp.torch=2.0 activation_checkpointing.method=torch.utils.checkpoint"

static void
refusals_are_results_with_a_reason (void **state)
{
  static const struct
  {
    const char *words;
    RunStatus status;
    const char *reason;
  } cases[] = {
    { REFUSED, RUN_REFUSED, "105090" },
    { "training.seq_len=65536 training.micro_batch=4", RUN_DOES_NOT_FIT, "" },
  };
  const StudyOptions options = { 0 };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GPtrArray) overrides = job (cases[i].words);
      g_autoptr (ScenarioFile) file = load (overrides);
      StudyEffort effort;
      ReportRun run;

      study_run (scenario_file_variant (file, 0), &options, &run, &effort);
      assert_int_equal (run.figures.status, cases[i].status);
      assert_non_null (strstr (run.figures.reason, cases[i].reason));
      assert_true (*run.figures.reason != '\0');
      assert_true ((run.timelines == NULL) == (cases[i].status == RUN_REFUSED));
      study_run_clear (&run);
    }
}

/* Twelve jobs of different length, one refused, on one thread and on five. */
static void
threads_do_not_change_results (void **state)
{
  enum
  {
    N_JOBS = 12
  };
  const StudyOptions options = { 0 };
  ReportRun runs[2][N_JOBS];

  (void)state;
  for (guint round = 0; round < 2; round++)
    {
      g_autoptr (GPtrArray) files
          = g_ptr_array_new_with_free_func ((GDestroyNotify)scenario_file_free);
      StudyJob jobs[N_JOBS] = { 0 };

      for (guint i = 0; i < N_JOBS; i++)
        {
          g_autofree char *words
              = g_strdup_printf ("training.grad_accum=%u simulation.compute_jitter=3%% %s",
                                 N_JOBS - i, i == 5 ? REFUSED : "");
          g_autoptr (GPtrArray) overrides = job (words);

          g_ptr_array_add (files, load (overrides));
          jobs[i].scenario = scenario_file_variant (g_ptr_array_index (files, i), 0);
          jobs[i].run = &runs[round][i];
        }
      study_run_many (jobs, N_JOBS, &options, round == 0 ? 1 : 5, NULL, NULL);
    }
  for (guint i = 0; i < N_JOBS; i++)
    {
      assert_int_equal (runs[0][i].figures.status, runs[1][i].figures.status);
      assert_int_equal (runs[0][i].figures.status == RUN_REFUSED, i == 5);
      if (i != 5)
        assert_memory_equal (&runs[0][i].figures.step_time_s, &runs[1][i].figures.step_time_s,
                             sizeof (double));
      study_run_clear (&runs[0][i]);
      study_run_clear (&runs[1][i]);
    }
}

#define ERRORS                                                                                     \
  "gpu.error_small=1% gpu.error_small_checkpointed=2% "                                            \
  "gpu.error_large=3% gpu.error_large_checkpointed=4% "

/* Llama-2 7B has 6.7B parameters; with 202M a block, 49 blocks make it 10.2B, 64 13.2B. */
static void
intervals_go_by_size_and_checkpointing (void **state)
{
  static const struct
  {
    const char *words;
    double error; /* 0: unknown */
  } cases[] = {
    { ERRORS, 0.01 },
    { ERRORS WRAPPER, 0.02 },
    { ERRORS "model.layers=49", 0.03 },
    { ERRORS NAIVE "model.layers=64", 0.04 },
    { "gpu.error_small=0%", 0 },
    { ERRORS "timing.forward=4ms", 0.01 },
    { ERRORS "timing.forward=4ms timing.backward=8ms", 0 },
  };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GPtrArray) overrides = job (cases[i].words);
      g_autoptr (ScenarioFile) file = load (overrides);
      const double error = step_error (scenario_file_variant (file, 0));
      const StudyOptions options = { 0 };
      StudyEffort effort;
      ReportRun run;

      if (cases[i].error > 0 ? fabs (error - cases[i].error) > 1e-9 : !isnan (error))
        fail_msg ("%s: %g", cases[i].words, error);
      study_run (scenario_file_variant (file, 0), &options, &run, &effort);
      assert_int_equal (isnan (run.figures.step_time_low_s), isnan (error));
      if (!isnan (error))
        {
          assert_true (
              fabs (run.figures.step_time_low_s * (1 + error) / run.figures.step_time_s - 1)
              < 1e-9);
          assert_true (fabs (run.figures.step_time_high_s / run.figures.step_time_s - 1 - error)
                       < 1e-9);
        }
      study_run_clear (&run);
    }
}

/* Of 9 errors the ceil (0.9 x 10) = 9th, of 19 the 18th; 8 are too few. */
static void
quantiles_count_the_one_to_come (void **state)
{
  double errors[19];

  (void)state;
  for (guint n = 8; n <= 19; n++)
    {
      double quantile;

      for (guint i = 0; i < n; i++)
        errors[i] = n - i;
      quantile = step_error_quantile (errors, n);
      if (n == 8)
        assert_true (isnan (quantile));
      if (n == 9)
        assert_true (fabs (quantile - 9) < 1e-12);
      if (n == 19)
        assert_true (fabs (quantile - 18) < 1e-12);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (intervals_go_by_size_and_checkpointing),
    cmocka_unit_test (quantiles_count_the_one_to_come),
    cmocka_unit_test (step_times_are_those_worked_out_by_hand),
    cmocka_unit_test (the_slowest_rank_comes_before_those_asked_for),
    cmocka_unit_test (facts_count_tokens_and_flops),
    cmocka_unit_test (refusals_are_results_with_a_reason),
    cmocka_unit_test (threads_do_not_change_results),
  };

  return cmocka_run_group_tests_name ("study", tests, NULL, NULL);
}

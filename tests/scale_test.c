/* Many ranks: stragglers, waiting, noise and failures; and what holds for any scenario. */
#include <config.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "program_fixture.h"
#include "report/goodput.h"
#include "study/repeat.h"
#include "study_fixture.h"

#define MS (1000 * PICOSECONDS_PER_MICROSECOND)

static void
assert_near (double value, double wanted, double tolerance)
{
  if (!(fabs (value - wanted) <= tolerance))
    fail_msg ("%.12g, not %.12g", value, wanted);
}

/* ---- scenarios of overrides ---- */

/* Runs the only variant; *file is what the run borrows. */
static void
run_words (const GString *words, ScenarioFile **file, ReportRun *run)
{
  const StudyOptions options = { 0 };
  StudyEffort effort;

  *file = load_words (words->str);
  study_run (scenario_file_variant (*file, 0), &options, run, &effort);
}

static SimTime
reported_time (const ReportRun *run)
{
  return timeline_reported_time (g_ptr_array_index (run->timelines, 0));
}

/* 0 where PyTorch refuses it. */
static SimTime
time_of_words (const GString *words)
{
  g_autoptr (ScenarioFile) file = NULL;
  ReportRun run;
  SimTime time;

  run_words (words, &file, &run);
  time = figures_did_run (&run.figures) ? reported_time (&run) : 0;
  study_run_clear (&run);
  return time;
}

/* ---- one slow rank ---- */

/* Round times, no checkpointing: 32 blocks, F = 4, B = 8, all-gather and reduce-scatter of a block
 * A = S = 1.76, of the root a = s = 0.5, all-reduces r ms. */
static GString *
job_of_512 (const char *more)
{
  GString *words
      = g_string_new ("model.source=llama2-7b cluster.source=dgx-h100 cluster.nodes=64 "
                      "timing.forward=4ms timing.backward=8ms timing.all_gather=1.76ms "
                      "timing.reduce_scatter=1.76ms timing.root_all_gather=0.5ms "
                      "timing.root_reduce_scatter=0.5ms timing.embed_forward=0s "
                      "timing.head_forward=0s timing.head_backward=0s timing.embed_backward=0s "
                      "timing.grad_clip=0s timing.optimizer_step=0s timing.fsdp_copies=0s "
                      "timing.host_op=0s timing.limiter_wakeup=0s "
                      "simulation.compute_slowdown=0% simulation.ranks=all ");

  return g_string_append (words, more);
}

#define HYBRID                                                                                     \
  "fsdp.sharding_strategy=HYBRID_SHARD timing.all_reduce=1ms timing.root_all_reduce=0.5ms"
#define SLOW "simulation.straggler=37:1.1"

/* In ms. FULL_SHARD, all alike: a + A before block 0, then 32 F and 32 B hide all but block 0's S
 * and the root's s:
 *   0.5 + 1.76 + 128 + 256 + 1.76 + 0.5 = 388.52
 * Rank 37 takes 1.1 times as long for each F and B, and nobody gets ahead of it:
 *   0.5 + 1.76 + 140.8 + 281.6 + 1.76 + 0.5 = 426.92, or 9.9 % more: 10 % of all but 4.52.
 * HYBRID_SHARD: all-reduces are on a communicator of their own. Behind block 0's S its r of 1 runs
 * beside the root's s, then the root's r of 0.5:
 *   0.5 + 1.76 + 128 + 256 + 1.76 + 1 + 0.5 = 389.52, with the slow rank 427.92
 * The slow rank holds up its own shard group at each gather, the others by their all-reduces. */
static void
a_slow_rank_of_512_costs_what_arithmetic_says (void **state)
{
  static const struct
  {
    const char *words;
    double step_ms;
  } cases[] = { { "", 388.52 }, { SLOW, 426.92 }, { HYBRID, 389.52 }, { HYBRID " " SLOW, 427.92 } };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GString) words = job_of_512 (cases[i].words);
      const SimTime time = time_of_words (words);

      if (time != (SimTime)llround (cases[i].step_ms * MS))
        fail_msg ("'%s': %" G_GINT64_FORMAT " ps", cases[i].words, time);
    }
}

static double
waits_ms (const RankSpread *spread, TimelineOp op, guint *n)
{
  double sum = 0;

  *n = 0;
  for (guint i = 0; i < spread->waits->len; i++)
    if (g_array_index (spread->waits, CollectiveWait, i).label.op == op)
      {
        sum += g_array_index (spread->waits, CollectiveWait, i).sum / MS;
        ++*n;
      }
  return sum;
}

/* FULL_SHARD: 511 ranks wait for 37, it for nobody. HYBRID_SHARD: the 7 of its shard group wait in
 * gathers and scatters, the 504 others for their own replicas alone: in the all-reduces of the
 * group to which rank 37's shard belongs, 37 % 8 = 5, and through those behind it. */
static void
ranks_wait_where_the_slow_one_meets_them (void **state)
{
  g_autoptr (GString) full = job_of_512 (SLOW);
  g_autoptr (GString) hybrid = job_of_512 (HYBRID " " SLOW);
  g_autoptr (ScenarioFile) full_file = NULL, hybrid_file = NULL;
  ReportRun run;
  guint n;

  (void)state;
  run_words (full, &full_file, &run);
  assert_int_equal (run.spread->n_ranks, 512);
  assert_int_equal (run.spread->waited[37], 0);
  for (guint rank = 0; rank < 512; rank++)
    if (rank != 37)
      assert_true (run.spread->waited[rank] > 0
                   && run.spread->waited[rank] == run.spread->waited[0]);
  study_run_clear (&run);
  run_words (hybrid, &hybrid_file, &run);
  assert_int_equal (run.spread->waited[37], 0);
  assert_true (waits_ms (run.spread, TIMELINE_ALL_GATHER, &n) > 0);
  assert_int_equal (n, 65);
  assert_true (waits_ms (run.spread, TIMELINE_ALL_REDUCE, &n) > 0);
  assert_int_equal (n, 33);
  study_run_clear (&run);
}

/* Two ranks, a kernel of 100 then a collective: the second, twice as slow, is waited for, 100. */
static void
waiting_is_from_ones_own_arrival_to_the_last (void **state)
{
  g_autoptr (Program) program = program_new ();
  g_autoptr (Network) network = fixture_network (1, 2);
  const StreamId stream = program_add_stream (program, "compute", LANE_COMPUTE);
  const CommunicatorId all = program_add_communicator (program, "all", LANE_COMM_SHARD, 2, 1);
  const NumberedFigure slow = { 1, 2.0 };
  EngineOptions options = { .n_ranks = 2, .slow_ranks = &slow, .n_slow_ranks = 1 };

  (void)state;
  program_end_of_load (program);
  fixture_kernel (program, stream, 100, 0);
  fixture_collective (program, all, stream, 10, 0);
  program_end_of_step (program, stream);
  program_seal (program, 0);
  for (guint round = 0; round < 2; round++)
    {
      EngineResult result;
      const CollectiveWait *wait;

      options.force_events = round == 1;
      engine_run (program, network, &options, NULL, 0, &result);
      wait = &g_array_index (result.spread->waits, CollectiveWait, 0);
      assert_int_equal (result.spread->waited[0], 100);
      assert_int_equal (result.spread->waited[1], 0);
      assert_int_equal (wait->most, 100);
      assert_true (wait->sum == 100);
      assert_int_equal (result.spread->step_times[0], 210);
      engine_result_clear (&result);
    }
}

static void
assert_same_spread (const RankSpread *a, const RankSpread *b)
{
  assert_int_equal (a->n_ranks, b->n_ranks);
  assert_memory_equal (a->step_times, b->step_times, a->n_ranks * sizeof (SimTime));
  assert_memory_equal (a->waited, b->waited, a->n_ranks * sizeof (SimTime));
  assert_int_equal (a->waits->len, b->waits->len);
  for (guint i = 0; i < a->waits->len; i++)
    {
      const CollectiveWait *x = &g_array_index (a->waits, CollectiveWait, i);
      const CollectiveWait *y = &g_array_index (b->waits, CollectiveWait, i);

      assert_true (x->most == y->most && x->sum == y->sum && x->step == y->step);
    }
}

static void
both_executors_see_the_same_waiting (void **state)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (3);
  g_autoptr (Network) network = fixture_network (1, 4);

  (void)state;
  for (guint i = 0; i < 100; i++)
    {
      g_autoptr (Program) program = fixture_random_program (random, 4);
      EngineOptions options = { .n_ranks = 4, .compute_jitter = 0.3, .seed = i };
      EngineResult one_pass, events;

      engine_run (program, network, &options, NULL, 0, &one_pass);
      options.force_events = TRUE;
      engine_run (program, network, &options, NULL, 0, &events);
      assert_same_spread (one_pass.spread, events.spread);
      engine_result_clear (&one_pass);
      engine_result_clear (&events);
    }
}

/* ---- any scenario ---- */

static const char *
any (GRand *random, const char *const *words, guint n)
{
  return words[g_rand_int_range (random, 0, (gint32)n)];
}
#define ANY(random, ...)                                                                           \
  any (random, (const char *const[]){ __VA_ARGS__ },                                               \
       G_N_ELEMENTS (((const char *const[]){ __VA_ARGS__ })))

/* Settings of all sorts, on two nodes of GPUs. */
static GString *
any_settings (GRand *random)
{
  GString *words = g_string_new ("model.source=gpt2 ");
  const char *strategy = ANY (random, "FULL_SHARD", "SHARD_GRAD_OP", "HYBRID_SHARD");

  g_string_append_printf (words, "cluster.source=%s cluster.nodes=2 ",
                          ANY (random, "dgx-a100-80g", "dgx-h100", "polaris"));
  g_string_append_printf (words, "model.layers=%d training.grad_accum=%d ",
                          g_rand_int_range (random, 1, 7), g_rand_int_range (random, 1, 4));
  g_string_append_printf (words, "fsdp.api=%s fsdp.sharding_strategy=%s fsdp.torch=%s ",
                          ANY (random, "fsdp1", "fsdp2", "ddp"), strategy,
                          ANY (random, "2.3", "2.5", "2.8"));
  g_string_append_printf (words, "fsdp.backward_prefetch=%s fsdp.forward_prefetch=%s ",
                          ANY (random, "BACKWARD_PRE", "BACKWARD_POST", "NO_PREFETCH"),
                          ANY (random, "true", "false"));
  g_string_append_printf (words, "fsdp.limit_all_gathers=%s training.no_sync=%s ",
                          ANY (random, "true", "false"), ANY (random, "true", "false"));
  g_string_append_printf (words, "fsdp.reshard_after_forward=%s fsdp.forward_prefetch_depth=%d ",
                          ANY (random, "auto", "true", "false"), g_rand_int_range (random, 0, 3));
  g_string_append_printf (
      words, "activation_checkpointing.method=%s ",
      ANY (random, "none", "torch.utils.checkpoint", "apply_activation_checkpointing"));
  g_string_append_printf (words, "activation_checkpointing.use_reentrant=%s ",
                          ANY (random, "true", "false"));
  g_string_append_printf (words, "training.max_grad_norm=%s training.seq_len=256 ",
                          ANY (random, "0", "1.0"));
  return words;
}

#define TIMING(key, what) #key,
static const char *const timings[] = {
#include "config/timing.def"
};
#undef TIMING

static void
append_timings (GString *words, const guint *times_us)
{
  for (guint i = 0; i < G_N_ELEMENTS (timings); i++)
    g_string_append_printf (words, " timing.%s=%uus", timings[i], times_us[i]);
}

/* In max-plus algebra the end of each piece of work is a maximum of sums of durations, and so is
 * the end of the last step; time 0 is that of the load. So nothing gets later where some durations
 * shrink, none to 0, which would be another program. limiter_wakeup is left out: it is paid only
 * where the host really blocked, so that a host that comes a little earlier may have to pay it. */
static void
shorter_durations_never_make_a_step_slower (void **state)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (4);
  guint n_tried = 0;

  (void)state;
  for (guint round = 0; round < 150; round++)
    {
      g_autoptr (GString) before = any_settings (random);
      g_autoptr (GString) after = NULL;
      guint times_us[G_N_ELEMENTS (timings)];
      SimTime longer, shorter;

      g_string_append (before, "simulation.compute_slowdown=0% simulation.warmup_steps=0");
      g_string_append_printf (before, " simulation.steps=%d", g_rand_int_range (random, 1, 4));
      after = g_string_new (before->str);
      for (guint i = 0; i < G_N_ELEMENTS (timings); i++)
        times_us[i] = g_str_equal (timings[i], "limiter_wakeup")
                          ? 0
                          : (guint)g_rand_int_range (random, 1, 5000);
      append_timings (before, times_us);
      for (gint i = g_rand_int_range (random, 1, 6); i > 0; i--)
        {
          guint *time_us = &times_us[g_rand_int_range (random, 0, G_N_ELEMENTS (timings))];

          *time_us -= *time_us > 0 ? (guint)g_rand_int_range (random, 0, (gint32)*time_us) : 0;
        }
      append_timings (after, times_us);
      longer = time_of_words (before);
      shorter = time_of_words (after);
      n_tried += longer > 0;
      if (shorter > longer)
        fail_msg ("%s\nin %" G_GINT64_FORMAT " ps, but\n%s\nin %" G_GINT64_FORMAT, before->str,
                  longer, after->str, shorter);
    }
  assert_true (n_tried > 100); /* the others PyTorch refuses */
}

/* Alike ranks: one stands for all, whatever the engine and however collectives share links. */
static void
folded_runs_equal_those_of_all_ranks (void **state)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (5);

  (void)state;
  for (guint round = 0; round < 60; round++)
    {
      g_autoptr (GString) folded = any_settings (random);
      g_autoptr (GString) all = NULL;

      g_string_append_printf (
          folded, "simulation.engine=%s simulation.ranks=", ANY (random, "auto", "auto", "events"));
      all = g_string_new (folded->str);
      g_string_append (folded, "folded");
      g_string_append (all, "all");
      if (time_of_words (folded) != time_of_words (all))
        fail_msg ("%s: %" G_GINT64_FORMAT " ps, all ranks %" G_GINT64_FORMAT, folded->str,
                  time_of_words (folded), time_of_words (all));
    }
}

/* Noise, again under the same seed: the same; and both executors the same where both apply. */
static void
seeds_reproduce_whatever_the_scenario (void **state)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (6);

  (void)state;
  for (guint round = 0; round < 40; round++)
    {
      g_autoptr (GString) words = any_settings (random);
      SimTime first;

      g_string_append_printf (words,
                              "simulation.compute_jitter=%d%% simulation.gpu_spread=%d%% "
                              "simulation.seed=%u",
                              g_rand_int_range (random, 1, 6), g_rand_int_range (random, 0, 3),
                              g_rand_int (random));
      first = time_of_words (words);
      assert_true (first == time_of_words (words));
    }
}

/* ---- noise over many seeds ---- */

/* Seeds 7 to 11: mean and quantiles of five runs that were made one by one. Of five sorted times
 * the median is the third, and p99 lies 0.96 of the way from the fourth to the fifth. */
static void
repeats_are_the_runs_of_the_seeds_behind_the_first (void **state)
{
  g_autoptr (GString) settings = g_string_new (
      "model.source=gpt2 cluster.source=dgx-a100-80g cluster.nodes=2 training.seq_len=256 "
      "simulation.compute_jitter=5% simulation.seed=");
  double times_s[5], sum_s = 0;
  g_autoptr (ScenarioFile) file = NULL;
  ReportRun run;
  ReportRun *const runs[] = { &run };

  (void)state;
  for (guint i = 0; i < 5; i++)
    {
      g_autoptr (GString) words = g_string_new (settings->str);

      g_string_append_printf (words, "%u", 7 + i);
      times_s[i] = sim_time_seconds (time_of_words (words));
      sum_s += times_s[i];
    }
  for (guint i = 0; i < 5; i++) /* sorted */
    for (guint k = i + 1; k < 5; k++)
      if (times_s[k] < times_s[i])
        {
          const double time_s = times_s[i];

          times_s[i] = times_s[k];
          times_s[k] = time_s;
        }
  g_string_append (settings, "7");
  run_words (settings, &file, &run);
  for (guint n_threads = 1; n_threads <= 3; n_threads++)
    {
      repeat_study (runs, 1, 5, n_threads, NULL, NULL);
      assert_int_equal (run.noise->n, 5);
      assert_true (run.noise->mean_s == sum_s / 5);
      assert_true (run.noise->p50_s == times_s[2]);
      assert_near (run.noise->p99_s, times_s[3] + 0.96 * (times_s[4] - times_s[3]), 1e-12);
      assert_true (run.noise->fastest_s == times_s[0] && run.noise->slowest_s == times_s[4]);
      assert_true (times_s[0] < times_s[4]);
      g_clear_pointer (&run.noise, g_free);
    }
  study_run_clear (&run);
}

static void
without_noise_all_repeats_are_alike (void **state)
{
  g_autoptr (GString) words = g_string_new (
      "model.source=gpt2 cluster.source=dgx-a100-80g cluster.nodes=1 training.seq_len=256");
  g_autoptr (ScenarioFile) file = NULL;
  ReportRun run;
  ReportRun *const runs[] = { &run };

  (void)state;
  run_words (words, &file, &run);
  repeat_study (runs, 1, 1000, 1, NULL, NULL);
  assert_int_equal (run.noise->n, 1000);
  assert_true (run.noise->p50_s == run.figures.step_time_s);
  assert_true (run.noise->p99_s == run.figures.step_time_s);
  study_run_clear (&run);
}

/* ---- failures ---- */

/* Training 1000 s, saving 10 s, restarting 20 s, a failure each 10,000 s on average:
 *   wall = 10000 e^0.002 (e^0.101 - 1) = 10000 x 1.002002 x 0.10627664 = 1064.8941 s
 * Young: sqrt (2 x 10 x 10000) = 447.21; Daly: 447.2136 (1 + sqrt (0.0005) / 3 + 0.0005 / 9) - 10
 *   = 447.2136 x 1.00750912 - 10 = 440.5718 */
static void
goodput_follows_daly (void **state)
{
  (void)state;
  assert_near (goodput_ratio (1000, 10, 20, 10000), 1000 / 1064.8941, 1e-6);
  assert_near (goodput_best_interval_s (10, 10000), 440.5718, 1e-3);
  assert_near (goodput_best_interval_s (30, 10), 10, 0); /* saving costs more than it saves */
}

/* No other interval keeps more, to 1e-5 of the throughput, where saving is short beside failures.
 */
static void
the_best_interval_loses_least (void **state)
{
  (void)state;
  for (double mtbf_s = 600; mtbf_s < 1e7; mtbf_s *= 3)
    for (double checkpoint_s = 1; checkpoint_s < mtbf_s / 20; checkpoint_s *= 4)
      {
        const double best_s = goodput_best_interval_s (checkpoint_s, mtbf_s);
        const double best = goodput_ratio (best_s, checkpoint_s, 60, mtbf_s);

        for (double factor = 0.25; factor < 4; factor *= 1.1)
          assert_true (goodput_ratio (factor * best_s, checkpoint_s, 60, mtbf_s) < best + 1e-5);
      }
}

/* 16,384 GPUs that fail once in 50,700 h: one of them each 50700 / 16384 = 3.094 h. Nothing fails:
 * all of the throughput is left. */
static void
failures_scale_with_the_gpus (void **state)
{
  ReliabilityConfig reliability = { .gpu_mtbf_ps = 50700 * 3600e12,
                                    .checkpoint_interval_ps = 1800e12,
                                    .checkpoint_ps = 10 * PICOSECONDS_PER_SECOND,
                                    .restart_ps = 300 * PICOSECONDS_PER_SECOND };
  Goodput goodput = goodput_expect (&reliability, 16384, 5);

  (void)state;
  assert_near (goodput.mtbf_s / 3600, 3.0944824, 1e-6);
  assert_near (goodput.failures_per_day, 24 / 3.0944824, 1e-5);
  assert_true (goodput.interval_s == 1800);
  assert_true (goodput.ratio == goodput_ratio (1800, 10, 300, goodput.mtbf_s));
  goodput = goodput_expect (&reliability, 16384, 3000); /* a step longer than the interval */
  assert_true (goodput.interval_s == 3000);
  reliability.gpu_mtbf_ps = 0;
  assert_true (goodput_expect (&reliability, 16384, 5).ratio == 1);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_slow_rank_of_512_costs_what_arithmetic_says),
    cmocka_unit_test (ranks_wait_where_the_slow_one_meets_them),
    cmocka_unit_test (waiting_is_from_ones_own_arrival_to_the_last),
    cmocka_unit_test (both_executors_see_the_same_waiting),
    cmocka_unit_test (shorter_durations_never_make_a_step_slower),
    cmocka_unit_test (folded_runs_equal_those_of_all_ranks),
    cmocka_unit_test (seeds_reproduce_whatever_the_scenario),
    cmocka_unit_test (repeats_are_the_runs_of_the_seeds_behind_the_first),
    cmocka_unit_test (without_noise_all_repeats_are_alike),
    cmocka_unit_test (goodput_follows_daly),
    cmocka_unit_test (the_best_interval_loses_least),
    cmocka_unit_test (failures_scale_with_the_gpus),
  };

  return cmocka_run_group_tests_name ("scale", tests, NULL, NULL);
}

#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <math.h>
#include <cmocka.h>

#include "config/scenario.h"
#include "study/break_even.h"
#include "study/what_if.h"

/* The shipped scenario of round times: 32 blocks, no other costs. */
static ScenarioFile *
by_hand (const char *const *overrides)
{
  const ScenarioOptions options = { .overrides = overrides };
  g_autoptr (Problems) problems = problems_new ();
  ScenarioFile *file = scenario_file_load ("by-hand", &options, problems);

  if (file == NULL)
    fail_msg ("%s", problems_format (problems, ""));
  return file;
}

static void
assert_ms (double seconds, double ms)
{
  if (fabs (1e3 * seconds - ms) > 1e-6)
    fail_msg ("%.9f ms, not %.9f", 1e3 * seconds, ms);
}

static double
step_s (const Scenario *scenario, ReportRun *run, StudyEffort *effort)
{
  const StudyOptions options = { 0 };

  study_run (scenario, &options, run, effort);
  return run->figures.step_time_s;
}

/* By hand, no checkpointing: F = 4 ms, B = 8 ms, A = S = 1.76 ms of a block, a = s = 0.5 ms of the
 * root. Compute alone is 32 x 12 = 384 ms. On the wire are 32 all-gathers forward, 31 or 32
 * backward (the last block is kept), 32 reduce-scatters, and the root's two. */
static void
bounds_are_sums_by_hand (void **state)
{
  static const char *const none[] = { "activation_checkpointing.method=none", NULL };
  g_autoptr (ScenarioFile) file = by_hand (none);
  const Scenario *scenario = scenario_file_variant (file, scenario_file_n_variants (file) - 1);
  StudyEffort effort;
  ReportRun run;

  (void)state;
  step_s (scenario, &run, &effort);
  what_if_study (&run, &effort, 2);
  assert_non_null (run.what_if);
  assert_ms (run.what_if->compute_alone_s, run.figures.compute_s * 1e3);
  assert_ms (run.what_if->wire_alone_s,
             (figures_all_gathers (&run.figures.all) + run.figures.all.reduce_scatters - 2) * 1.76
                 + 2 * 0.5);
  study_run_clear (&run);
}

/* Given times of collectives count as the network's: twice as fast is half of them. */
static void
given_times_change_with_their_hardware (void **state)
{
  g_autoptr (ScenarioFile) file = by_hand (NULL);
  Scenario scenario = *scenario_file_variant (file, 0);
  const gint64 all_gather = scenario.timing.all_gather;
  const gint64 forward = scenario.timing.forward;

  (void)state;
  what_if_apply (&scenario, WHAT_IF_NICS);
  assert_int_equal (scenario.timing.all_gather, all_gather / 2);
  assert_int_equal (scenario.timing.forward, forward);
}

static void
one_respect_at_a_time (void **state)
{
  g_autoptr (ScenarioFile) file = by_hand (NULL);
  const Scenario *scenario = scenario_file_variant (file, 0);

  (void)state;
  for (WhatIfKind kind = 0; kind < N_WHAT_IFS; kind++)
    {
      Scenario other = *scenario;
      const ClusterConfig *was = &scenario->cluster, *is = &other.cluster;

      what_if_apply (&other, kind);
      assert_true ((is->nic_bytes_per_s == was->nic_bytes_per_s) == (kind != WHAT_IF_NICS));
      assert_true ((is->ring_bytes_per_s == was->ring_bytes_per_s) == (kind != WHAT_IF_LINKS));
      assert_true ((is->base_ps[PROTOCOL_LL] == was->base_ps[PROTOCOL_LL])
                   == (kind != WHAT_IF_LATENCY));
      assert_true ((is->kernel_launch_ps == was->kernel_launch_ps) == (kind != WHAT_IF_HOST));
      assert_true ((is->cpu_core_bytes_per_s == was->cpu_core_bytes_per_s)
                   == (kind != WHAT_IF_HOST));
      assert_true ((other.gpu.matmul_flops == scenario->gpu.matmul_flops)
                   == (kind != WHAT_IF_MATMULS));
      assert_true ((other.gpu.memory_bytes_per_s == scenario->gpu.memory_bytes_per_s)
                   == (kind != WHAT_IF_MEMORY));
    }
}

/* A variant that computes 10 ms more but gathers less: it leads where the network is slow. */
static void
the_lead_changes_where_both_are_as_fast (void **state)
{
  g_autoptr (ScenarioFile) file = by_hand (NULL);
  Scenario baseline = *scenario_file_variant (file, 0);
  Scenario variant = baseline, at = baseline, other;
  StudyEffort effort;
  BreakEven found;
  ReportRun run;
  double one, two;

  (void)state;
  variant.timing.forward += (gint64)1e9;
  variant.timing.all_gather /= 4;
  break_even_find (&variant, &baseline, &found);
  assert_int_equal (found.is, BREAK_EVEN_FOUND);
  assert_true (found.faster_if_slower);
  other = variant;
  what_if_scale_network (&at, found.factor);
  what_if_scale_network (&other, found.factor);
  one = step_s (&at, &run, &effort);
  study_run_clear (&run);
  two = step_s (&other, &run, &effort);
  study_run_clear (&run);
  assert_true (fabs (one / two - 1) < 1e-3);
}

static void
what_never_changes_is_told_apart (void **state)
{
  g_autoptr (ScenarioFile) file = by_hand (NULL);
  const Scenario *baseline = scenario_file_variant (file, 0);
  Scenario slower = *baseline;
  BreakEven found;

  (void)state;
  break_even_find (baseline, baseline, &found);
  assert_int_equal (found.is, BREAK_EVEN_ALIKE);
  slower.timing.backward *= 2;
  break_even_find (&slower, baseline, &found);
  assert_int_equal (found.is, BREAK_EVEN_ALWAYS_SLOWER);
  break_even_find (baseline, &slower, &found);
  assert_int_equal (found.is, BREAK_EVEN_ALWAYS_FASTER);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (bounds_are_sums_by_hand),
    cmocka_unit_test (given_times_change_with_their_hardware),
    cmocka_unit_test (one_respect_at_a_time),
    cmocka_unit_test (the_lead_changes_where_both_are_as_fast),
    cmocka_unit_test (what_never_changes_is_told_apart),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

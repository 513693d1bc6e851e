#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cost/offload.h"
#include "step_fixture.h"
#include "timeline/memory.h"

#define GB 1e9

/* Copies of 1 ms between host memory and GPU; the CPU's work takes no time. */
static Scenario
offloaded (FsdpApi api)
{
  Scenario scenario = scenario_of_round_numbers ();

  scenario.fsdp.api = api;
  scenario.fsdp.cpu_offload = scenario.fsdp.pin_memory = TRUE;
  scenario.timing.offload_copies = 1000 * US;
  return scenario;
}

/* ---- schedules ---- */

/* What cannot be hidden: before the first forward the root's copy 1 and gather 0.5, beside which
 * block 0's copy runs until 2, and its gather 1.76; after the last backward block 0's scatter 1.76
 * and copy 1, then on the same stream the root's 0.5 and 1. Between, 32 x 4 and 32 x 8:
 * 3.76 + 128 + 256 + 4.26 = 392.02. */
static void
copies_hide_behind_compute (void **state)
{
  Scenario fsdp1 = offloaded (API_FSDP1), fsdp2 = offloaded (API_FSDP2);

  (void)state;
  assert_int_equal (step_time (&fsdp1), 392020 * US);
  assert_int_equal (step_time (&fsdp2), 392020 * US);
}

/* The CPU clips for 3 and steps for 10, when all gradients are there and before any copy of the
 * next step: 392.02 + 13. */
static void
the_cpu_steps_while_the_gpu_waits (void **state)
{
  (void)state;
  for (FsdpApi api = API_FSDP1; api <= API_FSDP2; api++)
    {
      Scenario scenario = offloaded (api);

      scenario.training.max_grad_norm = 1;
      scenario.timing.grad_clip = 3000 * US;
      scenario.timing.optimizer_step = 10000 * US;
      assert_int_equal (step_time (&scenario), 405020 * US);
    }
}

/* Out of pageable memory the host waits for each copy. A block more costs 4 in forward, where it
 * runs ahead all the same; in backward it launches the block's kernels only when the copy for the
 * next one is over, 1, and goes on when scatter and copy of the gradient are, 8 + 1.76 + 1: 15.76.
 */
static void
pageable_copies_hold_the_host_up (void **state)
{
  Scenario scenario = offloaded (API_FSDP2);

  (void)state;
  scenario.fsdp.pin_memory = FALSE;
  SimTime long_one = step_time (&scenario);
  scenario.model.layers--;
  assert_int_equal (long_one - step_time (&scenario), 15760 * US);
}

static guint
count_ops (const Scenario *scenario, TimelineOp op, guint32 unit)
{
  g_autoptr (Timeline) timeline = run (scenario);
  guint n = 0;

  for (guint32 i = timeline_first_reported (timeline); i < timeline->records->len; i++)
    n += timeline_record (timeline, i)->label.op == op
         && timeline_record (timeline, i)->label.unit == unit;
  return n;
}

/* A block's shard comes to the GPU before each of its two gathers and its gradient leaves it. The
 * root is gathered once, but FSDP1 copies its shard again when it asks for it in backward. */
static void
shards_come_and_gradients_go (void **state)
{
  Scenario fsdp1 = offloaded (API_FSDP1), fsdp2 = offloaded (API_FSDP2);

  (void)state;
  assert_int_equal (count_ops (&fsdp1, TIMELINE_COPY, UNIT_FIRST_BLOCK + 5), 3);
  assert_int_equal (count_ops (&fsdp2, TIMELINE_COPY, UNIT_FIRST_BLOCK + 5), 3);
  assert_int_equal (count_ops (&fsdp1, TIMELINE_COPY, UNIT_ROOT), 3);
  assert_int_equal (count_ops (&fsdp2, TIMELINE_COPY, UNIT_ROOT), 2);
}

/* Each micro-batch after the first waits for its copy, so that the CPU can add it. */
static void
fsdp2_accumulates_on_the_cpu (void **state)
{
  Scenario scenario = offloaded (API_FSDP2);

  (void)state;
  scenario.training.grad_accum = 3;
  scenario.training.no_sync = FALSE;
  scenario.timing.backward = TIMING_NOT_GIVEN;
  scenario.cluster.cpu_cores = 64;
  scenario.cluster.cpu_core_bytes_per_s = 10 * GB;
  scenario.cluster.host_memory_bytes_per_s = 100 * GB;
  scenario.simulation.omp_num_threads = 1;
  /* The backward of the block and a sum, in the second and third. */
  assert_int_equal (count_ops (&scenario, TIMELINE_BACKWARD, UNIT_FIRST_BLOCK), 3 + 2);
}

/* ---- memory ---- */

/* Steady steps keep nothing on the GPU that belongs to shards. */
static void
shards_leave_the_gpu (void **state)
{
  (void)state;
  for (FsdpApi api = API_FSDP1; api <= API_FSDP2; api++)
    {
      Scenario scenario = offloaded (api);
      g_autoptr (Timeline) timeline = run (&scenario);

      for (guint32 i = 0; i < timeline->changes->len; i++)
        {
          guint8 kind = g_array_index (timeline->changes, MemoryChange, i).kind;
          assert_true (kind != MEMORY_PARAMS && kind != MEMORY_OPTIMIZER);
        }
    }
}

/* ---- checkpointed inputs ---- */

/* Copies stand between the blocks' kernels on the compute stream, 1 ms there and 1 ms back for each
 * of 32 blocks: 64 more than without, 516.52 for the wrapper. The reentrant checkpoint saves its
 * input behind the block, so the host comes to the next gather only when the block is done, 31
 * times in forward and at block 31's in backward: 32 x 1.76 more. */
static void
inputs_go_and_come_back (void **state)
{
  (void)state;
  for (FsdpApi api = API_FSDP1; api <= API_FSDP2; api++)
    {
      Scenario scenario = offloaded (api);

      scenario.fsdp.cpu_offload = FALSE;
      use_wrapper (&scenario);
      assert_int_equal (step_time (&scenario), 516520 * US);
      scenario.checkpoint.offload = TRUE;
      assert_int_equal (step_time (&scenario), 580520 * US);
      scenario.checkpoint.use_reentrant = TRUE;
      assert_int_equal (step_time (&scenario), 636840 * US);
    }
}

/* No copy where nothing is checkpointed. */
static void
what_is_kept_stays (void **state)
{
  Scenario scenario = offloaded (API_FSDP1);

  (void)state;
  scenario.fsdp.cpu_offload = FALSE;
  scenario.checkpoint.offload = TRUE;
  use_wrapper (&scenario);
  scenario.checkpoint.every = 2;
  assert_int_equal (count_ops (&scenario, TIMELINE_COPY, UNIT_FIRST_BLOCK), 2);
  assert_int_equal (count_ops (&scenario, TIMELINE_COPY, UNIT_FIRST_BLOCK + 1), 0);
}

static gint64
most_activations (const Scenario *scenario)
{
  g_autoptr (Timeline) timeline = run (scenario);
  gint64 now = 0, most = 0;

  for (guint32 i = 0; i < timeline->changes->len; i++)
    {
      const MemoryChange *change = &g_array_index (timeline->changes, MemoryChange, i);

      if (change->kind == MEMORY_ACTIVATIONS)
        most = MAX (most, now += change->bytes);
    }
  return most;
}

/* 32 inputs of 16 tokens x 64 x 2 bytes are kept at the last block's backward, or the one that it
 * needs: 31 x 2048 bytes less. */
static void
inputs_leave_the_gpu (void **state)
{
  Scenario scenario = offloaded (API_FSDP1);

  (void)state;
  scenario.fsdp.cpu_offload = FALSE;
  use_wrapper (&scenario);
  gint64 kept = most_activations (&scenario);
  scenario.checkpoint.offload = TRUE;
  gint64 offloaded_bytes = most_activations (&scenario);
  assert_true (kept - offloaded_bytes >= 31 * 2048);
  assert_true (kept - offloaded_bytes <= 32 * 2048);
}

/* ---- refusals ---- */

static void
assert_refused (const Scenario *scenario, const char *words)
{
  g_autoptr (GError) error = NULL;
  StepCost cost;

  step_cost_new (scenario, &cost);
  assert_null (fsdp_program (scenario, &cost, &error));
  assert_non_null (strstr (error->message, words));
}

static void
what_fsdp1_does_not_take (void **state)
{
  Scenario scenario = offloaded (API_FSDP1);

  (void)state;
  scenario.training.grad_accum = 2;
  scenario.training.no_sync = FALSE;
  assert_refused (&scenario, "outside no_sync()");
  scenario.training.grad_accum = 1;
  scenario.training.optimizer = OPTIMIZER_ADAMW_FUSED;
  scenario.fsdp.torch_minor = 3;
  assert_refused (&scenario, "fused=True");
}

/* ---- what it costs ---- */

/* Eight GPUs, 64 cores of 10 GB/s, 400 GB/s of all of them: a rank has 8 cores and 50 GB/s. */
static Scenario
round_host (void)
{
  Scenario scenario = {
    .cluster = { .nodes = 1,
                 .gpus_per_node = 8,
                 .cpu_cores = 64,
                 .cpu_core_bytes_per_s = 10 * GB,
                 .host_memory_bytes_per_s = 400 * GB,
                 .host_link_bytes_per_s = 25 * GB,
                 .kernel_launch_ps = 6 * US },
    .simulation = { .omp_num_threads = 1 },
  };

#define TIMING(key, what) scenario.timing.key = TIMING_NOT_GIVEN;
#include "config/timing.def"
#undef TIMING
  return scenario;
}

/* 10^9 elements: 20 operands of 4 bytes, 80 GB. One core needs 8 s, two 4 s; eight would reach
 * 80 GB/s, but the memory gives 50: 1.6 s. Fused, 28 GB take 0.56 s. */
static void
adamw_on_the_cpu (void **state)
{
  const gint64 s = (gint64)1e12;
  Scenario scenario = round_host ();

  (void)state;
  assert_int_equal (cost_cpu_optimizer_step (&scenario, 1000000000).time_ps, 8 * s);
  scenario.simulation.omp_num_threads = 2;
  assert_int_equal (cost_cpu_optimizer_step (&scenario, 1000000000).time_ps, 4 * s);
  scenario.simulation.omp_num_threads = 64;
  assert_int_equal (cost_cpu_optimizer_step (&scenario, 1000000000).time_ps, s * 16 / 10);
  scenario.training.optimizer = OPTIMIZER_ADAMW_FUSED;
  assert_int_equal (cost_cpu_optimizer_step (&scenario, 1000000000).time_ps, s * 56 / 100);
}

/* A core for every two ranks is half a core for each, whatever OMP_NUM_THREADS says: 16 s. */
static void
ranks_share_the_cores (void **state)
{
  Scenario scenario = round_host ();

  (void)state;
  scenario.cluster.cpu_cores = 4;
  scenario.simulation.omp_num_threads = 8;
  assert_int_equal (cost_cpu_optimizer_step (&scenario, 1000000000).time_ps, (gint64)16e12);
}

/* 1 GB at 25 GB/s is 40 ms; a core that reads and writes it at 10 GB/s needs 200. */
static void
copies_by_link_or_core (void **state)
{
  Scenario scenario = round_host ();

  (void)state;
  assert_int_equal (cost_host_copy (&scenario, 1000000000, TRUE).time_ps, 40000 * US);
  assert_int_equal (cost_host_copy (&scenario, 1000000000, FALSE).time_ps, 200000 * US);
  assert_int_equal (cost_host_copy (&scenario, 1000000000, TRUE).host_ps, 6 * US);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (copies_hide_behind_compute),
    cmocka_unit_test (the_cpu_steps_while_the_gpu_waits),
    cmocka_unit_test (pageable_copies_hold_the_host_up),
    cmocka_unit_test (shards_come_and_gradients_go),
    cmocka_unit_test (fsdp2_accumulates_on_the_cpu),
    cmocka_unit_test (shards_leave_the_gpu),
    cmocka_unit_test (inputs_go_and_come_back),
    cmocka_unit_test (what_is_kept_stays),
    cmocka_unit_test (inputs_leave_the_gpu),
    cmocka_unit_test (what_fsdp1_does_not_take),
    cmocka_unit_test (adamw_on_the_cpu),
    cmocka_unit_test (ranks_share_the_cores),
    cmocka_unit_test (copies_by_link_or_core),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

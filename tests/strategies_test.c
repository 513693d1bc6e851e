#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cost/params.h"
#include "study/study.h"
#include "study_fixture.h"

#define N_MODELS 8

enum
{
  FULL_SHARD,
  HYBRID_SHARD,
  SHARD_GRAD_OP,
  N_STRATEGIES
};

static const char *const strategies[N_STRATEGIES]
    = { "FULL_SHARD", "HYBRID_SHARD", "SHARD_GRAD_OP" };

typedef struct
{
  double parameters;
  double allocated, reserved;
} Peak;

/* Overrides are words apart by spaces. */
static Peak
peak_of (const char *words)
{
  g_autoptr (ScenarioFile) file = load_words (words);
  const StudyOptions none = { 0 };
  StudyEffort effort;
  ReportRun run;
  Peak peak;

  study_run (scenario_file_variant (file, 0), &none, &run, &effort);
  assert_true (figures_did_run (&run.figures));
  peak = (Peak){ .parameters = (double)params_count (&scenario_file_variant (file, 0)->model).total,
                 .allocated = (double)run.figures.peak_allocated_bytes,
                 .reserved = (double)run.figures.peak_reserved_bytes };
  study_run_clear (&run);
  return peak;
}

/* Few tokens beside many parameters, most of them in the blocks; two or four nodes of eight. */
static char *
random_job (GRand *rand, guint *ranks)
{
  const gint heads = g_rand_int_range (rand, 8, 33);
  const gint nodes = g_rand_boolean (rand) ? 2 : 4;

  *ranks = 8 * (guint)nodes;
  return g_strdup_printf (
      "model.source=llama2-7b cluster.source=dgx-a100-80g cluster.nodes=%d training.seq_len=128 "
      "model.layers=%d model.heads=%d model.kv_heads=%d model.hidden=%d model.ffn_hidden=%d "
      "model.vocab=%d",
      nodes, g_rand_int_range (rand, 16, 41), heads, heads, 128 * heads,
      128 * heads * g_rand_int_range (rand, 3, 5), g_rand_int_range (rand, 1000, 4000));
}

/* P parameters, W = 16 or 32 ranks, 8 of a node. The states of one are 4 bytes each of weight and
 * gradient and 8 of Adam's moments: 16. Beside them are weights in bf16, 2 bytes each.
 *
 * ddp: 16 P, whole on every rank.
 *
 * SHARD_GRAD_OP: 12 P / W as backward begins, without gradients yet, and all weights: 2 P.
 *
 * HYBRID_SHARD: 16 P / 8 = 2 P as it ends, and the weights of root and two blocks, which are under
 * P / 6 elements: two of 16 blocks or more are P / 8, and the root has 2 x 4,000 x hidden of 16 x
 * 13 x hidden^2, with hidden from 1024 on.
 *
 * FULL_SHARD: 16 P / W, and the same weights.
 *
 * So SHARD_GRAD_OP is above HYBRID_SHARD by 12 P / W - 2 x P / 6, which is more than nothing with
 * 32 ranks and less. Gradients and activations of a block come to all. */
static void
peaks_are_in_the_order_of_what_is_sharded (void **state)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20);

  (void)state;
  for (guint i = 0; i < N_MODELS; i++)
    {
      guint ranks;
      g_autofree char *job = random_job (rand, &ranks);
      g_autofree char *with_ddp = g_strconcat (job, " fsdp.api=ddp", NULL);
      const Peak ddp = peak_of (with_ddp);

      for (guint api = 1; api <= 2; api++)
        {
          Peak peaks[N_STRATEGIES];

          for (guint s = 0; s < N_STRATEGIES; s++)
            {
              g_autofree char *words = g_strdup_printf (
                  "%s fsdp.api=fsdp%u fsdp.sharding_strategy=%s", job, api, strategies[s]);

              peaks[s] = peak_of (words);
            }
          if (ddp.allocated <= peaks[SHARD_GRAD_OP].allocated
              || peaks[SHARD_GRAD_OP].allocated <= peaks[HYBRID_SHARD].allocated
              || peaks[HYBRID_SHARD].allocated <= peaks[FULL_SHARD].allocated)
            fail_msg ("fsdp%u, %s", api, job);
          assert_true (ddp.allocated > 16 * ddp.parameters);
          assert_true (peaks[SHARD_GRAD_OP].allocated > (12.0 / ranks + 2) * ddp.parameters);
          assert_true (peaks[HYBRID_SHARD].allocated > 2 * ddp.parameters);
          assert_true (peaks[FULL_SHARD].allocated > 16.0 / ranks * ddp.parameters);
        }
    }
}

/* FSDP1 frees on the streams that used a buffer, so that its blocks come back late and lie in three
 * pools; what FSDP2 allocates is below what FSDP1 reserves, under each strategy. */
static void
what_fsdp2_allocates_is_below_what_fsdp1_reserves (void **state)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (21);

  (void)state;
  for (guint i = 0; i < N_MODELS * N_STRATEGIES; i++)
    {
      guint ranks;
      g_autofree char *job = random_job (rand, &ranks);
      g_autofree char *first = g_strdup_printf ("%s fsdp.api=fsdp1 fsdp.sharding_strategy=%s", job,
                                                strategies[i % N_STRATEGIES]);
      g_autofree char *second = g_strdup_printf ("%s fsdp.api=fsdp2 fsdp.sharding_strategy=%s", job,
                                                 strategies[i % N_STRATEGIES]);

      if (peak_of (second).allocated >= peak_of (first).reserved)
        fail_msg ("%s", first);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (peaks_are_in_the_order_of_what_is_sharded),
    cmocka_unit_test (what_fsdp2_allocates_is_below_what_fsdp1_reserves),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

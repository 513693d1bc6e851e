#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "study/study.h"
#include "study_fixture.h"

#define N_BLOCKS 6

/* ---- scenarios through the study ---- */

/* Two nodes, small sequences; overrides are words apart by spaces. */
static void
run (const char *words, ReportRun *result)
{
  g_autofree char *all
      = g_strconcat ("model.source=llama2-7b cluster.source=dgx-a100-80g cluster.nodes=2 "
                     "training.seq_len=128 ",
                     strstr (words, "layers=") == NULL ? "model.layers=6 " : "", words, NULL);
  g_autoptr (ScenarioFile) file = load_words (all);
  const StudyOptions none = { 0 };
  StudyEffort effort;

  study_run (scenario_file_variant (file, 0), &none, result, &effort);
}

/* Of one unit as table 9.2 writes them, gathers forward / backward / scatters / all-reduces, or why
 * there are none. */
static char *
counts_of (const char *words, guint32 unit)
{
  char *counts = NULL;
  ReportRun result;

  run (words, &result);
  if (result.figures.status == RUN_REFUSED)
    counts = g_strdup ("refused");
  for (guint i = 0; i < result.figures.n_units; i++)
    {
      const UnitFigures *of = &result.figures.units[i];

      if (of->unit == unit)
        counts = g_strdup_printf ("%g/%g/%g/%g", of->all_gathers_forward, of->all_gathers_backward,
                                  of->reduce_scatters, of->all_reduces);
    }
  study_run_clear (&result);
  return counts == NULL ? g_strdup ("0/0/0/0") : counts;
}

static void
assert_counts (const char *what, const char *words, guint32 unit, const char *want)
{
  g_autofree char *got = counts_of (words, unit);

  if (strcmp (got, want) != 0)
    {
      g_autofree char *name = timeline_unit_name (unit);

      fail_msg ("%s: %s of %s, not %s, with %s", what, got, name, want, words);
    }
}

/* Of all units. */
static void
assert_step (const char *words, double gathers, double scatters, double reduces)
{
  ReportRun result;

  run (words, &result);
  assert_true (figures_all_gathers (&result.figures.all) == gathers);
  assert_true (result.figures.all.reduce_scatters == scatters);
  assert_true (result.figures.all.all_reduces == reduces);
  study_run_clear (&result);
}

static void
assert_step_of (const char *model, const char *words, double gathers, double scatters,
                double reduces)
{
  g_autofree char *all = g_strconcat (model, words, NULL);

  assert_step (all, gathers, scatters, reduces);
}

/* ---- a row for each way to checkpoint, a column for each runtime and span of versions ---- */

enum
{
  FSDP1_TO_2_0,
  FSDP1_FROM_2_1,
  FSDP2_TO_2_9,
  FSDP2_FROM_2_10,
  N_COLUMNS
};

static const struct
{
  const char *api;
  const char *versions;
} columns[N_COLUMNS] = {
  { "fsdp1", "2.0" },
  { "fsdp1", "2.1 2.2 2.8 2.14" },
  { "fsdp2", "2.6 2.7 2.8 2.9" },
  { "fsdp2", "2.10 2.11 2.12 2.13 2.14" },
};

typedef struct
{
  const char *what;
  const char *words;
  const char *want[N_COLUMNS]; /* NULL: the row has nothing to say there */
} Row;

static void
assert_rows (const Row *rows, guint n_rows, const char *settings, guint32 unit)
{
  for (guint row = 0; row < n_rows; row++)
    for (guint column = 0; column < N_COLUMNS; column++)
      {
        g_auto (GStrv) versions = g_strsplit (columns[column].versions, " ", -1);

        for (guint i = 0; rows[row].want[column] != NULL && versions[i] != NULL; i++)
          {
            g_autofree char *words
                = g_strdup_printf ("fsdp.api=%s fsdp.torch=%s %s%s", columns[column].api,
                                   versions[i], settings, rows[row].words);

            assert_counts (rows[row].what, words, unit, rows[row].want[column]);
          }
      }
}

#define OUTSIDE    "activation_checkpointing.method=torch.utils.checkpoint "
#define INSIDE     "activation_checkpointing.method=apply_activation_checkpointing "
#define REENTRANT  "activation_checkpointing.use_reentrant=true "
#define SELECT     "activation_checkpointing.select="
#define MIDDLE     (UNIT_FIRST_BLOCK + 2)
#define THREE      "1/1/1/0"
#define ROWS(rows) rows, G_N_ELEMENTS (rows)
#define ALL_OF(want)                                                                               \
  {                                                                                                \
    want, want, want, want                                                                         \
  }

/* Rows (a) to (d): a block gathered forward, and again backward, and scattered. Reentrant outside
 * the unit, FSDP1 gathers for the recompute and once more for the nested backward; FSDP2 to 2.9
 * does too, and its backward prefetch takes the block above, which is done: 2 + 1. */
static void
checkpoints_inside_and_outside (void **state)
{
  static const Row rows[] = {
    { "(a) none", "", ALL_OF (THREE) },
    { "(b) outside, reentrant", OUTSIDE REENTRANT, { "1/2/1/0", "1/2/1/0", "1/3/1/0", THREE } },
    { "(c) outside", OUTSIDE, { "refused", THREE, THREE, THREE } },
    { "(c) outside, to the end",
      OUTSIDE "activation_checkpointing.early_stop=false",
      { "refused", THREE, THREE, THREE } },
    { "(d) inside, reentrant", INSIDE REENTRANT, ALL_OF (THREE) },
    { "(d) inside", INSIDE, ALL_OF (THREE) },
    { "(d) inside, by child", INSIDE SELECT "children", ALL_OF (THREE) },
  };

  (void)state;
  assert_rows (ROWS (rows), "", MIDDLE);
}

/* Row (b'): the recompute's pre-forward gathers the block above, which is done: one gather that
 * nobody waits for, and so pending to the end of backward. The next list that names the block, or
 * the backward prefetch of 2.9, finds it pending and gathers nothing. */
static void
explicit_prefetch_and_reentrant_recompute (void **state)
{
  static const Row rows[] = {
    { "(b') depth 1",
      OUTSIDE REENTRANT "fsdp.forward_prefetch_depth=1",
      { "1/2/1/0", "1/2/1/0", "1/3/1/0", "1/2/1/0" } },
    { "(b') depth 2",
      OUTSIDE REENTRANT "fsdp.forward_prefetch_depth=2",
      { NULL, NULL, "1/3/1/0", "1/2/1/0" } },
    { "explicit prefetch, none", "fsdp.forward_prefetch_depth=2", { NULL, NULL, THREE, THREE } },
    { "explicit prefetch, inside",
      INSIDE "fsdp.forward_prefetch_depth=2 fsdp.backward_prefetch_depth=2",
      { NULL, NULL, THREE, THREE } },
  };

  (void)state;
  assert_rows (ROWS (rows), "", MIDDLE);
}

/* Row (f): of every second block, block 2 is checkpointed and block 3 is not, and prefetches
 * block 2. FSDP2's stale gather is of the one that was recorded last, the checkpointed block above:
 * 2 + 1. */
static void
selected_blocks_and_ops (void **state)
{
  static const Row checkpointed[] = {
    { "(f) every second, inside", INSIDE SELECT "every:2", ALL_OF (THREE) },
    { "(f) every second, outside reentrant",
      OUTSIDE REENTRANT SELECT "every:2",
      { "1/2/1/0", "1/2/1/0", "1/3/1/0", THREE } },
    { "(f) ops, inside", INSIDE SELECT "op", { "refused", THREE, THREE, THREE } },
    { "(f) ops, outside", OUTSIDE SELECT "op", { "refused", THREE, THREE, THREE } },
  };
  static const Row others[] = {
    { "(f) the others, inside", INSIDE SELECT "every:2", ALL_OF (THREE) },
    { "(f) the others, outside reentrant", OUTSIDE REENTRANT SELECT "every:2", ALL_OF (THREE) },
  };

  (void)state;
  assert_rows (ROWS (checkpointed), "", MIDDLE);
  assert_rows (ROWS (others), "", MIDDLE + 1);
}

/* Row (g): what is kept after forward is not gathered in backward, however it is checkpointed;
 * FSDP2 to 2.9 still gathers the block above a reentrant recompute, which its backward freed. */
static void
parameters_kept_after_forward (void **state)
{
  static const char kept[] = "1/0/1/0";
  static const Row rows[] = {
    { "(g) none", "", ALL_OF (kept) },
    { "(g) outside, reentrant", OUTSIDE REENTRANT, { kept, kept, "1/1/1/0", kept } },
    { "(g) outside", OUTSIDE, { "refused", kept, kept, kept } },
    { "(g) inside", INSIDE, ALL_OF (kept) },
    { "(g) inside, by child", INSIDE SELECT "children", ALL_OF (kept) },
  };

  (void)state;
  assert_rows (ROWS (rows), "fsdp.sharding_strategy=SHARD_GRAD_OP ", MIDDLE);
}

/* Hybrid sharding adds one all-reduce to each row; without sharding it is all there is. */
static void
hybrid_and_unsharded (void **state)
{
  static const char four[] = "1/1/1/1";
  static const Row hybrid[] = {
    { "HSDP, none", "", ALL_OF (four) },
    { "HSDP, outside reentrant", OUTSIDE REENTRANT, { "1/2/1/1", "1/2/1/1", "1/3/1/1", four } },
    { "HSDP, outside", OUTSIDE, { "refused", four, four, four } },
    { "HSDP, inside", INSIDE, ALL_OF (four) },
  };
  static const Row unsharded[] = {
    { "NO_SHARD, none", "", { "0/0/0/1", "0/0/0/1", "refused", "refused" } },
    { "NO_SHARD, reentrant", OUTSIDE REENTRANT, { "0/0/0/1", "0/0/0/1", NULL, NULL } },
    { "NO_SHARD, inside", INSIDE, { "0/0/0/1", "0/0/0/1", NULL, NULL } },
  };
  static const Row replicated[] = {
    { "replicate", "fsdp.shard_group_size=1", { NULL, NULL, "0/0/0/1", "0/0/0/1" } },
    { "replicate, inside", INSIDE "fsdp.shard_group_size=1", { NULL, NULL, "0/0/0/1", "0/0/0/1" } },
  };

  (void)state;
  assert_rows (ROWS (hybrid), "fsdp.sharding_strategy=HYBRID_SHARD ", MIDDLE);
  assert_rows (ROWS (unsharded), "fsdp.sharding_strategy=NO_SHARD ", MIDDLE);
  assert_rows (ROWS (replicated), "fsdp.sharding_strategy=HYBRID_SHARD ", MIDDLE);
}

/* Row (h): attention A and MLP M of a block B are units. Up to 2.9 the recompute gathers A on
 * demand and frees it, M's backward gathers it again, and A's prefetch takes the A of the block
 * above: 2 + 1; M is gathered once, by B's prefetch, since the recompute stops within it. FSDP1
 * fails on that stop; 2.0, which does not stop early, frees A and M after the recompute and gathers
 * both again. Reentrant outside, FSDP1 and FSDP2 to 2.9 gather all three for the recompute and
 * again for the backward, and in FSDP2 the prefetch of A takes the B above. */
static void
nested_units (void **state)
{
  static const Row attention[] = {
    { "(h) none", "", ALL_OF (THREE) },
    { "(h) around the block", OUTSIDE, { "refused", "refused", "1/3/1/0", THREE } },
    { "(h) inside the block's", INSIDE, { "1/2/1/0", "refused", "1/3/1/0", THREE } },
    { "(h) reentrant", OUTSIDE REENTRANT, { "1/2/1/0", "1/2/1/0", "1/2/1/0", THREE } },
    { "(h) by child, inside", INSIDE SELECT "children", ALL_OF (THREE) },
    { "(h) by child, outside", OUTSIDE SELECT "children", { "refused", THREE, THREE, THREE } },
  };
  static const Row mlp[] = {
    { "(h) none", "", ALL_OF (THREE) },
    { "(h) around the block", OUTSIDE, { "refused", "refused", THREE, THREE } },
    { "(h) reentrant", OUTSIDE REENTRANT, { "1/2/1/0", "1/2/1/0", "1/2/1/0", THREE } },
    { "(h) by child, inside", INSIDE SELECT "children", ALL_OF (THREE) },
  };
  static const Row rest[] = {
    { "(h) none", "", ALL_OF (THREE) },
    { "(h) around the block", OUTSIDE, { "refused", "refused", THREE, THREE } },
    { "(h) reentrant", OUTSIDE REENTRANT, { "1/2/1/0", "1/2/1/0", "1/3/1/0", THREE } },
    { "(h) by child, inside", INSIDE SELECT "children", ALL_OF (THREE) },
  };
  static const char units[] = "fsdp.units=attention_and_mlp ";

  (void)state;
  assert_rows (ROWS (attention), units, timeline_unit_of_part (2, PART_ATTENTION));
  assert_rows (ROWS (mlp), units, timeline_unit_of_part (2, PART_MLP));
  assert_rows (ROWS (rest), units, MIDDLE);
}

/* ---- whole steps ---- */

/* FSDP1, N blocks and the root: N + 1 gathers forward, N backward, N + 1 scatters, 3N + 2;
 * reentrant outside N more, 4N + 2. FSDP2 reentrant to 2.9: 3N - 1 gathers backward (N + N + the N
 * - 1 stale); from 2.10, with explicit prefetch, N - 1 useless ones besides its N. */
static void
collectives_of_a_step (void **state)
{
  static const guint blocks[] = { 4, N_BLOCKS, 32 };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (blocks); i++)
    {
      const double n = blocks[i];
      g_autofree char *one = g_strdup_printf ("model.layers=%u fsdp.api=fsdp1 ", blocks[i]);
      g_autofree char *two = g_strdup_printf ("model.layers=%u fsdp.api=fsdp2 ", blocks[i]);

      assert_step_of (one, INSIDE, 2 * n + 1, n + 1, 0);
      assert_step_of (one, OUTSIDE REENTRANT, 3 * n + 1, n + 1, 0);
      assert_step_of (two, OUTSIDE REENTRANT "fsdp.torch=2.7", n + 1 + 3 * n - 1, n + 1, 0);
      assert_step_of (two, OUTSIDE REENTRANT "fsdp.torch=2.10", 2 * n + 1, n + 1, 0);
      assert_step_of (two, OUTSIDE REENTRANT "fsdp.torch=2.10 fsdp.forward_prefetch_depth=1",
                      2 * n + 1 + n - 1, n + 1, 0);
      assert_step_of (one, "fsdp.units=embed_blocks_head", 2 * n + 5, n + 3, 0);
      assert_step_of (two, "fsdp.units=embed_blocks_head", 2 * n + 3, n + 2, 0);
    }
}

/* Recorded runs. T1, Llama-3 70B, 80 blocks, the last one kept: 81 forward + 79 backward, 81
 * scatters. T2, GPT-2 of 12 blocks with FSDP1: 13 + 12 and 13. T3, 6 blocks, FSDP1, 4 micro-batches
 * that all reduce: 4 x (7 + 6) and 4 x 7. T5, the same with one: 13 and 7. T6, Qwen3-8B of 36
 * blocks, root resharded too, 8 micro-batches of which the last reduces: 8 x (37 + 37) and 37, with
 * checkpoints and without. T8, the same that keeps parameters: 37 and 37. T9, Qwen3-14B in
 * torchtitan, 40 blocks, embedding, and norm and head, all resharded: 42 + 42 and 42. */
static void
collectives_of_recorded_runs (void **state)
{
  static const char accumulated[]
      = "fsdp.api=fsdp2 model.layers=36 training.grad_accum=8 simulation.warmup_steps=0 ";
  g_autofree char *t6 = g_strconcat (accumulated, "fsdp.reshard_after_forward=true ", NULL);
  g_autofree char *t6_checkpointed = g_strconcat (t6, INSIDE, NULL);
  g_autofree char *t8 = g_strconcat (
      accumulated, "fsdp.sharding_strategy=SHARD_GRAD_OP fsdp.reshard_after_backward=false", NULL);

  (void)state;
  assert_step ("fsdp.api=fsdp2 model.layers=80 fsdp.reshard_after_forward=all_but_last", 160, 81,
               0);
  assert_step ("fsdp.api=fsdp1 model.layers=12", 25, 13, 0);
  assert_step ("fsdp.api=fsdp1 training.grad_accum=4 training.no_sync=false", 52, 28, 0);
  assert_step ("fsdp.api=fsdp1", 13, 7, 0);
  assert_step (t6, 592, 37, 0);
  assert_step (t6_checkpointed, 592, 37, 0);
  assert_step (t8, 37, 37, 0);
  assert_step ("fsdp.api=fsdp2 model.layers=40 fsdp.units=embed_blocks_head "
               "fsdp.reshard_after_forward=true",
               84, 42, 0);
}

/* T6 with parameters that stay after all backwards but the last: 37 units are
 * gathered for the first forward; each forward frees them and each of the 8 backwards gathers them
 * again: 37 + 8 x 37 = 333. The root kept after forward (auto) saves its 8: 325. So T7's 81, with
 * 37 scatters, are not of this setting. They fit blocks that are resharded neither after forward
 * nor after backward until the last micro-batch, 36 + 36, and a root that is after each forward,
 * 1 + 8. */
static void
kept_after_backward_alone_are_gathered_by_each_backward (void **state)
{
  static const char kept[] = "fsdp.api=fsdp2 model.layers=36 training.grad_accum=8 "
                             "simulation.warmup_steps=0 fsdp.reshard_after_backward=false ";

  (void)state;
  assert_step_of (kept, "fsdp.reshard_after_forward=true", 333, 37, 0);
  assert_step_of (kept, "fsdp.reshard_after_forward=auto", 325, 37, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (checkpoints_inside_and_outside),
    cmocka_unit_test (explicit_prefetch_and_reentrant_recompute),
    cmocka_unit_test (selected_blocks_and_ops),
    cmocka_unit_test (parameters_kept_after_forward),
    cmocka_unit_test (hybrid_and_unsharded),
    cmocka_unit_test (nested_units),
    cmocka_unit_test (collectives_of_a_step),
    cmocka_unit_test (collectives_of_recorded_runs),
    cmocka_unit_test (kept_after_backward_alone_are_gathered_by_each_backward),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

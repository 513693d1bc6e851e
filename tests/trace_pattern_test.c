/* Units, phases and micro-batches from the order and the sizes of collectives. Each test
 * gives a step as a word a collective: what it is, and after a colon what is expected. */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "interop/trace_pattern.h"

#define MOST 64

typedef enum
{
  SIZES = 1 << 0, /* told */
  PHASES = 1 << 1 /* told */
} Told;

/* "A0f": all-gather of block 0 in forward; R reduce-scatter, S all-reduce; r root, e embed,
 * h head; b backward; a digit behind is the micro-batch. */
static void
expect_word (const char *word, TraceSeen *seen, TimelineLabel *label)
{
  *label = (TimelineLabel){
    .op = word[0] == 'A'   ? TIMELINE_ALL_GATHER
          : word[0] == 'R' ? TIMELINE_REDUCE_SCATTER
                           : TIMELINE_ALL_REDUCE,
    .phase = word[2] == 'f' ? PHASE_FORWARD : PHASE_BACKWARD,
    .micro_batch = (guint16)(word[3] == '\0' ? 0 : g_ascii_digit_value (word[3])),
    .unit = word[1] == 'r'   ? UNIT_ROOT
            : word[1] == 'e' ? UNIT_EMBED
            : word[1] == 'h' ? UNIT_HEAD
                             : UNIT_FIRST_BLOCK + (guint32)g_ascii_digit_value (word[1])
  };
  *seen = (TraceSeen){ .op = (TimelineOp)label->op,
                       .elements = label->unit == UNIT_ROOT    ? 7000
                                   : label->unit == UNIT_EMBED ? 5000
                                   : label->unit == UNIT_HEAD  ? 6000
                                                               : 1000 };
}

static void
expect (const char *step, Told told)
{
  g_auto (GStrv) words = g_strsplit (step, " ", -1);
  TraceSeen seen[MOST];
  TimelineLabel labels[MOST];
  const guint n = g_strv_length (words);

  assert_true (n <= MOST);
  for (guint i = 0; i < n; i++)
    {
      expect_word (words[i], &seen[i], &labels[i]);
      if (!(told & SIZES))
        seen[i].elements = -1;
      if (told & PHASES)
        {
          seen[i].has_phase = TRUE;
          seen[i].label.phase = labels[i].phase;
          seen[i].label.micro_batch = labels[i].micro_batch;
        }
    }
  trace_pattern_label (seen, n);
  for (guint i = 0; i < n; i++)
    if (memcmp (&seen[i].label, &labels[i], sizeof labels[i]) != 0)
      fail_msg ("%s of %s: unit %u, phase %u, micro-batch %u", words[i], step, seen[i].label.unit,
                seen[i].label.phase, seen[i].label.micro_batch);
}

static void
expect_all_ways (const char *step)
{
  expect (step, 0);
  expect (step, SIZES);
  expect (step, PHASES);
  expect (step, SIZES | PHASES);
}

/* FSDP1, three blocks: 2N+1 all-gathers, N+1 reduce-scatters, the next block prefetched. */
static void
the_wrapper_gathers_each_block_twice (void **state)
{
  (void)state;
  expect_all_ways ("Arf A0f A1f A2f A2b A1b R2b A0b R1b R0b Rrb");
}

/* Checkpointing around the unit: 3N+1 all-gathers. */
static void
the_naive_checkpoint_gathers_each_block_three_times (void **state)
{
  (void)state;
  expect_all_ways ("Arf A0f A1f A2f A2b A2b R2b A1b A1b R1b A0b A0b R0b Rrb");
}

/* The same under FSDP2, whose prefetch gathers the block before again for nothing. */
static void
stale_prefetches_belong_to_the_block_before (void **state)
{
  (void)state;
  expect_all_ways ("Arf A0f A1f A2f A2b A2b R2b A1b A1b A2b R1b A0b A0b A1b R0b Rrb");
}

/* torchtitan before July 2025: the last block is kept, so 2N all-gathers. */
static void
a_last_block_that_is_kept_is_not_gathered_back (void **state)
{
  (void)state;
  expect_all_ways ("Arf A0f A1f A2f A1b R2b A0b R1b R0b Rrb");
}

/* SHARD_GRAD_OP: one all-gather a unit. */
static void
kept_parameters_are_gathered_once (void **state)
{
  (void)state;
  expect_all_ways ("Arf A0f A1f A2f R2b R1b R0b Rrb");
}

/* Gradients are reduced in the last of two micro-batches only. The root's size tells where
 * the second begins. */
static void
micro_batches_are_told_by_the_root (void **state)
{
  static const char step[] = "Arf0 A0f0 A1f0 A2f0 A2b0 A1b0 A0b0 "
                             "Arf1 A0f1 A1f1 A2f1 A2b1 A1b1 R2b1 A0b1 R1b1 R0b1 Rrb1";

  (void)state;
  expect (step, SIZES);
  expect (step, PHASES);
  expect (step, SIZES | PHASES);
}

static void
embedding_and_head_have_sizes_of_their_own (void **state)
{
  static const char step[] = "Aef A0f A1f A2f Ahf A2b Rhb A1b R2b A0b R1b Aeb R0b Reb";

  (void)state;
  expect (step, SIZES | PHASES);
}

/* Hybrid sharding all-reduces each unit behind its reduce-scatter. */
static void
all_reduces_follow_what_was_scattered (void **state)
{
  (void)state;
  expect_all_ways ("Arf A0f A1f A2f A2b A1b R2b S2b A0b R1b S1b R0b S0b Rrb Srb");
}

/* Without all-gathers there is no FSDP: nothing is told of DDP's buckets. */
static void
ddp_is_the_root_s (void **state)
{
  (void)state;
  expect ("Srb Srb Srb", SIZES | PHASES);
}

/* One number over all ranks is clipping's norm; buckets that fit no unit are nobody's. */
static void
scalars_and_odd_buckets_are_told_apart (void **state)
{
  TraceSeen seen[] = {
    { .op = TIMELINE_ALL_GATHER, .elements = 7000 },
    { .op = TIMELINE_ALL_GATHER, .elements = 1000 },
    { .op = TIMELINE_ALL_GATHER, .elements = 1000 },
    { .op = TIMELINE_ALL_GATHER, .elements = 1000 },
    { .op = TIMELINE_ALL_GATHER, .elements = 1000 },
    { .op = TIMELINE_ALL_GATHER, .elements = 1000 },
    { .op = TIMELINE_ALL_GATHER, .elements = 1000 },
    { .op = TIMELINE_REDUCE_SCATTER, .elements = 4321 },
    { .op = TIMELINE_ALL_REDUCE, .elements = 1 },
  };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (seen); i++)
    {
      seen[i].has_phase = TRUE;
      seen[i].label.phase = i < 4 ? PHASE_FORWARD : i < 8 ? PHASE_BACKWARD : PHASE_OPTIMIZER;
    }
  trace_pattern_label (seen, G_N_ELEMENTS (seen));
  assert_int_equal (seen[3].label.unit, UNIT_FIRST_BLOCK + 2);
  assert_int_equal (seen[4].label.unit, UNIT_FIRST_BLOCK + 2);
  assert_int_equal (seen[7].label.unit, UNIT_ROOT);
  assert_int_equal (seen[8].label.op, TIMELINE_GRAD_CLIP);
  assert_int_equal (seen[8].label.phase, PHASE_OPTIMIZER);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_wrapper_gathers_each_block_twice),
    cmocka_unit_test (the_naive_checkpoint_gathers_each_block_three_times),
    cmocka_unit_test (stale_prefetches_belong_to_the_block_before),
    cmocka_unit_test (a_last_block_that_is_kept_is_not_gathered_back),
    cmocka_unit_test (kept_parameters_are_gathered_once),
    cmocka_unit_test (micro_batches_are_told_by_the_root),
    cmocka_unit_test (embedding_and_head_have_sizes_of_their_own),
    cmocka_unit_test (all_reduces_follow_what_was_scattered),
    cmocka_unit_test (ddp_is_the_root_s),
    cmocka_unit_test (scalars_and_odd_buckets_are_told_apart),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

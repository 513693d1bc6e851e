#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "config/suggest.h"

static const char *const keys[]
    = { "micro_batch", "seq_len", "grad_accum", "no_sync", "optimizer", NULL };

static void
assert_nearest (const char *word, const char *nearest)
{
  const char *found = suggest_nearest (word, keys);

  if (g_strcmp0 (found, nearest) != 0)
    print_error ("%s: %s\n", word, found != NULL ? found : "nothing");
  assert_true (g_strcmp0 (found, nearest) == 0);
}

/* One letter too few, too many, another, or two swapped are one edit each; upper
 * case is none. "microbatch" lacks the underscore. */
static void
a_slip_of_the_finger_finds_its_key (void **state)
{
  (void)state;
  assert_nearest ("micro_batch", "micro_batch");
  assert_nearest ("microbatch", "micro_batch");
  assert_nearest ("micro-batch", "micro_batch");
  assert_nearest ("micro_batches", "micro_batch");
  assert_nearest ("MICRO_BATCH", "micro_batch");
  assert_nearest ("seqlen", "seq_len");
  assert_nearest ("seq_lne", "seq_len");
  assert_nearest ("grad_acum", "grad_accum");
  assert_nearest ("optimiser", "optimizer");
}

/* At most two edits, one of four letters, or a third of the word's length. */
static void
another_word_finds_nothing (void **state)
{
  (void)state;
  assert_nearest ("", NULL);
  assert_nearest ("x", NULL);
  assert_nearest ("learning_rate", NULL);
  assert_null (suggest_nearest ("h100", (const char *const[]){ "a10g", NULL }));
  assert_null (suggest_nearest ("fp8", (const char *const[]){ "fp16", NULL }));
  assert_nearest ("sequence_length", NULL);
  assert_nearest ("\xC3\xA4\xC3\xB6\xC3\xBC", NULL);
}

/* The first row of the matrix has 65 places. */
static void
words_of_any_length_are_safe (void **state)
{
  g_autofree char *longest = g_strnfill (64, 'a');
  g_autofree char *longer = g_strnfill (65, 'a');
  g_autofree char *giant = g_strnfill (1000000, 'a');
  const char *const words[] = { longer, longest, NULL };
  const char *const none[] = { NULL };

  (void)state;
  assert_string_equal (suggest_nearest (longest, words), longest);
  assert_null (suggest_nearest (longer, words));
  assert_null (suggest_nearest (giant, words));
  assert_null (suggest_nearest ("a", none));
}

/* Where nothing is near, a short list is shown whole, and a long one not. */
static void
a_clause_names_the_nearest_or_all_of_a_few (void **state)
{
  static const char *const one[] = { "fsdp", NULL };
  static const char *const many[] = { "aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh",
                                      "ii", "jj", "kk", "ll", "mm", "nn", NULL };
  g_autofree char *near = suggest_clause ("micro", (const char *const[]){ "macro", NULL });
  g_autofree char *few = suggest_clause ("zebra", keys);
  g_autofree char *only = suggest_clause ("zebra", one);
  g_autofree char *none = suggest_clause ("zebra", many);

  (void)state;
  assert_string_equal (near, "; did you mean 'macro'?");
  assert_string_equal (few, "; one of micro_batch, seq_len, grad_accum, no_sync, optimizer");
  assert_string_equal (only, "; only fsdp");
  assert_string_equal (none, "");
}

/* Who writes "h100" knows part of a name. Of few words all are shown. */
static void
a_part_finds_the_words_around_it (void **state)
{
  static const char *const gpus[]
      = { "a100-pcie-40g", "a100-sxm-80g", "a10g",         "b200-sxm",      "gb200",
          "gh200-96g",     "h100-nvl-94g", "H100-SXM-80g", "h200-sxm",      "l4",
          "l40s",          "mi300x",       "rtx-4090",     "v100-sxm2-32g", NULL };
  g_autofree char *several = suggest_clause ("h100", gpus);
  g_autofree char *single = suggest_clause ("MI300", gpus);
  g_autofree char *too_short = suggest_clause ("00", gpus);
  g_autofree char *one = suggest_clause ("accum", keys);
  g_autofree char *few
      = suggest_clause ("ing", (const char *const[]){ "sharding", "timing", NULL });

  (void)state;
  assert_string_equal (several, "; did you mean one of 'h100-nvl-94g', 'H100-SXM-80g'?");
  assert_string_equal (single, "; did you mean 'mi300x'?");
  assert_string_equal (too_short, "");
  assert_string_equal (one, "; did you mean 'grad_accum'?");
  assert_string_equal (few, "; one of sharding, timing");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_slip_of_the_finger_finds_its_key),
    cmocka_unit_test (another_word_finds_nothing),
    cmocka_unit_test (words_of_any_length_are_safe),
    cmocka_unit_test (a_clause_names_the_nearest_or_all_of_a_few),
    cmocka_unit_test (a_part_finds_the_words_around_it),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

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

/* At most two edits, or a third of the word's length. */
static void
another_word_finds_nothing (void **state)
{
  (void)state;
  assert_nearest ("", NULL);
  assert_nearest ("x", NULL);
  assert_nearest ("learning_rate", NULL);
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

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_slip_of_the_finger_finds_its_key),
    cmocka_unit_test (another_word_finds_nothing),
    cmocka_unit_test (words_of_any_length_are_safe),
    cmocka_unit_test (a_clause_names_the_nearest_or_all_of_a_few),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "config/problems.h"

static void
assert_format (const Problems *problems, const char *program, const char *expected)
{
  g_autofree char *text = problems_format (problems, program);

  assert_string_equal (text, expected);
}

/* As compilers print: place, section, key, message, then the line with a caret
 * under the column, tabs kept so that both lines expand alike. */
static void
a_mistake_shows_its_line_and_a_caret (void **state)
{
  g_autoptr (Problems) problems = problems_new ();
  Place place = { .file = "a.ini", .line = 3, .column = 9, .text = "\tnodes = x" };

  (void)state;
  problems_add (problems, &place, "cluster", "nodes", "not a number");
  assert_int_equal (problems_count (problems), 1);
  assert_false (problems_has_io (problems));
  assert_format (problems, "fsdpsim: ",
                 "fsdpsim: a.ini:3:9: [cluster] nodes: not a number\n"
                 "  \tnodes = x\n"
                 "  \t       ^\n");
}

/* Files in the order in which they were met, then line and column, not the order
 * of finding. Options have no line. */
static void
mistakes_come_in_the_order_of_the_input (void **state)
{
  g_autoptr (Problems) problems = problems_new ();
  Place late = { .file = "a.ini", .line = 7, .column = 1 };
  Place early = { .file = "a.ini", .line = 2, .column = 5 };
  Place earlier = { .file = "a.ini", .line = 2, .column = 4 };
  Place other = { .file = "b.ini", .line = 1, .column = 1 };
  Place option = { .file = "-s" };

  (void)state;
  problems_meet_file (problems, "a.ini");
  problems_add (problems, &other, NULL, NULL, "other");
  problems_add (problems, &option, NULL, "x", "option");
  problems_add (problems, &late, NULL, NULL, "late");
  problems_add (problems, &early, NULL, NULL, "early");
  problems_add (problems, &earlier, NULL, NULL, "earlier");
  assert_format (problems, "",
                 "a.ini:2:4: earlier\n"
                 "a.ini:2:5: early\n"
                 "a.ini:7:1: late\n"
                 "b.ini:1:1: other\n"
                 "-s: x: option\n");
}

/* Every variant meets the mistakes of a model file anew. */
static void
the_same_mistake_counts_once (void **state)
{
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (Problems) more = problems_new ();
  Place place = { .file = "a.ini", .line = 7, .column = 1 };

  (void)state;
  problems_add (problems, &place, NULL, "x", "bad");
  problems_add (problems, &place, NULL, "x", "bad");
  problems_add (problems, &place, NULL, "x", "worse");
  problems_add (more, &place, NULL, "x", "bad");
  problems_add_io (more, "b.ini", "no such file");
  assert_int_equal (problems_count (problems), 2);
  problems_append (problems, more);
  assert_int_equal (problems_count (problems), 3);
  assert_true (problems_has_io (problems));
}

/* 25 mistakes: 20 are printed. At 1000 readers give up. */
static void
many_mistakes_are_counted_not_printed (void **state)
{
  g_autoptr (Problems) problems = problems_new ();
  Place place = { .file = "a.ini", .column = 1 };
  g_autofree char *text = NULL;

  (void)state;
  for (place.line = 1; place.line <= 25; place.line++)
    problems_add (problems, &place, NULL, NULL, "bad");
  text = problems_format (problems, "");
  assert_non_null (strstr (text, "a.ini:20:1: bad\n5 more mistakes\n"));
  assert_null (strstr (text, "a.ini:21:1"));
  assert_false (problems_are_enough (problems));
  for (; place.line <= 1000; place.line++)
    problems_add (problems, &place, NULL, NULL, "bad");
  assert_true (problems_are_enough (problems));
}

/* A line of a megabyte is cut to 80 bytes on either side of the caret, and not
 * within a character. */
static void
a_giant_line_is_cut_round_the_caret (void **state)
{
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (GString) line = g_string_new (NULL);
  Place place = { .file = "a.ini", .line = 1, .column = 1000001 };
  g_autofree char *text = NULL;

  (void)state;
  for (guint i = 0; i < 500000; i++)
    g_string_append (line, "\xC3\xA4");
  g_string_append (line, "!");
  for (guint i = 0; i < 500000; i++)
    g_string_append (line, "\xC3\xA4");
  place.text = line->str;
  problems_add (problems, &place, NULL, NULL, "bad");
  text = problems_format (problems, "");
  assert_true (strlen (text) < 400);
  assert_true (g_utf8_validate (text, -1, NULL));
  assert_non_null (strchr (text, '!'));
}

/* Nothing that a file holds reaches the terminal as an escape sequence, and what
 * is no UTF-8 is shown byte by byte. */
static void
control_characters_are_not_printed (void **state)
{
  g_autoptr (Problems) problems = problems_new ();
  Place place = { .file = "a.ini", .line = 1, .column = 2, .text = "\x1B[31m\xFF" };

  (void)state;
  problems_add (problems, &place, NULL, "\x1B]0;title\x07", "bad \xC3");
  assert_format (problems, "",
                 "a.ini:1:2: ?]0;title?: bad ?\n"
                 "  ?[31m?\n"
                 "   ^\n");
}

/* Columns count bytes; the caret stands under the character: one column for a
 * letter of two bytes, two for a wide one of three. */
static void
the_caret_counts_columns_of_the_terminal (void **state)
{
  g_autoptr (Problems) problems = problems_new ();
  Place place = { .file = "a.ini", .line = 1, .column = 6, .text = "\xC3\xA4\xE6\xBC\xA2x" };

  (void)state;
  problems_add (problems, &place, NULL, NULL, "bad");
  assert_format (problems, "",
                 "a.ini:1:6: bad\n"
                 "  \xC3\xA4\xE6\xBC\xA2x\n"
                 "     ^\n");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_mistake_shows_its_line_and_a_caret),
    cmocka_unit_test (mistakes_come_in_the_order_of_the_input),
    cmocka_unit_test (the_same_mistake_counts_once),
    cmocka_unit_test (many_mistakes_are_counted_not_printed),
    cmocka_unit_test (a_giant_line_is_cut_round_the_caret),
    cmocka_unit_test (control_characters_are_not_printed),
    cmocka_unit_test (the_caret_counts_columns_of_the_terminal),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

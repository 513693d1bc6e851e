#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "config/ini_edit.h"

/* "[section] key=value|key=value [section] …", which tables of cases can hold. */
static char *
flatten (const IniFile *ini)
{
  GString *text = g_string_new (NULL);
  guint n;
  const IniSection *sections = ini_sections (ini, &n);

  for (guint i = 0; i < n; i++)
    {
      g_string_append_printf (text, "%s[%s]", i > 0 ? " " : "", sections[i].name);
      for (guint k = 0; k < sections[i].n_entries; k++)
        {
          const IniEntry *entry = ini_entry (ini, sections[i].first + k);

          g_string_append_printf (text, "%c%s=%s", k > 0 ? '|' : ' ', entry->key, entry->value);
        }
    }
  return g_string_free (text, FALSE);
}

static void
assert_reads (const char *text, gsize length, const char *expected)
{
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (IniFile) ini = ini_parse ("a.ini", text, length, problems);
  g_autofree char *flat = flatten (ini);
  g_autofree char *messages = problems_format (problems, "");

  assert_string_equal (messages, "");
  assert_string_equal (flat, expected);
}

static const struct
{
  const char *text, *flat;
} good[] = {
  { "", "" },
  { "\n\n  \n\t\n", "" },
  { "[a]", "[a]" },
  { "[a]\nk=v", "[a] k=v" },
  { "[a]\nk=v\n", "[a] k=v" },
  { "[ a  b ]\n", "[a  b]" },
  { "  [a]  \n  k  =  v w \t\n", "[a] k=v w" },
  { "[a]\nk =\n", "[a] k=" },
  { "[a]\nk = a=b\n", "[a] k=a=b" },
  { "[a]\nk=1\nk=2\n[a]\nk=3\n", "[a] k=1|k=2 [a] k=3" },
  /* comments: at the line's start or after white space */
  { "# c\n[a] # c\n#k=v\n  # c\nk = v # c\nl=1\t# c\n", "[a] k=v|l=1" },
  { "[a]\nk = v#w\n", "[a] k=v#w" },
  { "[a]\nk =#v\n", "[a] k=#v" },
  { "[a]\nk = # v\n", "[a] k=" },
  { "[a]\nk = v ## w # x\n", "[a] k=v" },
  { "[a]\nk = v; w\n", "[a] k=v; w" },
  /* line ends */
  { "[a]\r\nk = v\r\n", "[a] k=v" },
  { "[a]\r\nk = v # c\r\n\r\n", "[a] k=v" },
  { "\xEF\xBB\xBF[a]\nk=v", "[a] k=v" },
  { "\xEF\xBB\xBF", "" },
  { "[\xC3\xA4]\n\xC3\xB6 = \xC3\xBC\n", "[\xC3\xA4] \xC3\xB6=\xC3\xBC" },
};

static void
good_text_is_read (void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    assert_reads (good[i].text, strlen (good[i].text), good[i].flat);
}

static const struct
{
  const char *text;
  const char *first; /* place and message of the first mistake */
  guint n_mistakes;
} bad[] = {
  { "k = v\n", "a.ini:1:1: a key before the first [section]", 1 },
  { "[a]\n  k\n", "a.ini:2:3: expected 'key = value' or '[section]'", 1 },
  { "[a]\n = v\n", "a.ini:2:2: expected a key before '='", 1 },
  { "[a\nk=v\n", "a.ini:1:3: expected ']' at the end of the section's name", 1 },
  { "[a # ]\nk=v\n", "a.ini:1:3: expected ']' at the end of the section's name", 1 },
  { "[a] b\nk=v\n", "a.ini:1:4: unexpected text after ']'", 1 },
  { "[a]]\nk=v\n", "a.ini:1:4: unexpected text after ']'", 1 },
  { "[a]\nk=\xFF\nl=v\nm\n", "a.ini:2:3: not UTF-8 text", 2 },
  { "[a]\nk=\xC3", "a.ini:2:3: not UTF-8 text", 1 },
  { "\xFF\xFE[a]\n", "a.ini:1:1: not UTF-8 text", 1 },
  { "\xEF\xBB\xBF\xEF\xBB\xBF[a]\n", "a.ini:1:1: expected 'key = value' or '[section]'", 1 },
  { "x\ny\n[a]\nz\n", "a.ini:1:1: expected 'key = value' or '[section]'", 3 },
};

static void
every_broken_line_is_noted_with_its_place (void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (Problems) problems = problems_new ();
      g_autoptr (IniFile) ini = ini_parse ("a.ini", bad[i].text, strlen (bad[i].text), problems);
      g_autofree char *messages = problems_format (problems, "");

      assert_non_null (ini);
      if (!g_str_has_prefix (messages, bad[i].first))
        print_error ("%s\nis not\n%s\n", messages, bad[i].first);
      assert_true (g_str_has_prefix (messages, bad[i].first));
      assert_int_equal (problems_count (problems), bad[i].n_mistakes);
    }
}

/* A C string would end at a NUL. The third line holds it; nothing is read. */
static void
a_nul_byte_refuses_the_whole_text (void **state)
{
  static const char text[] = "[a]\nk=v\nl=\0w\n";
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (IniFile) ini = ini_parse ("a.ini", text, sizeof text - 1, problems);
  g_autofree char *messages = problems_format (problems, "");
  guint n;

  (void)state;
  assert_true (g_str_has_prefix (messages, "a.ini:3:3: a NUL byte"));
  ini_sections (ini, &n);
  assert_int_equal (n, 0);
}

/* Line 4 is "  key\t=  value # c": the key at column 3, the value at 10. */
static void
keys_and_values_know_their_places (void **state)
{
  static const char text[] = "\n# c\n [a]\n  key\t=  value # c\nlast =";
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (IniFile) ini = ini_parse ("a.ini", text, sizeof text - 1, problems);
  const IniEntry *entry = ini_entry (ini, 0);
  guint n;
  const IniSection *section = ini_sections (ini, &n);

  (void)state;
  assert_int_equal (n, 1);
  assert_int_equal (section->place.line, 3);
  assert_int_equal (section->place.column, 2);
  assert_int_equal (entry->key_place.line, 4);
  assert_int_equal (entry->key_place.column, 3);
  assert_int_equal (entry->value_place.column, 10);
  assert_string_equal (entry->key_place.text, "  key\t=  value # c");
  assert_string_equal (entry->value_place.file, "a.ini");
  entry = ini_entry (ini, 1);
  assert_int_equal (entry->value_place.line, 5);
  assert_int_equal (entry->value_place.column, 7); /* where a value would stand */
}

/* A megabyte in one line, as section, key and value. */
static void
giant_lines_are_read (void **state)
{
  g_autofree char *giant = g_strnfill (1000000, 'x');
  g_autofree char *text = g_strdup_printf ("[%s]\n%s = %s\n", giant, giant, giant);
  g_autofree char *flat = g_strdup_printf ("[%s] %s=%s", giant, giant, giant);

  (void)state;
  assert_reads (text, strlen (text), flat);
}

/* A value in its place, a key at its section's end, a new section at the text's end; comments
 * and what is not named stay. */
static void
edits_leave_the_rest_alone (void **state)
{
  static const char text[] = "# ours\n[a]\nx = 1 # one\ny = 2\n\n[b]\n# none yet\n";
  static const IniSetting settings[] = { { "a", "x", "3" },
                                         { "b", "k", "4" },
                                         { "c", "m", "5" },
                                         { "c", "n", "6 # six" },
                                         { "a", "z", "7" } };
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (IniFile) ini = ini_parse ("a.ini", text, strlen (text), problems);
  g_autofree char *edited = ini_edit (text, ini, settings, G_N_ELEMENTS (settings));

  (void)state;
  assert_string_equal (edited, "# ours\n[a]\nx = 3\ny = 2\nz = 7\n\n[b]\nk = 4\n# none yet\n"
                               "\n[c]\nm = 5\nn = 6 # six\n");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (good_text_is_read),
    cmocka_unit_test (every_broken_line_is_noted_with_its_place),
    cmocka_unit_test (a_nul_byte_refuses_the_whole_text),
    cmocka_unit_test (keys_and_values_know_their_places),
    cmocka_unit_test (giant_lines_are_read),
    cmocka_unit_test (edits_leave_the_rest_alone),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "config_fixture.h"

/* ---- a folder of files for each test ---- */

typedef struct
{
  char *home; /* where the test began */
  char *folder;
  char *data; /* tests/data */
} Fixture;

static int
enter_folder (void **state)
{
  Fixture *fixture = g_new0 (Fixture, 1);

  fixture->home = g_get_current_dir ();
  assert_int_equal (fixture_enter_data (NULL), 0);
  fixture->data = g_get_current_dir ();
  fixture->folder = g_dir_make_tmp ("sources-XXXXXX", NULL);
  assert_non_null (fixture->folder);
  assert_int_equal (g_chdir (fixture->folder), 0);
  *state = fixture;
  return 0;
}

static int
leave_folder (void **state)
{
  Fixture *fixture = *state;
  GDir *directory = g_dir_open (fixture->folder, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (directory)) != NULL)
    g_remove (name);
  g_dir_close (directory);
  assert_int_equal (g_chdir (fixture->home), 0);
  assert_int_equal (g_rmdir (fixture->folder), 0);
  g_free (fixture->home);
  g_free (fixture->folder);
  g_free (fixture->data);
  g_free (fixture);
  return 0;
}

static void G_GNUC_PRINTF (2, 3) write_file (const char *name, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  assert_true (g_file_set_contents (name, text, -1, NULL));
}

/* A scenario with these lines and the cluster of tests/data. */
static char *
scenario_of (const Fixture *fixture, const char *lines)
{
  return g_strdup_printf ("%s[cluster]\nsource = %s/tiny_cluster.ini\n", lines, fixture->data);
}

static void
assert_mistake (const Fixture *fixture, const char *lines, const char *says, gboolean is_io)
{
  g_autofree char *text = scenario_of (fixture, lines);
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (ScenarioFile) file = fixture_try (text, NULL, problems);
  g_autofree char *messages = problems_format (problems, "");

  if (!g_str_has_prefix (messages, says))
    print_error ("%s\nand not\n%s\n", messages, says);
  assert_null (file);
  assert_true (g_str_has_prefix (messages, says));
  assert_int_equal (problems_has_io (problems), is_io);
}

/* ---- inheritance ---- */

/* grandchild over child over tiny_model.ini: 4 layers, hidden 64, 1000 words. */
static void
a_file_says_what_differs_from_its_source (void **state)
{
  const Fixture *fixture = *state;
  g_autofree char *text = scenario_of (fixture, "[model]\nsource = grandchild.ini\nvocab = 99\n");
  g_autoptr (ScenarioFile) file = NULL;
  const ModelConfig *model;

  write_file ("child.ini",
              "[model]\nname = Child\nsource = %s/tiny_model.ini\nlayers = 5\nvocab = 7\n",
              fixture->data);
  write_file ("grandchild.ini", "[model]\nsource = child.ini\nvocab = 8\nheads = 4\n");
  file = fixture_load (text, NULL);
  model = &scenario_file_variant (file, 0)->model;
  assert_int_equal (model->layers, 5);
  assert_int_equal (model->heads, 4);
  assert_int_equal (model->vocab, 99);
  assert_int_equal (model->hidden, 64);
  assert_string_equal (model->name, "grandchild"); /* what a file is called is not inherited */
}

static void
files_that_inherit_in_a_circle_are_a_mistake (void **state)
{
  write_file ("self.ini", "[model]\nsource = self.ini\n");
  write_file ("a.ini", "[model]\nsource = b.ini\n");
  write_file ("b.ini", "[model]\nsource = c.ini\n");
  write_file ("c.ini", "[model]\nsource = ./a.ini\n");
  assert_mistake (*state, "[model]\nsource = self.ini\n",
                  "self.ini:2:10: [model] source: inherits from itself", FALSE);
  assert_mistake (*state, "[model]\nsource = a.ini\n",
                  "c.ini:2:10: [model] source: inherits from itself", FALSE);
}

/* Nine generations; each spelling of a path counts. */
static void
inheritance_has_an_end (void **state)
{
  for (guint i = 0; i < 12; i++)
    {
      g_autofree char *name = g_strdup_printf ("g%u.ini", i);

      write_file (name, "[model]\nsource = g%u.ini\n", i + 1);
    }
  assert_mistake (*state, "[model]\nsource = g0.ini\n",
                  "g7.ini:2:10: [model] source: more than 8 files inherit from each other", FALSE);
}

/* ---- mistakes in them ---- */

static void
mistakes_of_a_source_are_told_at_its_lines (void **state)
{
  write_file ("m.ini", "[model]\nlayerz = 3\nhidden = x\n[gpu]\n[model]\n");
  assert_mistake (*state, "[model]\nsource = m.ini\n",
                  "m.ini:1:1: [model] missing: layers, heads, ffn_hidden, gated_ffn, vocab, "
                  "tied_embeddings\n"
                  "  [model]\n  ^\n"
                  "m.ini:2:1: [model] layerz: unknown key; did you mean 'layers'?\n"
                  "  layerz = 3\n  ^\n"
                  "m.ini:3:10: [model] hidden: not a number",
                  FALSE);
  write_file ("m.ini", "# nothing\n");
  assert_mistake (*state, "[model]\nsource = m.ini\n", "m.ini: no [model] section", FALSE);
  write_file ("m.ini", "[model]\nlayers = 4\n");
  assert_mistake (*state, "[model]\nsource = m.ini\n",
                  "m.ini:1:1: [model] missing: hidden, heads, ffn_hidden, gated_ffn, vocab, "
                  "tied_embeddings",
                  FALSE);
  write_file ("m.ini", "[model]\nsource = llama2-7b\n[cluster]\nnodes = 2\n");
  assert_mistake (*state, "[model]\nsource = m.ini\n",
                  "m.ini:3:1: [cluster] unexpected section; a model file has [model] alone", FALSE);
}

/* A contradiction within a file is told there; one between files where the scenario
 * names them. */
static void
contradictions_with_a_source_are_told_in_the_scenario (void **state)
{
  const Fixture *fixture = *state;

  write_file ("m.ini", "[model]\nsource = %s/tiny_model.ini\npositions = 100\n", fixture->data);
  assert_mistake (fixture, "[model]\nsource = m.ini\n",
                  "s.ini:2:10: [model] source: training.seq_len 4096 is over the 100 learned "
                  "positions",
                  FALSE);
  write_file ("m.ini", "[model]\nsource = %s/tiny_model.ini\nheads = 8\nkv_heads = 3\n",
              fixture->data);
  assert_mistake (fixture, "[model]\nsource = m.ini\n", "m.ini:4:12: [model] kv_heads: 8 heads",
                  FALSE);
}

/* ---- files that are not to be had ---- */

static void
files_that_cannot_be_read_say_so_where_they_are_named (void **state)
{
  assert_mistake (*state, "[model]\nsource = nowhere.ini\n",
                  "s.ini:2:10: [model] source: no such file", TRUE);
  assert_mistake (*state, "[model]\nsource = llama2-7c\n",
                  "s.ini:2:10: [model] source: no model of that name; did you mean 'llama2-7b'?",
                  FALSE);
  assert_mistake (*state, "[model]\nsource = zebra\n",
                  "s.ini:2:10: [model] source: no model of that name; 'fsdpsim list models' shows",
                  FALSE);
  assert_mistake (*state, "[model]\nsource = ../models/transformers/llama2-7b\n",
                  "s.ini:2:10: [model] source: no such file", TRUE);
  assert_mistake (*state, "[model]\nsource = .\n",
                  "s.ini:2:10: [model] source: cannot read '.': ", TRUE);
  assert_mistake (*state, "[model]\nsource = /dev/zero\n",
                  "s.ini:2:10: [model] source: '/dev/zero' is larger than 1 MiB", FALSE);
  assert_mistake (*state, "[model]\nsource = llama2-7b\n[gpu]\nsource = x.json\n",
                  "s.ini:4:10: [gpu] source: no such file", TRUE);
  write_file ("x.json", "{}");
  assert_mistake (*state, "[model]\nsource = llama2-7b\n[gpu]\nsource = x.json\n",
                  "s.ini:4:10: [gpu] source: a JSON file; expected a name or an .ini file", FALSE);
}

/* The model that is missing is the one mistake; what follows from it is none. */
static void
a_missing_file_is_told_once (void **state)
{
  const Fixture *fixture = *state;
  g_autofree char *text = scenario_of (
      fixture, "[model]\nsource = nowhere.ini\n[variant a]\n[variant b]\n[variant c]\n");
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (ScenarioFile) file = fixture_try (text, NULL, problems);

  assert_null (file);
  assert_int_equal (problems_count (problems), 1);
}

/* ---- where they are looked for ---- */

/* A shipped name goes before a file of that name; "./" asks for the file. */
static void
shipped_names_go_first_and_paths_have_a_slash (void **state)
{
  const Fixture *fixture = *state;
  g_autofree char *shipped = scenario_of (fixture, "[model]\nsource = llama2-7b\n");
  g_autofree char *path = scenario_of (fixture, "[model]\nsource = ./llama2-7b\n");
  g_autofree char *bare = scenario_of (fixture, "[model]\nsource = mine\n");
  g_autoptr (ScenarioFile) by_name = NULL, by_path = NULL, by_bare_name = NULL;

  write_file ("llama2-7b", "[model]\nsource = %s/tiny_model.ini\n", fixture->data);
  write_file ("mine", "[model]\nsource = %s/tiny_model.ini\n", fixture->data);
  by_name = fixture_load (shipped, NULL);
  by_path = fixture_load (path, NULL);
  by_bare_name = fixture_load (bare, NULL);
  assert_int_equal (scenario_file_variant (by_name, 0)->model.hidden, 4096);
  assert_int_equal (scenario_file_variant (by_path, 0)->model.hidden, 64);
  assert_int_equal (scenario_file_variant (by_bare_name, 0)->model.hidden, 64);
}

/* tiny.ini names tiny_model.ini beside it, however the scenario is reached. */
static void
paths_are_relative_to_the_file_that_names_them (void **state)
{
  const Fixture *fixture = *state;
  g_autofree char *path = g_build_filename (fixture->data, "tiny.ini", NULL);
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (ScenarioFile) file = scenario_file_load (path, NULL, problems);

  assert_non_null (file);
  assert_int_equal (scenario_file_n_variants (file), 2);
  assert_string_equal (scenario_file_title (file), "Two nodes, two ways of checkpointing");
  assert_string_equal (scenario_file_variant (file, 1)->gpu.name, "tiny_gpu");
  assert_int_equal (scenario_ranks (scenario_file_variant (file, 1)), 16);
}

static void
a_scenario_that_is_not_there_is_asked_for (void **state)
{
  static const struct
  {
    const char *name, *says;
  } cases[] = {
    { "nowhere.ini", "nowhere.ini: no such file and no shipped scenario" },
    { "by-hnd", "by-hnd: no such file and no shipped scenario; did you mean 'by-hand'?" },
    { "", ": no such file and no shipped scenario" },
    { ".", ".: cannot read: " },
    { "/dev/zero", "/dev/zero: larger than 1 MiB; no scenario is" },
    { "../scenarios/by-hand", "../scenarios/by-hand: no such file" },
  };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Problems) problems = problems_new ();
      g_autoptr (ScenarioFile) file = scenario_file_load (cases[i].name, NULL, problems);
      g_autofree char *messages = problems_format (problems, "");

      assert_null (file);
      if (!g_str_has_prefix (messages, cases[i].says))
        print_error ("%s", messages);
      assert_true (g_str_has_prefix (messages, cases[i].says));
    }
}

/* ---- other programs' model files ---- */

static char *
load_one_block (const char *path, GError **error)
{
  if (g_str_has_suffix (path, "bad.json"))
    {
      g_set_error (error, g_quark_from_static_string ("test"), 1, "hidden_size is missing");
      return NULL;
    }
  return g_strdup ("[model]\nlayers = 1\nhidden = 64\nheads = 8\nffn_hidden = 256\n"
                   "gated_ffn = true\nvocab = 10\ntied_embeddings = true\n");
}

static void
json_is_read_by_the_loader_that_is_handed_in (void **state)
{
  const Fixture *fixture = *state;
  ScenarioOptions options = { .load_foreign_model = load_one_block };
  g_autofree char *good = scenario_of (fixture, "[model]\nsource = good.json\nvocab = 11\n");
  g_autofree char *bad = scenario_of (fixture, "[model]\nsource = bad.json\n");
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (ScenarioFile) file = NULL, none = NULL;
  g_autofree char *messages = NULL;

  write_file ("good.json", "{}");
  write_file ("bad.json", "{}");
  file = fixture_try_with (good, &options, problems);
  assert_non_null (file);
  assert_int_equal (scenario_file_variant (file, 0)->model.layers, 1);
  assert_int_equal (scenario_file_variant (file, 0)->model.vocab, 11);
  assert_string_equal (scenario_file_variant (file, 0)->model.name, "good");
  none = fixture_try_with (bad, &options, problems);
  assert_null (none);
  messages = problems_format (problems, "");
  assert_true (g_str_has_prefix (messages, "s.ini:2:10: [model] source: hidden_size is missing"));
}

#define TEST(name) cmocka_unit_test_setup_teardown (name, enter_folder, leave_folder)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (a_file_says_what_differs_from_its_source),
    TEST (files_that_inherit_in_a_circle_are_a_mistake),
    TEST (inheritance_has_an_end),
    TEST (mistakes_of_a_source_are_told_at_its_lines),
    TEST (contradictions_with_a_source_are_told_in_the_scenario),
    TEST (files_that_cannot_be_read_say_so_where_they_are_named),
    TEST (a_missing_file_is_told_once),
    TEST (shipped_names_go_first_and_paths_have_a_slash),
    TEST (paths_are_relative_to_the_file_that_names_them),
    TEST (a_scenario_that_is_not_there_is_asked_for),
    TEST (json_is_read_by_the_loader_that_is_handed_in),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "interop/block_classes.h"
#include "interop/check.h"

/* ---- trees ---- */

static SettingsTree *
read_text (const char *name, const char *text)
{
  g_autoptr (Problems) problems = problems_new ();
  SettingsTree *tree = settings_read (name, text, strlen (text), problems);

  assert_int_equal (problems_count (problems), 0);
  assert_non_null (tree);
  return tree;
}

static char *
refusal (const char *name, const char *text)
{
  g_autoptr (Problems) problems = problems_new ();

  assert_null (settings_read (name, text, strlen (text), problems));
  return problems_format (problems, "");
}

static void
assert_refuses (const char *name, const char *text, const char *message)
{
  g_autofree char *said = refusal (name, text);

  if (strstr (said, message) == NULL)
    fail_msg ("'%s' does not say '%s'", said, message);
}

static void
yaml_knows_its_places (void **state)
{
  g_autoptr (SettingsTree) tree
      = read_text ("a.yaml", "a: 1 # c\nmap:\n  key: 'no'\n  none: ~\nlist: [x, y]\n");
  const SettingsNode *root = settings_root (tree);
  const SettingsMember *member = settings_find (settings_map (root, "map"), "key");

  (void)state;
  assert_int_equal (settings_map (root, "map")->line, 2);
  assert_int_equal (member->line, 3);
  assert_int_equal (member->column, 3);
  assert_int_equal (member->value->kind, NODE_TEXT);
  assert_true (settings_is_false (member->value));
  assert_int_equal (settings_find (settings_map (root, "map"), "none")->value->kind, NODE_NULL);
  assert_int_equal (settings_list (root, "list")->items->len, 2);
}

/* A merge gives keys that the map has not; one that merges itself ends. */
static void
yaml_merges (void **state)
{
  g_autoptr (SettingsTree) tree
      = read_text ("a.yaml", "a: &a {x: 1, y: 2}\nb:\n  <<: *a\n  y: 3\nc: &c\n  <<: *c\n");
  const SettingsNode *root = settings_root (tree);

  (void)state;
  assert_string_equal (settings_text (settings_map (root, "b"), "x"), "1");
  assert_string_equal (settings_text (settings_map (root, "b"), "y"), "3");
  assert_null (settings_find (settings_map (root, "c"), "x"));
}

static void
json_stands_where_its_keys_do (void **state)
{
  g_autoptr (SettingsTree) tree
      = read_text ("a.json", "{\n  \"fsdp_config\": {\n    \"x\": \"False\"\n  },\n \"n\": 3\n}");
  const SettingsNode *config = settings_map (settings_root (tree), "fsdp_config");

  (void)state;
  assert_int_equal (config->line, 2);
  assert_int_equal (settings_find (config, "x")->line, 3);
  assert_int_equal (settings_find (config, "x")->value->kind, NODE_TEXT);
  assert_string_equal (settings_text (settings_root (tree), "n"), "3");
}

static void
toml_is_read_less_comments_and_quotes (void **state)
{
  g_autoptr (SettingsTree) tree
      = read_text ("a.toml", "[job] # c\na = \"x # \\\"y\\\"\" # c\nb = 'z'\nlist = [\n \"p\", # "
                             "c\n 2,\n]\n[s.t]\nc=1#d\n");
  const SettingsNode *job = settings_map (settings_root (tree), "job");

  (void)state;
  assert_string_equal (settings_text (job, "a"), "x # \"y\"");
  assert_string_equal (settings_text (job, "b"), "z");
  assert_int_equal (settings_list (job, "list")->items->len, 2);
  assert_string_equal (settings_text (settings_map (settings_root (tree), "s.t"), "c"), "1");
  assert_int_equal (settings_find (settings_map (settings_root (tree), "s.t"), "c")->line, 9);
}

static void
what_is_beyond_is_refused_by_its_line (void **state)
{
  (void)state;
  assert_refuses ("a.toml", "[a]\nx = {y = 1}\n", "a.toml:2:5: a table in braces");
  assert_refuses ("a.toml", "[a]\nx = \"\"\"\n\"\"\"\n", "a.toml:2:5: a string of several lines");
  assert_refuses ("a.toml", "[[a]]\nx = 1\n", "a.toml:1:1: a list of tables");
  assert_refuses ("a.toml", "[a]\nx = 1\nx = 2\n", "a.toml:3:1: x: given twice");
  assert_refuses ("a.toml", "[a]\nx.y = 1\n", "a key in quotes or with dots");
  assert_refuses ("a.yaml", "a: [1\nb: 2\n", "a.yaml:2:2: no YAML");
  assert_refuses ("a.yaml", "a: 1\n---\nb: 2\n", "a second document");
  assert_refuses ("a.yaml", "- a\n", "settings such as 'key: value'");
  assert_refuses ("a.json", "{'a': 1}", "single quotes");
}

/* ---- versions and names ---- */

static void
versions_compare_by_number (void **state)
{
  guint v4_9, v4_39;

  (void)state;
  assert_true (version_parse ("4.9.1", &v4_9));
  assert_true (version_parse ("4.39", &v4_39));
  assert_true (v4_9 < v4_39);
  assert_false (version_parse ("new", &v4_9));
  assert_false (version_parse ("", &v4_9));
}

static void
names_tell_families (void **state)
{
  (void)state;
  assert_string_equal (model_name_family ("mistralai/Mixtral-8x7B-v0.1"), "mixtral");
  assert_string_equal (model_name_shipped ("meta-llama/Meta-Llama-3.1-8B"), "llama3-8b");
  assert_string_equal (model_name_shipped ("torchtune.models.llama3_1.lora_llama3_1_70b"),
                       "llama3-70b");
  assert_null (model_name_family ("somebody/something"));
  assert_int_equal (block_class_kind ("MixtralSparseMoeBlock"), CLASS_PART);
  assert_int_equal (block_class_kind ("LlamaForCausalLM"), CLASS_MODEL);
  assert_true (block_class_belongs ("Gemma3DecoderLayer", "gemma3_text"));
  assert_string_equal (model_name_family ("google/flan-t5-xl"), "t5");
  assert_string_equal (model_name_family ("facebook/mbart-large-50"), "mbart");
  assert_string_equal (block_class_of ("mbart"), "MBartEncoderLayer,MBartDecoderLayer");
  assert_string_equal (block_class_family ("MBartDecoderLayer"), "mbart");
}

/* ---- nesting ---- */

static Job
job_with (gboolean is_fsdp2, guint transformers, guint accelerate, gboolean own)
{
  const Versions versions = { RELEASE (2, 8), transformers, accelerate };
  Job job;

  job_init (&job, TOOL_ACCELERATE, &versions);
  job.api.value = is_fsdp2 ? API_FSDP2 : API_FSDP1;
  job.activation_checkpointing.value = own;
  job.gradient_checkpointing.value = !own;
  return job;
}

static void
assert_nests (gboolean is_fsdp2, guint transformers, guint accelerate, gboolean own, Nesting wanted)
{
  Job job = job_with (is_fsdp2, transformers, accelerate, own);

  assert_int_equal (job_nesting (&job), wanted);
  job_clear (&job);
}

/* Whose wrapper lies outside depends on who wraps last: the Trainer's checkpoint moved inside
 * FSDP1's in 4.53, accelerate's inside FSDP2's in 1.8. */
static void
nesting_goes_by_version (void **state)
{
  (void)state;
  assert_nests (FALSE, RELEASE (4, 39), RELEASE (1, 10), FALSE, NEST_OUTSIDE);
  assert_nests (FALSE, RELEASE (4, 53), RELEASE (1, 10), FALSE, NEST_INSIDE);
  assert_nests (TRUE, RELEASE (4, 55), RELEASE (1, 10), FALSE, NEST_OUTSIDE);
  assert_nests (FALSE, RELEASE (4, 39), RELEASE (0, 23), TRUE, NEST_INSIDE);
  assert_nests (TRUE, RELEASE (4, 55), RELEASE (1, 7), TRUE, NEST_OUTSIDE);
  assert_nests (TRUE, RELEASE (4, 55), RELEASE (1, 8), TRUE, NEST_INSIDE);
}

/* ---- findings ---- */

static void
a_naive_checkpoint_has_three_other_ways (void **state)
{
  g_autoptr (SettingsTree) tree
      = read_text ("a.json", "{\"fsdp\": \"full_shard auto_wrap\",\n \"bf16\": true,\n"
                             " \"gradient_checkpointing\": true}");
  const CheckContext context = { .versions = { RELEASE (2, 1), RELEASE (4, 39), RELEASE (0, 28) } };
  g_autoptr (Problems) problems = problems_new ();
  const Finding *finding;
  Check check;

  (void)state;
  assert_true (check_settings (tree, &context, &check, problems));
  assert_int_equal (findings_count (check.findings), 2);
  finding = findings_get (check.findings, 1);
  assert_int_equal (finding->code, FINDING_NAIVE_CHECKPOINTING);
  assert_int_equal (finding->line, 3);
  assert_int_equal (finding->choices->len, 3);
  assert_int_equal (findings_get (check.findings, 0)->code, FINDING_TRAINER_NO_PREFETCH);
  check_clear (&check);
}

static void
every_code_is_explained_once (void **state)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  (void)state;
  for (FindingCode code = 0; code < N_FINDING_CODES; code++)
    {
      const FindingInfo *info = finding_info (code);

      assert_true (g_hash_table_add (seen, (gpointer)info->code));
      assert_true (g_str_has_suffix (info->explanation, "."));
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (yaml_knows_its_places),
    cmocka_unit_test (yaml_merges),
    cmocka_unit_test (json_stands_where_its_keys_do),
    cmocka_unit_test (toml_is_read_less_comments_and_quotes),
    cmocka_unit_test (what_is_beyond_is_refused_by_its_line),
    cmocka_unit_test (versions_compare_by_number),
    cmocka_unit_test (names_tell_families),
    cmocka_unit_test (nesting_goes_by_version),
    cmocka_unit_test (a_naive_checkpoint_has_three_other_ways),
    cmocka_unit_test (every_code_is_explained_once),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

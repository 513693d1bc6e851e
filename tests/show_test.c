#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "config/data.h"
#include "config_fixture.h"

static ScenarioFile *
load_shipped (const char *name)
{
  g_autoptr (Problems) problems = problems_new ();
  ScenarioFile *file = scenario_file_load (name, NULL, problems);

  if (file == NULL)
    {
      g_autofree char *messages = problems_format (problems, "");

      print_error ("%s", messages);
    }
  assert_non_null (file);
  return file;
}

/* Loads what @file shows and holds it to mean the same. */
static void
assert_survives (const ScenarioFile *file)
{
  g_autofree char *shown = scenario_file_show (file);
  g_autoptr (ScenarioFile) again = fixture_load (shown, NULL);
  guint n = scenario_file_n_variants (file);

  assert_string_equal (scenario_file_sha256 (again), scenario_file_sha256 (file));
  assert_string_equal (scenario_file_variant (again, 0)->title,
                       scenario_file_variant (file, 0)->title);
  assert_int_equal (scenario_file_n_variants (again), n);
  for (guint i = 0; i < n; i++)
    {
      const Scenario *before = scenario_file_variant (file, i);
      const Scenario *after = scenario_file_variant (again, i);

      assert_string_equal (after->variant, before->variant);
      assert_string_equal (after->model.name, before->model.name);
      assert_string_equal (after->gpu.name, before->gpu.name);
      assert_string_equal (after->cluster.name, before->cluster.name);
      assert_memory_equal (&after->timing, &before->timing, sizeof after->timing);
      assert_memory_equal (&after->fsdp, &before->fsdp, sizeof after->fsdp);
    }
}

static void
every_shipped_scenario_shows_as_one_that_means_the_same (void **state)
{
  g_auto (GStrv) names = data_list (DATA_SCENARIO);

  (void)state;
  assert_true (g_strv_length (names) >= 6);
  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autoptr (ScenarioFile) file = load_shipped (names[i]);

      assert_survives (file);
    }
}

/* Variants that name other sources bring along their figures; titles with '#' and names
 * with blanks stay whole. */
static void
odd_scenarios_survive (void **state)
{
  static const char text[]
      = "[scenario]\ntitle = #1: a#b \xC3\xA4\n" TINY
        "[simulation]\nstraggler = 3:1.5; 1:2\nseed = 7\n"
        "[variant two words]\nmodel.source = llama2-7b\n"
        "[variant other machine]\ncluster.source = dgx-h100\ncluster.nodes = 2\n"
        "[variant x:\xE6\xBC\xA2,\"\"=]\ngpu.source = l40s\nfsdp.torch = 2.10.0+cu126\n"
        "activation_checkpointing.select = every:3\n"
        "[sweep]\ncluster.nodes = 1,2\n";
  static const char *const overrides[] = { "timing.forward=0.1ms", NULL };
  g_autoptr (ScenarioFile) file = fixture_load (text, overrides);

  (void)state;
  assert_survives (file);
}

/* Variants give the model; the scenario itself has none. */
static void
a_base_without_model_survives (void **state)
{
  g_autoptr (ScenarioFile) file = fixture_load ("[cluster]\nsource = tiny_cluster.ini\n"
                                                "[variant a]\nmodel.source = tiny_model.ini\n"
                                                "[variant b]\nmodel.source = llama2-7b\n",
                                                NULL);

  (void)state;
  assert_survives (file);
}

/* The line of @key in [@section], to its end. The caller frees it. */
static char *
shown_line (const ScenarioFile *file, const char *section, const char *key)
{
  g_autofree char *shown = scenario_file_show (file);
  g_autofree char *head = g_strdup_printf ("\n[%s]\n", section);
  g_autofree char *start = g_strdup_printf ("\n%s =", key);
  const char *at = strstr (shown, head);
  const char *end;

  assert_non_null (at);
  at = strstr (at, start);
  assert_non_null (at);
  end = strchr (at + 1, '\n');
  return g_strndup (at + 1, (gsize)(end - at) - 1);
}

static void
assert_shown (const ScenarioFile *file, const char *section, const char *key, const char *expected)
{
  g_autofree char *line = shown_line (file, section, key);
  g_auto (GStrv) parts = g_strsplit (line, "# ", 2);
  g_autofree char *squeezed
      = g_strconcat (g_strchomp (parts[0]), " # ", parts[1] != NULL ? parts[1] : "", NULL);

  assert_string_equal (squeezed, expected);
}

static void
each_value_names_its_origin (void **state)
{
  static const char text[] = TINY "[training]\nseq_len = 512\n"
                                  "[variant a]\ntraining.seq_len = 256\n";
  static const char *const overrides[] = { "gpu.memory = 40GiB", NULL };
  g_autoptr (ScenarioFile) file = fixture_load (text, overrides);

  (void)state;
  assert_shown (file, "training", "seq_len", "seq_len = 512 # s.ini:6");
  assert_shown (file, "training", "micro_batch", "micro_batch = 1 # default");
  assert_shown (file, "model", "layers", "layers = 4 # tiny_model.ini:5");
  assert_shown (file, "gpu", "memory", "memory = 40GiB # -s");
  assert_shown (file, "variant a", "training.seq_len", "training.seq_len = 256 # variant");
  assert_shown (file, "model", "head_dim", "head_dim = auto # default: 8");
  assert_shown (file, "simulation", "compute_slowdown", "compute_slowdown = auto # default: 5%");
}

/* Only where it does nothing in any variant. */
static void
keys_without_effect_say_so (void **state)
{
  g_autoptr (ScenarioFile) fsdp1 = fixture_load (TINY, NULL);
  g_autoptr (ScenarioFile) fsdp2 = fixture_load (TINY "[fsdp]\napi = fsdp2\n", NULL);
  g_autoptr (ScenarioFile) lora = fixture_load (TINY "[training]\ntrainable = lora\n", NULL);
  g_autoptr (ScenarioFile) both
      = fixture_load (TINY "[variant a]\n[variant b]\nfsdp.api = fsdp2\n", NULL);

  g_autoptr (ScenarioFile) old
      = fixture_load (TINY "[fsdp]\ntorch = 2.0\n[activation_checkpointing]\n"
                           "method = apply_activation_checkpointing\n",
                      NULL);

  (void)state;
  assert_shown (old, "activation_checkpointing", "early_stop",
                "early_stop = true # default; no effect before torch 2.1");
  assert_shown (fsdp1, "fsdp", "reshard_after_forward",
                "reshard_after_forward = auto # default; no effect with fsdp1");
  assert_shown (fsdp1, "fsdp", "reshard_after_backward",
                "reshard_after_backward = true # default; no effect with fsdp1");
  assert_shown (fsdp1, "fsdp", "forward_prefetch_depth",
                "forward_prefetch_depth = 0 # default; no effect with fsdp1");
  assert_shown (fsdp1, "fsdp", "use_orig_params",
                "use_orig_params = true # default; no effect without training.trainable = lora");
  assert_shown (lora, "fsdp", "use_orig_params", "use_orig_params = true # default");
  assert_shown (fsdp2, "fsdp", "use_orig_params",
                "use_orig_params = true # default; no effect with fsdp2");
  assert_shown (fsdp1, "training", "lora_rank",
                "lora_rank = 8 # default; no effect without training.trainable = lora");
  assert_shown (lora, "training", "lora_targets", "lora_targets = q_proj v_proj # default");
  assert_shown (fsdp1, "fsdp", "limit_all_gathers", "limit_all_gathers = true # default");
  assert_shown (fsdp2, "fsdp", "limit_all_gathers",
                "limit_all_gathers = true # default; no effect with fsdp2");
  assert_shown (fsdp2, "fsdp", "backward_prefetch_depth", "backward_prefetch_depth = 0 # default");
  assert_shown (both, "fsdp", "limit_all_gathers", "limit_all_gathers = true # default");
  assert_shown (both, "fsdp", "reshard_after_forward", "reshard_after_forward = auto # default");
  assert_shown (fsdp1, "activation_checkpointing", "use_reentrant",
                "use_reentrant = false # default; no effect with method = none");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_shipped_scenario_shows_as_one_that_means_the_same),
    cmocka_unit_test (odd_scenarios_survive),
    cmocka_unit_test (a_base_without_model_survives),
    cmocka_unit_test (each_value_names_its_origin),
    cmocka_unit_test (keys_without_effect_say_so),
  };

  return cmocka_run_group_tests (tests, fixture_enter_data, NULL);
}

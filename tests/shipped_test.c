#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>
#include <glib/gstdio.h>

#include "config/data.h"
#include "config/scenario.h"
#include "cost/params.h"
#include "cost/step_cost.h"
#include "net/network.h"

/* GPT-2 has 1024 positions. */
static const char base[] = "[model]\nsource = llama2-7b\n[cluster]\nsource = dgx-a100-80g\n"
                           "[training]\nseq_len = 1024\n";

/* Loads the base scenario with one override, e.g. "model.source=gpt2"; NULL
 * after printing what is wrong. */
static ScenarioFile *
load (const char *path, const char *key, const char *value)
{
  g_autoptr (Problems) problems = problems_new ();
  g_autofree char *override = g_strdup_printf ("%s=%s", key, value);
  /* The GPT-2 models have no more positions than that. */
  const char *const overrides[]
      = { override, strcmp (key, "model.source") == 0 ? "training.seq_len=1024" : NULL, NULL };
  ScenarioOptions options = { .overrides = overrides };
  ScenarioFile *file = scenario_file_load (path, &options, problems);

  if (file == NULL)
    {
      g_autofree char *text = problems_format (problems, "shipped_test: ");

      print_error ("%s %s:\n%s\n", key, value, text);
    }
  return file;
}

static int
write_base (void **state)
{
  GError *error = NULL;
  char *path = NULL;
  gint descriptor = g_file_open_tmp ("shipped-XXXXXX.ini", &path, &error);

  assert_true (descriptor >= 0);
  assert_true (g_close (descriptor, NULL));
  assert_true (g_file_set_contents (path, base, -1, NULL));
  *state = path;
  return 0;
}

static int
remove_base (void **state)
{
  g_remove (*state);
  g_free (*state);
  return 0;
}

/* Published counts, or (MPT 30B and 70B) L (12 d^2 + 2 d) + V d + d. */
static const struct
{
  const char *name;
  gint64 total;
} totals[] = {
  { "codellama-34b", G_GINT64_CONSTANT (33743970304) },
  { "deepseek-llm-7b", G_GINT64_CONSTANT (6910365696) },
  { "flan-t5-xxl", G_GINT64_CONSTANT (11135332352) },
  { "gpt2", 124439808 },
  { "gpt2-large", 774030080 },
  { "gpt2-medium", 354823168 },
  { "gpt2-xl", 1557611200 },
  { "llama2-13b", G_GINT64_CONSTANT (13015864320) },
  { "llama2-70b", G_GINT64_CONSTANT (68976648192) },
  { "llama2-7b", G_GINT64_CONSTANT (6738415616) },
  { "llama3-405b", G_GINT64_CONSTANT (405853388800) },
  { "llama3-70b", G_GINT64_CONSTANT (70553706496) },
  { "llama3-8b", G_GINT64_CONSTANT (8030261248) },
  { "llama3.2-1b", 1235814400 },
  { "llama3.2-3b", G_GINT64_CONSTANT (3212749824) },
  { "mistral-7b", G_GINT64_CONSTANT (7241732096) },
  { "mpt-30b", G_GINT64_CONSTANT (29957200896) },
  { "mpt-70b", G_GINT64_CONSTANT (64838443008) },
  { "mpt-7b", G_GINT64_CONSTANT (6649286656) },
  { "yi-34b", G_GINT64_CONSTANT (34388917248) },
};

static void
every_model_has_its_published_total (void **state)
{
  g_auto (GStrv) names = data_list (DATA_MODEL);

  assert_int_equal (g_strv_length (names), G_N_ELEMENTS (totals));
  for (guint i = 0; i < G_N_ELEMENTS (totals); i++)
    {
      g_autoptr (ScenarioFile) file = load (*state, "model.source", totals[i].name);
      ParamCount count;

      assert_non_null (file);
      count = params_count (&scenario_file_variant (file, 0)->model);
      if (count.total != totals[i].total)
        print_error ("%s\n", totals[i].name);
      assert_int_equal (count.total, totals[i].total);
    }
}

/* Every GPU runs a block of Llama 2 7B, no faster than its peak allows and no
 * slower than a tenth of it: 6 x 202,383,360 x 1024 FLOPs forward and backward. */
static void
every_gpu_runs_a_block_within_its_peak (void **state)
{
  g_auto (GStrv) names = data_list (DATA_GPU);

  assert_true (g_strv_length (names) >= 20);
  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autoptr (ScenarioFile) file = load (*state, "gpu.source", names[i]);
      const Scenario *scenario;
      StepCost cost;
      double least_ps;

      assert_non_null (file);
      scenario = scenario_file_variant (file, 0);
      step_cost_new (scenario, &cost);
      least_ps = 6.0 * 202383360 * 1024 / scenario->gpu.matmul_flops * 1e12;
      assert_true ((double)(cost.kinds[0].forward.time_ps + cost.kinds[0].backward.time_ps)
                   > least_ps);
      assert_true ((double)(cost.kinds[0].forward.time_ps + cost.kinds[0].backward.time_ps)
                   < 10 * least_ps);
      assert_true (scenario->gpu.reserved_memory_bytes < scenario->gpu.memory_bytes / 8);
    }
}

/* An all-gather of 1 GiB over a node's GPUs: never above the ring's bandwidth, and
 * at least half of it, the buffer being large. */
static void
every_cluster_reaches_its_ring_bandwidth (void **state)
{
  g_auto (GStrv) names = data_list (DATA_CLUSTER);

  assert_true (g_strv_length (names) >= 30);
  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autoptr (ScenarioFile) file = load (*state, "cluster.source", names[i]);
      const ClusterConfig *cluster;
      g_autoptr (Network) network = NULL;
      GroupShape shape;
      double bus;

      assert_non_null (file);
      cluster = &scenario_file_variant (file, 0)->cluster;
      network = network_new (cluster);
      shape = network_group_shape (network, 0, cluster->gpus_per_node, 1);
      assert_int_equal (shape.nodes, 1);
      bus = 1e12 * (1 << 30) * (shape.ranks - 1.0) / shape.ranks
            / (double)network_collective (network, COLLECTIVE_ALL_GATHER, &shape, 1 << 30, FALSE)
                  .time_ps;
      assert_true (bus < cluster->ring_bytes_per_s);
      assert_true (bus > 0.5 * cluster->ring_bytes_per_s);
    }
}

/* What a derived file does not say, it has from its source; what it says, it has
 * from itself. */
static void
a_derived_cluster_keeps_its_sources_constants (void **state)
{
  g_autoptr (ScenarioFile) ampere = load (*state, "cluster.source", "dgx-a100-40g");
  g_autoptr (ScenarioFile) efa = load (*state, "cluster.source", "aws-p4de");
  const Scenario *first = scenario_file_variant (ampere, 0);
  const Scenario *second = scenario_file_variant (efa, 0);

  assert_int_equal (second->cluster.base_ps[PROTOCOL_SIMPLE], 15650000);
  assert_int_equal (first->cluster.base_ps[PROTOCOL_SIMPLE], 15650000);
  assert_int_equal (first->cluster.hop_ps[PROTOCOL_SIMPLE], 26600000);
  assert_int_equal (second->cluster.hop_ps[PROTOCOL_SIMPLE], 148400000);
  assert_string_equal (first->gpu.name, "a100-sxm-40g");
  assert_string_equal (second->gpu.name, "a100-sxm-80g");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (every_model_has_its_published_total),
    cmocka_unit_test (every_gpu_runs_a_block_within_its_peak),
    cmocka_unit_test (every_cluster_reaches_its_ring_bandwidth),
    cmocka_unit_test (a_derived_cluster_keeps_its_sources_constants),
  };

  return cmocka_run_group_tests (tests, write_base, remove_base);
}

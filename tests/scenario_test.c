#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "config/keys.h"
#include "config_fixture.h"

/* ---- defaults ---- */

/* As the contract lists them. */
static const struct
{
  const char *name, *standard;
} defaults[] = {
  { "cluster.nodes", "1" },
  { "training.micro_batch", "1" },
  { "training.seq_len", "4096" },
  { "training.grad_accum", "1" },
  { "training.no_sync", "true" },
  { "training.max_grad_norm", "1.0" },
  { "training.optimizer", "adamw" },
  { "fsdp.api", "fsdp1" },
  { "fsdp.torch", "2.8" },
  { "fsdp.sharding_strategy", "FULL_SHARD" },
  { "fsdp.shard_group_size", "auto" },
  { "fsdp.backward_prefetch", "BACKWARD_PRE" },
  { "training.trainable", "all" },
  { "fsdp.forward_prefetch", "false" },
  { "fsdp.limit_all_gathers", "true" },
  { "fsdp.reshard_after_forward", "auto" },
  { "fsdp.reshard_after_backward", "true" },
  { "fsdp.forward_prefetch_depth", "0" },
  { "fsdp.backward_prefetch_depth", "0" },
  { "fsdp.separate_reduce_scatter_group", "false" },
  { "fsdp.reduce_scatter_input_buffers", "1" },
  { "fsdp.units", "root_and_blocks" },
  { "fsdp.param_dtype", "bf16" },
  { "fsdp.reduce_dtype", "bf16" },
  { "activation_checkpointing.method", "none" },
  { "activation_checkpointing.use_reentrant", "false" },
  { "activation_checkpointing.early_stop", "true" },
  { "activation_checkpointing.select", "all" },
  { "simulation.engine", "auto" },
  { "simulation.steps", "1" },
  { "simulation.warmup_steps", "1" },
  { "simulation.ranks", "folded" },
  { "simulation.compute_jitter", "0%" },
  { "simulation.compute_slowdown", "auto" },
  { "simulation.straggler", "" },
  { "simulation.seed", "1" },
};

static void
defaults_are_those_of_the_contract (void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (defaults); i++)
    {
      const KeyInfo *key = keys_find_dotted (defaults[i].name);

      if (key == NULL)
        print_error ("%s\n", defaults[i].name);
      assert_non_null (key);
      assert_string_equal (key->standard, defaults[i].standard);
    }
}

static void
defaults_fill_the_scenario (void **state)
{
  g_autoptr (ScenarioFile) file = fixture_load (TINY, NULL);
  const Scenario *scenario = scenario_file_variant (file, 0);

  (void)state;
  assert_int_equal (scenario_file_n_variants (file), 1);
  assert_string_equal (scenario->variant, "base");
  assert_string_equal (scenario->title, "");
  assert_string_equal (scenario->model.name, "tiny_model");
  assert_string_equal (scenario->cluster.name, "tiny_cluster");
  assert_string_equal (scenario->gpu.name, "tiny_gpu");
  assert_int_equal (scenario_ranks (scenario), 8);
  assert_int_equal (scenario->model.head_dim, 8); /* 64 / 8 heads */
  assert_int_equal (scenario->fsdp.shard_group_size, 8);
  assert_int_equal (scenario->fsdp.torch_minor, 8);
  assert_int_equal (scenario->fsdp.reshard_after_forward, RESHARD_AUTO);
  assert_int_equal (scenario->timing.forward, TIMING_NOT_GIVEN);
  assert_true (scenario->simulation.compute_slowdown == 0.05); /* of tiny_gpu.ini */
  assert_true (scenario->cluster.nic_bytes_per_s == 25e9);     /* 200 Gb/s */
  assert_int_equal (scenario->cluster.step_ps[PROTOCOL_LL], 700000);
}

/* ---- precedence ---- */

/* 1 by default, 2 in the file, 3 by -s, 4 in a variant; layers are 4 in the model's file. */
static void
variants_go_over_options_over_the_file_over_sources_over_defaults (void **state)
{
  static const char text[] = TINY "[training]\nmicro_batch = 2\nseq_len = 2\ngrad_accum = 2\n"
                                  "[variant a]\ntraining.micro_batch = 4\n"
                                  "[variant b]\n";
  static const char *const overrides[]
      = { "training.micro_batch=3", "training.seq_len = 3", "model.vocab=3", NULL };
  g_autoptr (ScenarioFile) file = fixture_load (text, overrides);
  const Scenario *a = scenario_file_variant (file, 0), *b = scenario_file_variant (file, 1);

  (void)state;
  assert_int_equal (scenario_file_n_variants (file), 2);
  assert_string_equal (a->variant, "a");
  assert_int_equal (a->training.micro_batch, 4);
  assert_int_equal (b->training.micro_batch, 3);
  assert_int_equal (a->training.seq_len, 3);
  assert_int_equal (a->training.grad_accum, 2);
  assert_int_equal (a->model.vocab, 3);
  assert_int_equal (a->model.layers, 4);
  assert_int_equal (a->cluster.nodes, 1);
}

/* Any key of a source may follow it, here and in a variant. */
static void
a_sources_keys_may_be_overridden (void **state)
{
  static const char text[]
      = "[model]\nsource = tiny_model.ini\nlayers = 7\n"
        "[cluster]\nsource = tiny_cluster.ini\nring_bandwidth = 1.6Tb/s\nll_step = 1us\n"
        "[gpu]\nmemory = 40GB\n"
        "[variant a]\nmodel.kv_heads = auto\ngpu.sms = 50\n";
  g_autoptr (ScenarioFile) file = fixture_load (text, NULL);
  const Scenario *scenario = scenario_file_variant (file, 0);

  (void)state;
  assert_int_equal (scenario->model.layers, 7);
  assert_int_equal (scenario->model.kv_heads, 8); /* as many as heads */
  assert_int_equal (scenario->model.hidden, 64);
  assert_true (scenario->cluster.ring_bytes_per_s == 200e9);
  assert_int_equal (scenario->cluster.step_ps[PROTOCOL_LL], 1000000);
  assert_int_equal (scenario->gpu.memory_bytes, G_GINT64_CONSTANT (40000000000));
  assert_int_equal (scenario->gpu.sms, 50);
}

/* A variant may name another source; what the file says over it stays. */
static void
a_variant_may_change_the_source (void **state)
{
  static const char text[] = "[model]\nsource = tiny_model.ini\nlayers = 7\n"
                             "[cluster]\nsource = tiny_cluster.ini\n"
                             "[variant small]\n[variant large]\nmodel.source = llama2-7b\n"
                             "[variant fast]\ngpu.source = h100-sxm-80g\n";
  g_autoptr (ScenarioFile) file = fixture_load (text, NULL);

  (void)state;
  assert_int_equal (scenario_file_variant (file, 0)->model.hidden, 64);
  assert_int_equal (scenario_file_variant (file, 1)->model.hidden, 4096);
  assert_int_equal (scenario_file_variant (file, 1)->model.layers, 7);
  assert_string_equal (scenario_file_variant (file, 1)->model.name, "llama2-7b");
  assert_string_equal (scenario_file_variant (file, 0)->gpu.name, "tiny_gpu");
  assert_string_equal (scenario_file_variant (file, 2)->gpu.name, "h100-sxm-80g");
}

/* ---- single keys ---- */

static Scenario
only_variant (const char *lines, ScenarioFile **file)
{
  g_autofree char *text = g_strconcat (TINY, lines, NULL);

  *file = fixture_load (text, NULL);
  return *scenario_file_variant (*file, 0);
}

static void
every_timing_key_is_read (void **state)
{
  guint n;
  const KeyInfo *keys = keys_list (&n);
  g_autoptr (GString) text = g_string_new (TINY "[timing]\n");
  g_autoptr (ScenarioFile) file = NULL;
  gint64 times[sizeof (TimingConfig) / sizeof (gint64)];
  guint n_timing = 0;

  (void)state;
  for (guint i = 0; i < n; i++)
    if (strcmp (keys[i].section, "timing") == 0)
      g_string_append_printf (text, "%s = %ums\n", keys[i].key, ++n_timing);
  assert_int_equal (n_timing, 30);
  file = fixture_load (text->str, NULL);
  assert_int_equal (n_timing, G_N_ELEMENTS (times));
  memcpy (times, &scenario_file_variant (file, 0)->timing, sizeof times);
  for (guint i = 0; i < n_timing; i++)
    assert_int_equal (times[i], (i + 1) * G_GINT64_CONSTANT (1000000000));
}

static const struct
{
  const char *version;
  guint minor;
} versions[] = {
  { "2.0", 0 },           { "2.0.1", 0 },
  { "2.8", 8 },           { "2.9", 9 },
  { "2.10", 10 },         { "2.14", 14 },
  { "2.7.1", 7 },         { "2.8.0+cu126", 8 },
  { "2.8.0a0+git12", 8 }, { "2.9.0.dev20250901", 9 },
  { "2.5.0rc1", 5 },      { "2.4.1.post1", 4 },
  { "2.04", 4 },
};

/* 2.10 follows 2.9; it is no decimal number. */
static void
torch_is_a_version (void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (versions); i++)
    {
      g_autofree char *line = g_strdup_printf ("[fsdp]\ntorch = %s\n", versions[i].version);
      g_autoptr (ScenarioFile) file = NULL;

      assert_int_equal (only_variant (line, &file).fsdp.torch_minor, versions[i].minor);
    }
}

static void
reshard_takes_words_and_group_sizes (void **state)
{
  static const struct
  {
    const char *text;
    gint value;
  } cases[] = { { "auto", RESHARD_AUTO },
                { "true", RESHARD_TRUE },
                { "false", RESHARD_FALSE },
                { "all_but_last", RESHARD_ALL_BUT_LAST },
                { "2", 2 },
                { "1", RESHARD_FALSE },  /* a rank for itself keeps all */
                { "8", RESHARD_TRUE } }; /* the whole shard group */

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *lines
          = g_strdup_printf ("[fsdp]\napi = fsdp2\nreshard_after_forward = %s\n", cases[i].text);
      g_autoptr (ScenarioFile) file = NULL;

      assert_int_equal (only_variant (lines, &file).fsdp.reshard_after_forward, cases[i].value);
    }
}

static void
select_takes_all_every_and_op (void **state)
{
  g_autoptr (ScenarioFile) every = NULL, op = NULL;
  Scenario scenario = only_variant ("[activation_checkpointing]\nselect = every:2\n", &every);

  (void)state;
  assert_int_equal (scenario.checkpoint.every, 2);
  assert_false (scenario.checkpoint.select_op);
  scenario = only_variant ("[activation_checkpointing]\nselect = op\n", &op);
  assert_int_equal (scenario.checkpoint.every, 1);
  assert_true (scenario.checkpoint.select_op);
}

/* Sorted by rank, however written; jitter and stragglers make all ranks count. */
static void
stragglers_unfold_the_ranks (void **state)
{
  g_autoptr (ScenarioFile) slow = NULL, jitter = NULL, slowest = NULL;
  Scenario scenario = only_variant ("[simulation]\nstraggler = 3:1.5; 0:2;\n", &slow);

  (void)state;
  assert_int_equal (scenario.simulation.stragglers.n, 2);
  assert_int_equal (scenario.simulation.stragglers.items[0].number, 0);
  assert_true (scenario.simulation.stragglers.items[0].value == 2);
  assert_int_equal (scenario.simulation.stragglers.items[1].number, 3);
  assert_int_equal (scenario.simulation.ranks, RANKS_ALL);
  scenario = only_variant ("[simulation]\ncompute_jitter = 3%\n", &jitter);
  assert_int_equal (scenario.simulation.ranks, RANKS_ALL);
  scenario = only_variant ("[simulation]\nseed = 9223372036854775807\n", &slowest);
  assert_true (scenario.simulation.seed == G_MAXINT64);
  assert_int_equal (scenario.simulation.ranks, RANKS_FOLDED);
}

/* A hybrid shard group is a node's ranks unless given; without hybrid, all ranks. */
static void
auto_shard_groups_are_nodes_under_hybrid_sharding (void **state)
{
  g_autoptr (ScenarioFile) hybrid = NULL, given = NULL, full = NULL, ddp = NULL;
  Scenario scenario
      = only_variant ("nodes = 2\n[fsdp]\nsharding_strategy = HYBRID_SHARD\n", &hybrid);

  (void)state;
  assert_int_equal (scenario.fsdp.shard_group_size, 8);
  scenario = only_variant (
      "nodes = 2\n[fsdp]\nsharding_strategy = _HYBRID_SHARD_ZERO2\nshard_group_size = 4\n", &given);
  assert_int_equal (scenario.fsdp.shard_group_size, 4);
  scenario = only_variant ("nodes = 2\n[fsdp]\nshard_group_size = 4\n", &full);
  assert_int_equal (scenario.fsdp.shard_group_size, 16);
  scenario = only_variant (
      "nodes = 2\n[fsdp]\napi = ddp\nsharding_strategy = HYBRID_SHARD\nshard_group_size = 3\n",
      &ddp);
  assert_int_equal (scenario.fsdp.shard_group_size, 16);
}

/* One pass cannot slow compute beside collectives: auto is then none. */
static void
auto_slowdown_is_the_gpus_unless_the_engine_has_none (void **state)
{
  g_autoptr (ScenarioFile) one_pass = NULL, events = NULL, none = NULL;

  (void)state;
  assert_true (
      only_variant ("[simulation]\nengine = one_pass\n", &one_pass).simulation.compute_slowdown
      == 0);
  assert_true (only_variant ("[simulation]\nengine = events\n", &events).simulation.compute_slowdown
               == 0.05);
  assert_true (
      only_variant ("[simulation]\ncompute_slowdown = 0%\n", &none).simulation.compute_slowdown
      == 0);
}

/* ---- the hash ---- */

static char *
hash_of (const char *lines)
{
  g_autoptr (ScenarioFile) file = NULL;

  only_variant (lines, &file);
  return g_strdup (scenario_file_sha256 (file));
}

/* Spelling, order, comments and titles make no difference; figures do. */
static void
equal_meaning_hashes_alike (void **state)
{
  g_autofree char *plain = hash_of ("");
  g_autofree char *spelled = hash_of ("# why\r\n[gpu]\nmemory = 80000MB\n[simulation]\nseed=1\n"
                                      "[training]\nseq_len = 04096\n[scenario]\ntitle = x\n");
  g_autofree char *other = hash_of ("[training]\nseq_len = 4097\n");
  g_autofree char *named = hash_of ("[variant base]\n");
  g_autofree char *renamed = hash_of ("[variant other]\n");
  g_autofree char *one_input = hash_of ("[fsdp]\nreduce_scatter_input_buffers = 1\n");
  g_autofree char *two_inputs = hash_of ("[fsdp]\nreduce_scatter_input_buffers = 2\n");
  g_autofree char *flattened = hash_of ("[fsdp]\nuse_orig_params = false\n");

  (void)state;
  assert_int_equal (strlen (plain), 64);
  assert_string_equal (plain, spelled);
  assert_string_equal (plain, named);
  assert_string_not_equal (plain, other);
  assert_string_not_equal (plain, renamed);
  assert_string_equal (plain, one_input);
  assert_string_not_equal (plain, two_inputs);
  assert_string_not_equal (plain, flattened);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (defaults_are_those_of_the_contract),
    cmocka_unit_test (defaults_fill_the_scenario),
    cmocka_unit_test (variants_go_over_options_over_the_file_over_sources_over_defaults),
    cmocka_unit_test (a_sources_keys_may_be_overridden),
    cmocka_unit_test (a_variant_may_change_the_source),
    cmocka_unit_test (every_timing_key_is_read),
    cmocka_unit_test (torch_is_a_version),
    cmocka_unit_test (reshard_takes_words_and_group_sizes),
    cmocka_unit_test (select_takes_all_every_and_op),
    cmocka_unit_test (stragglers_unfold_the_ranks),
    cmocka_unit_test (auto_shard_groups_are_nodes_under_hybrid_sharding),
    cmocka_unit_test (auto_slowdown_is_the_gpus_unless_the_engine_has_none),
    cmocka_unit_test (equal_meaning_hashes_alike),
  };

  return cmocka_run_group_tests (tests, fixture_enter_data, NULL);
}

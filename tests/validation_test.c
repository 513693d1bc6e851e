#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "study/ab_pairs.h"
#include "study/error_figures.h"
#include "study/published_scenario.h"

#define HEADER                                                                                     \
  "id,framework,api,layers,hidden,heads,ffn_hidden,gated_ffn,vocab,seq_len,gpu,nodes,"             \
  "gpus_per_node,micro_batch,tokens_per_s_per_gpu"

static PublishedTable *
read_table (const char *text, Problems *problems)
{
  return published_read ("runs.csv", text, strlen (text), problems);
}

/* A run of a table with these further columns. */
static const PublishedRun *
first_run_of (PublishedTable **table, const char *framework, const char *gpu, const char *columns,
              const char *cells)
{
  g_autoptr (Problems) problems = problems_new ();
  g_autofree char *text
      = g_strdup_printf (HEADER "%s\nr,%s,fsdp1,2,256,2,1024,0,1000,512,%s,2,8,4,1000%s", columns,
                         framework, gpu, cells);

  *table = read_table (text, problems);
  assert_non_null (*table);
  assert_int_equal (published_n_runs (*table), 1);
  return published_run (*table, 0);
}

static const PublishedRun *
first_run (PublishedTable **table, const char *columns, const char *cells)
{
  return first_run_of (table, "llm-foundry (Composer)", "a100-sxm-80g", columns, cells);
}

static void
assert_scenario_of (const char *framework, const char *gpu, const char *columns, const char *cells,
                    const char *says)
{
  g_autoptr (PublishedTable) table = NULL;
  const PublishedRun *run = first_run_of (&table, framework, gpu, columns, cells);
  g_autoptr (GError) error = NULL;
  g_autofree char *text = published_scenario (&run->settings, &error);

  assert_non_null (text);
  if (strstr (text, says) == NULL)
    print_error ("%s\nand not\n%s\n", text, says);
  assert_non_null (strstr (text, says));
}

static void
assert_scenario (const char *columns, const char *cells, const char *says)
{
  assert_scenario_of ("llm-foundry (Composer)", "a100-sxm-80g", columns, cells, says);
}

static void
assert_cannot_map (const char *columns, const char *cells, const char *reason)
{
  g_autoptr (PublishedTable) table = NULL;
  const PublishedRun *run = first_run (&table, columns, cells);
  g_autoptr (GError) error = NULL;
  g_autofree char *text = published_scenario (&run->settings, &error);

  assert_null (text);
  assert_non_null (strstr (error->message, reason));
}

/* ---- reading ---- */

static void
columns_come_in_any_order_and_may_be_missing (void **state)
{
  g_autoptr (PublishedTable) table = NULL;
  const PublishedRun *run = first_run (&table, ",quality,unheard_of,year", ",B,x,2023");

  (void)state;
  assert_string_equal (run->result.quality, "B");
  assert_int_equal (run->settings.year, 2023);
  assert_int_equal (run->settings.layers, 2);
  assert_true (run->result.tokens_per_s_per_gpu == 1000);
  assert_true (isnan (run->settings.inter_gbps_per_gpu));
  assert_string_equal (run->settings.attention, "");
  assert_null (run->unreadable);
}

static void
cells_that_are_no_numbers_are_told (void **state)
{
  static const char *const bad[] = { "0x10", "nan", "-3", "1e999", "2.5", "2 x", "9999999999" };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *cells = g_strconcat (",", bad[i], NULL);
      g_autoptr (PublishedTable) table = NULL;
      const PublishedRun *run = first_run (&table, ",kv_heads", cells);

      assert_non_null (run->unreadable);
      assert_non_null (strstr (run->unreadable, bad[i]));
    }
}

static void
what_is_no_table_of_runs_is_refused (void **state)
{
  static const struct
  {
    const char *text, *says;
  } cases[] = {
    { "", "empty" },
    { "a,b\n1,2\n", "its header lacks id, framework" },
    { HEADER "\n1,2\n", "runs.csv:2:1: 2 fields under a header of 15" },
  };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Problems) problems = problems_new ();
      g_autoptr (PublishedTable) table = read_table (cases[i].text, problems);
      g_autofree char *messages = problems_format (problems, "");

      assert_null (table);
      assert_non_null (strstr (messages, cases[i].says));
    }
}

static void
runs_are_selected_by_quality (void **state)
{
  g_autoptr (PublishedTable) table = NULL;
  PublishedTable *more = NULL;

  (void)state;
  first_run (&table, ",quality", ",B");
  first_run (&more, ",quality", ",A");
  published_append (table, more);
  assert_int_equal (published_n_runs (table), 2);
  published_select (table, "A");
  assert_int_equal (published_n_runs (table), 1);
  assert_string_equal (published_run (table, 0)->result.quality, "A");
}

/* ---- mapping ---- */

/* 80 sequences on 16 ranks are 5 a rank: a micro-batch of 4 and one of 1. */
static void
the_last_micro_batch_takes_what_is_left (void **state)
{
  (void)state;
  assert_scenario (",global_batch", ",80", "grad_accum = 2\nlast_micro_batch = 1\n");
  assert_scenario (",global_batch", ",64", "grad_accum = 1\nno_sync");
  assert_scenario (",grad_accum", ",3", "grad_accum = 3\nno_sync");
  assert_cannot_map (",global_batch", ",16", "less than a micro-batch of 4");
}

static void
the_usual_network_stands_in_and_is_told (void **state)
{
  (void)state;
  assert_scenario ("", "",
                   "# network rate not published: the usual one\nnics_per_node = 8\n"
                   "nic_bandwidth = 200Gb/s");
  assert_scenario (",inter_gbps_per_gpu", ",100",
                   "gpus_per_node = 8\nnics_per_node = 8\n"
                   "nic_bandwidth = 100Gb/s");
  assert_scenario (",inter_gbps_per_gpu", ",50", "source = aws-p4d");
}

static void
software_follows_framework_and_attention (void **state)
{
  (void)state;
  assert_scenario (",attention", ",flash1_triton", "source = composer\nattention = flash1_triton");
  assert_scenario (",attention", ",flash1", "source = mosaicgpt\nattention = flash1");
  assert_scenario (",compile", ",1", "compile = true\n[training]");
  assert_scenario (",ab_arm", ",chunked CE", "loss = chunked");
}

/* torchtitan compiles its loss from March 2025 on; where only the year is told, its end counts. */
static void
the_loss_is_compiled_since_some_month (void **state)
{
  static const struct
  {
    const char *cells, *says;
  } cases[] = { { ",1,2024,", "compile = true\n[training]" },
                { ",1,2025,", "compile = true\n[training]" },
                { ",1,2025,2025-02", "compile = true\n[training]" },
                { ",1,2025,2025-03", "compile = true\nloss = fused" } };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_scenario_of ("torchtitan", "h100-sxm-80g", ",compile,year,software_month",
                        cases[i].cells, cases[i].says);
  /* Without a month, its GPU's third year counts from January on, other years by their middle. */
  assert_scenario_of ("torchtitan", "b200-sxm", ",compile,year", ",1,2025",
                      "compile = true\nloss = fused");
  assert_scenario (",compile,year", ",1,2025", "compile = true\n[training]");
  assert_cannot_map (",software_month", ",2025-13", "'2025-13' is no month such as 2025-02");
}

/* And wraps embedding and head as units of their own from July on. */
static void
embedding_and_head_are_units_since_some_month (void **state)
{
  static const struct
  {
    const char *of, *month;
    gboolean own_units;
  } cases[] = { { "torchtitan,fsdp2", "2025-07", TRUE },
                { "torchtitan,fsdp2", "", FALSE },
                { "torchtitan,fsdp2", "2025-06", FALSE },
                { "fms-fsdp,fsdp2", "", FALSE } };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Problems) problems = problems_new ();
      g_autofree char *rows = g_strdup_printf (
          HEADER ",year,software_month\nr,%s,2,256,2,1024,0,1000,512,b200-sxm,2,8,4,1000,2025,%s",
          cases[i].of, cases[i].month);
      g_autoptr (PublishedTable) table = read_table (rows, problems);
      g_autofree char *text = published_scenario (&published_run (table, 0)->settings, NULL);

      assert_non_null (text);
      assert_int_equal (strstr (text, "units = embed_blocks_head") != NULL, cases[i].own_units);
    }
}

/* ROCm builds of PyTorch have none, whatever torchtitan's run_train.sh asks for. */
static void
expandable_segments_are_cudas (void **state)
{
  (void)state;
  assert_scenario_of ("torchtitan", "mi300x", ",attention", ",flash2",
                      "attention = flash2\nexpandable_segments = false");
  assert_scenario_of ("torchtitan", "h200-sxm", ",attention", ",flash2",
                      "attention = flash2\n[training]");
}

static void
torchtitan_takes_cudnn_on_blackwell (void **state)
{
  (void)state;
  assert_scenario_of ("torchtitan", "b200-sxm", ",attention", ",flash2", "attention = cudnn");
  assert_scenario_of ("torchtitan", "h200-sxm", ",attention", ",flash2", "attention = flash2");
  assert_scenario_of ("fms-fsdp", "b200-sxm", ",attention", ",flash2", "attention = flash2");
}

static void
fp8_is_scaled_by_tensor_where_it_must_be (void **state)
{
  (void)state;
  assert_scenario (",year,matmul_dtype", ",2023,fp8", "matmul_dtype = fp8_tensorwise");
  assert_scenario (",year,matmul_dtype", ",2025,fp8", "matmul_dtype = fp8_rowwise");
  assert_scenario (",year,matmul_dtype,all_gather_dtype", ",2025,fp8,fp8",
                   "matmul_dtype = fp8_tensorwise");
  assert_scenario (",year,matmul_dtype,ab_arm", ",2025,fp8,float8 tensorwise",
                   "matmul_dtype = fp8_tensorwise");
}

static void
checkpointing_is_nested_as_it_was (void **state)
{
  (void)state;
  assert_scenario (",activation_checkpointing,ac_nesting", ",full,inside",
                   "method = apply_activation_checkpointing\nuse_reentrant = false");
  assert_scenario (",activation_checkpointing,ac_nesting", ",full,outside_reentrant",
                   "method = torch.utils.checkpoint\nuse_reentrant = true");
  assert_scenario (",activation_checkpointing", ",every:3", "select = every:3");
  assert_scenario (",activation_checkpointing", ",every:unknown",
                   "# which blocks is not published: every second one\nselect = every:2");
  assert_cannot_map (",activation_checkpointing", ",some", "'some' is not simulated");
}

static void
what_is_not_simulated_is_told (void **state)
{
  (void)state;
  assert_cannot_map (",offload", ",cpu", "offload 'cpu'");
  assert_cannot_map (",wrap", ",per_layer", "wrapping 'per_layer'");
}

/* ---- errors ---- */

/* Errors +10, -20, +30, 0 %: mean 5, absolute 15, median of 0 10 20 30 15, worst 30. The
 * predictions 110, 160, 390 and 400 are in the order of 100, 200, 300 and 400. */
static void
errors_are_summed_up (void **state)
{
  Prediction predictions[5] = { 0 };
  const Validation validation = { predictions, G_N_ELEMENTS (predictions) };
  const double predicted[] = { 110, 160, 390, 400, 7 };
  ErrorFigures figures;

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (predictions); i++)
    {
      predictions[i].measured[METRIC_TOKENS_PER_S_PER_GPU] = i < 4 ? 100 * (i + 1) : (double)NAN;
      predictions[i].predicted[METRIC_TOKENS_PER_S_PER_GPU] = predicted[i];
    }
  error_figures_measure (&validation, NULL, 5, METRIC_TOKENS_PER_S_PER_GPU, &figures);
  assert_int_equal (figures.n, 4);
  assert_true (fabs (figures.values[ERROR_SIGNED_MEAN] - 0.05) < 1e-12);
  assert_true (fabs (figures.values[ERROR_MEAN] - 0.15) < 1e-12);
  assert_true (fabs (figures.values[ERROR_MEDIAN] - 0.15) < 1e-12);
  assert_true (fabs (figures.values[ERROR_P90] - 0.30) < 1e-12);
  assert_true (fabs (figures.values[ERROR_WORST] - 0.30) < 1e-12);
  assert_true (fabs (figures.values[ERROR_RANK] - 1) < 1e-12);
}

/* Measured 1 2 3, predicted 2 2 1: ranks 2.5 2.5 1 against 1 2 3: covariance
 * -1.5 over the root of 2 x 1.5. */
static void
equal_values_share_their_ranks (void **state)
{
  Prediction predictions[3] = { 0 };
  const Validation validation = { predictions, G_N_ELEMENTS (predictions) };
  const double predicted[] = { 2, 2, 1 };
  ErrorFigures figures;

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (predictions); i++)
    {
      predictions[i].measured[METRIC_PEAK_MEMORY_GIB] = i + 1;
      predictions[i].predicted[METRIC_PEAK_MEMORY_GIB] = predicted[i];
    }
  error_figures_measure (&validation, NULL, 3, METRIC_PEAK_MEMORY_GIB, &figures);
  assert_true (fabs (figures.values[ERROR_RANK] + 1.5 / sqrt (3)) < 1e-12);
  error_figures_measure (&validation, NULL, 0, METRIC_PEAK_MEMORY_GIB, &figures);
  assert_int_equal (figures.n, 0);
  assert_true (isnan (figures.values[ERROR_MEAN]));
}

/* Group g: 100, 103, 101 tokens/s measured. The first and third are 1 % apart, the second is 3 and
 * 1.98 % faster than these: one pair counts. The other group, of which one run is alone, none. */
static void
signs_of_pairs_are_counted (void **state)
{
  PublishedRun runs[4] = { 0 };
  Prediction predictions[4] = { 0 };
  const Validation validation = { predictions, G_N_ELEMENTS (predictions) };
  const double measured[] = { 100, 103, 101, 200 };
  AbPairs pairs;

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    {
      runs[i].result.id = i == 0 ? "slow" : "fast";
      runs[i].result.ab_group = i < 3 ? "g" : "h";
      predictions[i].run = &runs[i];
      predictions[i].measured[METRIC_TOKENS_PER_S_PER_GPU] = measured[i];
      predictions[i].predicted[METRIC_TOKENS_PER_S_PER_GPU] = 90 + i;
    }
  ab_pairs_count (&validation, &pairs);
  assert_int_equal (pairs.n_pairs, 1);
  assert_int_equal (pairs.n_right, 1);
  ab_pairs_clear (&pairs);
  predictions[1].predicted[METRIC_TOKENS_PER_S_PER_GPU] = 90;
  ab_pairs_count (&validation, &pairs);
  assert_int_equal (pairs.n_right, 0);
  assert_string_equal (g_ptr_array_index (pairs.wrong, 0), "slow and fast");
  ab_pairs_clear (&pairs);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (columns_come_in_any_order_and_may_be_missing),
    cmocka_unit_test (cells_that_are_no_numbers_are_told),
    cmocka_unit_test (what_is_no_table_of_runs_is_refused),
    cmocka_unit_test (runs_are_selected_by_quality),
    cmocka_unit_test (the_last_micro_batch_takes_what_is_left),
    cmocka_unit_test (the_usual_network_stands_in_and_is_told),
    cmocka_unit_test (software_follows_framework_and_attention),
    cmocka_unit_test (the_loss_is_compiled_since_some_month),
    cmocka_unit_test (embedding_and_head_are_units_since_some_month),
    cmocka_unit_test (expandable_segments_are_cudas),
    cmocka_unit_test (torchtitan_takes_cudnn_on_blackwell),
    cmocka_unit_test (fp8_is_scaled_by_tensor_where_it_must_be),
    cmocka_unit_test (checkpointing_is_nested_as_it_was),
    cmocka_unit_test (what_is_not_simulated_is_told),
    cmocka_unit_test (errors_are_summed_up),
    cmocka_unit_test (equal_values_share_their_ranks),
    cmocka_unit_test (signs_of_pairs_are_counted),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

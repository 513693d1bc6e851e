#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "config/data.h"
#include "config/text_file.h"
#include "study/validation.h"

/* What makes hardware faster: each doubled alone. */
static void
double_peaks (Scenario *scenario)
{
  scenario->gpu.matmul_flops *= 2;
  scenario->gpu.fp8_flops *= 2;
  scenario->gpu.fp32_flops *= 2;
}

static void
double_memory_bandwidth (Scenario *scenario)
{
  scenario->gpu.memory_bytes_per_s *= 2;
}

static void
double_nics (Scenario *scenario)
{
  scenario->cluster.nic_bytes_per_s *= 2;
}

static void
double_links (Scenario *scenario)
{
  scenario->cluster.ring_bytes_per_s *= 2;
  scenario->cluster.nvls_bytes_per_s *= 2;
}

typedef struct
{
  const char *what;
  void (*apply) (Scenario *scenario);
} Faster;

static const Faster faster[] = { { "peaks", double_peaks },
                                 { "memory bandwidth", double_memory_bandwidth },
                                 { "network cards", double_nics },
                                 { "links inside nodes", double_links } };

static double
tokens_per_s (const Scenario *scenario)
{
  Prediction prediction = { 0 };

  validation_predict_scenario (scenario, &prediction);
  assert_null (prediction.reason);
  return prediction.predicted[METRIC_TOKENS_PER_S_PER_GPU];
}

typedef struct
{
  PublishedTable *table;
  guint n_slowed; /* GMutex is not needed: atomic */
} Hardware;

static void
try_faster_hardware (guint index, gpointer data)
{
  Hardware *hardware = data;
  const PublishedRun *run = published_run (hardware->table, index);
  g_autofree char *reason = NULL;
  g_autoptr (ScenarioFile) file = validation_load_scenario (run, NULL, &reason);
  double before;

  if (file == NULL)
    return;
  before = tokens_per_s (scenario_file_variant (file, 0));
  for (guint i = 0; i < G_N_ELEMENTS (faster); i++)
    {
      Scenario scenario = *scenario_file_variant (file, 0);
      double after;

      faster[i].apply (&scenario);
      after = tokens_per_s (&scenario);
      if (after >= before)
        continue;
      print_error ("%s: %s doubled, %.9g instead of %.9g tokens/s\n", run->result.id,
                   faster[i].what, after, before);
      g_atomic_int_inc (&hardware->n_slowed);
    }
}

static PublishedTable *
load_table (const char *name)
{
  g_autoptr (Problems) problems = problems_new ();
  g_autofree char *path = data_find (DATA_PUBLISHED, name);
  g_autofree char *text = NULL;
  gsize length;

  text = text_file_read (path, &length, NULL);
  assert_non_null (text);
  return published_read (name, text, length, problems);
}

/* Every run that ships. */
static void
faster_hardware_slows_no_run (void **state)
{
  g_auto (GStrv) names = data_list (DATA_PUBLISHED);

  (void)state;
  assert_non_null (names[0]);
  for (guint i = 0; names[i] != NULL; i++)
    {
      Hardware hardware = { .table = load_table (names[i]) };

      assert_non_null (hardware.table);
      study_pool_run (published_n_runs (hardware.table), g_get_num_processors (),
                      try_faster_hardware, &hardware, NULL, NULL);
      published_free (hardware.table);
      assert_int_equal (hardware.n_slowed, 0);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (faster_hardware_slows_no_run),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

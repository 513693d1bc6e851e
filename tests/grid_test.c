#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "config/cells.h"
#include "config/csv_table.h"
#include "config/value_list.h"
#include "config_fixture.h"

/* ---- lists ---- */

/* The values of @list joined by blanks; NULL where it is refused. */
static char *
expand (const char *key, const char *list, Problems *problems)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (g_free);
  const Place place = { .file = "list", .line = 1, .column = 1, .text = list };

  if (!value_list_read (keys_find_dotted (key), list, &place, values, problems))
    return NULL;
  g_ptr_array_add (values, NULL);
  return g_strjoinv (" ", (char **)values->pdata);
}

typedef struct
{
  const char *key, *list, *values;
} ListCase;

static const ListCase lists[] = {
  { "cluster.nodes", "1,2,4", "1 2 4" },
  { "cluster.nodes", " 1 , 2 ", "1 2" },
  { "cluster.nodes", "1..4", "1 2 3 4" },
  { "cluster.nodes", "3..3", "3" },
  { "cluster.nodes", "1..64*2", "1 2 4 8 16 32 64" },
  { "cluster.nodes", "1..63*2", "1 2 4 8 16 32" },
  { "cluster.nodes", "3..100*3", "3 9 27 81" },
  { "cluster.nodes", "1,8..24+8,96", "1 8 16 24 96" },
  { "cluster.nodes", "2..9+3", "2 5 8" },
  { "cluster.nic_bandwidth", "100Gb/s..800Gb/s+100Gb/s",
    "100Gb/s 200Gb/s 300Gb/s 400Gb/s 500Gb/s 600Gb/s 700Gb/s 800Gb/s" },
  { "cluster.nic_bandwidth", "25GB/s..100GB/s*2", "25GB/s 50GB/s 100GB/s" },
  /* Units that differ: 1 Tb/s is 125 GB/s. */
  { "cluster.nic_bandwidth", "500Gb/s..1Tb/s+250Gb/s", "62.5GB/s 93.75GB/s 125GB/s" },
  { "cluster.kernel_launch", "1us..2us+0.5us", "1us 1.5us 2us" },
  { "simulation.compute_jitter", "0%..1%+0.25%", "0% 0.25% 0.5% 0.75% 1%" },
  /* Ten times 0.1 is a little under 1 in binary. */
  { "training.max_grad_norm", "0.7..1+0.1", "0.7 0.8 0.9 1" },
  { "training.max_grad_norm", "1e-3..1*10", "0.001 0.01 0.1 1" },
  { "fsdp.api", "fsdp1,fsdp2", "fsdp1 fsdp2" },
  { "fsdp.reshard_after_forward", "true,false,2..8*2", "true false 2 4 8" },
  { "model.source", "../a..b.ini,c", "../a..b.ini c" },
  { "simulation.straggler", "0:1.2;1:1.3,", "0:1.2;1:1.3 " },
};

static void
lists_hold_values_and_ranges (void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    {
      g_autoptr (Problems) problems = problems_new ();
      g_autofree char *values = expand (lists[i].key, lists[i].list, problems);

      if (values == NULL)
        fail_msg ("%s: %s", lists[i].list, problems_summary (problems));
      assert_string_equal (values, lists[i].values);
    }
}

static const ListCase bad_lists[] = {
  { "cluster.nodes", "", "no values" },
  { "cluster.nodes", "1,", "an empty value" },
  { "cluster.nodes", "1..x", "not a number" },
  { "cluster.nodes", "..4", "no value" },
  { "cluster.nodes", "1..", "no value" },
  { "cluster.nodes", "1..2..3", "unexpected" },
  { "cluster.nodes", "4..1", "4 is above 1" },
  { "cluster.nodes", "1..9*1", "a factor above 1" },
  { "cluster.nodes", "0..9*2", "a first value above 0" },
  { "cluster.nodes", "1..9+0", "a step above 0" },
  { "cluster.nodes", "1..9+0.5", "no whole number" },
  { "cluster.nodes", "1..9999999", "more than 10000 values" },
  { "cluster.nodes", "0..4", "'0' is out of range" },
  { "cluster.nic_bandwidth", "1Gb/s..2Gb/s", "needs a step" },
  { "cluster.nic_bandwidth", "1Gb/s..2Gb/s+1", "no unit" },
  { "cluster.nic_bandwidth", "1..2+1", "no unit" },
  { "fsdp.api", "fsdp1..fsdp2", "takes no ranges" },
  { "training.max_grad_norm", "1..2+1e-300", "more than 10000 values" },
};

static void
broken_lists_are_refused (void **state)
{
  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (bad_lists); i++)
    {
      g_autoptr (Problems) problems = problems_new ();
      g_autofree char *values = expand (bad_lists[i].key, bad_lists[i].list, problems);
      g_autofree char *summary = problems_summary (problems);

      if (values != NULL || strstr (summary, bad_lists[i].values) == NULL)
        fail_msg ("%s: %s", bad_lists[i].list, summary);
    }
}

static void
a_mistake_stands_at_its_own_column (void **state)
{
  g_autoptr (Problems) problems = problems_new ();
  g_autofree char *values = expand ("cluster.nodes", "1, x", problems);
  g_autofree char *text = problems_format (problems, "");

  (void)state;
  assert_null (values);
  assert_non_null (strstr (text, "list:1:4: "));
  assert_non_null (strstr (text, "  1, x\n     ^\n"));
}

/* ---- CSV ---- */

static void
fields_know_their_places (void **state)
{
  static const char text[] = "\xEF\xBB\xBF"
                             "a,b\r\n\r\n1, \"x\"\"y\" ,\n\"two\nlines\",2\n";
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (CsvTable) table = csv_table_read ("t.csv", text, strlen (text), problems);

  (void)state;
  assert_non_null (table);
  assert_int_equal (csv_table_n_rows (table), 3);
  assert_int_equal (csv_table_n_fields (table, 0), 2);
  assert_int_equal (csv_table_n_fields (table, 1), 3);
  assert_string_equal (csv_table_field (table, 1, 1), "x\"y");
  assert_string_equal (csv_table_field (table, 1, 2), "");
  assert_string_equal (csv_table_field (table, 2, 0), "two\nlines");

  Place place = csv_table_place (table, 1, 1);
  g_autofree char *line = (char *)place.text;
  assert_int_equal (place.line, 3);
  assert_int_equal (place.column, 4);
  assert_string_equal (line, "1, \"x\"\"y\" ,");

  Place end = csv_table_place (table, 1, 9);
  g_autofree char *end_line = (char *)end.text;
  assert_int_equal (end.column, strlen (end_line) + 1);
}

static void
what_is_no_csv_is_refused_by_line (void **state)
{
  static const struct
  {
    const char *text;
    gsize length;
    const char *says;
  } cases[] = {
    { "a\n\"b\n", 5, "not closed" },
    { "a\nb\"c\n", 6, "t.csv:2:" },
    { "a\0b\n", 4, "not UTF-8" },
    { "a\xFF\n", 3, "not UTF-8" },
  };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Problems) problems = problems_new ();
      g_autofree char *message = NULL;

      assert_null (csv_table_read ("t.csv", cases[i].text, cases[i].length, problems));
      message = problems_format (problems, "");
      assert_non_null (strstr (message, cases[i].says));
    }
}

/* ---- grids ---- */

static char *
describe_cell (const Grid *grid, gsize cell)
{
  GString *text = g_string_new (NULL);

  for (guint k = 0; k < grid_n_keys (grid); k++)
    g_string_append_printf (text, "%s%s", k > 0 ? " " : "", grid_value (grid, cell, k));
  return g_string_free (text, FALSE);
}

/* Two nodes x two points x two sizes; the last axis is the fastest. */
static void
axes_are_laid_across_each_other (void **state)
{
  static const char *const wanted[]
      = { "1 8 a 1", "1 8 a 2", "1 9 b 1", "1 9 b 2", "2 8 a 1", "2 8 a 2", "2 9 b 1", "2 9 b 2" };
  static const char points[] = "training.seq_len,scenario.title\n8,a\n9,b\n";
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (Grid) grid = grid_new ();

  (void)state;
  assert_int_equal (grid_n_cells (grid), 1);
  assert_true (grid_add_option (grid, "cluster.nodes=1,2", problems));
  assert_true (grid_add_points (grid, "p.csv", points, strlen (points), problems));
  assert_true (grid_add_option (grid, "training.micro_batch=1..2", problems));
  assert_int_equal (grid_n_cells (grid), 8);
  for (guint i = 0; i < 8; i++)
    {
      g_autofree char *cell = describe_cell (grid, i);

      assert_string_equal (cell, wanted[i]);
    }
  assert_true (grid_is_list (grid, 0));
  assert_false (grid_is_list (grid, 1));
}

static void
grids_that_differ_are_told_apart (void **state)
{
  static const char *const points[]
      = { "model.name,scenario.title\na,b\n", "model.name,scenario.title\n\"a,b\",\n",
          "model.name\na\nb\n", "scenario.title,model.name\na,b\n" };
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (points); i++)
    {
      g_autoptr (Problems) problems = problems_new ();
      g_autoptr (Grid) grid = grid_new ();

      assert_true (grid_add_points (grid, "p", points[i], strlen (points[i]), problems));
      assert_true (g_hash_table_add (seen, grid_describe (grid)));
    }
}

/* ---- cells ---- */

static void
a_cell_is_the_scenario_with_its_values (void **state)
{
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (ScenarioFile) file = fixture_load (
      TINY "[variant a]\ntraining.micro_batch = 7\n[variant b]\ntraining.seq_len = 64\n", NULL);
  g_autoptr (Grid) grid = grid_new ();
  g_autoptr (Cells) cells = NULL;
  g_autofree char *reason = NULL;
  Scenario scenario;

  (void)state;
  assert_true (grid_add_option (grid, "training.micro_batch=3,5", problems));
  cells = cells_new (file, grid);
  /* A cell stands above variants, … */
  assert_true (cells_fill (cells, 1, 0, &scenario, &reason));
  assert_string_equal (scenario.variant, "a");
  assert_int_equal (scenario.training.micro_batch, 5);
  cells_clear_scenario (&scenario);
  /* … whose other keys stay. */
  assert_true (cells_fill (cells, 0, 1, &scenario, &reason));
  assert_string_equal (scenario.variant, "b");
  assert_int_equal (scenario.training.micro_batch, 3);
  assert_int_equal (scenario.training.seq_len, 64);
  cells_clear_scenario (&scenario);
}

/* What is derived follows the cell: a HYBRID_SHARD group on nodes of as many GPUs. */
static void
a_cell_derives_anew (void **state)
{
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (ScenarioFile) file
      = fixture_load (TINY "[fsdp]\nsharding_strategy = HYBRID_SHARD\n", NULL);
  g_autoptr (Grid) grid = grid_new ();
  g_autoptr (Cells) cells = NULL;
  g_autofree char *reason = NULL;
  Scenario scenario;

  (void)state;
  assert_true (grid_add_option (grid, "cluster.gpus_per_node=2,4", problems));
  cells = cells_new (file, grid);
  for (guint cell = 0; cell < 2; cell++)
    {
      assert_true (cells_fill (cells, cell, 0, &scenario, &reason));
      assert_int_equal (scenario.fsdp.shard_group_size, cell == 0 ? 2 : 4);
      cells_clear_scenario (&scenario);
    }
}

static void
a_cell_that_cannot_be_says_why (void **state)
{
  static const char points[] = "cluster.gpus_per_node,fsdp.shard_group_size\nmany,2\n4,3\n";
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (ScenarioFile) file
      = fixture_load (TINY "[fsdp]\nsharding_strategy = HYBRID_SHARD\n", NULL);
  g_autoptr (Grid) grid = grid_new ();
  g_autoptr (Cells) cells = NULL;
  Scenario scenario;

  (void)state;
  assert_true (grid_add_points (grid, "p", points, strlen (points), problems));
  cells = cells_new (file, grid);
  for (guint cell = 0; cell < 2; cell++)
    {
      g_autofree char *reason = NULL;

      assert_false (cells_fill (cells, cell, 0, &scenario, &reason));
      assert_non_null (strstr (reason, cell == 0 ? "gpus_per_node: not a number"
                                                 : "not a multiple of fsdp.shard_group_size 3"));
      cells_clear_scenario (&scenario);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (lists_hold_values_and_ranges),
    cmocka_unit_test (broken_lists_are_refused),
    cmocka_unit_test (a_mistake_stands_at_its_own_column),
    cmocka_unit_test (fields_know_their_places),
    cmocka_unit_test (what_is_no_csv_is_refused_by_line),
    cmocka_unit_test (axes_are_laid_across_each_other),
    cmocka_unit_test (grids_that_differ_are_told_apart),
    cmocka_unit_test (a_cell_is_the_scenario_with_its_values),
    cmocka_unit_test (a_cell_derives_anew),
    cmocka_unit_test (a_cell_that_cannot_be_says_why),
  };

  return cmocka_run_group_tests (tests, fixture_enter_data, NULL);
}

#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <glib/gstdio.h>

#include "config_fixture.h"
#include "report/summary.h"
#include "study/study.h"
#include "study/sweep_folder.h"
#include "study/sweep_rows.h"

/* ---- journals ---- */

static const SweepIdentity small
    = { "0.1.0", "abc", "def", 1, 1, 3, 2 }; /* 3 cells of 2 variants: 6 rows */

typedef struct
{
  GString *rows; /* "3:text;" of each */
} Taken;

static void
take (gsize row, char *text, RunStatus status, gpointer data)
{
  Taken *taken = data;

  g_string_append_printf (taken->rows, "%zu:%s:%d;", row, text, (int)status);
  g_free (text);
}

static char *
read_rows (const char *bytes, gsize length, gsize *whole)
{
  Taken taken = { g_string_new (NULL) };

  *whole = sweep_journal_parse (bytes, length, &small, take, &taken);
  return g_string_free (taken.rows, FALSE);
}

static char *
new_folder (void)
{
  g_autoptr (GError) error = NULL;
  char *folder = g_dir_make_tmp ("fsdpsim-XXXXXX", &error);

  assert_non_null (folder);
  return folder;
}

static void
remove_folder (const char *folder)
{
  static const char *const names[] = { "sweep.journal", "summary.csv", "sweep.id" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL);

      g_unlink (path);
    }
  g_rmdir (folder);
}

/* Wherever a kill cuts a journal, all rows that are whole are there and no other. */
static void
a_torn_journal_keeps_its_whole_rows (void **state)
{
  static const char *const wanted[] = { "", "4:x,\"a\nb\":0;", "4:x,\"a\nb\":0;0:y:3;" };
  g_autofree char *folder = new_folder ();
  g_autofree char *path = g_build_filename (folder, "sweep.journal", NULL);
  g_autoptr (SweepJournal) journal = sweep_journal_open (path, 0, &small, NULL);
  g_autofree char *bytes = NULL;
  gsize length, ends[3], n_ends = 0;

  (void)state;
  assert_non_null (journal);
  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *so_far = NULL;

      if (i == 1)
        sweep_journal_add (journal, 4, "x,\"a\nb\"", RUN_OK);
      if (i == 2)
        sweep_journal_add (journal, 0, "y", RUN_FAILED);
      assert_true (sweep_journal_flush (journal, NULL));
      assert_true (g_file_get_contents (path, &so_far, &length, NULL));
      ends[n_ends++] = length;
    }
  assert_true (g_file_get_contents (path, &bytes, &length, NULL));
  for (gsize cut = ends[0]; cut <= length; cut++)
    {
      gsize whole;
      g_autofree char *rows = read_rows (bytes, cut, &whole);
      const guint n = cut >= ends[2] ? 2 : cut >= ends[1] ? 1 : 0;

      assert_string_equal (rows, wanted[n]);
      assert_int_equal (whole, ends[n]);
    }
  remove_folder (folder);
}

static void
a_damaged_record_ends_the_journal (void **state)
{
  static const char *const records[] = {
    "6 0 1 af63dc4c8601ec8c\na\n",  /* there are rows 0 to 5 */
    "0 9 1 af63dc4c8601ec8c\na\n",  /* no such status */
    "0 0 1 af63dc4c8601ec8d\na\n",  /* checksum */
    "0 0 2 af63dc4c8601ec8c\na\n",  /* length */
    "0 0 99999999999 0\na\n",       /* length */
    "-1 0 1 af63dc4c8601ec8c\na\n", /* no number */
    "0 0 1 af63dc4c8601ec8c",       /* no end */
  };
  g_autofree char *head = sweep_identity_write (&small);

  (void)state;
  for (guint i = 0; i <= G_N_ELEMENTS (records); i++)
    {
      g_autofree char *bytes = g_strconcat (head, "\n", "0 0 1 af63dc4c8601ec8c\na\n",
                                            i < G_N_ELEMENTS (records) ? records[i] : "", NULL);
      gsize whole;
      g_autofree char *rows = read_rows (bytes, strlen (bytes), &whole);

      assert_string_equal (rows, "0:a:0;"); /* FNV-1a of "a" is af63dc4c8601ec8c */
      assert_int_equal (whole, strlen (head) + 1 + strlen ("0 0 1 af63dc4c8601ec8c\na\n"));
    }
}

static void
only_one_may_write_a_journal (void **state)
{
  g_autofree char *folder = new_folder ();
  g_autofree char *path = g_build_filename (folder, "sweep.journal", NULL);
  g_autoptr (SweepJournal) first = sweep_journal_open (path, 0, &small, NULL);
  g_autoptr (GError) error = NULL;

  (void)state;
  assert_non_null (first);
  assert_null (sweep_journal_open (path, 0, &small, &error));
  assert_non_null (strstr (error->message, "another sweep is writing it"));
  remove_folder (folder);
}

/* ---- identities ---- */

static void
an_identity_survives_its_line (void **state)
{
  static const char *const broken[] = { "",
                                        "fsdpsim-sweep-1",
                                        "fsdpsim-sweep-2 0.1.0 abc def 1 1 3 2",
                                        "fsdpsim-sweep-1 0.1.0 abc def 2 1 3 2",
                                        "fsdpsim-sweep-1 0.1.0 abc def 0 1 3 2",
                                        "fsdpsim-sweep-1 0.1.0 abc def 1 1 3 0",
                                        "fsdpsim-sweep-1 0.1.0 abc def 1 1 3 2 ",
                                        "fsdpsim-sweep-1 0.1.0 abc def 1 200000 3 2" };
  g_autofree char *line = sweep_identity_write (&small);
  SweepIdentity identity;

  (void)state;
  assert_true (sweep_identity_read (line, &identity));
  assert_null (sweep_identity_difference (&small, &identity));
  sweep_identity_clear (&identity);
  for (guint i = 0; i < G_N_ELEMENTS (broken); i++)
    assert_false (sweep_identity_read (broken[i], &identity));
}

/* 10 cells on 3 shards: 4, 3 and 3; on 12 shards the last two have none. */
static void
shards_share_all_cells (void **state)
{
  SweepIdentity identity = small;
  static const gsize of_three[] = { 4, 3, 3 };

  (void)state;
  identity.n_cells = 10;
  identity.n_shards = 3;
  for (identity.shard = 1; identity.shard <= 3; identity.shard++)
    assert_int_equal (sweep_identity_shard_cells (&identity), of_three[identity.shard - 1]);
  identity.n_shards = 12;
  for (identity.shard = 1; identity.shard <= 12; identity.shard++)
    assert_int_equal (sweep_identity_shard_cells (&identity), identity.shard <= 10 ? 1 : 0);
}

/* ---- rows ---- */

static void
rows_end_outside_quotes (void **state)
{
  static const char text[] = "a,status\n1,ok\n\"2\nx\",failed\n3,does_not_fit\n";
  g_autoptr (GArray) rows = sweep_rows_read (text, strlen (text));

  (void)state;
  assert_non_null (rows);
  assert_int_equal (rows->len, 3);
  assert_int_equal (g_array_index (rows, SweepRow, 1).length, strlen ("\"2\nx\",failed"));
  assert_int_equal (g_array_index (rows, SweepRow, 1).status, RUN_FAILED);
  assert_int_equal (g_array_index (rows, SweepRow, 2).status, RUN_DOES_NOT_FIT);
}

static void
what_is_no_summary_has_no_rows (void **state)
{
  static const char *const texts[] = { "",
                                       "a,status",
                                       "a,b\n1,ok\n",
                                       "a,status\n1,ok",
                                       "a,status\n1,good\n",
                                       "a,status\n1\n",
                                       "\"a,status\n" };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    assert_null (sweep_rows_read (texts[i], strlen (texts[i])));
}

/* ---- sweeps ---- */

typedef struct
{
  char **texts;
  guint n;
  guint stop_after;
} Rows;

static void
keep (gsize row, char *text, RunStatus status, gpointer data)
{
  Rows *rows = data;

  (void)status;
  assert_null (rows->texts[row]);
  rows->texts[row] = text;
  rows->n++;
}

static gboolean
go_on (gpointer data)
{
  const Rows *rows = data;

  return rows->n < rows->stop_after;
}

static Grid *
small_grid (void)
{
  g_autoptr (Problems) problems = problems_new ();
  Grid *grid = grid_new ();

  assert_true (grid_add_option (grid, "training.micro_batch=1..3", problems));
  assert_true (grid_add_option (grid, "training.grad_accum=1,2", problems));
  return grid;
}

static char *
run_all (Sweep *sweep, guint n_threads)
{
  const SweepListener listener = { keep, go_on };
  const gsize n = sweep_n_rows (sweep);
  g_autofree gboolean *is_done = g_new0 (gboolean, n + 1);
  g_auto (GStrv) texts = g_new0 (char *, n + 1);
  Rows rows = { texts, 0, G_MAXUINT };

  sweep_run (sweep, is_done, n_threads, &listener, &rows);
  assert_int_equal (rows.n, n);
  return g_strjoinv ("\n", texts);
}

/* Six cells of two variants; each row is the cell's, then what a study of it gives. */
static void
rows_are_the_same_for_any_number_of_threads (void **state)
{
  const Budget budget = { 0 };
  g_autoptr (ScenarioFile) file
      = fixture_load (TINY "[variant a]\n[variant b]\ntraining.seq_len = 32\n", NULL);
  g_autoptr (Grid) grid = small_grid ();
  g_autoptr (Sweep) sweep = sweep_new (file, grid, &budget, 0, 1, 1);
  g_autofree char *one = run_all (sweep, 1);
  g_autofree char *words = sweep_describe_row (sweep, 3);

  (void)state;
  assert_int_equal (sweep_n_rows (sweep), 12);
  assert_true (g_str_has_prefix (one, "1,1,a,"));
  assert_non_null (strstr (one, "\n1,1,b,"));
  assert_non_null (strstr (one, "\n3,2,b,"));
  assert_string_equal (words, "training.micro_batch=1 training.grad_accum=2, variant b");
  for (guint n_threads = 2; n_threads <= 5; n_threads++)
    {
      g_autofree char *many = run_all (sweep, n_threads);

      assert_string_equal (many, one);
    }
}

/* Shards of 6 cells: 0 and 4 fall to the first of four, 1 and 5 to the second. */
static void
a_shard_runs_its_own_cells (void **state)
{
  const Budget budget = { 0 };
  g_autoptr (ScenarioFile) file = fixture_load (TINY, NULL);
  g_autoptr (Grid) grid = small_grid ();
  g_autoptr (Sweep) first = sweep_new (file, grid, &budget, 0, 1, 4);
  g_autoptr (Sweep) second = sweep_new (file, grid, &budget, 0, 2, 4);
  g_autofree char *rows = run_all (first, 1);
  g_autofree char *words = sweep_describe_row (second, 1);

  (void)state;
  assert_int_equal (sweep_n_rows (first), 2);
  assert_true (g_str_has_prefix (rows, "1,1,base,"));
  assert_non_null (strstr (rows, "\n3,1,base,"));
  assert_string_equal (words, "training.micro_batch=3 training.grad_accum=2");
}

static void
a_listener_can_stop_it (void **state)
{
  const Budget budget = { 0 };
  const SweepListener listener = { keep, go_on };
  g_autoptr (ScenarioFile) file = fixture_load (TINY, NULL);
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (Grid) grid = grid_new ();
  g_autoptr (Sweep) sweep = NULL;
  g_autofree gboolean *is_done = g_new0 (gboolean, 10001);
  g_auto (GStrv) texts = g_new0 (char *, 10001);
  Rows rows = { texts, 0, 1 };

  (void)state;
  assert_true (grid_add_option (grid, "training.micro_batch=1..10000", problems));
  sweep = sweep_new (file, grid, &budget, 0, 1, 1);
  sweep_run (sweep, is_done, 2, &listener, &rows);
  assert_true (rows.n >= 1 && rows.n < 10000);
  for (guint i = 0; i < 10000; i++) /* g_strfreev() would end at the first gap */
    g_clear_pointer (&texts[i], g_free);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_torn_journal_keeps_its_whole_rows),
    cmocka_unit_test (a_damaged_record_ends_the_journal),
    cmocka_unit_test (only_one_may_write_a_journal),
    cmocka_unit_test (an_identity_survives_its_line),
    cmocka_unit_test (shards_share_all_cells),
    cmocka_unit_test (rows_end_outside_quotes),
    cmocka_unit_test (what_is_no_summary_has_no_rows),
    cmocka_unit_test (rows_are_the_same_for_any_number_of_threads),
    cmocka_unit_test (a_shard_runs_its_own_cells),
    cmocka_unit_test (a_listener_can_stop_it),
  };

  return cmocka_run_group_tests (tests, fixture_enter_data, NULL);
}

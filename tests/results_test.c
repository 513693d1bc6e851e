/* Results read from text, and what pictures make of them. */
#include <config.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/html_text.h"
#include "report/plot_lanes.h"
#include "report/plot_memory.h"
#include "report/plot_text.h"
#include "report/step_parts.h"
#include "report/svg.h"
#include "report/sweep_grid.h"

#define SUMMARY_HEADER                                                                             \
  "variant,step_time_s,tokens_per_s,tokens_per_s_per_gpu,mfu_percent,hfu_percent,all_gathers,"     \
  "reduce_scatters,all_reduces,comm_bytes,compute_s,exposed_comm_s,host_bound_s,"                  \
  "peak_allocated_bytes,peak_reserved_bytes,fits,scenario,scenario_sha256,fsdpsim_version,status," \
  "reason,peak_phase\n"
#define SUMMARY_REST    "8,40,40,1,1,0,9,1,1,1,1,1,1,s,01,0.1.0,ok,,steady_step\n"
#define TIMELINE_HEADER "variant,rank,lane,op,unit,phase,micro_batch,start_us,end_us,bytes\n"

static void
add (Results *results, ResultsFile file, const char *text)
{
  g_autoptr (GError) error = NULL;

  if (!results_add (results, file, "x.csv", text, strlen (text), &error))
    print_error ("%s\n", error->message);
  assert_null (error);
}

/* The step of "a" lasts 50 us. */
static Results *
read_one (const char *timeline)
{
  Results *results = results_new ();

  add (results, RESULTS_SUMMARY, SUMMARY_HEADER "a,0.00005,16," SUMMARY_REST);
  if (timeline != NULL)
    add (results, RESULTS_TIMELINE, timeline);
  return results;
}

/* all-gather 0..20, forward 20..30, reduce-scatter 25..45, optimizer 45..50: compute
 * idles 20 us for the gather and 15 for the scatter, works 10 and 5. A lane of a
 * name that this version does not know is communication like any other. */
static void
parts_of_a_step_sum_to_it (void **state)
{
  g_autoptr (Results) results
      = read_one (TIMELINE_HEADER "a,3,comm.odd,all_gather,block.0,forward,0,0,20,8\n"
                                  "a,3,compute,forward,block.0,forward,0,20,30,0\n"
                                  "a,3,comm.shard,reduce_scatter,block.0,backward,0,25,45,8\n"
                                  "a,3,compute,optimizer,root,optimizer,0,45,50,0\n"
                                  "a,4,compute,forward,block.0,forward,0,0,50,0\n");
  const ResultsVariant *variant = results_variant (results, 0);
  double parts_s[N_STEP_KINDS], sum_s = 0;

  (void)state;
  results_step_parts (variant, parts_s);
  for (guint kind = 0; kind < N_STEP_KINDS; kind++)
    sum_s += parts_s[kind];
  assert_int_equal (variant->rank, 3);
  assert_int_equal (lround (1e12 * parts_s[STEP_ALL_GATHER]), 20000000);
  assert_int_equal (lround (1e12 * parts_s[STEP_REDUCE_SCATTER]), 15000000);
  assert_int_equal (lround (1e12 * parts_s[STEP_FORWARD]), 10000000);
  assert_int_equal (lround (1e12 * parts_s[STEP_OPTIMIZER]), 5000000);
  assert_int_equal (lround (1e12 * sum_s), 50000000);
}

static void
without_a_timeline_the_summary_tells_the_parts (void **state)
{
  g_autoptr (Results) results = read_one (NULL);
  double parts_s[N_STEP_KINDS];

  (void)state;
  results_step_parts (results_variant (results, 0), parts_s);
  assert_float_equal (parts_s[STEP_COMPUTE], 1, 0);
  assert_float_equal (parts_s[STEP_EXPOSED], 1, 0);
  assert_float_equal (parts_s[STEP_HOST_BOUND], 1, 0);
}

/* Fields that hold commas, quotes and line ends; lines are counted through them. */
static void
errors_name_the_line_on_which_a_row_begins (void **state)
{
  static const char text[] = SUMMARY_HEADER "\"a, \"\"b\"\"\nc\",0.00005,16," SUMMARY_REST
                                            "\r\n\"d\",soon,16," SUMMARY_REST;
  g_autoptr (Results) results = results_new ();
  g_autoptr (GError) error = NULL;

  (void)state;
  assert_false (results_add (results, RESULTS_SUMMARY, "x.csv", text, strlen (text), &error));
  assert_string_equal (error->message, "x.csv:5: step_time_s: 'soon' is no number");
  assert_string_equal (results_variant (results, 0)->name, "a, \"b\"\nc");
}

/* ---- pictures ---- */

/* 5,000 gathers of 2 us, one each 10 us: more than there are half pixels, and the
 * lane is shown busy for a fifth of the time. */
static void
a_lane_of_many_boxes_keeps_its_share (void **state)
{
  g_autoptr (GString) text = g_string_new (TIMELINE_HEADER);
  g_autoptr (Results) results = NULL;
  g_autofree char *csv = NULL;
  g_auto (GStrv) rows = NULL;
  double shown_ms = 0;

  (void)state;
  for (guint i = 0; i < 5000; i++)
    g_string_append_printf (text, "a,0,comm.shard,all_gather,block.%u,forward,0,%u,%u,8\n", i,
                            10 * i, 10 * i + 2);
  g_string_append (text, "a,0,compute,optimizer,root,optimizer,0,49999,50000,0\n");
  results = read_one (text->str);
  csv = plot_lanes_csv (results_variant (results, 0)->timeline, 0,
                        timeline_end (results_variant (results, 0)->timeline));
  rows = g_strsplit (csv, "\n", -1);
  assert_true (g_strv_length (rows) < 2300);
  for (guint i = 1; rows[i][0] != '\0'; i++)
    {
      g_auto (GStrv) fields = g_strsplit (rows[i], ",", -1);

      if (strcmp (fields[3], "all_gather") == 0)
        shown_ms += g_ascii_strtod (fields[2], NULL) - g_ascii_strtod (fields[1], NULL);
    }
  assert_float_equal (shown_ms, 10, 0.1);
}

/* One level holds from its row to the next; the first reaches back to the beginning. Of two rows
 * of one moment the first, a peak that is over at once, is drawn as a line. */
static void
memory_is_drawn_in_steps (void **state)
{
  g_autoptr (Results) results = read_one (NULL);
  g_autofree char *csv = NULL;

  (void)state;
  add (results, RESULTS_MEMORY,
       "variant,rank,time_us,allocated_bytes,params_bytes,grads_bytes,optimizer_bytes,"
       "unsharded_params_bytes,unsharded_grads_bytes,activations_bytes,comm_buffers_bytes,"
       "other_bytes\n"
       "a,0,-10,1073741824,1073741824,0,0,0,0,0,0,0\n"
       "a,0,2000,4294967296,1073741824,0,0,0,0,3221225472,0,0\n"
       "a,0,2000,3221225472,1073741824,0,0,0,0,2147483648,0,0\n");
  csv = plot_memory_csv (results_variant (results, 0), 0,
                         G_GINT64_CONSTANT (5000) * PICOSECONDS_PER_MICROSECOND);
  assert_non_null (strstr (csv, "\n0,1,1,1,1,1,1,1,1\n2,1,1,1,1,1,1,1,1\n"
                                "2,1,1,1,4,4,4,4,4\n2,1,1,1,4,4,4,4,4\n"
                                "2,1,1,1,3,3,3,3,3\n5,1,1,1,3,3,3,3,3\n"));
}

static void
gnuplot_reads_texts_as_they_are (void **state)
{
  g_autoptr (GString) script = g_string_new (NULL);
  g_autofree char *shortened = plot_text_shorten ("sharding-strategy", 8);
  g_autofree char *plain = plot_text_without_wide ("Größe 日本");

  (void)state;
  plot_text_set (script, "title", "it's `x` \"$y\" \\n\n!");
  assert_string_equal (script->str, "title = 'it''s `x` \"$y\" \\n !'\n");
  assert_string_equal (shortened, "sha…tegy");
  assert_string_equal (plain, "Größe ??");
}

static void
svg_loses_what_nobody_sees (void **state)
{
  g_autofree char *svg
      = svg_finish ("<?xml?>\n<svg>\n<title>Gnuplot</title>\n<desc>x</desc>\n<defs>\n<path "
                    "id='gpPt1'/></defs>\n<g id=\"gnuplot_plot_1a\" "
                    "><title>gnuplot_plot_1a</title><g x>\n</g>\n<path/></g></svg>\n",
                    "a < b");
  g_autofree char *inlined = svg_inline ("<?xml?><svg><path id='gpPt1'/><use "
                                         "xlink:href='#gpPt1'/></svg>",
                                         "p7-");

  (void)state;
  assert_string_equal (svg, "<?xml?>\n<svg>\n<title>a &lt; b</title>\n<g><path/></g></svg>\n");
  assert_string_equal (inlined, "<svg><path id='p7-gpPt1'/><use xlink:href='#p7-gpPt1'/></svg>");
}

static void
html_escapes_every_text (void **state)
{
  static const char *const headers[] = { "<b>", NULL };
  g_autoptr (GString) page = g_string_new (NULL);

  (void)state;
  html_append (page, "h1", "a & \"b\" </h1>\x01");
  html_table_begin (page, "'c'", headers);
  html_row_begin (page, "<d>");
  html_cell_number (page, "%.1f", (double)NAN);
  assert_non_null (strstr (page->str, "<h1>a &amp; &quot;b&quot; &lt;/h1&gt; </h1>"));
  assert_non_null (strstr (page->str, "<caption>&apos;c&apos;</caption>"));
  assert_non_null (strstr (page->str, "<th scope=\"col\">&lt;b&gt;</th>"));
  assert_non_null (strstr (page->str, "<th scope=\"row\">&lt;d&gt;</th><td>–</td>"));
}

/* ---- sweeps ---- */

static Results *
read_sweep (void)
{
  Results *results = results_new ();

  /* nodes, micro-batch, bandwidth; tokens a second and GPU are the ninth field. */
  add (results, RESULTS_SUMMARY,
       "cluster.nodes,training.micro_batch,x.rate,training.seq_len," SUMMARY_HEADER
       "16,1,1Tb/s,2048,a,1,1,100,1,1,1,1,1,1,1,1,1,1,1,1,s,01,0.1.0,ok,,steady_step\n"
       "16,2,400Gb/s,2048,a,1,1,120,1,1,1,1,1,1,1,1,1,1,1,1,s,01,0.1.0,ok,,steady_step\n"
       "2,1,1Tb/s,2048,a,1,1,90,1,1,1,1,1,1,1,1,1,1,1,1,s,01,0.1.0,ok,,steady_step\n"
       "2,2,400Gb/s,2048,a,1,1,130,1,1,1,1,1,1,1,1,1,1,1,0,s,01,0.1.0,does_not_fit,big,load\n"
       "8,1,1Tb/s,2048,a,NaN,NaN,NaN,1,1,1,1,1,1,1,1,1,1,1,0,s,01,0.1.0,refused,why,\n");
  return results;
}

static void
numbers_of_one_unit_are_sorted (void **state)
{
  g_autoptr (Results) results = read_sweep ();
  g_autoptr (SweepGrid) grid = sweep_grid_new (results);
  const SweepAxis *nodes = sweep_grid_axis (grid, 0), *rate = sweep_grid_axis (grid, 2);

  (void)state;
  assert_int_equal (grid->axes->len, 3); /* one sequence length is no axis */
  assert_ptr_equal (sweep_grid_main_axis (grid), nodes);
  assert_string_equal (nodes->values->pdata[0], "2");
  assert_string_equal (nodes->values->pdata[1], "8");
  assert_string_equal (nodes->values->pdata[2], "16");
  assert_float_equal (nodes->numbers[2], 16, 0);
  assert_null (rate->numbers); /* Tb/s and Gb/s */
  assert_string_equal (rate->values->pdata[0], "1Tb/s");
}

/* At 16 nodes micro-batch 2 gives more than 1; at 2 nodes it does not fit; 8 is refused. */
static void
the_best_of_a_place_fits (void **state)
{
  g_autoptr (Results) results = read_sweep ();
  g_autoptr (SweepGrid) grid = sweep_grid_new (results);
  const SweepAxis *nodes = sweep_grid_axis (grid, 0);
  g_autofree char *best_of = sweep_grid_best_of (grid, nodes, NULL);
  g_autofree const ResultsVariant **best = sweep_grid_best (grid, nodes, NULL);
  g_autofree const ResultsVariant **cells
      = sweep_grid_best (grid, nodes, sweep_grid_axis (grid, 1));

  (void)state;
  assert_float_equal (best[0]->tokens_per_s_per_gpu, 90, 0);
  assert_string_equal (best[1]->status, "refused");
  assert_float_equal (best[2]->tokens_per_s_per_gpu, 120, 0);
  assert_string_equal (best_of, "; best of micro_batch, rate");
  assert_string_equal (cells[3]->status, "does_not_fit"); /* 2 nodes, micro-batch 2 */
  assert_null (cells[4]);                                 /* 8 nodes, micro-batch 2: no row */
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (parts_of_a_step_sum_to_it),
    cmocka_unit_test (without_a_timeline_the_summary_tells_the_parts),
    cmocka_unit_test (errors_name_the_line_on_which_a_row_begins),
    cmocka_unit_test (a_lane_of_many_boxes_keeps_its_share),
    cmocka_unit_test (memory_is_drawn_in_steps),
    cmocka_unit_test (gnuplot_reads_texts_as_they_are),
    cmocka_unit_test (svg_loses_what_nobody_sees),
    cmocka_unit_test (html_escapes_every_text),
    cmocka_unit_test (numbers_of_one_unit_are_sorted),
    cmocka_unit_test (the_best_of_a_place_fits),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

#include <config.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "interop/nccl_tests.h"

#define RANKS                                                                                      \
  "#  Rank  0 Group  0 Pid   4711 on node-1 device  0 [0x1b] NVIDIA H100 80GB HBM3\n"              \
  "#  Rank  1 Group  0 Pid   4712 on node-1 device  1 [0x43] NVIDIA H100 80GB HBM3\n"              \
  "#  Rank  2 Group  0 Pid   4713 on node-2 device  0 [0x1b] NVIDIA H100 80GB HBM3\n"              \
  "#  Rank  3 Group  0 Pid   4714 on node-2 device  1 [0x43] NVIDIA H100 80GB HBM3\n"
#define HEADER                                                                                     \
  "#                                                              out-of-place               "     \
  "        in-place\n"                                                                             \
  "#       size         count      type   redop    root     time   algbw   busbw #wrong     "      \
  "time   algbw   busbw #wrong\n"                                                                  \
  "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            "      \
  "(us)  (GB/s)  (GB/s)\n"
#define ROW                                                                                        \
  "  1073741824      67108864     float    none      -1   4321.5  248.5   186.4      0   4300.0  " \
  "249.7   187.3      0\n"

static NcclTests *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  NcclTests *tests = nccl_tests_parse ("x.log", text, strlen (text), 0, 0, &error);

  if (error != NULL)
    print_message ("%s\n", error->message);
  return tests;
}

static const NcclTestsRow *
row_of (const NcclTests *tests, guint index)
{
  assert_non_null (tests);
  assert_true (index < tests->rows->len);
  return &g_array_index (tests->rows, NcclTestsRow, index);
}

static void
a_run_tells_its_collective_ranks_and_hosts (void **state)
{
  g_autoptr (NcclTests) tests
      = parse ("# Collective test starting: all_gather_perf\n# nThread 1 nGpus 1 minBytes 8 "
               "maxBytes 8\n" RANKS HEADER ROW "# Avg bus bandwidth    : 186.4\n");
  const NcclTestsRow *row = row_of (tests, 0);

  (void)state;
  assert_int_equal (tests->n_runs, 1);
  assert_string_equal (tests->gpu, "NVIDIA H100 80GB HBM3");
  assert_int_equal (row->kind, COLLECTIVE_ALL_GATHER);
  assert_int_equal (row->ranks, 4);
  assert_int_equal (row->nodes, 2);
  assert_int_equal (row->bytes, 1073741824);
  assert_true (row->out_of_place_us == 4321.5);
  assert_true (row->in_place_us == 4300.0);
  assert_int_equal (row->line, 10);
}

/* The second run has other ranks and another program. */
static void
runs_follow_each_other (void **state)
{
  g_autoptr (NcclTests) tests
      = parse ("+ mpirun -np 4 ./all_gather_perf -b 8 -e 8G -f 2\n"
               "# nThread 1 nGpus 1 minBytes 8 maxBytes 8\n" RANKS HEADER ROW
               "+ ./build/all_reduce_perf -g 2\n"
               "# nThread 1 nGpus 2 minBytes 8 maxBytes 8\n"
               "#  Rank  0 Group  0 Pid  1 on node-9 device  0 [0x1b] X\n"
               "#  Rank  1 Group  0 Pid  1 on node-9 device  1 [0x43] X\n" HEADER
               "           8             2     float     sum      -1     9.51    0.00    0.00      "
               "0     9.40 "
               "   0.00    0.00      0\n");

  (void)state;
  assert_int_equal (tests->n_runs, 2);
  assert_int_equal (row_of (tests, 0)->kind, COLLECTIVE_ALL_GATHER);
  assert_int_equal (row_of (tests, 1)->kind, COLLECTIVE_ALL_REDUCE);
  assert_int_equal (row_of (tests, 1)->ranks, 2);
  assert_int_equal (row_of (tests, 1)->nodes, 1);
}

/* Before nccl-tests 2.13 tables of all-gathers had neither redop nor root. */
static void
columns_are_found_by_their_names (void **state)
{
  g_autoptr (NcclTests) tests
      = parse ("# all_gather_perf\n" RANKS "#       size         count    type     time   algbw   "
               "busbw  error     time   algbw   busbw  "
               "error\n     1048576        262144   float    50.00   20.97   15.73  0e+00    48.00 "
               "  21.85   "
               "16.38  0e+00\n");

  (void)state;
  assert_true (row_of (tests, 0)->out_of_place_us == 50.0);
  assert_true (row_of (tests, 0)->in_place_us == 48.0);
}

static void
tags_of_launchers_are_no_matter (void **state)
{
  g_autoptr (NcclTests) mpirun = parse (
      "[1,0]<stdout>:# all_gather_perf\n[1,0]<stdout>:#  Rank  0 Pid 1 on a device 0 [0] X\n"
      "[1,0]<stdout>:#  Rank  1 Pid 1 on a device 1 [0] X\n"
      "[1,0]<stdout>:#       size         count      type   redop    root     time   algbw   busbw "
      "#wrong\n[1,0]<stdout>:        1024   256   float    none      -1    10.00   0.1   0.05    "
      "0\n");
  g_autoptr (NcclTests) srun = parse (
      "0: # all_gather_perf\n0: #  Rank  0 Pid 1 on a device 0 [0] X\n"
      " 0: #  Rank  1 Pid 1 on a device 1 [0] X\n"
      "0: #       size         count      type   redop    root     time   algbw   busbw "
      "#wrong\n0:         1024   256   float    none      -1    10.00   0.1   0.05    0\n");

  (void)state;
  assert_int_equal (row_of (mpirun, 0)->bytes, 1024);
  assert_int_equal (row_of (srun, 0)->bytes, 1024);
  assert_true (isnan (row_of (srun, 0)->in_place_us));
}

/* 4 ranks: busbw / algbw is 0.75 for a reduce-scatter, 1.5 for an all-reduce. */
static void
bandwidths_tell_reductions_apart (void **state)
{
  g_autoptr (NcclTests) reduce_scatter = parse (
      RANKS HEADER "  1073741824  67108864  float  sum  -1  4321.5  248.5  186.4  0  4300.0  "
                   "249.7  187.3  0\n");
  g_autoptr (NcclTests) all_reduce = parse (
      RANKS HEADER "  1073741824  67108864  float  sum  -1  4321.5  248.5  372.7  0  4300.0  "
                   "249.7  374.6  0\n");

  (void)state;
  assert_int_equal (row_of (reduce_scatter, 0)->kind, COLLECTIVE_REDUCE_SCATTER);
  assert_int_equal (row_of (all_reduce, 0)->kind, COLLECTIVE_ALL_REDUCE);
}

static void
times_that_were_not_measured_are_none (void **state)
{
  g_autoptr (NcclTests) tests
      = parse ("# alltoall_perf\n" RANKS HEADER
               "  1048576  65536  float  none  -1  50.0  20.9  15.7  0  N/A  "
               "N/A  N/A  N/A\n");

  (void)state;
  assert_int_equal (row_of (tests, 0)->kind, COLLECTIVE_ALL_TO_ALL);
  assert_true (isnan (row_of (tests, 0)->in_place_us));
}

static void
ranks_may_be_told_from_outside (void **state)
{
  static const char text[] = "# all_gather_perf\n" HEADER ROW;
  g_autoptr (GError) error = NULL;
  g_autoptr (NcclTests) tests = nccl_tests_parse ("x.log", text, sizeof text - 1, 16, 2, &error);

  (void)state;
  assert_int_equal (row_of (tests, 0)->ranks, 16);
  assert_int_equal (row_of (tests, 0)->nodes, 2);
}

static void
mistakes_are_told_with_their_lines (void **state)
{
  static const struct
  {
    const char *text, *message;
  } cases[] = {
    { "", "x.log: no results of nccl-tests: no line" },
    { "step,time\n1,2\n", "x.log: no results of nccl-tests: no line" },
    { "# all_gather_perf\n" RANKS HEADER, "x.log: no results of nccl-tests: a table's header" },
    { HEADER ROW, "x.log:4: no lines '# Rank' above" },
    { RANKS HEADER ROW, "x.log:8: no line above names the program" },
    { "# all_gather_perf\n" RANKS HEADER "  8  2  float\n",
      "x.log:9: 3 columns, where the header" },
    { "# all_gather_perf\n" RANKS HEADER "  8  2  float  none  -1  fast  0  0  0  9  0  0  0\n",
      "x.log:9: 'fast' where a time above 0" },
    { "# all_gather_perf\n" RANKS HEADER "  8  2  float  none  -1  0.0  0  0  0  9  0  0  0\n",
      "x.log:9: '0.0' where a time above 0" },
    { "# all_gather_perf\n" RANKS HEADER "  8  2  float  none  -1  nan  0  0  0  9  0  0  0\n",
      "x.log:9: 'nan' where a time above 0" },
    { "# all_gather_perf\n" RANKS HEADER
      "  99999999999999999999  2  float  none  -1  1.0  0  0  0  9  0  0  0\n",
      "is no size in bytes" },
    { "# all_gather_perf\n#  Rank  0 Pid 1 on a device 0 [0] X\n" HEADER ROW,
      "x.log:6: a run of 1 ranks" },
  };

  (void)state;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      NcclTests *tests
          = nccl_tests_parse ("x.log", cases[i].text, strlen (cases[i].text), 0, 0, &error);

      assert_null (tests);
      if (strstr (error->message, cases[i].message) == NULL)
        fail_msg ("case %u: %s", i, error->message);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_run_tells_its_collective_ranks_and_hosts),
    cmocka_unit_test (runs_follow_each_other),
    cmocka_unit_test (columns_are_found_by_their_names),
    cmocka_unit_test (tags_of_launchers_are_no_matter),
    cmocka_unit_test (bandwidths_tell_reductions_apart),
    cmocka_unit_test (times_that_were_not_measured_are_none),
    cmocka_unit_test (ranks_may_be_told_from_outside),
    cmocka_unit_test (mistakes_are_told_with_their_lines),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}

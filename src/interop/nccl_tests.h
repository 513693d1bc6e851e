/* What the programs of NVIDIA's nccl-tests print (all_gather_perf and its kin, also
 * rccl-tests): one or more runs in a file, with whatever else a job's log holds
 * around them. */
#pragma once

#include "config/choices.h"

#define NCCL_TESTS_ERROR (nccl_tests_error_quark ())
GQuark nccl_tests_error_quark (void);

typedef enum
{
  NCCL_TESTS_ERROR_NO_RESULTS, /* nothing that nccl-tests would print */
  NCCL_TESTS_ERROR_BAD_LINE
} NcclTestsError;

/* A line of results. */
typedef struct
{
  CollectiveKind kind;
  guint ranks;
  guint nodes;
  gint64 bytes;
  double out_of_place_us; /* NaN where it was not measured */
  double in_place_us;     /* the same */
  guint line;             /* in the file, from 1 */
} NcclTestsRow;

typedef struct
{
  GArray *rows; /* NcclTestsRow, in the file's order */
  guint n_runs;
  char *gpu;  /* of the first rank that is named, or NULL */
  char *host; /* of it, or NULL */
} NcclTests;

/* @ranks and @nodes stand in for runs whose lines "# Rank" are not in the text; 0: none
 * are to be had. @file is only named in messages. NULL and NCCL_TESTS_ERROR, with file
 * and line, where the text has no results or broken ones, or where ranks or the
 * collective are not told. */
NcclTests *nccl_tests_parse (const char *file, const char *text, gsize length, guint ranks,
                             guint nodes, GError **error);
void nccl_tests_free (NcclTests *tests);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NcclTests, nccl_tests_free)

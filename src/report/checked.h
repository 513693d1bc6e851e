/* What `check` tells: findings in somebody's settings, with what they cost, as a table for
 * people, rows and JSON. */
#pragma once

#include "report/figures.h"

/* One way to set things, simulated. */
typedef struct
{
  char *label;
  Figures figures;
} CheckedWay;

typedef struct
{
  const char *code, *severity; /* static */
  gboolean counts;             /* makes the answer no: errors and warnings */
  char *file;
  guint line, column; /* 0: not known */
  char *text;         /* the line, or NULL */
  char *message;
  char *fix;    /* lines to paste, or NULL */
  GArray *ways; /* CheckedWay: other settings; may be empty */
} CheckedFinding;

typedef struct
{
  char *file;
  char *kind;           /* "accelerate's launcher" */
  char *versions;       /* "Judged for torch 2.8, transformers 4.55, accelerate 1.10."; or NULL */
  gboolean is_modelled; /* FALSE: a part of it is not, and so not judged */
  char *job;            /* what the costs are those of, in words; NULL where there are none */
  char *no_costs;       /* why not; or NULL */
  CheckedWay now;       /* the job as it is; simulated where job is not NULL */
  GArray *findings;     /* CheckedFinding */
} CheckedFile;

void checked_file_init (CheckedFile *file);
void checked_file_clear (CheckedFile *file);
void checked_finding_init (CheckedFinding *finding);
/* Throughput that @then has more than @now; NaN where one did not run. */
double checked_gain_percent (const Figures *now, const Figures *then);
/* Whether all of it was judged and no finding counts. */
gboolean checked_file_is_sound (const CheckedFile *file);

/* @files: CheckedFile *. The callers free the texts. */
char *checked_table (const GPtrArray *files);
char *checked_csv (const GPtrArray *files);
char *checked_json (const GPtrArray *files);

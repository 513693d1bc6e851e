/* Runs as tables, CSV files, JSON and Chrome traces. Each writer fills a string,
 * and report_write_files() puts files in place whole. */
#pragma once

#include "report/break_even.h"
#include "report/budget.h"
#include "report/noise.h"
#include "report/what_if.h"
#include "timeline/rank_spread.h"

/* One variant as the reports see it. */
typedef struct
{
  const Scenario *scenario;
  RunFacts facts;
  Figures figures;
  GPtrArray
      *timelines; /* Timeline of the ranks to write, the slowest first; NULL where it did not run */
  RankSpread *spread; /* owned; NULL where one rank stood for all, or nothing ran */
  WhatIf *what_if;    /* owned; or NULL */
  Noise *noise;       /* owned; NULL where nobody asked, or nothing ran */
} ReportRun;

/* What stands over all variants of one scenario. */
typedef struct
{
  const char *scenario_name;
  const char *title;
  const char *sha256;
} ReportScenario;

/* A comparison: the variants of one or more scenarios; the first is the baseline. */
typedef struct
{
  const ReportScenario *scenario; /* of the run; borrowed */
  ReportRun run;
} ReportEntry;

typedef struct
{
  ReportEntry *entries;
  guint n_entries;
  BreakEven *break_evens; /* one an entry, the first unused; or NULL; borrowed */
  Budget budget;          /* of the whole training run, where one was asked for */
  guint n_repeats;        /* seeds of each run's noise; 0 where nobody asked */
} Report;

/* ---- CSV, as design.md 4 ---- */
char *report_summary_csv (const Report *report);
char *report_deltas_csv (const Report *report);
char *report_per_unit_csv (const Report *report);
char *report_timeline_csv (const Report *report);
char *report_memory_csv (const Report *report);
/* Of variants that ran each rank by itself: a row a rank, and a row a collective with what its
 * ranks waited for the last of them. */
char *report_ranks_csv (const Report *report);
char *report_waits_csv (const Report *report);

/* ---- for people ---- */

/* Variants side by side, deltas, and a sentence on where the difference comes from. */
char *report_comparison_table (const Report *report);
/* One run in depth: the step's parts, collectives, critical path, memory by owner. */
char *report_run_table (const Report *report);

/* What a budget comes to, a line a variant; nothing where none was asked for. @names as from
 * variant_names(). */
void report_append_budget (const Report *report, const char *const *names, GString *text);

/* How much noise costs, and what failures leave of throughput: a table each, nothing where
 * nobody asked. */
void report_append_noise (const Report *report, const char *const *names, GString *text);
void report_append_goodput (const Report *report, const char *const *names, GString *text);
gboolean report_has_goodput (const Report *report);

/* How the ranks of each variant differ, a row each; nothing where one stood for all. */
void report_append_spreads (const Report *report, const char *const *names, GString *text);
/* Of one run: the ranks, and what each kind of collective absorbs. */
void report_append_ranks (const ReportRun *run, GString *text);

/* The same figures for programs. */
char *report_json (const Report *report);

/* Chrome Trace Event format, PyTorch profiler names. */
char *report_trace_json (const ReportEntry *entry);

/* Writes summary, deltas, per_unit, timeline, memory CSV and a trace each
 * variant into @folder, which is created; each file whole, by rename. Sets a
 * G_FILE_ERROR. */
gboolean report_write_files (const Report *report, const char *folder, GError **error);

/* ---- sweeps: @summary is the text of their summary.csv, whose first columns are the varied
 * keys ---- */

/* A line a row, and which rows are best. NULL where the text is none. */
char *report_sweep_table (const char *summary);
char *report_sweep_json (const char *summary);
/* Of a summary of one row: "cluster.nodes=3, variant naive: refused: REASON". */
char *report_sweep_failure (const char *summary);

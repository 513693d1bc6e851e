/* What a command line asks to be simulated: variants of scenarios, and the report
 * that their runs will make. */
#pragma once

#include "cli/exit_codes.h"
#include "cli/options.h"
#include "study/study.h"

typedef struct
{
  GPtrArray *files;          /* ScenarioFile, one an argument */
  ReportScenario *scenarios; /* one a file */
  GArray *variants;          /* Scenario: shallow copies, under names that tell them apart */
  GPtrArray *names;          /* char *, of the variants */
  StudyEffort *efforts;      /* one a variant */
  Report report;             /* one entry a variant; their runs come with selection_simulate() */
} Selection;

/* Loads every scenario of the arguments and takes all their variants. CLI_ERROR
 * with every mistake of all the files. */
gboolean selection_load (Selection *selection, const Options *options, GError **error);
/* Takes one variant of one scenario: that of --variant, or the first. */
gboolean selection_load_one (Selection *selection, const Options *options, GError **error);
/* Of the only file the variant that --variant names, or the first. */
gboolean selection_find_variant (const ScenarioFile *file, const Options *options, guint *index,
                                 GError **error);
void selection_clear (Selection *selection);

/* Fills in what other hardware would change of each run, too: for a single one. */
void selection_explain (Selection *selection, const Options *options);

/* Finds the networks at which the variants are as fast as the first, and the numbers of nodes. */
void selection_break_even (Selection *selection, const Options *options);

/* Simulates what was selected, once; progress goes to a terminal as "compare: 3/8 variants". */
void selection_simulate (Selection *selection, const Options *options, const char *command);

/* Runs what was simulated again under as many seeds as --repeat asks for. */
void selection_repeat (Selection *selection, const Options *options, const char *command);

/* Writes what -o and -f ask for; EXIT_ANSWER_IS_NO unless all variants run and fit. */
ExitCode selection_report (const Selection *selection, const Options *options,
                           char *(*table) (const Report *report), GError **error);

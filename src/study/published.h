/* Tables of runs that somebody published: what ran, what came out. The format is
 * that of models/published/runs.csv (docs/validation.md). What ran is kept apart
 * from the rest, so that a prediction cannot look at what it is to predict. */
#pragma once

#include "config/csv_table.h"

#define LABEL(column)
#define RESULT(column, type)
#define SETTING(column, type)   PUBLISHED_##type (column)
#define PUBLISHED_TEXT(column)  const char *column;
#define PUBLISHED_WHOLE(column) guint column;
#define PUBLISHED_REAL(column)  double column;

/* What ran. Borrowed from the table. Not published: "", 0, or NaN for a real. */
typedef struct
{
#include "study/published.def"
} RunSettings;

#undef LABEL
#undef RESULT
#undef SETTING
#define LABEL(column)        const char *column;
#define RESULT(column, type) PUBLISHED_##type (column)
#define SETTING(column, type)

/* What came out, and what the run is called. */
typedef struct
{
#include "study/published.def"
} RunResult;

#undef LABEL
#undef RESULT
#undef SETTING
#undef PUBLISHED_TEXT
#undef PUBLISHED_WHOLE
#undef PUBLISHED_REAL

typedef struct
{
  RunSettings settings;
  RunResult result;
  char *unreadable;    /* why its cells make no sense; NULL where they do */
  const CsvTable *csv; /* where it stands; borrowed from the table */
  guint row;
} PublishedRun;

typedef struct _PublishedTable PublishedTable;

/* @name stands in messages. Columns come in any order, and others than these are
 * passed over; of these, all but id, the model's and the cluster's sizes and the
 * throughput may be missing. NULL where @problems says what is wrong. */
PublishedTable *published_read (const char *name, const char *text, gsize length,
                                Problems *problems);
void published_free (PublishedTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PublishedTable, published_free)

guint published_n_runs (const PublishedTable *table);
const PublishedRun *published_run (const PublishedTable *table, guint index);

/* "runs.csv:6"; the caller frees it. */
char *published_run_place (const PublishedRun *run);

/* Drops the runs whose quality is none of the letters of @qualities. */
void published_select (PublishedTable *table, const char *qualities);

/* Adds the rows of @more, which is freed. */
void published_append (PublishedTable *table, PublishedTable *more);

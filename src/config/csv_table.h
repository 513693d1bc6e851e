/* A CSV file (RFC 4180) held as text: rows of fields, each with the place where it
 * stands. Blank lines are no rows. */
#pragma once

#include "config/problems.h"

typedef struct _CsvTable CsvTable;

/* @name stands in places and messages. NULL where the text is no CSV: @problems says why. */
CsvTable *csv_table_read (const char *name, const char *text, gsize length, Problems *problems);
void csv_table_free (CsvTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CsvTable, csv_table_free)

guint csv_table_n_rows (const CsvTable *table);
guint csv_table_n_fields (const CsvTable *table, guint row);
/* Without quotes; white space around an unquoted field does not count. */
const char *csv_table_field (const CsvTable *table, guint row, guint field);

/* Of a field, or with @field beyond the last of the row's end; its text, the line, is
 * the caller's to free. */
Place csv_table_place (const CsvTable *table, guint row, guint field);

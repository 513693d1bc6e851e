/* Text for people: columns that line up, and paragraphs of at most 100 columns. */
#pragma once

#include <glib.h>

#define TEXT_WIDTH 100

typedef struct _TextTable TextTable;

TextTable *text_table_new (guint n_columns);
void text_table_free (TextTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TextTable, text_table_free)

/* The next cell, row by row; copies @text. */
void text_table_add (TextTable *table, const char *text);
/* A cell that may stick out to the left over an empty neighbour: a head of several columns. */
void text_table_add_wide (TextTable *table, const char *text);

/* The first column is set left, the others right; two spaces between. */
void text_table_render (const TextTable *table, GString *text);

/* Columns that @text takes on a terminal: letters of two columns count twice. */
guint text_width (const char *text);

/* Breaks @words at spaces; all lines but the first begin with @indent spaces. */
void text_append_wrapped (GString *text, const char *words, guint indent);

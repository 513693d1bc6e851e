/* Parts of an HTML page. Every text is escaped. */
#pragma once

#include <glib.h>

/* <tag>text</tag>, and a line end. */
void html_append (GString *page, const char *tag, const char *text);
void html_append_format (GString *page, const char *tag, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* A table in a box of its own that scrolls; @headers is NULL-terminated. What
 * follows is rows of one cell a header, the first its name. */
void html_table_begin (GString *page, const char *caption, const char *const *headers);
void html_row_begin (GString *page, const char *name);
void html_cell (GString *page, const char *text);                        /* aligned like numbers */
void html_cell_text (GString *page, const char *text);                   /* like text */
void html_cell_number (GString *page, const char *format, double value); /* "–" for NaN */
void html_row_end (GString *page);
void html_table_end (GString *page);

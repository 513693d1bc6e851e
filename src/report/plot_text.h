/* Text of gnuplot scripts. */
#pragma once

#include <glib.h>

/* name = 'text': single quotes, between which gnuplot takes every character as it is. */
void plot_text_set (GString *script, const char *name, const char *text);
void plot_text_set_number (GString *script, const char *name, double value);
/* An array of texts; @texts is NULL-terminated. */
void plot_text_set_array (GString *script, const char *name, const char *const *texts);

/* At most @n_characters of @text, with "…" for what had to go from the middle. The caller frees it.
 */
char *plot_text_shorten (const char *text, guint n_characters);

/* 0.0123 -> "12.3 ms". The caller frees it. */
char *plot_text_ms (double seconds);

/* With "?" for each East Asian or pictorial character: where no font has them, gnuplot's cairo
 * terminals draw boxes over half the picture. The caller frees it. */
char *plot_text_without_wide (const char *text);

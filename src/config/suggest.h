/* "Did you mean": the nearest known word. */
#pragma once

#include <glib.h>

/* The word of @words (NULL-terminated) nearest to @word by Damerau-Levenshtein
 * distance, ignoring case, if at most 2 edits (of 4 letters and fewer: 1) or a third of its length
 * away; else NULL. */
const char *suggest_nearest (const char *word, const char *const *words);

/* "; did you mean 'x'?" of the nearest or of the only word that @word is a part of, "; did you mean
 * one of 'x', 'y'?" of several such among many, "; one of a, b, c" where there are at most 13
 * words, or "". The caller frees it. */
char *suggest_clause (const char *word, const char *const *words);

/* Lists such as "3:1.2;17:2": ranks or nodes, and a figure for each. */
#pragma once

#include "config/keys.h"

/* Replaces *list, which is left alone on failure. The figures have the unit and range of @key. */
gboolean numbered_list_parse (const KeyInfo *key, const char *text, NumberedList *list,
                              GError **error);

/* The same text for all spellings of a list. The caller frees it. */
char *numbered_list_canonical (const NumberedList *list);

/* Values of one key as a sweep lists them: "1,2,4", "1..8", "1..64*2",
 * "100Gb/s..800Gb/s+100Gb/s". A range ends at or before its last value. */
#pragma once

#include "config/keys.h"

#define VALUE_LIST_MOST 10000

/* Appends every value of @text to @values, as text that the key takes: char *, for
 * the array to free. Each mistake is noted at its own column, @place being the
 * list's; FALSE where there is any. */
gboolean value_list_read (const KeyInfo *key, const char *text, const Place *place,
                          GPtrArray *values, Problems *problems);

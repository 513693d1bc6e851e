/* The value of one key: from text to its place in a Scenario. */
#pragma once

#include "config/keys.h"

/* What a number holds where its key says "auto" or was not given. */
#define AUTO_COUNT 0
#define AUTO_WHOLE TIMING_NOT_GIVEN
#define AUTO_REAL  (-1.0)

/* Checks @text against the key's type and range and writes it into @scenario,
 * which is left alone on failure. The message says what would do. */
gboolean value_store (const KeyInfo *key, const char *text, Scenario *scenario, GError **error);

/* Is @value, written as @text, within what the key takes? Else the message says what would do. */
gboolean value_in_range (const KeyInfo *key, const char *text, double value, GError **error);

/* The same text for all spellings of a value, from what @scenario holds. The caller frees it. */
char *value_canonical (const KeyInfo *key, const Scenario *scenario);

/* Copies all that value_clear_scenario() frees; *to is overwritten. */
void value_copy_scenario (const Scenario *from, Scenario *to);

/* Frees what value_store() put in, and the variant's name. */
void value_clear_scenario (Scenario *scenario);

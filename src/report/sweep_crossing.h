/* Where one variant of a sweep overtakes another along an axis. */
#pragma once

#include <glib.h>

/* Appends a sentence for each place at which a variant and the first change places by tokens a
 * second and GPU, along the main axis of @summary, the text of a summary.csv; nothing where no
 * numbers vary or nothing crosses. */
void sweep_append_crossings (const char *summary, GString *text);

/* The part of fsdpsim-scenario(5) that comes from the table of keys. */
#pragma once

#include "config/keys.h"

/* A subsection of the manual (man(7) source) for each section of the files. The
 * caller frees it. */
char *manual_of_keys (const KeyInfo *keys, guint n);

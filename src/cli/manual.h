/* The parts of the manual that come from tables: of keys, in fsdpsim-scenario(5), and of what
 * `check` can find, in fsdpsim(1). */
#pragma once

#include "config/keys.h"

/* A subsection of the manual (man(7) source) for each section of the files. The
 * caller frees it. */
char *manual_of_keys (const KeyInfo *keys, guint n);

/* An entry for each code. The caller frees it. */
char *manual_of_findings (void);

/* Keys under the names that they have in other programs. */
#pragma once

#include <glib.h>

/* What a message says of such a name behind "unknown key"; NULL where it is nobody's. The caller
 * frees it. */
char *foreign_key_clause (const char *key);

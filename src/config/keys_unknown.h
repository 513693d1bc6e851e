/* What to say of names that are in no table. */
#pragma once

#include <glib.h>

/* Of a key that @section does not have: what is wrong and what was meant. The caller frees it. */
char *unknown_key_message (const char *section, const char *key);
/* Of "section.key" that names nothing. The caller frees it. */
char *unknown_dotted_message (const char *name);
/* Of a key, wherever it stands, that asks for what is not simulated at all; else NULL. The caller
 * frees it. */
char *unmodelled_key_message (const char *key);
/* Of a section. The caller frees it. */
char *unknown_section_message (const char *section);

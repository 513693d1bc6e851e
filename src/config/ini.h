/* INI text with the line and column of every section, key and value, which
 * GKeyFile does not keep; it would also merge what is repeated. */
#pragma once

#include "config/problems.h"

typedef struct
{
  const char *key;
  const char *value; /* without comment and white space around it; may be "" */
  Place key_place;
  Place value_place;
} IniEntry;

typedef struct
{
  const char *name;
  Place place;
  guint first; /* of its entries */
  guint n_entries;
} IniSection;

typedef struct _IniFile IniFile;

/* Reads @length bytes of @text; @name stands in places. Lines that are no INI
 * are noted in @problems and left out; so are all of a text that holds NUL bytes. */
IniFile *ini_parse (const char *name, const char *text, gsize length, Problems *problems);
void ini_free (IniFile *ini);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (IniFile, ini_free)

/* In the order of the file; a section that is repeated appears again. */
const IniSection *ini_sections (const IniFile *ini, guint *n);
const IniEntry *ini_entry (const IniFile *ini, guint index);

/* Changing values in an INI text and nothing else: comments, order and layout stay. */
#pragma once

#include "config/ini.h"

typedef struct
{
  const char *section, *key;
  const char *value; /* what stands behind "key = ", a comment too */
} IniSetting;

/* @text, which must parse as @ini, with @n settings: in place of the value that stands
 * there, else at the end of the section, else in a new section at the end of the text.
 * The caller frees it. */
char *ini_edit (const char *text, const IniFile *ini, const IniSetting *settings, guint n);

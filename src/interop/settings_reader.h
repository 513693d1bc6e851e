/* Typed access to the settings of a map: what is no such value is a finding, and the
 * setting stays as it was. */
#pragma once

#include "interop/job.h"

typedef struct
{
  const SettingsTree *tree;
  const SettingsNode *map; /* may be NULL: nothing is given */
  const char *prefix;      /* that keys may have in front, or NULL */
  Findings *findings;
} SettingsReader;

/* With the prefix or without; NULL where it is not given or null. */
const SettingsMember *reader_find (const SettingsReader *reader, const char *key);

/* TRUE where the key is given and good, and *setting was set. */
gboolean reader_flag (const SettingsReader *reader, const char *key, JobSetting *setting);
gboolean reader_count (const SettingsReader *reader, const char *key, JobSetting *setting);
/* The index of the word in @words (NULL-terminated), whatever the case; or a number from 1 of the
 * first @n_numbered words. */
gboolean reader_word (const SettingsReader *reader, const char *key, const char *const *words,
                      guint n_numbered, JobSetting *setting);
/* A word, a list of words, or words with commas or blanks between them: copies, into an array
 * that frees them. */
gboolean reader_words (const SettingsReader *reader, const char *key, GPtrArray *words,
                       JobSetting *setting);

/* A finding for each key that is not in @known (NULL-terminated, without prefix). @only_near: only
 * where a known one is so near that a slip is likely. */
void reader_find_unknown (const SettingsReader *reader, const char *const *known,
                          gboolean only_near, const char *program);

/* What the corrected line looks like in the file's syntax: "key: value", "\"key\": value," or
 * "key = value". Words get quotes where the syntax wants them. The caller frees it. */
char *reader_line (SettingsSyntax syntax, const char *key, const char *value);

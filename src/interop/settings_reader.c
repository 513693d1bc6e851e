#include <config.h>

#include "interop/settings_reader.h"

#include <string.h>

#include "config/suggest.h"

static const SettingsMember *
find_given (const SettingsNode *map, const char *key)
{
  const SettingsMember *member = settings_find (map, key);

  return member != NULL && member->value->kind != NODE_NULL ? member : NULL;
}

const SettingsMember *
reader_find (const SettingsReader *reader, const char *key)
{
  const SettingsMember *member = find_given (reader->map, key);
  g_autofree char *prefixed = NULL;

  if (member != NULL || reader->prefix == NULL)
    return member;
  prefixed = g_strconcat (reader->prefix, key, NULL);
  return find_given (reader->map, prefixed);
}

static gboolean
refuse (const SettingsReader *reader, const SettingsMember *member, const char *wanted)
{
  const Place place = settings_place (reader->tree, member->value->line, member->value->column);

  findings_add (reader->findings, FINDING_BAD_VALUE, &place, "%s: %s where %s is expected.",
                member->key, member->value->text != NULL ? member->value->text : "a list or a map",
                wanted);
  return FALSE;
}

gboolean
reader_flag (const SettingsReader *reader, const char *key, JobSetting *setting)
{
  const SettingsMember *member = reader_find (reader, key);

  if (member == NULL)
    return FALSE;
  if (!settings_is_true (member->value) && !settings_is_false (member->value))
    return refuse (reader, member, "true or false");
  *setting = job_said (settings_is_true (member->value), reader->tree, member);
  return TRUE;
}

gboolean
reader_count (const SettingsReader *reader, const char *key, JobSetting *setting)
{
  const SettingsMember *member = reader_find (reader, key);
  gint number;

  if (member == NULL)
    return FALSE;
  if (!settings_is_count (member->value, &number))
    return refuse (reader, member, "a whole number");
  *setting = job_said (number, reader->tree, member);
  return TRUE;
}

gboolean
reader_word (const SettingsReader *reader, const char *key, const char *const *words,
             guint n_numbered, JobSetting *setting)
{
  const SettingsMember *member = reader_find (reader, key);
  g_autofree char *list = NULL;
  g_autofree char *wanted = NULL;
  gint number;

  if (member == NULL)
    return FALSE;
  for (gint i = 0; words[i] != NULL && member->value->text != NULL; i++)
    if (g_ascii_strcasecmp (words[i], member->value->text) == 0)
      {
        *setting = job_said (i, reader->tree, member);
        return TRUE;
      }
  if (settings_is_count (member->value, &number) && number >= 1 && number <= (gint)n_numbered)
    {
      *setting = job_said (number - 1, reader->tree, member);
      return TRUE;
    }
  list = g_strjoinv (", ", (char **)words);
  wanted = g_strdup_printf ("one of %s", list);
  return refuse (reader, member, wanted);
}

static void
add_word (const SettingsNode *node, GPtrArray *words)
{
  g_auto (GStrv) parts = g_strsplit_set (node->text != NULL ? node->text : "", " ,", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (*parts[i] != '\0')
      g_ptr_array_add (words, g_strdup (parts[i]));
}

gboolean
reader_words (const SettingsReader *reader, const char *key, GPtrArray *words, JobSetting *setting)
{
  const SettingsMember *member = reader_find (reader, key);

  if (member == NULL)
    return FALSE;
  if (member->value->kind == NODE_LIST)
    for (guint i = 0; i < member->value->items->len; i++)
      add_word (g_ptr_array_index (member->value->items, i), words);
  else
    add_word (member->value, words);
  *setting = job_said (0, reader->tree, member);
  return TRUE;
}

/* ---- unknown keys ---- */

static void
add_unknown (const SettingsReader *reader, const SettingsMember *member, const char *nearest,
             const char *program)
{
  const Place place = settings_place (reader->tree, member->line, member->column);
  g_autofree char *line = NULL;
  g_autofree char *key = NULL;
  Finding *finding
      = findings_add (reader->findings, FINDING_UNKNOWN_KEY, &place,
                      nearest != NULL ? "%s: %s has no such key and ignores it; '%s' is near."
                                      : "%s: %s has no such key and ignores it.",
                      member->key, program, nearest);

  if (nearest == NULL || member->value->text == NULL)
    return;
  key = g_strconcat (reader->prefix != NULL && g_str_has_prefix (member->key, reader->prefix)
                         ? reader->prefix
                         : "",
                     nearest, NULL);
  line = reader_line (settings_syntax (reader->tree), key, member->value->text);
  finding_set_fix (finding, "%s", line);
}

void
reader_find_unknown (const SettingsReader *reader, const char *const *known, gboolean only_near,
                     const char *program)
{
  for (guint i = 0; reader->map != NULL && i < reader->map->members->len; i++)
    {
      const SettingsMember *member = &g_array_index (reader->map->members, SettingsMember, i);
      const char *key = member->key;
      const char *nearest;

      if (reader->prefix != NULL && g_str_has_prefix (key, reader->prefix))
        key += strlen (reader->prefix);
      if (g_strv_contains (known, key) || strcmp (key, "<<") == 0)
        continue;
      nearest = suggest_nearest (key, known);
      if (nearest != NULL || !only_near)
        add_unknown (reader, member, nearest, program);
    }
}

/* ---- lines to paste ---- */

static gboolean
needs_no_quotes (const char *value)
{
  char *end;

  if (g_str_equal (value, "true") || g_str_equal (value, "false"))
    return TRUE;
  g_ascii_strtod (value, &end);
  return *value != '\0' && *end == '\0';
}

char *
reader_line (SettingsSyntax syntax, const char *key, const char *value)
{
  const char *quote = syntax == SETTINGS_YAML || needs_no_quotes (value) ? "" : "\"";

  if (syntax == SETTINGS_YAML)
    return g_strdup_printf ("%s: %s", key, value);
  if (syntax == SETTINGS_JSON)
    return g_strdup_printf ("\"%s\": %s%s%s,", key, quote, value, quote);
  return g_strdup_printf ("%s = %s%s%s", key, quote, value, quote);
}

#include <config.h>

#include "config/ini_edit.h"

#include <string.h>

typedef struct
{
  GPtrArray *lines;    /* GString, of the text; line N at index N - 1 */
  GString *new_text;   /* sections that the text did not have */
  const char *section; /* the last of them, or NULL */
} Edit;

static void
free_line (gpointer line)
{
  g_string_free (line, TRUE);
}

static GPtrArray *
split (const char *text)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (free_line);
  g_auto (GStrv) parts = g_strsplit (text, "\n", -1);
  const guint n = g_strv_length (parts);

  for (guint i = 0; i < n; i++)
    if (i + 1 < n || parts[i][0] != '\0')
      g_ptr_array_add (lines, g_string_new (parts[i]));
  return lines;
}

/* The line of the text at which @setting belongs: that of its key, or the last of its
 * section; 0 where the text has no such section. */
static guint
find_line (const IniFile *ini, const IniSetting *setting, gboolean *is_key)
{
  guint n, line = 0;
  const IniSection *sections = ini_sections (ini, &n);

  *is_key = FALSE;
  for (guint s = 0; s < n; s++)
    {
      if (strcmp (sections[s].name, setting->section) != 0)
        continue;
      line = sections[s].place.line;
      for (guint i = 0; i < sections[s].n_entries; i++)
        {
          const IniEntry *entry = ini_entry (ini, sections[s].first + i);

          line = entry->key_place.line;
          *is_key = strcmp (entry->key, setting->key) == 0;
          if (*is_key)
            return line;
        }
    }
  return line;
}

static void
apply (Edit *edit, const IniFile *ini, const IniSetting *setting)
{
  gboolean is_key;
  const guint line = find_line (ini, setting, &is_key);

  if (line > 0 && is_key)
    g_string_printf (g_ptr_array_index (edit->lines, line - 1), "%s = %s", setting->key,
                     setting->value);
  else if (line > 0)
    g_string_append_printf (g_ptr_array_index (edit->lines, line - 1), "\n%s = %s", setting->key,
                            setting->value);
  else
    {
      if (edit->section == NULL || strcmp (edit->section, setting->section) != 0)
        g_string_append_printf (edit->new_text, "\n[%s]\n", setting->section);
      edit->section = setting->section;
      g_string_append_printf (edit->new_text, "%s = %s\n", setting->key, setting->value);
    }
}

char *
ini_edit (const char *text, const IniFile *ini, const IniSetting *settings, guint n)
{
  Edit edit = { .lines = split (text), .new_text = g_string_new (NULL) };
  GString *all = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    apply (&edit, ini, &settings[i]);
  for (guint i = 0; i < edit.lines->len; i++)
    {
      g_string_append (all, ((GString *)g_ptr_array_index (edit.lines, i))->str);
      g_string_append_c (all, '\n');
    }
  g_string_append (all, edit.new_text->str);
  g_ptr_array_unref (edit.lines);
  g_string_free (edit.new_text, TRUE);
  return g_string_free (all, FALSE);
}

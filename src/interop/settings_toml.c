#include <config.h>

#include "interop/settings_tree.h"

#include <string.h>

#include "config/ini.h"

/* The INI reader of scenario files knows tables, keys and places. What TOML adds is taken
 * off before: comments without a blank in front, '#' in quotes, lists over several lines. */

/* Stands for a '#' in quotes, which begins no comment. */
#define HIDDEN_HASH '\x01'

typedef struct
{
  const SettingsTree *tree;
  GString *out;
  guint depth; /* of lists that are open */
  Problems *problems;
} Cleaning;

static gboolean
refuse (const SettingsTree *tree, guint line, guint column, Problems *problems, const char *what)
{
  const Place place = settings_place (tree, line, column);

  problems_add (problems, &place, NULL, NULL,
                "%s; only tables, and values that are scalars or lists of them, are read", what);
  return FALSE;
}

/* Copies a string in quotes; where it ends, or NULL where it does not. */
static const char *
copy_string (Cleaning *cleaning, const char *at)
{
  const char quote = *at;

  g_string_append_c (cleaning->out, *at++);
  for (; *at != '\0' && *at != quote; at++)
    {
      if (*at == '\\' && quote == '"' && at[1] != '\0')
        g_string_append_c (cleaning->out, *at++);
      g_string_append_c (cleaning->out, *at == '#' ? HIDDEN_HASH : *at);
    }
  if (*at != quote)
    return NULL;
  g_string_append_c (cleaning->out, quote);
  return at + 1;
}

static gboolean
clean_line (Cleaning *cleaning, const char *line, guint number)
{
  const char *at = line;

  while (*at != '\0' && *at != '#')
    {
      if (g_str_has_prefix (at, "\"\"\"") || g_str_has_prefix (at, "'''"))
        return refuse (cleaning->tree, number, (guint)(at - line) + 1, cleaning->problems,
                       "a string of several lines");
      if (*at == '"' || *at == '\'')
        {
          const char *end = copy_string (cleaning, at);

          if (end == NULL)
            return refuse (cleaning->tree, number, (guint)(at - line) + 1, cleaning->problems,
                           "a string that does not end in its line");
          at = end;
          continue;
        }
      if (*at == '[')
        cleaning->depth++;
      if (*at == ']' && cleaning->depth > 0)
        cleaning->depth--;
      g_string_append_c (cleaning->out, *at++);
    }
  return TRUE;
}

/* Lines that a list goes on over are joined to its first, and as many empty ones follow. */
static char *
clean (const SettingsTree *tree, const char *text, Problems *problems)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  Cleaning cleaning = { tree, g_string_new (NULL), 0, problems };
  guint n_joined = 0;
  gboolean is_right = TRUE;

  for (guint i = 0; lines[i] != NULL && is_right; i++)
    {
      is_right = clean_line (&cleaning, g_strchomp (lines[i]), i + 1);
      if (cleaning.depth > 0 && lines[i + 1] != NULL)
        {
          g_string_append_c (cleaning.out, ' ');
          n_joined++;
          continue;
        }
      cleaning.depth = 0;
      for (n_joined++; n_joined > 0; n_joined--)
        g_string_append_c (cleaning.out, '\n');
    }
  return g_string_free (cleaning.out, !is_right);
}

/* ---- values ---- */

typedef struct
{
  SettingsTree *tree;
  Problems *problems;
  guint line, column;
} Value;

static SettingsNode *
make_text (const Value *value, const char *begin, gsize length)
{
  g_autofree char *raw = g_strndup (begin, length);
  g_autofree char *text = NULL;

  for (char *at = raw; *at != '\0'; at++)
    if (*at == HIDDEN_HASH)
      *at = '#';
  text = begin[-1] == '"' ? g_strcompress (raw) : g_steal_pointer (&raw);
  return settings_node_new (value->tree, NODE_TEXT, text, value->line, value->column);
}

/* The scalar at *at, which moves behind it; NULL where there is none. */
static SettingsNode *
read_scalar (const Value *value, const char **at)
{
  const char *begin = *at;
  g_autofree char *word = NULL;

  if (*begin == '"' || *begin == '\'')
    {
      const char *end = begin + 1;

      for (; *end != '\0' && *end != *begin; end++)
        if (*end == '\\' && *begin == '"' && end[1] != '\0')
          end++;
      if (*end == '\0')
        return NULL;
      *at = end + 1;
      return make_text (value, begin + 1, (gsize)(end - begin - 1));
    }
  *at += strcspn (begin, ",]{}[ \t");
  if (*at == begin)
    return NULL;
  word = g_strndup (begin, (gsize)(*at - begin));
  return settings_node_new (value->tree, NODE_WORD, word, value->line, value->column);
}

static const char *
skip_blanks (const char *at)
{
  return at + strspn (at, " \t");
}

/* "[a, b]", a comma may stand before the end. */
static SettingsNode *
read_list (const Value *value, const char **at)
{
  SettingsNode *list = settings_node_new (value->tree, NODE_LIST, NULL, value->line, value->column);

  for (*at = skip_blanks (*at + 1); **at != ']'; *at = skip_blanks (*at))
    {
      SettingsNode *item = read_scalar (value, at);

      if (item == NULL)
        return NULL;
      g_ptr_array_add (list->items, item);
      *at = skip_blanks (*at);
      if (**at == ',')
        (*at)++;
      else if (**at != ']')
        return NULL;
    }
  (*at)++;
  return list;
}

static SettingsNode *
read_value (const Value *value, const char *text)
{
  const char *at = text;
  SettingsNode *node = *text == '[' ? read_list (value, &at) : read_scalar (value, &at);

  if (node != NULL && *skip_blanks (at) == '\0')
    return node;
  refuse (value->tree, value->line, value->column, value->problems,
          *text == '{' ? "a table in braces" : "no value of TOML that is known here");
  return NULL;
}

/* ---- the whole ---- */

static gboolean
is_bare (const char *key)
{
  return *key != '\0' && strspn (key, G_CSET_A_2_Z G_CSET_a_2_z "0123456789_-") == strlen (key);
}

static void
add_entry (SettingsTree *tree, const IniEntry *entry, SettingsNode *table, Problems *problems)
{
  const Value value = { tree, problems, entry->value_place.line, entry->value_place.column };
  SettingsNode *node;

  if (!is_bare (entry->key))
    {
      refuse (tree, entry->key_place.line, entry->key_place.column, problems,
              "a key in quotes or with dots");
      return;
    }
  if (settings_find (table, entry->key) != NULL)
    {
      const Place place = settings_place (tree, entry->key_place.line, entry->key_place.column);

      problems_add (problems, &place, NULL, entry->key, "given twice; TOML allows it once");
      return;
    }
  node = read_value (&value, entry->value);
  if (node != NULL)
    settings_node_add (tree, table, entry->key, entry->key_place.line, entry->key_place.column,
                       node);
}

static void
add_section (SettingsTree *tree, const IniFile *ini, const IniSection *section, SettingsNode *root,
             Problems *problems)
{
  SettingsNode *table
      = settings_node_new (tree, NODE_MAP, NULL, section->place.line, section->place.column);
  const Place place = settings_place (tree, section->place.line, section->place.column);

  if (*section->name == '[')
    refuse (tree, section->place.line, section->place.column, problems, "a list of tables");
  else if (settings_find (root, section->name) != NULL)
    problems_add (problems, &place, NULL, NULL, "[%s] stands twice; TOML allows it once",
                  section->name);
  for (guint i = 0; i < section->n_entries && !settings_is_too_long (tree, problems); i++)
    add_entry (tree, ini_entry (ini, section->first + i), table, problems);
  settings_node_add (tree, root, section->name, section->place.line, section->place.column, table);
}

SettingsTree *
settings_read_toml (const char *name, const char *text, gsize length, Problems *problems)
{
  const guint n_before = problems_count (problems);
  g_autoptr (SettingsTree) tree = NULL;
  g_autoptr (IniFile) ini = NULL;
  g_autofree char *cleaned = NULL;
  SettingsNode *root;
  const IniSection *sections;
  guint n;

  if (!settings_is_readable_text (name, text, length, problems))
    return NULL;
  tree = settings_tree_new (name, SETTINGS_TOML, text);
  cleaned = clean (tree, text, problems);
  if (cleaned == NULL)
    return NULL;
  ini = ini_parse (name, cleaned, strlen (cleaned), problems);
  root = settings_node_new (tree, NODE_MAP, NULL, 1, 1);
  sections = ini_sections (ini, &n);
  for (guint i = 0; i < n && !settings_is_too_long (tree, problems); i++)
    add_section (tree, ini, &sections[i], root, problems);
  settings_tree_set_root (tree, root);
  return problems_count (problems) == n_before ? g_steal_pointer (&tree) : NULL;
}

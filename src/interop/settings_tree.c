#include <config.h>

#include "interop/settings_tree.h"

#include <string.h>

/* Maps that merge each other in a circle end here. */
#define MOST_MERGES 8

#define MOST_SETTINGS 20000

struct _SettingsTree
{
  char *name;
  SettingsSyntax syntax;
  char **lines;
  guint n_lines;
  GStringChunk *strings;
  GPtrArray *nodes;
  const SettingsNode *root;
};

/* ---- making one ---- */

static void
node_free (gpointer data)
{
  SettingsNode *node = data;

  if (node->members != NULL)
    g_array_unref (node->members);
  if (node->items != NULL)
    g_ptr_array_unref (node->items);
  g_free (node);
}

SettingsTree *
settings_tree_new (const char *name, SettingsSyntax syntax, const char *text)
{
  SettingsTree *tree = g_new0 (SettingsTree, 1);

  tree->name = g_strdup (name);
  tree->syntax = syntax;
  tree->lines = g_strsplit (text, "\n", -1);
  tree->n_lines = g_strv_length (tree->lines);
  tree->strings = g_string_chunk_new (4096);
  tree->nodes = g_ptr_array_new_with_free_func (node_free);
  for (guint i = 0; i < tree->n_lines; i++)
    g_strchomp (tree->lines[i]);
  return tree;
}

void
settings_tree_free (SettingsTree *tree)
{
  if (tree == NULL)
    return;
  g_ptr_array_unref (tree->nodes);
  g_string_chunk_free (tree->strings);
  g_strfreev (tree->lines);
  g_free (tree->name);
  g_free (tree);
}

SettingsNode *
settings_node_new (SettingsTree *tree, NodeKind kind, const char *text, guint line, guint column)
{
  SettingsNode *node = g_new0 (SettingsNode, 1);

  node->kind = kind;
  node->line = line;
  node->column = column;
  if (text != NULL)
    node->text = g_string_chunk_insert (tree->strings, text);
  if (kind == NODE_MAP)
    node->members = g_array_new (FALSE, FALSE, sizeof (SettingsMember));
  if (kind == NODE_LIST)
    node->items = g_ptr_array_new ();
  g_ptr_array_add (tree->nodes, node);
  return node;
}

void
settings_node_add (SettingsTree *tree, SettingsNode *map, const char *key, guint line, guint column,
                   const SettingsNode *value)
{
  SettingsMember member = { g_string_chunk_insert_const (tree->strings, key), line, column, value };

  g_array_append_val (map->members, member);
}

void
settings_tree_set_root (SettingsTree *tree, const SettingsNode *root)
{
  tree->root = root;
}

gboolean
settings_is_too_long (const SettingsTree *tree, Problems *problems)
{
  const Place place = { .file = tree->name };

  if (tree->nodes->len < MOST_SETTINGS)
    return FALSE;
  problems_add (problems, &place, NULL, NULL, "over %d values: this is no settings file",
                MOST_SETTINGS);
  return TRUE;
}

gboolean
settings_is_readable_text (const char *name, const char *text, gsize length, Problems *problems)
{
  Place place = { .file = name };
  const char *wrong = NULL;

  if (strspn (text, " \t\r\n") == length)
    wrong = "the file is empty";
  else if (g_str_has_prefix (text, "version https://git-lfs"))
    wrong = "a Git LFS pointer, not the file that it stands for; 'git lfs pull' gets it";
  else if (g_str_has_prefix (text, "\x1F\x8B"))
    wrong = "compressed by gzip; 'gzip -d' unpacks it";
  else if (!g_utf8_validate (text, (gssize)length, NULL))
    wrong = "this is no UTF-8 text";
  if (wrong != NULL)
    problems_add (problems, &place, NULL, NULL, "%s", wrong);
  return wrong == NULL;
}

/* ---- what it holds ---- */

const char *
settings_name (const SettingsTree *tree)
{
  return tree->name;
}

SettingsSyntax
settings_syntax (const SettingsTree *tree)
{
  return tree->syntax;
}

const SettingsNode *
settings_root (const SettingsTree *tree)
{
  return tree->root;
}

Place
settings_place (const SettingsTree *tree, guint line, guint column)
{
  return (Place){ .file = tree->name,
                  .line = line,
                  .column = column,
                  .text = line >= 1 && line <= tree->n_lines ? tree->lines[line - 1] : NULL };
}

static const SettingsMember *
find (const SettingsNode *map, const char *key, guint n_merges)
{
  const SettingsMember *found = NULL, *merged = NULL;

  if (map == NULL || map->kind != NODE_MAP)
    return NULL;
  for (guint i = 0; i < map->members->len; i++)
    {
      const SettingsMember *member = &g_array_index (map->members, SettingsMember, i);

      if (strcmp (member->key, key) == 0)
        found = member;
      else if (strcmp (member->key, "<<") == 0)
        merged = member;
    }
  if (found == NULL && merged != NULL && n_merges < MOST_MERGES)
    return find (merged->value, key, n_merges + 1);
  return found;
}

const SettingsMember *
settings_find (const SettingsNode *map, const char *key)
{
  return find (map, key, 0);
}

const SettingsNode *
settings_map (const SettingsNode *map, const char *key)
{
  const SettingsMember *member = settings_find (map, key);

  return member != NULL && member->value->kind == NODE_MAP ? member->value : NULL;
}

const SettingsNode *
settings_list (const SettingsNode *map, const char *key)
{
  const SettingsMember *member = settings_find (map, key);

  return member != NULL && member->value->kind == NODE_LIST ? member->value : NULL;
}

const char *
settings_text (const SettingsNode *map, const char *key)
{
  const SettingsMember *member = settings_find (map, key);

  return member != NULL ? member->value->text : NULL;
}

static gboolean
is_one_of (const SettingsNode *node, const char *const *words)
{
  for (; node != NULL && node->text != NULL && *words != NULL; words++)
    if (g_ascii_strcasecmp (node->text, *words) == 0)
      return TRUE;
  return FALSE;
}

gboolean
settings_is_true (const SettingsNode *node)
{
  static const char *const words[] = { "true", "yes", "on", "1", NULL };

  return is_one_of (node, words);
}

gboolean
settings_is_false (const SettingsNode *node)
{
  static const char *const words[] = { "false", "no", "off", "0", NULL };

  return is_one_of (node, words);
}

gboolean
settings_is_count (const SettingsNode *node, gint *number)
{
  guint64 value;

  if (node == NULL || node->text == NULL
      || !g_ascii_string_to_unsigned (node->text, 10, 0, G_MAXINT, &value, NULL))
    return FALSE;
  *number = (gint)value;
  return TRUE;
}

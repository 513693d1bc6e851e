#include <config.h>

#include "interop/settings_tree.h"

#include "interop/json_file.h"

typedef struct
{
  SettingsTree *tree;
  const JsonFile *file;
  Problems *problems;
} Conversion;

static SettingsNode *convert (const Conversion *conversion, JsonNode *node, guint line,
                              guint column);

static void
add_member (JsonObject *object, const char *key, JsonNode *value, const Conversion *conversion,
            SettingsNode *map)
{
  const Place place = json_file_place (conversion->file, object, key);
  const guint line = place.line > 0 ? place.line : map->line;

  settings_node_add (conversion->tree, map, key, line, place.column,
                     convert (conversion, value, line, place.column));
}

static void
add_members (const Conversion *conversion, JsonObject *object, SettingsNode *map)
{
  g_autoptr (GList) keys = json_object_get_members (object);

  for (GList *at = keys;
       at != NULL && !settings_is_too_long (conversion->tree, conversion->problems); at = at->next)
    add_member (object, at->data, json_object_get_member (object, at->data), conversion, map);
}

static SettingsNode *
convert_value (const Conversion *conversion, JsonNode *node, guint line, guint column)
{
  const GType type = json_node_get_value_type (node);
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (type == G_TYPE_STRING)
    return settings_node_new (conversion->tree, NODE_TEXT, json_node_get_string (node), line,
                              column);
  if (type == G_TYPE_BOOLEAN)
    return settings_node_new (conversion->tree, NODE_WORD,
                              json_node_get_boolean (node) ? "true" : "false", line, column);
  if (type == G_TYPE_INT64)
    g_snprintf (number, sizeof number, "%" G_GINT64_FORMAT, json_node_get_int (node));
  else
    g_ascii_dtostr (number, sizeof number, json_node_get_double (node));
  return settings_node_new (conversion->tree, NODE_WORD, number, line, column);
}

/* As deep as json_scan() lets brackets lie in each other. */
static SettingsNode *
convert (const Conversion *conversion, JsonNode *node, guint line, guint column)
{
  SettingsNode *made;

  switch (json_node_get_node_type (node))
    {
    case JSON_NODE_OBJECT:
      made = settings_node_new (conversion->tree, NODE_MAP, NULL, line, column);
      add_members (conversion, json_node_get_object (node), made);
      return made;
    case JSON_NODE_ARRAY:
      made = settings_node_new (conversion->tree, NODE_LIST, NULL, line, column);
      for (guint i = 0; i < json_array_get_length (json_node_get_array (node))
                        && !settings_is_too_long (conversion->tree, conversion->problems);
           i++)
        g_ptr_array_add (made->items,
                         convert (conversion,
                                  json_array_get_element (json_node_get_array (node), i), line,
                                  column));
      return made;
    case JSON_NODE_VALUE:
      return convert_value (conversion, node, line, column);
    case JSON_NODE_NULL:
    default:
      return settings_node_new (conversion->tree, NODE_NULL, NULL, line, column);
    }
}

SettingsTree *
settings_read_json (const char *name, const char *text, gsize length, Problems *problems)
{
  g_autoptr (JsonFile) file = json_file_new (name, text, length, problems);
  g_autoptr (JsonNode) root = NULL;
  g_autoptr (SettingsTree) tree = NULL;
  const guint n_before = problems_count (problems);
  Conversion conversion;

  if (file == NULL)
    return NULL;
  tree = settings_tree_new (name, SETTINGS_JSON, text);
  conversion = (Conversion){ tree, file, problems };
  root = json_node_alloc ();
  json_node_init_object (root, json_file_root (file));
  settings_tree_set_root (tree, convert (&conversion, root, 1, 1));
  return problems_count (problems) == n_before ? g_steal_pointer (&tree) : NULL;
}

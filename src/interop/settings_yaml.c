#include <config.h>

#include "interop/settings_tree.h"

#include <string.h>

#include <yaml.h>

/* ---- libyaml's document as our tree ---- */

static gboolean
is_null (const yaml_node_t *node)
{
  static const char *const words[] = { "", "~", "null", "Null", "NULL", NULL };

  return node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE
         && g_strv_contains (words, (const char *)node->data.scalar.value);
}

static SettingsNode *
convert_node (SettingsTree *tree, const yaml_node_t *node)
{
  const guint line = (guint)node->start_mark.line + 1;
  const guint column = (guint)node->start_mark.column + 1;
  const char *text;

  if (node->type == YAML_MAPPING_NODE)
    return settings_node_new (tree, NODE_MAP, NULL, line, column);
  if (node->type == YAML_SEQUENCE_NODE)
    return settings_node_new (tree, NODE_LIST, NULL, line, column);
  if (is_null (node))
    return settings_node_new (tree, NODE_NULL, NULL, line, column);
  text = (const char *)node->data.scalar.value;
  return settings_node_new (
      tree, node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? NODE_WORD : NODE_TEXT, text, line,
      column);
}

/* Keys that are no scalars are nobody's settings. */
static void
join_members (SettingsTree *tree, yaml_document_t *document, SettingsNode **nodes,
              const yaml_node_t *from, SettingsNode *to)
{
  for (yaml_node_pair_t *pair = from->data.mapping.pairs.start; pair < from->data.mapping.pairs.top;
       pair++)
    {
      const yaml_node_t *key = yaml_document_get_node (document, pair->key);

      if (key->type != YAML_SCALAR_NODE)
        continue;
      if (nodes[pair->value]->members != NULL) /* a map stands where its key does */
        nodes[pair->value]->line = (guint)key->start_mark.line + 1;
      settings_node_add (tree, to, (const char *)key->data.scalar.value,
                         (guint)key->start_mark.line + 1, (guint)key->start_mark.column + 1,
                         nodes[pair->value]);
    }
}

static void
join_items (SettingsNode **nodes, const yaml_node_t *from, SettingsNode *to)
{
  for (yaml_node_item_t *item = from->data.sequence.items.start;
       item < from->data.sequence.items.top; item++)
    g_ptr_array_add (to->items, nodes[*item]);
}

/* Aliases are edges to the node that they name, so that nothing is copied. */
static void
convert (SettingsTree *tree, yaml_document_t *document)
{
  const gsize n = (gsize)(document->nodes.top - document->nodes.start);
  g_autofree SettingsNode **nodes = g_new0 (SettingsNode *, n + 1);

  for (gsize i = 1; i <= n; i++)
    nodes[i] = convert_node (tree, &document->nodes.start[i - 1]);
  for (gsize i = 1; i <= n; i++)
    if (nodes[i]->kind == NODE_MAP)
      join_members (tree, document, nodes, &document->nodes.start[i - 1], nodes[i]);
    else if (nodes[i]->kind == NODE_LIST)
      join_items (nodes, &document->nodes.start[i - 1], nodes[i]);
  if (n > 0)
    settings_tree_set_root (tree, nodes[1]);
}

/* ---- reading ---- */

static void
add_yaml_error (const SettingsTree *tree, const yaml_parser_t *parser, Problems *problems)
{
  const Place place = settings_place (tree, (guint)parser->problem_mark.line + 1,
                                      (guint)parser->problem_mark.column + 1);

  problems_add (problems, &place, NULL, NULL, "no YAML: %s%s%s",
                parser->problem != NULL ? parser->problem : "it cannot be read",
                parser->context != NULL ? ", " : "",
                parser->context != NULL ? parser->context : "");
}

/* The only document of the file, or FALSE. */
static gboolean
load (SettingsTree *tree, yaml_parser_t *parser, Problems *problems)
{
  yaml_document_t document, more;
  gboolean is_one = FALSE;

  if (!yaml_parser_load (parser, &document))
    {
      add_yaml_error (tree, parser, problems);
      return FALSE;
    }
  convert (tree, &document);
  yaml_document_delete (&document);
  if (!yaml_parser_load (parser, &more))
    {
      add_yaml_error (tree, parser, problems);
      return FALSE;
    }
  if (yaml_document_get_root_node (&more) == NULL)
    is_one = TRUE;
  else
    {
      const Place place = settings_place (tree, (guint)more.start_mark.line + 1, 1);

      problems_add (problems, &place, NULL, NULL, "a second document; one is expected");
    }
  yaml_document_delete (&more);
  return is_one;
}

static gboolean
has_map_on_top (const SettingsTree *tree, Problems *problems)
{
  const SettingsNode *root = settings_root (tree);
  const Place place = settings_place (tree, root != NULL ? root->line : 1, 1);

  if (root != NULL && root->kind == NODE_MAP)
    return TRUE;
  problems_add (problems, &place, NULL, NULL, "settings such as 'key: value' are expected");
  return FALSE;
}

SettingsTree *
settings_read_yaml (const char *name, const char *text, gsize length, Problems *problems)
{
  g_autoptr (SettingsTree) tree = NULL;
  yaml_parser_t parser;
  gboolean done;

  if (!settings_is_readable_text (name, text, length, problems))
    return NULL;
  tree = settings_tree_new (name, SETTINGS_YAML, text);
  if (!yaml_parser_initialize (&parser))
    g_error ("libyaml: out of memory");
  yaml_parser_set_input_string (&parser, (const unsigned char *)text, length);
  done = load (tree, &parser, problems) && has_map_on_top (tree, problems);
  yaml_parser_delete (&parser);
  return done ? g_steal_pointer (&tree) : NULL;
}

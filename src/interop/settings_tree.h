/* A settings file of another program as a tree of words, lists and maps, whatever
 * it is written in, that knows where everything stands. */
#pragma once

#include "config/problems.h"

typedef enum
{
  NODE_NULL, /* null, ~ or nothing */
  NODE_WORD, /* without quotes: a number, true, FULL_SHARD */
  NODE_TEXT, /* in quotes, or a string of JSON */
  NODE_LIST,
  NODE_MAP
} NodeKind;

typedef struct _SettingsNode SettingsNode;

typedef struct
{
  const char *key;
  guint line, column;        /* of the key where known, else of the value */
  const SettingsNode *value; /* never NULL */
} SettingsMember;

struct _SettingsNode
{
  NodeKind kind;
  const char *text; /* of a word or a text; else NULL */
  guint line, column;
  GArray *members;  /* SettingsMember, of a map */
  GPtrArray *items; /* const SettingsNode *, of a list */
};

typedef enum
{
  SETTINGS_YAML,
  SETTINGS_JSON,
  SETTINGS_TOML
} SettingsSyntax;

typedef struct _SettingsTree SettingsTree;

/* Each reads @length bytes of @text, which a NUL follows. NULL, and @problems say
 * where and why, where the text is none of the kind or its top is no map. */
SettingsTree *settings_read_yaml (const char *name, const char *text, gsize length,
                                  Problems *problems);
SettingsTree *settings_read_json (const char *name, const char *text, gsize length,
                                  Problems *problems);
/* Tables and scalar or list values; what goes beyond them is refused by its line. */
SettingsTree *settings_read_toml (const char *name, const char *text, gsize length,
                                  Problems *problems);
void settings_tree_free (SettingsTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SettingsTree, settings_tree_free)

const char *settings_name (const SettingsTree *tree);
SettingsSyntax settings_syntax (const SettingsTree *tree);
const SettingsNode *settings_root (const SettingsTree *tree);
Place settings_place (const SettingsTree *tree, guint line, guint column);

/* NULL where @map is NULL, no map, or has no such key. Of a key that is repeated the
 * last one counts; keys of a YAML merge ("<<") count where the map has none. */
const SettingsMember *settings_find (const SettingsNode *map, const char *key);
/* The map or list under a key, or NULL. */
const SettingsNode *settings_map (const SettingsNode *map, const char *key);
const SettingsNode *settings_list (const SettingsNode *map, const char *key);
/* The word or text under a key; NULL where there is none, also for null. */
const char *settings_text (const SettingsNode *map, const char *key);

/* As YAML and Python's str_to_bool read it: true, yes, on, 1 in any case. */
gboolean settings_is_true (const SettingsNode *node);
gboolean settings_is_false (const SettingsNode *node);
/* Whether it is a whole number from 0 to G_MAXINT, which is then in *number. */
gboolean settings_is_count (const SettingsNode *node, gint *number);

/* ---- for the readers ---- */

SettingsTree *settings_tree_new (const char *name, SettingsSyntax syntax, const char *text);
/* Nodes belong to the tree. @text is copied, and may be NULL. */
SettingsNode *settings_node_new (SettingsTree *tree, NodeKind kind, const char *text, guint line,
                                 guint column);
void settings_node_add (SettingsTree *tree, SettingsNode *map, const char *key, guint line,
                        guint column, const SettingsNode *value);
void settings_tree_set_root (SettingsTree *tree, const SettingsNode *root);
/* So many settings are in no settings file: says so in @problems. */
gboolean settings_is_too_long (const SettingsTree *tree, Problems *problems);
/* What the text is not, said as a problem: empty, no UTF-8, a stand-in for a file. */
gboolean settings_is_readable_text (const char *name, const char *text, gsize length,
                                    Problems *problems);

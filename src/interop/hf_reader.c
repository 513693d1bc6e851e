#include <config.h>

#include "interop/hf_reader.h"

#include <string.h>

#include "interop/json_scan.h"

void
hf_note (HfReader *reader, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_ptr_array_add (reader->notes, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

void
hf_refuse (HfReader *reader, const char *key, const char *format, ...)
{
  Place place = json_file_place (reader->file, reader->object, key);
  g_autofree char *message = NULL;
  va_list arguments;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  problems_add (reader->problems, &place, NULL, key, "%s", message);
}

static void G_GNUC_PRINTF (2, 3) take_default (HfReader *reader, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (!g_ptr_array_find_with_equal_func (reader->defaults, text, g_str_equal, NULL))
    g_ptr_array_add (reader->defaults, g_steal_pointer (&text));
}

/* ---- finding a key ---- */

typedef struct
{
  char *key;      /* the name that it is given under, else the first of all */
  JsonNode *node; /* NULL: not given */
} Found;

static void
found_clear (Found *found)
{
  g_free (found->key);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Found, found_clear)

static Found
find (const HfReader *reader, const char *names)
{
  g_auto (GStrv) words = g_strsplit (names, "|", -1);

  for (guint i = 0; words[i] != NULL; i++)
    {
      JsonNode *node = json_object_get_member (reader->object, words[i]);

      if (node != NULL && !JSON_NODE_HOLDS_NULL (node))
        return (Found){ g_strdup (words[i]), node };
    }
  return (Found){ g_strdup (words[0]), NULL };
}

gboolean
hf_has (const HfReader *reader, const char *names)
{
  g_auto (Found) found = find (reader, names);

  return found.node != NULL;
}

/* ---- values ---- */

static const char *
describe (JsonNode *node)
{
  if (JSON_NODE_HOLDS_OBJECT (node))
    return "an object";
  if (JSON_NODE_HOLDS_ARRAY (node))
    return "a list";
  switch (json_node_get_value_type (node))
    {
    case G_TYPE_STRING:
      return json_scan_is_stand_in (json_node_get_string (node)) ? "not a finite number"
                                                                 : "a string";
    case G_TYPE_BOOLEAN:
      return "true or false";
    case G_TYPE_DOUBLE:
      return "a number with a fraction or an exponent";
    default:
      return "a number";
    }
}

static gboolean
refuse_type (HfReader *reader, const Found *found, const char *wanted)
{
  hf_refuse (reader, found->key, "%s; %s is expected", describe (found->node), wanted);
  return FALSE;
}

static gboolean
holds (JsonNode *node, GType type)
{
  return JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == type;
}

static gboolean
read_whole (HfReader *reader, const Found *found, guint least, guint most, guint *value)
{
  gint64 given;

  if (holds (found->node, G_TYPE_DOUBLE) && ABS (json_node_get_double (found->node)) >= 1e15)
    {
      hf_refuse (reader, found->key, "%.4g is out of range; at most %u would do",
                 json_node_get_double (found->node), most);
      return FALSE;
    }
  if (!holds (found->node, G_TYPE_INT64))
    return refuse_type (reader, found, "a whole number without quotes");
  given = json_node_get_int (found->node);
  if (given < least || given > most)
    {
      hf_refuse (reader, found->key, "%" G_GINT64_FORMAT " is out of range; %u to %u would do",
                 given, least, most);
      return FALSE;
    }
  *value = (guint)given;
  return TRUE;
}

static void
refuse_missing (HfReader *reader, const char *names, const Found *found)
{
  g_auto (GStrv) words = g_strsplit (names, "|", -1);
  g_autofree char *others = g_strjoinv (", ", words + 1);
  gboolean is_null = json_object_has_member (reader->object, found->key);

  hf_refuse (reader, found->key, "%s%s%s%s; %s's default would be another model's",
             is_null ? "null, a whole number is expected" : "missing",
             others[0] != '\0' ? " (also known as " : "", others, others[0] != '\0' ? ")" : "",
             reader->class_name);
}

guint
hf_size (HfReader *reader, const char *names, guint most)
{
  g_auto (Found) found = find (reader, names);
  guint value = 1;

  if (found.node != NULL)
    read_whole (reader, &found, 1, most, &value);
  else
    refuse_missing (reader, names, &found);
  return value;
}

guint
hf_size_or (HfReader *reader, const char *names, guint most, guint standard)
{
  g_auto (Found) found = find (reader, names);
  guint value = standard;

  if (found.node != NULL)
    read_whole (reader, &found, 1, most, &value);
  else
    take_default (reader, "%s = %u", found.key, standard);
  return value;
}

guint
hf_count (HfReader *reader, const char *names, guint most, guint standard)
{
  g_auto (Found) found = find (reader, names);
  guint value = standard;

  if (found.node != NULL)
    read_whole (reader, &found, 0, most, &value);
  return value;
}

gboolean
hf_flag (HfReader *reader, const char *names, gboolean standard)
{
  g_auto (Found) found = find (reader, names);

  if (found.node == NULL)
    return standard;
  if (holds (found.node, G_TYPE_BOOLEAN))
    return json_node_get_boolean (found.node);
  refuse_type (reader, &found, "true or false");
  return standard;
}

gboolean
hf_flag_or (HfReader *reader, const char *names, gboolean standard)
{
  g_auto (Found) found = find (reader, names);

  if (found.node == NULL)
    take_default (reader, "%s = %s", found.key, standard ? "true" : "false");
  return hf_flag (reader, names, standard);
}

double
hf_number (HfReader *reader, const char *names, double standard)
{
  g_auto (Found) found = find (reader, names);

  if (found.node == NULL)
    return standard;
  if (holds (found.node, G_TYPE_DOUBLE) || holds (found.node, G_TYPE_INT64))
    return json_node_get_double (found.node);
  refuse_type (reader, &found, "a number");
  return standard;
}

const char *
hf_text (HfReader *reader, const char *names, const char *standard)
{
  g_auto (Found) found = find (reader, names);

  if (found.node == NULL)
    return standard;
  if (holds (found.node, G_TYPE_STRING))
    return json_node_get_string (found.node);
  refuse_type (reader, &found, "a string");
  return standard;
}

/* ---- lists and objects ---- */

JsonArray *
hf_list (HfReader *reader, const char *names)
{
  g_auto (Found) found = find (reader, names);

  if (found.node == NULL)
    return NULL;
  if (JSON_NODE_HOLDS_ARRAY (found.node))
    return json_node_get_array (found.node);
  refuse_type (reader, &found, "a list");
  return NULL;
}

JsonObject *
hf_object (HfReader *reader, const char *names)
{
  g_auto (Found) found = find (reader, names);

  if (found.node == NULL)
    return NULL;
  if (JSON_NODE_HOLDS_OBJECT (found.node))
    return json_node_get_object (found.node);
  refuse_type (reader, &found, "an object");
  return NULL;
}

gboolean
hf_is_list (const HfReader *reader, const char *names)
{
  g_auto (Found) found = find (reader, names);

  return found.node != NULL && JSON_NODE_HOLDS_ARRAY (found.node);
}

gboolean
hf_list_fits (HfReader *reader, const char *names, guint layers)
{
  g_auto (Found) found = find (reader, names);
  JsonArray *list = hf_list (reader, names);

  if (list == NULL)
    return FALSE;
  if (json_array_get_length (list) == layers)
    return TRUE;
  hf_refuse (reader, found.key, "a list of %u; one for each of the %u layers is expected",
             json_array_get_length (list), layers);
  return FALSE;
}

gboolean
hf_list_word_is (HfReader *reader, const char *names, guint layer, const char *word)
{
  JsonArray *list = hf_list (reader, names);
  JsonNode *node = json_array_get_element (list, layer);

  return holds (node, G_TYPE_STRING) && strcmp (json_node_get_string (node), word) == 0;
}

guint
hf_list_count (HfReader *reader, const char *names, guint layer)
{
  JsonArray *list = hf_list (reader, names);
  g_auto (Found) found = find (reader, names);
  Found element = { found.key, json_array_get_element (list, layer) };
  guint value = 0;

  read_whole (reader, &element, 0, MOST_INNER, &value);
  return value;
}

gboolean
hf_list_has (HfReader *reader, const char *names, guint layer)
{
  JsonArray *list = hf_list (reader, names);

  for (guint i = 0; list != NULL && i < json_array_get_length (list); i++)
    {
      JsonNode *node = json_array_get_element (list, i);

      if (holds (node, G_TYPE_INT64) && json_node_get_int (node) == layer)
        return TRUE;
    }
  return FALSE;
}

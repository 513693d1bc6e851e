#include <config.h>

#include "interop/json_file.h"

#include <string.h>

#include "interop/json_scan.h"

struct _JsonFile
{
  char *name;
  char *text;
  JsonParser *parser;
  GHashTable *ends; /* "object key" to End: where its value ends */
  GPtrArray *texts; /* of lines that places point to */
  GPtrArray *notes;
};

typedef struct
{
  guint line;
  guint column; /* just behind the value and what follows it */
} End;

static char *
identity_of (const JsonObject *object, const char *key)
{
  return g_strdup_printf ("%p %s", (const void *)object, key);
}

/* ---- places ---- */

static gsize
line_start (const char *text, guint line)
{
  const char *at = text;

  while (--line > 0)
    {
      const char *end = strchr (at, '\n');

      if (end == NULL)
        break;
      at = end + 1;
    }
  return (gsize)(at - text);
}

/* The value behind the last "key": that begins before @end, mostly after @start, where the line
 * of the end does; @start where there is none. */
static gsize
value_offset (const char *text, gsize start, gsize end, const char *key)
{
  g_autofree char *quoted = g_strdup_printf ("\"%s\"", key);
  gsize length = strlen (quoted);
  gsize found = start;
  const char *before = g_strrstr_len (text, (gssize)end, quoted);

  if (before != NULL && before < text + start) /* a value of several lines */
    start = (gsize)(before - text);

  for (const char *at = strstr (text + start, quoted); at != NULL && at < text + end;
       at = strstr (at + 1, quoted))
    {
      const char *colon = at + length + strspn (at + length, " \t");

      if (*colon == ':')
        found = (gsize)(colon + 1 + strspn (colon + 1, " \t") - text);
    }
  return found;
}

Place
json_file_place (const JsonFile *file, JsonObject *object, const char *key)
{
  g_autofree char *identity = identity_of (object, key);
  const End *value_end = g_hash_table_lookup (file->ends, identity);
  Place place = { .file = file->name };
  gsize start, end;
  char *text;

  if (value_end == NULL)
    return place;
  start = line_start (file->text, value_end->line);
  end = start + MIN (strcspn (file->text + start, "\n"), value_end->column);
  place
      = json_scan_place (file->text, value_offset (file->text, start, end, key), file->name, &text);
  g_ptr_array_add (file->texts, text);
  return place;
}

/* ---- reading ---- */

static void
on_member (JsonParser *parser, JsonObject *object, const char *key, gpointer data)
{
  JsonFile *file = data;
  End *end = g_new (End, 1);

  end->line = json_parser_get_current_line (parser);
  end->column = json_parser_get_current_pos (parser);
  if (!g_hash_table_replace (file->ends, identity_of (object, key), end))
    g_ptr_array_add (file->notes, g_strdup_printf ("%u: %s is given twice; the last one counts",
                                                   end->line, key));
}

/* json-glib's "<data>:12:3: Parse error: …" */
static void
add_parse_error (const JsonFile *file, const GError *error, Problems *problems)
{
  g_auto (GStrv) parts = g_strsplit (error->message, ":", 4);
  Place place = { .file = file->name };
  g_autofree char *line = NULL;
  guint64 row;

  if (g_strv_length (parts) < 4
      || !g_ascii_string_to_unsigned (parts[1], 10, 1, G_MAXUINT, &row, NULL))
    {
      problems_add (problems, &place, NULL, NULL, "%s", error->message);
      return;
    }
  place = json_scan_place (file->text, line_start (file->text, (guint)row), file->name, &line);
  problems_add (problems, &place, NULL, NULL, "%s", g_strstrip (parts[3]));
}

static void
add_scan_notes (JsonFile *file, const GArray *notes)
{
  for (guint i = 0; i < notes->len; i++)
    {
      const JsonNote *note = &g_array_index (notes, JsonNote, i);
      g_autofree char *line = NULL;
      Place place = json_scan_place (file->text, note->offset, file->name, &line);

      g_ptr_array_add (file->notes,
                       g_strdup_printf ("%u:%u: %s", place.line, place.column, note->message));
    }
}

/* The first config of an array of them is a likely mistake. */
static void
add_no_object (const JsonFile *file, Problems *problems)
{
  JsonNode *root = json_parser_get_root (file->parser);
  gboolean is_array = root != NULL && JSON_NODE_HOLDS_ARRAY (root);
  gsize offset = strspn (file->text, " \t\r\n");
  g_autofree char *line = NULL;
  Place place = json_scan_place (file->text, offset, file->name, &line);

  if (is_array)
    problems_add (problems, &place, NULL, NULL,
                  "an array; one object is expected: its first element alone might do");
  else
    problems_add (problems, &place, NULL, NULL, "an object, '{', is expected");
}

static void
note_clear (gpointer data)
{
  g_free (((JsonNote *)data)->message);
}

static gboolean
read_text (JsonFile *file, gsize length, Problems *problems)
{
  g_autoptr (GArray) notes = g_array_new (FALSE, FALSE, sizeof (JsonNote));
  g_autoptr (GError) error = NULL;
  JsonNode *root;

  g_array_set_clear_func (notes, note_clear);
  if (!json_scan (file->text, length, file->name, notes, problems))
    return FALSE;
  add_scan_notes (file, notes);
  g_signal_connect (file->parser, "object-member", G_CALLBACK (on_member), file);
  if (!json_parser_load_from_data (file->parser, file->text, (gssize)length, &error))
    {
      add_parse_error (file, error, problems);
      return FALSE;
    }
  root = json_parser_get_root (file->parser);
  if (root != NULL && JSON_NODE_HOLDS_OBJECT (root))
    return TRUE;
  add_no_object (file, problems);
  return FALSE;
}

JsonFile *
json_file_new (const char *name, const char *text, gsize length, Problems *problems)
{
  g_autoptr (JsonFile) file = g_new0 (JsonFile, 1);

  file->name = g_strdup (name);
  file->text = g_malloc (length + 1);
  memcpy (file->text, text, length);
  file->text[length] = '\0';
  file->parser = json_parser_new ();
  file->ends = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  file->texts = g_ptr_array_new_with_free_func (g_free);
  file->notes = g_ptr_array_new_with_free_func (g_free);
  return read_text (file, length, problems) ? g_steal_pointer (&file) : NULL;
}

void
json_file_free (JsonFile *file)
{
  if (file == NULL)
    return;
  g_object_unref (file->parser);
  g_hash_table_unref (file->ends);
  g_ptr_array_unref (file->texts);
  g_ptr_array_unref (file->notes);
  g_free (file->name);
  g_free (file->text);
  g_free (file);
}

JsonObject *
json_file_root (const JsonFile *file)
{
  return json_node_get_object (json_parser_get_root (file->parser));
}

const char *
json_file_name (const JsonFile *file)
{
  return file->name;
}

const GPtrArray *
json_file_notes (const JsonFile *file)
{
  return file->notes;
}

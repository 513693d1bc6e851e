#include <config.h>

#include "interop/json_file.h"

#include <string.h>

#include "interop/json_scan.h"

struct _JsonFile
{
  char *name;
  char *text;
  JsonParser *parser;
  GHashTable *offsets; /* "object key" to where its value starts, plus 1 */
  GArray *lines;       /* gsize: where each starts */
  GPtrArray *texts;    /* of the lines; NULL until one is asked for */
  GArray *values;      /* gsize: of the members in the order of the parser; n_taken are used */
  guint n_taken;
  GPtrArray *notes;
};

static char *
identity_of (const JsonObject *object, const char *key)
{
  return g_strdup_printf ("%p %s", (const void *)object, key);
}

/* ---- places ---- */

static void
find_lines (JsonFile *file)
{
  gsize start = 0;
  const char *end;

  g_array_append_val (file->lines, start);
  while ((end = strchr (file->text + start, '\n')) != NULL)
    {
      start = (gsize)(end - file->text) + 1;
      g_array_append_val (file->lines, start);
    }
  g_ptr_array_set_size (file->texts, (gint)file->lines->len);
}

static guint
line_of (const JsonFile *file, gsize offset)
{
  guint low = 0, high = file->lines->len;

  while (high - low > 1)
    {
      const guint middle = low + (high - low) / 2;

      if (g_array_index (file->lines, gsize, middle) <= offset)
        low = middle;
      else
        high = middle;
    }
  return low;
}

static Place
place_of (const JsonFile *file, gsize offset)
{
  const guint line = line_of (file, offset);
  const gsize start = g_array_index (file->lines, gsize, line);
  gpointer *text = &g_ptr_array_index (file->texts, line);

  if (*text == NULL)
    *text = g_strndup (file->text + start, strcspn (file->text + start, "\r\n"));
  return (Place){
    .file = file->name, .line = line + 1, .column = (guint)(offset - start) + 1, .text = *text
  };
}

Place
json_file_place (const JsonFile *file, JsonObject *object, const char *key)
{
  g_autofree char *identity = identity_of (object, key);
  const gsize offset = GPOINTER_TO_SIZE (g_hash_table_lookup (file->offsets, identity));

  return offset > 0 ? place_of (file, offset - 1) : (Place){ .file = file->name };
}

/* ---- reading ---- */

static void
on_member (JsonParser *parser G_GNUC_UNUSED, JsonObject *object, const char *key, gpointer data)
{
  JsonFile *file = data;
  gsize offset;

  if (file->n_taken >= file->values->len)
    return;
  offset = g_array_index (file->values, gsize, file->n_taken++);
  if (!g_hash_table_replace (file->offsets, identity_of (object, key),
                             GSIZE_TO_POINTER (offset + 1)))
    g_ptr_array_add (file->notes, g_strdup_printf ("%u: %s is given twice; the last one counts",
                                                   line_of (file, offset) + 1, key));
}

/* json-glib's "<data>:12:3: Parse error: …" */
static void
add_parse_error (const JsonFile *file, const GError *error, Problems *problems)
{
  g_auto (GStrv) parts = g_strsplit (error->message, ":", 4);
  Place place = { .file = file->name };
  guint64 row;

  if (g_strv_length (parts) < 4
      || !g_ascii_string_to_unsigned (parts[1], 10, 1, file->lines->len, &row, NULL))
    {
      problems_add (problems, &place, NULL, NULL, "%s", error->message);
      return;
    }
  place = place_of (file, g_array_index (file->lines, gsize, row - 1));
  problems_add (problems, &place, NULL, NULL, "%s", g_strstrip (parts[3]));
}

static void
add_scan_notes (JsonFile *file, const GArray *notes)
{
  for (guint i = 0; i < notes->len; i++)
    {
      const JsonNote *note = &g_array_index (notes, JsonNote, i);
      const Place place = place_of (file, note->offset);

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
  const Place place = place_of (file, offset);

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
  if (!json_scan (file->text, length, file->name, notes, file->values, problems))
    return FALSE;
  find_lines (file);
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
  file->offsets = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  file->lines = g_array_new (FALSE, FALSE, sizeof (gsize));
  file->values = g_array_new (FALSE, FALSE, sizeof (gsize));
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
  g_hash_table_unref (file->offsets);
  g_array_unref (file->lines);
  g_array_unref (file->values);
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

#include <config.h>

#include "config/document.h"
#include "config/keys_unknown.h"
#include "config/value_list.h"

#include <string.h>

#define MOST_VARIANTS        1000
#define LONGEST_VARIANT_NAME 64

struct _Document
{
  char *name;
  IniFile *ini;
  GStringChunk *strings; /* of the options */
  GHashTable *sections;  /* name, "variant NAME" included, to IniSection */
  Layer *file;
  Layer *options;
  GArray *variants;        /* DocumentVariant */
  const IniSection *sweep; /* or NULL */
};

/* ---- [variant NAME] ---- */

/* The name behind "variant ", or NULL where the section is another. */
static const char *
variant_name (const char *section)
{
  const char *name;

  if (!g_str_has_prefix (section, "variant"))
    return NULL;
  name = section + strlen ("variant");
  if (*name != '\0' && *name != ' ' && *name != '\t')
    return NULL;
  return name + strspn (name, " \t");
}

/* Names become parts of file names and cells of tables. */
static const char *
variant_name_fault (const char *name)
{
  if (name[0] == '\0')
    return "a variant needs a name: [variant NAME]";
  if (g_utf8_strlen (name, -1) > LONGEST_VARIANT_NAME)
    return "a variant's name has at most 64 characters";
  if (name[0] == '.' || name[0] == '-')
    return "a variant's name begins with neither '.' nor '-'";
  for (const char *at = name; *at != '\0'; at = g_utf8_next_char (at))
    if (!g_unichar_isprint (g_utf8_get_char (at)) || strchr ("/\\[", *at) != NULL)
      return "a variant's name has no '/', '\\', '[' or control characters";
  return NULL;
}

static void
read_variant (Document *document, const IniSection *section, const char *name, Problems *problems)
{
  const char *fault = variant_name_fault (name);
  DocumentVariant variant = { .name = name, .place = section->place };

  if (fault == NULL && document->variants->len >= MOST_VARIANTS)
    fault = "more than 1000 variants";
  if (fault != NULL)
    {
      problems_add (problems, &section->place, section->name, NULL, "%s", fault);
      return;
    }
  variant.layer = g_new0 (Layer, 1);
  layer_add_dotted (variant.layer, ORIGIN_VARIANT, document->ini, section, problems);
  g_array_append_val (document->variants, variant);
}

/* ---- [sweep] ---- */

static void
check_sweep_values (const KeyInfo *key, const IniEntry *entry, Problems *problems)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (g_free);

  value_list_read (key, entry->value, &entry->value_place, values, problems);
}

static void
read_sweep (Document *document, const IniSection *section, Problems *problems)
{
  Layer *seen = g_new0 (Layer, 1);

  document->sweep = section;
  for (guint i = 0; i < section->n_entries && !problems_are_enough (problems); i++)
    {
      const IniEntry *entry = ini_entry (document->ini, section->first + i);
      const KeyInfo *key = keys_find_dotted (entry->key);
      g_autofree char *message = NULL;

      if (key == NULL)
        {
          message = unknown_dotted_message (entry->key);
          problems_add (problems, &entry->key_place, "sweep", entry->key, "%s", message);
          continue;
        }
      if (seen->settings[keys_id (key)].key != NULL)
        problems_add (problems, &entry->key_place, "sweep", entry->key,
                      "given twice, first in line %u", seen->settings[keys_id (key)].place.line);
      seen->settings[keys_id (key)] = (Setting){ .key = key, .place = entry->key_place };
      check_sweep_values (key, entry, problems);
    }
  g_free (seen);
}

/* ---- the file ---- */

static gboolean
is_section_of_keys (const char *name)
{
  return g_strv_contains (keys_sections (), name);
}

/* "variant   x" and "variant x" are the same section. */
static char *
section_identity (const IniSection *section)
{
  const char *variant = variant_name (section->name);

  return variant != NULL ? g_strconcat ("variant ", variant, NULL) : g_strdup (section->name);
}

/* Its keys are as unknown, but some of them ask for what is not simulated. */
static void
refuse_section (const Document *document, const IniSection *section, Problems *problems)
{
  g_autofree char *message = unknown_section_message (section->name);

  problems_add (problems, &section->place, section->name, NULL, "%s", message);
  for (guint i = 0; i < section->n_entries; i++)
    {
      const IniEntry *entry = ini_entry (document->ini, section->first + i);
      g_autofree char *unmodelled = unmodelled_key_message (entry->key);

      if (unmodelled != NULL)
        problems_add (problems, &entry->key_place, section->name, entry->key, "%s", unmodelled);
    }
}

static void
read_section (Document *document, const IniSection *section, Problems *problems)
{
  const char *variant = variant_name (section->name);

  if (variant != NULL)
    read_variant (document, section, variant, problems);
  else if (strcmp (section->name, "sweep") == 0)
    read_sweep (document, section, problems);
  else if (is_section_of_keys (section->name))
    layer_add_section (document->file, ORIGIN_FILE, document->ini, section, problems);
  else
    refuse_section (document, section, problems);
}

static void
read_sections (Document *document, Problems *problems)
{
  guint n_sections;
  const IniSection *sections = ini_sections (document->ini, &n_sections);

  for (guint i = 0; i < n_sections && !problems_are_enough (problems); i++)
    {
      char *identity = section_identity (&sections[i]);
      const IniSection *first = g_hash_table_lookup (document->sections, identity);

      if (first != NULL)
        {
          problems_add (problems, &sections[i].place, sections[i].name, NULL,
                        "given twice, first in line %u", first->place.line);
          g_free (identity);
          continue;
        }
      g_hash_table_insert (document->sections, identity, (gpointer)&sections[i]);
      read_section (document, &sections[i], problems);
    }
}

/* ---- -s ---- */

/* Splits "section.key = value"; FALSE with a message where it is none. */
static gboolean
split_option (Document *document, const char *text, IniEntry *entry, Problems *problems)
{
  Place place = { .file = "-s", .column = 1, .text = text };
  const char *equals = strchr (text, '=');
  const char *value;
  g_autofree char *key = NULL;

  if (equals == NULL)
    {
      problems_add (problems, &place, NULL, NULL, "expected section.key=value");
      return FALSE;
    }
  value = equals + 1 + strspn (equals + 1, " ");
  key = g_strstrip (g_strndup (text, (gsize)(equals - text)));
  entry->key = g_string_chunk_insert (document->strings, key);
  entry->value = g_strchomp (g_string_chunk_insert (document->strings, value));
  entry->key_place = place;
  place.column = (guint)(value - text) + 1;
  entry->value_place = place;
  return TRUE;
}

/* What a line of a file could not hold. */
static gboolean
is_one_line (const char *text, Problems *problems)
{
  Place place = { .file = "-s", .column = 1, .text = text };
  const char *invalid;

  if (!g_utf8_validate (text, -1, &invalid))
    {
      place.column = (guint)(invalid - text) + 1;
      problems_add (problems, &place, NULL, NULL, "not UTF-8 text");
      return FALSE;
    }
  for (const char *at = text; *at != '\0'; at = g_utf8_next_char (at))
    if (g_unichar_iscntrl (g_utf8_get_char (at)) || (*at == '#' && (at == text || at[-1] == ' ')))
      {
        place.column = (guint)(at - text) + 1;
        problems_add (problems, &place, NULL, NULL,
                      *at == '#' ? "a comment in an option" : "a control character");
        return FALSE;
      }
  return TRUE;
}

static void
read_option (Document *document, const char *option, Problems *problems)
{
  const char *text = g_string_chunk_insert (document->strings, option);
  const KeyInfo *key;
  IniEntry entry;
  g_autofree char *message = NULL;

  if (!is_one_line (text, problems) || !split_option (document, text, &entry, problems))
    return;
  key = keys_find_dotted (entry.key);
  if (key != NULL)
    {
      layer_add (document->options, key, ORIGIN_OPTION, &entry, problems);
      return;
    }
  message = unknown_dotted_message (entry.key);
  problems_add (problems, &entry.key_place, NULL, entry.key, "%s", message);
}

/* ---- the whole ---- */

static void
variant_clear (gpointer data)
{
  DocumentVariant *variant = data;

  g_free (variant->layer);
}

Document *
document_new (const char *name, const char *text, gsize length, const char *const *overrides,
              Problems *problems)
{
  Document *document = g_new0 (Document, 1);

  document->name = g_strdup (name);
  document->strings = g_string_chunk_new (256);
  document->sections = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  document->file = g_new0 (Layer, 1);
  document->options = g_new0 (Layer, 1);
  document->variants = g_array_new (FALSE, FALSE, sizeof (DocumentVariant));
  g_array_set_clear_func (document->variants, variant_clear);
  problems_meet_file (problems, name);
  document->ini = ini_parse (name, text, length, problems);
  read_sections (document, problems);
  for (; overrides != NULL && *overrides != NULL; overrides++)
    read_option (document, *overrides, problems);
  return document;
}

void
document_free (Document *document)
{
  if (document == NULL)
    return;
  g_array_unref (document->variants);
  g_hash_table_unref (document->sections);
  g_free (document->file);
  g_free (document->options);
  ini_free (document->ini);
  g_string_chunk_free (document->strings);
  g_free (document->name);
  g_free (document);
}

const char *
document_name (const Document *document)
{
  return document->name;
}

const Layer *
document_file_layer (const Document *document)
{
  return document->file;
}

const Layer *
document_option_layer (const Document *document)
{
  return document->options;
}

guint
document_n_variants (const Document *document)
{
  return document->variants->len;
}

const DocumentVariant *
document_variant (const Document *document, guint index)
{
  g_assert (index < document->variants->len);
  return &g_array_index (document->variants, DocumentVariant, index);
}

const IniEntry *
document_sweep (const Document *document, guint *n)
{
  *n = document->sweep != NULL ? document->sweep->n_entries : 0;
  return *n > 0 ? ini_entry (document->ini, document->sweep->first) : NULL;
}

Place
document_section_place (const Document *document, const char *section)
{
  const IniSection *found = g_hash_table_lookup (document->sections, section);

  return found != NULL ? found->place : (Place){ .file = document->name };
}

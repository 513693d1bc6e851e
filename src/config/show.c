#include <config.h>

#include "config/show.h"
#include "config/effects.h"
#include "config/value.h"

#include <string.h>

/* Where the comments stand. */
#define COMMENT_COLUMN 44

/* ---- what a key's line says ---- */

/* Keys that name other files. Their figures stand in the output, so that it does
 * not depend on the files; the names are comments. */
static gboolean
names_a_file (KeyId id)
{
  return id == ID_model_source || id == ID_gpu_source || id == ID_cluster_source
         || id == ID_cluster_gpu || id == ID_software_source;
}

/* The value as it loads to the same; NULL where none is known. What a source
 * calls itself is filled in, since the source will not be there. */
static const char *
shown_value (const ScenarioVariant *variant, KeyId id)
{
  const Setting *setting = variant->resolved.settings[id];

  switch (id)
    {
    case ID_model_name:
      return variant->scenario.model.name;
    case ID_gpu_name:
      return variant->scenario.gpu.name;
    case ID_cluster_name:
      return variant->scenario.cluster.name;
    case ID_software_name:
      return variant->scenario.software.name;
    default:
      return setting != NULL ? setting->text : NULL;
    }
}

/* "default", "-s", "llama2-7b.ini:4", and for a variant's own "here". */
static char *
origin_text (const Setting *setting)
{
  g_autofree char *file = NULL;

  switch (setting->origin)
    {
    case ORIGIN_DEFAULT:
      return g_strdup ("default");
    case ORIGIN_OPTION:
      return g_strdup ("-s");
    case ORIGIN_VARIANT:
      return g_strdup ("variant");
    case ORIGIN_CELL:
      return g_strdup ("chosen");
    case ORIGIN_SOURCE:
    case ORIGIN_FILE:
      file = g_path_get_basename (setting->place.file);
      return g_strdup_printf ("%s:%u", file, setting->place.line);
    }
  g_assert_not_reached ();
}

/* What an auto stands for; "" where the value says it itself. */
static char *
meaning_of_auto (const KeyInfo *key, const ScenarioVariant *variant)
{
  const Setting *setting = variant->resolved.settings[keys_id (key)];
  g_autofree char *value = NULL;

  if (key->type == KEY_TEXT || strcmp (setting->text, "auto") != 0)
    return g_strdup ("");
  if (key->type == KEY_COUNT)
    {
      value = value_canonical (key, &variant->scenario);
      return g_strdup_printf (": %s", value);
    }
  if (key->type == KEY_REAL)
    {
      const double real = G_STRUCT_MEMBER (double, &variant->scenario, key->offset);

      value = real == AUTO_REAL ? g_strdup ("the best") : units_format (key->unit, real);
      return g_strdup_printf (": %s", value);
    }
  return g_strdup (strcmp (key->section, "timing") == 0 || strcmp (key->section, "reliability") == 0
                       ? ": not given"
                       : "");
}

/* "key = value      # comment", each part of which may be empty. A value that
 * begins with '#' would be a comment behind a blank. */
static void
append_line (GString *out, const char *key, const char *value, const char *comment)
{
  g_autofree char *line
      = g_strdup_printf ("%s =%s%s", key, value[0] == '\0' || value[0] == '#' ? "" : " ", value);
  int padding = COMMENT_COLUMN - (int)g_utf8_strlen (line, -1);

  g_string_append_printf (out, "%s%*s# %s\n", line, MAX (padding, 1), "", comment);
}

static void
append_key (GString *out, const KeyInfo *key, const char *name, const ScenarioVariant *variant,
            const char *no_effect)
{
  const Setting *setting = variant->resolved.settings[keys_id (key)];
  g_autofree char *origin = origin_text (setting);
  g_autofree char *meaning = meaning_of_auto (key, variant);
  g_autofree char *comment
      = g_strconcat (origin, meaning, no_effect != NULL ? "; " : NULL, no_effect, NULL);

  append_line (out, name, shown_value (variant, keys_id (key)), comment);
}

/* ---- the scenario without its variants ---- */

/* Why a key does nothing in any variant; NULL where it may in one. */
static const char *
absent_everywhere (KeyId id, const ScenarioFile *file)
{
  for (guint i = 0; i < file->variants->len; i++)
    if (effect_absent (id, scenario_file_variant (file, i)) == NULL)
      return NULL;
  return effect_absent (id, scenario_file_variant (file, 0));
}

/* "# source = llama2-7b (scenario.ini:4)", where a file is named. */
static void
append_named_file (GString *out, const char *name, const Setting *setting)
{
  g_autofree char *origin = NULL;

  if (setting == NULL || setting->text[0] == '\0' || strcmp (setting->text, "auto") == 0)
    return;
  origin = origin_text (setting);
  g_string_append_printf (out, "# %s = %s (%s); its figures stand here\n", name, setting->text,
                          origin);
}

static void
append_base_key (GString *out, const KeyInfo *key, const ScenarioFile *file)
{
  KeyId id = keys_id (key);

  if (names_a_file (id))
    append_named_file (out, key->key, file->base.resolved.settings[id]);
  else if (shown_value (&file->base, id) == NULL)
    g_string_append_printf (out, "# %s: each variant gives its own\n", key->key);
  else
    append_key (out, key, key->key, &file->base, absent_everywhere (id, file));
}

static void
append_sections (GString *out, const ScenarioFile *file)
{
  const char *section = "";
  guint n;
  const KeyInfo *keys = keys_list (&n);

  for (guint i = 0; i < n; i++)
    {
      if (strcmp (section, keys[i].section) != 0)
        {
          section = keys[i].section;
          g_string_append_printf (out, "\n[%s]\n", section);
        }
      append_base_key (out, &keys[i], file);
    }
}

/* ---- variants and sweep ---- */

/* What a variant sets itself, and what another file that it names brings along. */
static gboolean
stands_in_variant (const ScenarioFile *file, const ScenarioVariant *variant, KeyId id)
{
  const Setting *setting = variant->resolved.settings[id];
  const char *base = shown_value (&file->base, id);

  return setting->origin == ORIGIN_VARIANT || base == NULL
         || strcmp (base, shown_value (variant, id)) != 0;
}

static void
append_variant (GString *out, const ScenarioFile *file, const ScenarioVariant *variant)
{
  guint n;
  const KeyInfo *keys = keys_list (&n);

  g_string_append_printf (out, "\n[variant %s]\n", variant->scenario.variant);
  for (guint i = 0; i < n; i++)
    {
      KeyId id = keys_id (&keys[i]);
      const Setting *setting = variant->resolved.settings[id];
      g_autofree char *name = g_strdup_printf ("%s.%s", keys[i].section, keys[i].key);

      if (names_a_file (id))
        {
          if (setting->origin == ORIGIN_VARIANT)
            append_named_file (out, name, setting);
        }
      else if (stands_in_variant (file, variant, id))
        append_key (out, &keys[i], name, variant, effect_absent (id, &variant->scenario));
    }
}

static void
append_sweep (GString *out, const ScenarioFile *file)
{
  guint n;
  const IniEntry *entries = document_sweep (file->document, &n);

  if (n > 0)
    g_string_append (out, "\n[sweep]\n");
  for (guint i = 0; i < n; i++)
    g_string_append_printf (out, "%s = %s\n", entries[i].key, entries[i].value);
}

char *
show_variant (const ScenarioVariant *variant)
{
  GString *out = g_string_new ("# The effective scenario; behind each value is where it came "
                               "from.\n# " PACKAGE_STRING "\n");
  g_autoptr (GArray) variants = g_array_new (FALSE, FALSE, sizeof (ScenarioVariant));
  const ScenarioFile file = { .base = *variant, .variants = variants };

  g_array_append_val (variants, *variant);
  append_sections (out, &file);
  return g_string_free (out, FALSE);
}

char *
show_scenario (const ScenarioFile *file)
{
  GString *out = g_string_new (NULL);

  g_string_append_printf (out,
                          "# The effective scenario; behind each value is where it came from.\n"
                          "# " PACKAGE_STRING ", sha256 %s\n",
                          file->sha256);
  append_sections (out, file);
  if (document_n_variants (file->document) > 0)
    for (guint i = 0; i < file->variants->len; i++)
      append_variant (out, file, &g_array_index (file->variants, ScenarioVariant, i));
  append_sweep (out, file);
  return g_string_free (out, FALSE);
}

#include <config.h>

#include "config/scenario_file.h"
#include "config/checks.h"
#include "config/data.h"
#include "config/derive.h"
#include "config/effects.h"
#include "config/show.h"
#include "config/suggest.h"
#include "config/text_file.h"
#include "config/value.h"

#include <string.h>

#define MOST_OVERRIDES_TOLD 3

static void
variant_clear (gpointer data)
{
  ScenarioVariant *variant = data;

  value_clear_scenario (&variant->scenario);
}

/* ", with cluster.nodes=2, training.seq_len=4096": who reads a title should not take overridden
 * settings for the file's. The first few are named. */
static char *
title_with_overrides (const char *title, const char *const *overrides)
{
  GString *text = g_string_new (title);
  guint n = 0;

  for (guint i = 0; *title != '\0' && overrides != NULL && overrides[i] != NULL; i++)
    {
      if (g_str_has_prefix (overrides[i], "scenario."))
        continue;
      if (n < MOST_OVERRIDES_TOLD)
        g_string_append_printf (text, "%s%s", n == 0 ? ", with " : ", ", overrides[i]);
      n++;
    }
  if (n > MOST_OVERRIDES_TOLD)
    g_string_append_printf (text, " and %u more", n - MOST_OVERRIDES_TOLD);
  return g_string_free (text, FALSE);
}

static ScenarioFile *
scenario_file_new (const char *name, const char *path, const char *text, gsize length,
                   const ScenarioOptions *options, Problems *problems)
{
  ScenarioFile *file = g_new0 (ScenarioFile, 1);

  file->name = g_strdup (name);
  file->path = g_strdup (path);
  file->document
      = document_new (path, text, length, options != NULL ? options->overrides : NULL, problems);
  file->defaults = layer_new_defaults (document_name (file->document));
  file->sources = sources_new (file->path, options);
  file->variants = g_array_new (FALSE, TRUE, sizeof (ScenarioVariant));
  g_array_set_clear_func (file->variants, variant_clear);
  return file;
}

void
scenario_file_free (ScenarioFile *file)
{
  if (file == NULL)
    return;
  g_array_unref (file->variants);
  value_clear_scenario (&file->base.scenario);
  sources_free (file->sources);
  document_free (file->document);
  g_free (file->defaults);
  g_free (file->sha256);
  g_free (file->title);
  g_free (file->path);
  g_free (file->name);
  g_free (file);
}

/* Lays the layers over each other and fills in the scenario. */
static void
fill (ScenarioFile *file, const Layer *layer, const char *name, ScenarioVariant *variant,
      Problems *problems)
{
  resolve (file->document, layer, file->defaults, file->sources, &variant->resolved, problems);
  resolve_bind (&variant->resolved, &variant->scenario);
  derive (&variant->resolved, &variant->scenario);
  variant->scenario.variant = g_strdup (name);
}

static void
add_variant (ScenarioFile *file, const Layer *layer, const char *name, Problems *problems)
{
  ScenarioVariant *variant;

  g_array_set_size (file->variants, file->variants->len + 1);
  variant = &g_array_index (file->variants, ScenarioVariant, file->variants->len - 1);
  fill (file, layer, name, variant, problems);
  resolve_note_missing (&variant->resolved, file->document, problems);
  check_scenario (&variant->resolved, &variant->scenario, problems);
}

/* Files that only a sweep names must be there as well. */
static void
check_swept_sources (ScenarioFile *file, Problems *problems)
{
  guint n_entries;
  const IniEntry *entries = document_sweep (file->document, &n_entries);

  for (guint i = 0; i < n_entries; i++)
    {
      const KeyInfo *key = keys_find_dotted (entries[i].key);
      g_auto (GStrv) values = NULL;

      if (key == NULL || strcmp (key->key, "source") != 0)
        continue;
      values = g_strsplit (entries[i].value, ",", -1);
      for (guint j = 0; values[j] != NULL && !problems_are_enough (problems); j++)
        {
          Setting setting
              = { key, g_strstrip (values[j]), entries[i].value_place, ORIGIN_FILE, TRUE };

          if (setting.text[0] != '\0' && strcmp (setting.text, "auto") != 0)
            sources_load (file->sources, key->section, &setting, problems);
        }
    }
}

/* The scenario without variants is resolved even where it has some: files that
 * it names must be there, and it is what `show` begins with. */
static void
read_variants (ScenarioFile *file, Problems *problems)
{
  guint n = document_n_variants (file->document);

  fill (file, NULL, "base", &file->base, problems);
  if (n == 0)
    add_variant (file, NULL, "base", problems);
  for (guint i = 0; i < n && !problems_are_enough (problems); i++)
    {
      const DocumentVariant *variant = document_variant (file->document, i);

      add_variant (file, variant->layer, variant->name, problems);
    }
  check_swept_sources (file, problems);
}

/* What only says what something is called does not count. Keys of adapters and of encoder-decoders
 * do where there are some, and others that came later where they say what is not the default, so
 * that all other scenarios have the hash that they had before these keys. */
static gboolean
is_hashed (const KeyInfo *key, const Scenario *scenario)
{
  const KeyId id = keys_id (key);

  if (key->type == KEY_TEXT)
    return FALSE;
  if (id == ID_fsdp_reduce_scatter_input_buffers)
    return scenario->fsdp.reduce_scatter_input_buffers > 1;
  if (id == ID_fsdp_use_orig_params && !scenario->fsdp.use_orig_params)
    return TRUE;
  if (effect_is_of_encoders (id))
    return model_has_encoder (&scenario->model);
  return scenario_trains_adapters (scenario) || !effect_is_of_adapters (id);
}

/* Every figure of every variant in the table's order, and the variants' names. */
static char *
hash (const ScenarioFile *file)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  guint n_keys;
  const KeyInfo *keys = keys_list (&n_keys);

  for (guint i = 0; i < file->variants->len; i++)
    {
      const Scenario *scenario = scenario_file_variant (file, i);
      g_autoptr (GString) text = g_string_new (NULL);

      g_string_append_printf (text, "variant %s\n", scenario->variant);
      for (guint k = 0; k < n_keys; k++)
        if (is_hashed (&keys[k], scenario))
          {
            g_autofree char *value = value_canonical (&keys[k], scenario);

            g_string_append_printf (text, "%s.%s=%s\n", keys[k].section, keys[k].key, value);
          }
      g_checksum_update (checksum, (const guchar *)text->str, (gssize)text->len);
    }
  return g_strdup (g_checksum_get_string (checksum));
}

ScenarioFile *
scenario_file_load_text (const char *name, const char *path, const char *text, gsize length,
                         const ScenarioOptions *options, Problems *problems)
{
  /* Counted apart: a mistake that @problems knows already is still one. */
  g_autoptr (Problems) mine = problems_new ();
  g_autoptr (ScenarioFile) file = scenario_file_new (name, path, text, length, options, mine);

  read_variants (file, mine);
  if (problems_count (mine) > 0)
    {
      problems_append (problems, mine);
      return NULL;
    }
  file->sha256 = hash (file);
  file->title = title_with_overrides (file->base.scenario.title,
                                      options != NULL ? options->overrides : NULL);
  return g_steal_pointer (&file);
}

/* A path, if one is there; else a shipped name. The caller frees it. */
static char *
find_scenario (const char *source, Problems *problems)
{
  char *path;
  g_auto (GStrv) names = NULL;
  g_autofree char *clause = NULL;

  if (strcmp (source, "-") == 0 || g_file_test (source, G_FILE_TEST_IS_REGULAR))
    return g_strdup (source);
  path = data_find (DATA_SCENARIO, source);
  if (path != NULL)
    return path;
  /* Reading it will say why it is no scenario. */
  if (g_file_test (source, G_FILE_TEST_EXISTS))
    return g_strdup (source);
  names = data_list (DATA_SCENARIO);
  if (strchr (source, '/') == NULL)
    clause = suggest_clause (source, (const char *const *)names);
  problems_add_io (problems, source, "no such file and no shipped scenario%s",
                   clause != NULL && *clause != '\0' ? clause
                                                     : "; `fsdpsim list scenarios` has those");
  return NULL;
}

static void
note_unreadable (const char *path, const GError *error, Problems *problems)
{
  const Place place = { .file = path };

  if (error->domain == TEXT_FILE_ERROR)
    problems_add (problems, &place, NULL, NULL, "%s; no scenario is", error->message);
  else
    problems_add_io (problems, path, "cannot read: %s", error->message);
}

ScenarioFile *
scenario_file_load (const char *source, const ScenarioOptions *options, Problems *problems)
{
  g_autofree char *path = find_scenario (source, problems);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  gsize length;

  if (path == NULL)
    return NULL;
  text = text_file_read (path, &length, &error);
  if (text == NULL)
    {
      note_unreadable (path, error, problems);
      return NULL;
    }
  return scenario_file_load_text (source, path, text, length, options, problems);
}

guint
scenario_file_n_variants (const ScenarioFile *file)
{
  return file->variants->len;
}

const Scenario *
scenario_file_variant (const ScenarioFile *file, guint index)
{
  g_assert (index < file->variants->len);
  return &g_array_index (file->variants, ScenarioVariant, index).scenario;
}

const char *
scenario_file_name (const ScenarioFile *file)
{
  return file->name;
}

const char *
scenario_file_path (const ScenarioFile *file)
{
  return file->path;
}

const char *
scenario_file_origin (const ScenarioFile *file, const char *section, const char *key)
{
  const Resolved *resolved = &g_array_index (file->variants, ScenarioVariant, 0).resolved;
  const Setting *setting = resolved->settings[keys_id (keys_find (section, key))];

  return setting != NULL && setting->origin == ORIGIN_SOURCE ? setting->place.file : NULL;
}

const char *
scenario_file_title (const ScenarioFile *file)
{
  return file->title;
}

const char *
scenario_file_sha256 (const ScenarioFile *file)
{
  return file->sha256;
}

char *
scenario_file_show (const ScenarioFile *file)
{
  return show_scenario (file);
}

#include <config.h>

#include "config/layer.h"
#include "config/keys_unknown.h"
#include "config/value.h"

gboolean
layer_check_value (const KeyInfo *key, const char *text, const Place *place, Problems *problems)
{
  Scenario scratch = { 0 };
  g_autoptr (GError) error = NULL;
  gboolean good = value_store (key, text, &scratch, &error);

  if (!good)
    problems_add (problems, place, key->section, key->key, "%s", error->message);
  value_clear_scenario (&scratch);
  return good;
}

static void
note_repeated (const KeyInfo *key, const Place *place, const Place *first, Problems *problems)
{
  if (first->line == 0)
    problems_add (problems, place, key->section, key->key, "given twice");
  else
    problems_add (problems, place, key->section, key->key, "given twice, first in line %u",
                  first->line);
}

void
layer_add (Layer *layer, const KeyInfo *key, Origin origin, const IniEntry *entry,
           Problems *problems)
{
  Setting *setting = &layer->settings[keys_id (key)];

  if (setting->key != NULL)
    {
      note_repeated (key, &entry->key_place, &setting->place, problems);
      return;
    }
  *setting
      = (Setting){ .key = key,
                   .text = entry->value,
                   .place = entry->value_place,
                   .origin = origin,
                   .good = layer_check_value (key, entry->value, &entry->value_place, problems) };
}

void
layer_add_section (Layer *layer, Origin origin, const IniFile *ini, const IniSection *section,
                   Problems *problems)
{
  for (guint i = 0; i < section->n_entries && !problems_are_enough (problems); i++)
    {
      const IniEntry *entry = ini_entry (ini, section->first + i);
      const KeyInfo *key = keys_find (section->name, entry->key);
      g_autofree char *message = NULL;

      if (key != NULL)
        {
          layer_add (layer, key, origin, entry, problems);
          continue;
        }
      message = unknown_key_message (section->name, entry->key);
      problems_add (problems, &entry->key_place, section->name, entry->key, "%s", message);
    }
}

void
layer_add_dotted (Layer *layer, Origin origin, const IniFile *ini, const IniSection *section,
                  Problems *problems)
{
  for (guint i = 0; i < section->n_entries && !problems_are_enough (problems); i++)
    {
      const IniEntry *entry = ini_entry (ini, section->first + i);
      const KeyInfo *key = keys_find_dotted (entry->key);
      g_autofree char *message = NULL;

      if (key != NULL)
        {
          layer_add (layer, key, origin, entry, problems);
          continue;
        }
      message = unknown_dotted_message (entry->key);
      problems_add (problems, &entry->key_place, section->name, entry->key, "%s", message);
    }
}

Layer *
layer_new_defaults (const char *file)
{
  Layer *layer = g_new0 (Layer, 1);
  guint n;
  const KeyInfo *keys = keys_list (&n);

  for (guint i = 0; i < n; i++)
    if (keys[i].standard != NULL)
      layer->settings[i] = (Setting){ .key = &keys[i],
                                      .text = keys[i].standard,
                                      .place = { .file = file },
                                      .origin = ORIGIN_DEFAULT,
                                      .good = TRUE };
  return layer;
}

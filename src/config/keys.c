#include <config.h>

#include "config/keys.h"

#include <string.h>

/* " | fsdp1 | fsdp2 | ddp" of each enumeration; the table skips the first bar. */
#define CHOICES_BEGIN(type, prefix) static const char type##_values[] = ""
#define CHOICE(name, text)          " | " text
#define CHOICES_END(type)           ;
#include "config/choices.def"
#undef CHOICES_BEGIN
#undef CHOICE
#undef CHOICES_END

static const KeyInfo table[] = {
#define KEY(section, key, type, offset, unit, words, value, standard, least, most, help)           \
  { #section, #key, value, standard, help, type, unit, offset, least, most, words },
#include "config/keys.def"
#undef KEY
};

static const char *const sections[]
    = { "scenario", "model",      "gpu",         "cluster",
        "software", "training",   "fsdp",        "activation_checkpointing",
        "timing",   "simulation", "reliability", NULL };

const KeyInfo *
keys_list (guint *n)
{
  *n = G_N_ELEMENTS (table);
  return table;
}

const char *const *
keys_sections (void)
{
  return sections;
}

const KeyInfo *
keys_find (const char *section, const char *key)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (strcmp (table[i].key, key) == 0 && strcmp (table[i].section, section) == 0)
      return &table[i];
  return NULL;
}

const KeyInfo *
keys_find_dotted (const char *name)
{
  const char *dot = strchr (name, '.');
  g_autofree char *section = NULL;

  if (dot == NULL)
    return NULL;
  section = g_strndup (name, (gsize)(dot - name));
  return keys_find (section, dot + 1);
}

KeyId
keys_id (const KeyInfo *key)
{
  g_assert (key >= table && key < table + G_N_ELEMENTS (table));
  return (KeyId)(key - table);
}

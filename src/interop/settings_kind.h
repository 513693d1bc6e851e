/* Whose settings a file holds, by what stands in it and not by its name. */
#pragma once

#include "interop/settings_tree.h"

typedef enum
{
  SETTINGS_OF_ACCELERATE,
  SETTINGS_OF_TRAINER,     /* its arguments */
  SETTINGS_OF_FSDP_CONFIG, /* what those name as fsdp_config */
  SETTINGS_OF_AXOLOTL,
  SETTINGS_OF_TORCHTITAN,
  SETTINGS_OF_TORCHTUNE,
  SETTINGS_OF_FOUNDRY,
  SETTINGS_OF_NOBODY /* none that is known, or refused */
} SettingsKind;

/* For people: "accelerate's launcher". */
const char *settings_kind_words (SettingsKind kind);

/* Whether a text is one of our own scenario files, which config reads. */
gboolean settings_is_scenario (const char *name, const char *text, gsize length);

/* Reads the text in the syntax that its name or its first character tells. */
SettingsTree *settings_read (const char *name, const char *text, gsize length, Problems *problems);

/* Where it is nobody's, @problems say what it is instead. */
SettingsKind settings_kind (const SettingsTree *tree, Problems *problems);

/* What one input says: of each key at most one setting. Inputs are laid over
 * each other in the order of Origin, the last one on top. */
#pragma once

#include "config/ini.h"
#include "config/keys.h"

typedef enum
{
  ORIGIN_DEFAULT,
  ORIGIN_SOURCE, /* a model, GPU or cluster file */
  ORIGIN_FILE,   /* the scenario file */
  ORIGIN_OPTION, /* -s */
  ORIGIN_VARIANT,
  ORIGIN_CELL /* a cell of a sweep */
} Origin;

typedef struct
{
  const KeyInfo *key; /* NULL: not given */
  const char *text;   /* borrowed from the input */
  Place place;        /* of the value */
  Origin origin;
  gboolean good; /* passed its key's checks */
} Setting;

typedef struct
{
  Setting settings[N_KEYS];
} Layer;

/* Checks an entry and adds it; notes a key that is given twice. */
void layer_add (Layer *layer, const KeyInfo *key, Origin origin, const IniEntry *entry,
                Problems *problems);

/* All entries of @section, whose keys are those of the table's section of that name. */
void layer_add_section (Layer *layer, Origin origin, const IniFile *ini, const IniSection *section,
                        Problems *problems);

/* All entries of @section, whose keys are "section.key". */
void layer_add_dotted (Layer *layer, Origin origin, const IniFile *ini, const IniSection *section,
                       Problems *problems);

/* Notes what is wrong with @text as the value of @key; FALSE if anything is. */
gboolean layer_check_value (const KeyInfo *key, const char *text, const Place *place,
                            Problems *problems);

/* Every key that has a default. @file: where problems with a default are said to be. */
Layer *layer_new_defaults (const char *file);

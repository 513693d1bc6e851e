/* Model, GPU, cluster and software files: found by shipped name or path, read once each,
 * with what they inherit from the file that they name as their own source. */
#pragma once

#include "config/layer.h"

typedef struct
{
  char *path;
  Place place;                     /* of its section; line 0 where it has none */
  const Setting *settings[N_KEYS]; /* inherited ones too; NULL: not given */
  gboolean is_whole;               /* FALSE where an ancestor could not be had */
} SourceFile;

typedef struct _Sources Sources;

/* @scenario_path: paths may be relative to its folder. Borrows both. */
Sources *sources_new (const char *scenario_path, const ScenarioOptions *options);
void sources_free (Sources *sources);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Sources, sources_free)

/* The file that @setting names, to fill @section ("model", "gpu", "cluster", "software").
 * NULL where it cannot be had; @problems then says why. A file with mistakes is
 * still returned, less the broken settings. */
const SourceFile *sources_load (Sources *sources, const char *section, const Setting *setting,
                                Problems *problems);
/* A file held in memory, as sources_load() would read it. */
const SourceFile *sources_load_text (Sources *sources, const char *section, const char *name,
                                     const char *text, gsize length, Problems *problems);

/* What tables call what comes from such a source: "models/x.ini" gives "x". The caller frees it. */
char *source_title (const char *source);

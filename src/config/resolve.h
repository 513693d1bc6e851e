/* Layers laid over each other: of each key the setting that counts, for one
 * variant. Variant over -s over scenario file over model, GPU, cluster and software file
 * over default. */
#pragma once

#include "config/document.h"
#include "config/sources.h"

typedef struct
{
  const Setting *settings[N_KEYS];         /* NULL: not given and without default */
  const SourceFile *model, *gpu, *cluster; /* NULL: none named, or not to be had */
  gboolean model_is_whole, gpu_is_whole,
      cluster_is_whole; /* FALSE: a named file is not to be had */
} Resolved;

/* @variant: NULL for the scenario without any. */
void resolve (const Document *document, const Layer *variant, const Layer *defaults,
              Sources *sources, Resolved *resolved, Problems *problems);

/* Notes the keys that must be given and are not. */
void resolve_note_missing (const Resolved *resolved, const Document *document, Problems *problems);

/* Writes every good setting into @scenario, which starts zeroed. */
void resolve_bind (const Resolved *resolved, Scenario *scenario);

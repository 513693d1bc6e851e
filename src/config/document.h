/* A scenario file and the -s options as they were written: layers of settings,
 * checked one by one, not yet laid over each other. */
#pragma once

#include "config/layer.h"

typedef struct
{
  const char *name;
  Place place; /* of the section */
  Layer *layer;
} DocumentVariant;

typedef struct _Document Document;

/* @overrides as in ScenarioOptions. Every mistake is noted in @problems. */
Document *document_new (const char *name, const char *text, gsize length,
                        const char *const *overrides, Problems *problems);
void document_free (Document *document);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Document, document_free)

const char *document_name (const Document *document);
const Layer *document_file_layer (const Document *document);
const Layer *document_option_layer (const Document *document);

/* In the order of the file; none where it has none. */
guint document_n_variants (const Document *document);
const DocumentVariant *document_variant (const Document *document, guint index);

/* The entries of [sweep], one behind the other; NULL where there are none. */
const IniEntry *document_sweep (const Document *document, guint *n);

/* Where [section] stands; the whole file where it has none. */
Place document_section_place (const Document *document, const char *section);

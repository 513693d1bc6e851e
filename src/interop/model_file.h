/* Writes a model as one of our own model files: the keys that differ from their
 * defaults, and blocks that differ as block_kinds and block_order. */
#pragma once

#include "config/scenario.h"

typedef struct
{
  const char *name; /* NULL: that of the file */
  const char *title;
  const char *provenance;
  ModelConfig model; /* what is the same for all blocks */
  GArray *blocks;    /* ModelConfig, one a layer: what of a block may differ */
  GPtrArray *labels; /* const char *, one a layer: a word for its kind, static */
} ModelFile;

void model_file_init (ModelFile *file);
void model_file_clear (ModelFile *file);

/* Appends @n blocks like @block, which is copied. */
void model_file_add_blocks (ModelFile *file, const char *label, const ModelConfig *block, guint n);

/* The caller frees it. There must be a block. */
char *model_file_format (const ModelFile *file);

/* Models in other programs' files, for scenarios that name them: the hook of
 * ScenarioOptions. */
#pragma once

#include "interop/hf_config.h"

/* Reads a Hugging Face config.json, of @text where that is given, else the file.
 * FALSE with a CLI_ERROR that holds every mistake. */
gboolean foreign_model_read (const char *path, const char *text, gsize length, HfModel *model,
                             GError **error);

/* Notes on standard error, a line each. */
void foreign_model_say_notes (const char *path, const HfModel *model);

/* The text of a model file; the caller frees it. The error is one line: the first
 * mistake, and how many more there are. The quiet one says no notes. */
char *foreign_model_load (const char *path, GError **error);
char *foreign_model_load_quietly (const char *path, GError **error);

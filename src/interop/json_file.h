/* A small JSON file, read whole by json-glib, that remembers where its keys
 * stand: mistakes are told with line and column. */
#pragma once

#include <json-glib/json-glib.h>

#include "config/problems.h"

typedef struct _JsonFile JsonFile;

/* Reads @text (length bytes and a NUL). NULL, and @problems say why, where it is
 * no JSON object. @name: of the file; copied. The caller frees the result. */
JsonFile *json_file_new (const char *name, const char *text, gsize length, Problems *problems);
void json_file_free (JsonFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (JsonFile, json_file_free)

JsonObject *json_file_root (const JsonFile *file);
const char *json_file_name (const JsonFile *file);

/* Where the value of @key of @object stands; line 0 where the key is not given.
 * Its text lives as long as the file. */
Place json_file_place (const JsonFile *file, JsonObject *object, const char *key);

/* "3:7: NaN is Python's, not JSON's", "given twice; …": what was tolerated; char *. */
const GPtrArray *json_file_notes (const JsonFile *file);

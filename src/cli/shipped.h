/* What the shipped files hold, as a scenario sees it. */
#pragma once

#include "config/data.h"
#include "config/scenario.h"

/* A shipped scenario, or a scenario of nothing but the file @name of @kind; what a
 * scenario needs beside it comes from the first shipped files of the other kinds. NULL and
 * CLI_ERROR where a file is wrong. scenario_file_free() it. */
ScenarioFile *shipped_load (DataKind kind, const char *name, GError **error);

/* The value of a key that says something of the file itself, "title" or
 * "provenance"; "" where it has none. The caller frees it. */
char *shipped_note (DataKind kind, const char *name, const char *key);

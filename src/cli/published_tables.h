/* The tables of published runs that a command works on. */
#pragma once

#include "study/published.h"

/* Of the file at @path ("-": standard input), or where it is NULL of those that
 * ship, the runs of which @quality (letters, or NULL: any) has the quality's letter. NULL with
 * CLI_ERROR. */
PublishedTable *published_tables_load (const char *path, const char *quality, GError **error);

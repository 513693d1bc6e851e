/* Names of variants in files. */
#pragma once

#include "report/report.h"

/* The name of each entry, in order, NULL-terminated: the variant's, and where two
 * scenarios of a comparison have variants of one name, "SCENARIO:VARIANT". No two
 * are equal. g_strfreev() it. */
char **variant_names (const Report *report);

/* A part of a file name for each of @names: only letters, digits and ".-_", at most
 * 100 bytes, no two equal. g_strfreev() it. */
char **file_names (const char *const *names);

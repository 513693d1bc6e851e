/* A validation as text for people, as CSV and as JSON. The caller frees each. */
#pragma once

#include "study/error_figures.h"

/* Errors per quality, GPU and source, and the runs that have no prediction. @name: of the table. */
char *validation_table (const Validation *validation, const char *name);
guint validation_count_unpredicted (const Validation *validation);
/* Which runs have no prediction, with the reasons; NULL where all have one. */
char *validation_reasons (const Validation *validation);
/* id,metric,measured,predicted,relative_error,fits: a row for each metric that is predicted,
 * measured or not. */
char *validation_csv (const Validation *validation);
char *validation_json (const Validation *validation, const char *name);

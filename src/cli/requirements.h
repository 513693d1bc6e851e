/* Bounds that the errors of a validation must hold, as --require gives them:
 * "mean=2.7%,median=1.4%,rank=0.997,memory.p90=12%". */
#pragma once

#include "study/error_figures.h"

/* A GArray of Requirement, or NULL with CLI_ERROR. @text: NULL for none. */
GArray *requirements_parse (const char *text, GError **error);

/* What is missed, a line each, or NULL where nothing is; the caller frees it. */
char *requirements_missed (const GArray *requirements, const Validation *validation);

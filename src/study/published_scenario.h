/* From what is published of a run to a scenario that simulates it. */
#pragma once

#include "study/published.h"

#define PUBLISHED_ERROR (published_error_quark ())
GQuark published_error_quark (void);

typedef enum
{
  PUBLISHED_ERROR_CANNOT_MAP /* the message says what is missing or not simulated */
} PublishedError;

/* The text of a scenario file; the caller frees it. What a row does not publish
 * and somebody may want to know of stands in its comments. NULL and PUBLISHED_ERROR
 * where the row cannot be mapped. */
char *published_scenario (const RunSettings *run, GError **error);

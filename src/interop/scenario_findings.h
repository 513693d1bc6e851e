/* What of the findings in other programs' settings a scenario file of ours asks for as well. */
#pragma once

#include "config/scenario.h"
#include "interop/finding.h"

/* Only what all variants have in common is found: where one is without, the file compares.
 * Returns what the first variant sets, as overrides (char *), to which the choices of findings
 * are alternatives. The caller frees it. */
GPtrArray *scenario_findings (const char *path, const char *text, gsize length,
                              const ScenarioFile *file, Findings *findings);

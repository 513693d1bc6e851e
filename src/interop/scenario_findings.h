/* What of the findings in other programs' settings a scenario file of ours asks for as well. */
#pragma once

#include "config/scenario.h"
#include "interop/finding.h"

/* FALSE and an error whose code is the KeyId of the key to change where a variant is refused. */
typedef gboolean (*ScenarioCheck) (const Scenario *scenario, GError **error);

/* Each variant that @check refuses is found; of the rest only what all variants have in common is
 * found: where one is without, the file compares. Returns what the first variant sets, as overrides
 * (char *), to which the choices of findings are alternatives. The caller frees it. */
GPtrArray *scenario_findings (const char *path, const char *text, gsize length,
                              const ScenarioFile *file, ScenarioCheck check, Findings *findings);

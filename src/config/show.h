/* The effective scenario as a file. */
#pragma once

#include "config/scenario_file.h"

/* See scenario_file_show(). */
char *show_scenario (const ScenarioFile *file);
/* One variant as a file without any. */
char *show_variant (const ScenarioVariant *variant);

/* A scenario's settings as other programs take them. What they cannot say stands
 * as a comment. The callers free the texts. */
#pragma once

#include "config/scenario.h"

/* A file for `accelerate launch --config_file`. */
char *settings_accelerate_yaml (const Scenario *scenario);

/* Sections of a torchtitan job's TOML file. */
char *settings_torchtitan_toml (const Scenario *scenario);

/* Clusters by themselves, without a scenario. */
#pragma once

#include "cli/options.h"
#include "config/scenario.h"

/* A scenario of nothing but a cluster: a shipped name or a file, under the overrides of
 * @options (NULL: none), which may name keys of [cluster] alone. NULL and CLI_ERROR where
 * something is wrong. scenario_file_free() it. */
ScenarioFile *clusters_load (const char *cluster, const Options *options, GError **error);

/* Whether -s gives that key of [cluster]. */
gboolean clusters_is_given (const Options *options, const char *key);

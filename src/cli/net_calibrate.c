#include <config.h>

#include "cli/net_tables.h"

#include <string.h>

#include "cli/clusters.h"
#include "cli/output.h"
#include "report/results_csv.h"
#include "study/network_fit.h"

#define MOST_BYTES ((gsize)256 << 20)

static NcclTests *
read_tests (const Options *options, const ClusterConfig *cluster, GError **error)
{
  guint ranks = options->ranks->len == 1 ? g_array_index (options->ranks, guint, 0) : 0;
  guint nodes = clusters_is_given (options, "nodes") || ranks == 0
                    ? cluster->nodes
                    : (ranks + cluster->gpus_per_node - 1) / cluster->gpus_per_node;
  g_autofree char *text = NULL;
  gsize length;

  text = results_load_file (options->calibrate, MOST_BYTES, &length, error);
  if (text == NULL)
    return NULL;
  return nccl_tests_parse (options->calibrate, text, length, ranks, MIN (nodes, MAX (ranks, 1)),
                           error);
}

/* A path that holds wherever the new file will lie. */
static char *
source_of (const char *cluster)
{
  if (strchr (cluster, '/') == NULL && !g_str_has_suffix (cluster, ".ini"))
    return g_strdup (cluster);
  return g_canonicalize_filename (cluster, NULL);
}

char *
net_calibration (const Options *options, GError **error)
{
  const char *cluster = g_ptr_array_index (options->arguments, 0);
  g_autoptr (ScenarioFile) file = clusters_load (cluster, options, error);
  g_autoptr (NcclTests) tests = NULL;
  g_autoptr (NetworkFit) fit = NULL;
  g_autofree char *source = source_of (cluster);
  const Scenario *scenario;

  if (file == NULL)
    return NULL;
  scenario = scenario_file_variant (file, 0);
  tests = read_tests (options, &scenario->cluster, error);
  if (tests != NULL)
    fit = network_fit (scenario, tests, options->calibrate, error);
  if (fit == NULL)
    return NULL;
  if (!options->quiet)
    output_message ("%u times of %u run%s: median error %.1f %% before, %.1f %% after",
                    fit->n_times, tests->n_runs, tests->n_runs == 1 ? "" : "s",
                    100 * fit->median_before, 100 * fit->median);
  return network_fit_format (fit, tests, source, options_overrides (options), options->calibrate);
}

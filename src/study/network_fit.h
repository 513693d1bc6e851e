/* The constants of a cluster file, fitted to collectives that were measured on it. */
#pragma once

#include "interop/nccl_tests.h"
#include "net/network.h"

/* Errors of the rows of one collective and group, |predicted / measured - 1|, as fractions. */
typedef struct
{
  CollectiveKind kind;
  guint ranks, nodes;
  guint n_times;
  double median_before, median, worst;
  gint64 worst_bytes;
} FitResidual;

typedef struct
{
  Scenario scenario; /* whose cluster has the fitted constants; borrows its texts */
  GArray *keys;      /* KeyId of the constants that were fitted */
  GArray *residuals; /* FitResidual, in the order of the measurements */
  guint n_times;
  double median_before, median;
} NetworkFit;

/* Starts from @scenario's cluster, which must outlive the result. Only constants that some
 * row depends on move, and each the less, the less the rows say of it. NULL and
 * NCCL_TESTS_ERROR where a row does not fit the cluster: more ranks a node than GPUs, or
 * nodes without NICs. @file is named in messages. */
NetworkFit *network_fit (const Scenario *scenario, const NcclTests *tests, const char *file,
                         GError **error);
void network_fit_free (NetworkFit *fit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NetworkFit, network_fit_free)

/* A fitted constant, index into keys: its key in [cluster], and its value as a file has it, which
 * the caller frees. */
const char *network_fit_constant (const NetworkFit *fit, guint index, char **value);

/* As a cluster file that stands on @source under @overrides ("cluster.KEY=VALUE",
 * NULL-terminated), residuals as comments. @tests and @file say in its provenance what it
 * was fitted to. The caller frees it. */
char *network_fit_format (const NetworkFit *fit, const NcclTests *tests, const char *source,
                          const char *const *overrides, const char *file);

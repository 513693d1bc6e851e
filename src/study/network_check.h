/* The network model against measured collectives. */
#pragma once

#include "net/network.h"

/* A cluster as a table of measurements names it. Borrows all. */
typedef struct
{
  const char *name;
  const char *gpu; /* NULL: whichever */
  const ClusterConfig *cluster;
} MeasuredCluster;

/* Errors of a group of rows, |predicted / measured - 1|, as fractions. */
typedef struct
{
  char *fabric; /* "one node, NVLink", "InfiniBand", … or "all with NVLink" */
  const char *collectives;
  gboolean large; /* messages of 1 MB and more; else the smaller ones */
  guint n_rows;
  double median, signed_mean, p90, worst;
} NetworkErrors;

typedef struct
{
  GArray *groups;     /* NetworkErrors by fabric, the pooled ones last */
  GPtrArray *skipped; /* char *: "12 rows of H20-2node: no cluster file is measured_as it" */
} NetworkCheck;

/* Reads a CSV with columns cluster, gpu, n_gpus, n_nodes, collective, bytes, time_us and
 * predicts each row as a run that has the cluster to itself, out of place. NULL with
 * RESULTS_ERROR where the file is no such table, G_FILE_ERROR where it cannot be read. */
NetworkCheck *network_check (const char *path, const MeasuredCluster *clusters, guint n_clusters,
                             GError **error);
void network_check_free (NetworkCheck *check);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (NetworkCheck, network_check_free)

/* The collective that a table or an nccl-tests program calls so ("all_gather", "AllGather",
 * "sendrecv"); FALSE where there is none. */
gboolean network_collective_by_name (const char *name, CollectiveKind *kind);

#include <config.h>

#include "study/network_check.h"

#include <math.h>
#include <string.h>

#include "report/results_csv.h"
#include "study/quantile.h"

#define LARGE_BYTES 1e6

/* Nodes of more GPUs are NVLink domains of several trays, which tables count one by one. */
#define MOST_GPUS_OF_A_TRAY 16

enum
{
  COLUMN_CLUSTER,
  COLUMN_GPU,
  COLUMN_RANKS,
  COLUMN_NODES,
  COLUMN_COLLECTIVE,
  COLUMN_BYTES,
  COLUMN_TIME,
  N_COLUMNS
};

static const ResultsColumn columns[N_COLUMNS] = {
  { "cluster", FALSE },    { "gpu", FALSE },   { "n_gpus", FALSE },  { "n_nodes", FALSE },
  { "collective", FALSE }, { "bytes", FALSE }, { "time_us", FALSE },
};

/* Errors of one group, before they are summed up. */
typedef struct
{
  char *fabric;
  const char *collectives;
  gboolean large;
  gboolean pooled; /* of other pools */
  GArray *errors;  /* double, signed */
} Pool;

typedef struct
{
  const MeasuredCluster *clusters;
  guint n_clusters;
  GPtrArray *pools;    /* Pool, as first met */
  GHashTable *skipped; /* reason to number of rows */
  GPtrArray *reasons;  /* as first met; borrowed from the table */
} Check;

/* ---- names ---- */

gboolean
network_collective_by_name (const char *name, CollectiveKind *kind)
{
  g_autoptr (GString) plain = g_string_new (NULL);

  for (const char *at = name; *at != '\0'; at++)
    if (*at != '_' && *at != '-')
      g_string_append_c (plain, g_ascii_tolower (*at));
  for (guint i = 0; i < N_COLLECTIVES; i++)
    {
      g_auto (GStrv) words = g_strsplit (CollectiveKind_words[i], "_", -1);
      g_autofree char *joined = g_strjoinv (NULL, words);

      if (strcmp (plain->str, joined) == 0)
        {
          *kind = (CollectiveKind)i;
          return TRUE;
        }
    }
  return FALSE;
}

static const MeasuredCluster *
find_cluster (const Check *check, const char *name, const char *gpu)
{
  for (guint i = 0; i < check->n_clusters; i++)
    if (strcmp (check->clusters[i].name, name) == 0
        && (check->clusters[i].gpu == NULL || strcmp (check->clusters[i].gpu, gpu) == 0))
      return &check->clusters[i];
  return NULL;
}

/* ---- pools ---- */

static Pool *
pool_of (Check *check, const char *fabric, const char *collectives, gboolean large)
{
  Pool *pool;

  for (guint i = 0; i < check->pools->len; i++)
    {
      pool = g_ptr_array_index (check->pools, i);
      if (strcmp (pool->fabric, fabric) == 0 && strcmp (pool->collectives, collectives) == 0
          && pool->large == large)
        return pool;
    }
  pool = g_new (Pool, 1);
  *pool = (Pool){ .fabric = g_strdup (fabric),
                  .collectives = collectives,
                  .large = large,
                  .errors = g_array_new (FALSE, FALSE, sizeof (double)) };
  g_ptr_array_add (check->pools, pool);
  return pool;
}

static void
pool_free (gpointer data)
{
  Pool *pool = data;

  g_free (pool->fabric);
  g_array_unref (pool->errors);
  g_free (pool);
}

static const char *
collectives_of (CollectiveKind kind)
{
  if (kind == COLLECTIVE_ALL_GATHER || kind == COLLECTIVE_REDUCE_SCATTER)
    return "all_gather, reduce_scatter";
  return CollectiveKind_words[kind];
}

static void
pool_error (Check *check, const ClusterConfig *cluster, guint nodes, CollectiveKind kind,
            double bytes, double error)
{
  const char *collectives = collectives_of (kind);
  gboolean nvlink = cluster->intra_link == INTRA_NVLINK;
  gboolean large = bytes >= LARGE_BYTES;
  g_autofree char *fabric = NULL;

  if (nodes == 1)
    fabric = g_strdup (nvlink ? "one node, NVLink" : "one node, PCIe");
  else
    fabric = g_strconcat (cluster->fabric, nvlink ? "" : ", PCIe", NULL);
  g_array_append_val (pool_of (check, fabric, collectives, large)->errors, error);
}

static NetworkErrors
summary (const Pool *pool)
{
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (double));
  double sum = 0;

  for (guint i = 0; i < pool->errors->len; i++)
    {
      double error = g_array_index (pool->errors, double, i);
      double size = fabs (error);

      sum += error;
      g_array_append_val (sizes, size);
    }
  return (NetworkErrors){ .fabric = g_strdup (pool->fabric),
                          .collectives = pool->collectives,
                          .large = pool->large,
                          .n_rows = sizes->len,
                          .median = quantile (sizes, 0.5),
                          .signed_mean = sum / sizes->len,
                          .p90 = quantile (sizes, 0.9),
                          .worst = quantile (sizes, 1) };
}

/* Pooled ones last; large messages before small ones. */
static int
compare_pools (gconstpointer a, gconstpointer b)
{
  const Pool *x = *(const Pool *const *)a;
  const Pool *y = *(const Pool *const *)b;
  int order = strcmp (x->fabric, y->fabric);

  if (x->pooled != y->pooled)
    return x->pooled - y->pooled;
  if (order == 0)
    order = strcmp (x->collectives, y->collectives);
  return order != 0 ? order : y->large - x->large;
}

/* All clusters with NVLink together: what is said of the model in one figure. */
static void
pool_pools (Check *check)
{
  guint n = check->pools->len;

  for (guint i = 0; i < n; i++)
    {
      const Pool *pool = g_ptr_array_index (check->pools, i);

      if (!g_str_has_suffix (pool->fabric, "PCIe"))
        {
          Pool *all = pool_of (check, "all with NVLink", pool->collectives, pool->large);

          all->pooled = TRUE;
          g_array_append_vals (all->errors, pool->errors->data, pool->errors->len);
        }
    }
  g_ptr_array_sort (check->pools, compare_pools);
}

/* ---- rows ---- */

static gboolean
skip (Check *check, const char *cluster, const char *reason)
{
  g_autofree char *text = g_strdup_printf ("%s: %s", cluster, reason);
  guint n = GPOINTER_TO_UINT (g_hash_table_lookup (check->skipped, text));

  if (n == 0)
    g_ptr_array_add (check->reasons, g_strdup (text));
  g_hash_table_insert (check->skipped, g_steal_pointer (&text), GUINT_TO_POINTER (n + 1));
  return TRUE;
}

static gboolean
take_count (const ResultsRow *row, guint column, double most, double *value, GError **error)
{
  if (!results_row_number (row, column, value, error))
    return FALSE;
  if (*value >= 1 && *value <= most && floor (*value) == *value)
    return TRUE;
  return results_row_error (row, column, error, "is no whole number from 1 to %.0f", most);
}

static gboolean
predict (Check *check, const MeasuredCluster *measured, CollectiveKind kind, const double *values)
{
  const ClusterConfig *cluster = measured->cluster;
  guint ranks = (guint)values[COLUMN_RANKS];
  guint nodes = (guint)values[COLUMN_NODES];
  g_autoptr (Network) network = network_new (cluster);
  GroupShape shape;
  double us;

  if (cluster->gpus_per_node > MOST_GPUS_OF_A_TRAY)
    nodes = (ranks + cluster->gpus_per_node - 1) / cluster->gpus_per_node;
  if (ranks < 2 || nodes > ranks)
    return skip (check, measured->name, "no group of two ranks or more");
  if ((ranks + nodes - 1) / nodes > cluster->gpus_per_node)
    return skip (check, measured->name, "more ranks a node than the cluster file has GPUs");
  if (nodes > 1 && (cluster->nics_per_node == 0 || cluster->nic_bytes_per_s <= 0))
    return skip (check, measured->name, "several nodes, and the cluster file has no NICs");
  shape = network_lone_shape (network, ranks, nodes);
  us = network_collective (network, kind, &shape, (gint64)values[COLUMN_BYTES], FALSE).time_us;
  pool_error (check, cluster, nodes, kind, values[COLUMN_BYTES], us / values[COLUMN_TIME] - 1);
  return TRUE;
}

static gboolean
take_row (const ResultsRow *row, gpointer data, GError **error)
{
  Check *check = data;
  const char *name = row->values[COLUMN_CLUSTER];
  const MeasuredCluster *measured = find_cluster (check, name, row->values[COLUMN_GPU]);
  double values[N_COLUMNS];
  CollectiveKind kind;

  if (!take_count (row, COLUMN_RANKS, 1 << 20, &values[COLUMN_RANKS], error)
      || !take_count (row, COLUMN_NODES, 1 << 20, &values[COLUMN_NODES], error)
      || !take_count (row, COLUMN_BYTES, 0x1p50, &values[COLUMN_BYTES], error)
      || !results_row_number (row, COLUMN_TIME, &values[COLUMN_TIME], error))
    return FALSE;
  if (!(values[COLUMN_TIME] > 0))
    return results_row_error (row, COLUMN_TIME, error, "is no time above 0");
  if (!network_collective_by_name (row->values[COLUMN_COLLECTIVE], &kind))
    return results_row_error (row, COLUMN_COLLECTIVE, error,
                              "is none of all_gather, reduce_scatter, all_reduce, broadcast, "
                              "send_recv, all_to_all");
  if (measured == NULL)
    return skip (check, name, "no cluster file says measured_as so");
  return predict (check, measured, kind, values);
}

/* ---- the whole ---- */

static NetworkCheck *
finish (Check *check)
{
  NetworkCheck *result = g_new (NetworkCheck, 1);

  result->groups = g_array_new (FALSE, FALSE, sizeof (NetworkErrors));
  result->skipped = g_ptr_array_new_with_free_func (g_free);
  pool_pools (check);
  for (guint i = 0; i < check->pools->len; i++)
    {
      NetworkErrors errors = summary (g_ptr_array_index (check->pools, i));

      g_array_append_val (result->groups, errors);
    }
  for (guint i = 0; i < check->reasons->len; i++)
    {
      const char *reason = g_ptr_array_index (check->reasons, i);
      guint n = GPOINTER_TO_UINT (g_hash_table_lookup (check->skipped, reason));

      g_ptr_array_add (result->skipped,
                       g_strdup_printf ("%u row%s of %s", n, n == 1 ? "" : "s", reason));
    }
  return result;
}

NetworkCheck *
network_check (const char *path, const MeasuredCluster *clusters, guint n_clusters, GError **error)
{
  Check check = { .clusters = clusters,
                  .n_clusters = n_clusters,
                  .pools = g_ptr_array_new_with_free_func (pool_free),
                  .skipped = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                  .reasons = g_ptr_array_new_with_free_func (g_free) };
  static const ResultsReader reader
      = { .columns = columns, .n_columns = N_COLUMNS, .take_row = take_row };
  NetworkCheck *result = NULL;

  if (results_read_file (path, &reader, &check, error))
    result = finish (&check);
  g_ptr_array_unref (check.pools);
  g_hash_table_unref (check.skipped);
  g_ptr_array_unref (check.reasons);
  return result;
}

void
network_check_free (NetworkCheck *check)
{
  if (check == NULL)
    return;
  for (guint i = 0; i < check->groups->len; i++)
    g_free (g_array_index (check->groups, NetworkErrors, i).fabric);
  g_array_unref (check->groups);
  g_ptr_array_unref (check->skipped);
  g_free (check);
}

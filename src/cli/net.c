#include <config.h>

#include <math.h>

#include "cli/clusters.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/net_tables.h"
#include "cli/output.h"
#include "net/network.h"

#define FIRST_BYTES G_GINT64_CONSTANT (8)
#define LAST_BYTES  (G_GINT64_CONSTANT (8) << 30)

/* What a table is made of. */
typedef struct
{
  const Options *options;
  const ClusterConfig *cluster;
  const Network *network;
  gboolean nodes_are_given;
} Table;

static const ListingColumn columns[] = {
  { "collective", "collective", FALSE },
  { "ranks", "ranks", TRUE },
  { "nodes", "nodes", TRUE },
  { "bytes", "bytes", TRUE },
  { "time_us", "time us", TRUE },
  { "algbw_gb_per_s", "algbw GB/s", TRUE },
  { "busbw_gb_per_s", "busbw GB/s", TRUE },
  { "algorithm", "algorithm", FALSE },
  { "protocol", "protocol", FALSE },
};

/* Of algorithm bandwidth: what nccl-tests calls bus bandwidth (its PERFORMANCE.md). */
static double
bus_factor (CollectiveKind kind, guint ranks)
{
  switch (kind)
    {
    case COLLECTIVE_ALL_REDUCE:
      return 2.0 * (ranks - 1) / ranks;
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_TO_ALL:
      return (ranks - 1.0) / ranks;
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_SEND_RECV:
      break;
    }
  return 1;
}

/* On as few nodes as hold them, or over all that -s cluster.nodes asks for. */
static gboolean
find_nodes (const Table *table, guint ranks, guint *nodes, GError **error)
{
  const ClusterConfig *cluster = table->cluster;

  *nodes = (ranks + cluster->gpus_per_node - 1) / cluster->gpus_per_node;
  if (table->nodes_are_given && cluster->nodes < *nodes)
    g_set_error (error, CLI_ERROR, EXIT_BAD_INPUT,
                 "%u ranks do not fit on cluster.nodes = %u of %u GPUs; %u nodes would do", ranks,
                 cluster->nodes, cluster->gpus_per_node, *nodes);
  else if (*nodes > 1 && (cluster->nics_per_node == 0 || cluster->nic_bytes_per_s <= 0))
    g_set_error (error, CLI_ERROR, EXIT_BAD_INPUT,
                 "%u ranks are %u nodes of %u GPUs, and %s has no NICs; nics_per_node and "
                 "nic_bandwidth would do",
                 ranks, *nodes, cluster->gpus_per_node, cluster->name);
  else
    {
      if (table->nodes_are_given)
        *nodes = MIN (cluster->nodes, ranks);
      return TRUE;
    }
  return FALSE;
}

static void
add_number (Listing *listing, Format format, double value)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (buffer, sizeof buffer, format == FORMAT_TABLE ? "%.2f" : "%.12g", value);
  listing_add (listing, g_strdup (buffer));
}

static void
add_row (Listing *listing, const Table *table, CollectiveKind kind, const GroupShape *shape,
         gint64 bytes)
{
  CollectiveCost cost
      = network_collective (table->network, kind, shape, bytes, table->options->in_place);
  double algorithm = (double)bytes / cost.time_us * 1e-3;
  Format format = table->options->format;

  listing_add (listing, g_strdup (CollectiveKind_words[kind]));
  listing_add (listing, g_strdup_printf ("%u", shape->ranks));
  listing_add (listing, g_strdup_printf ("%u", shape->nodes));
  listing_add (listing, g_strdup_printf ("%" G_GINT64_FORMAT, bytes));
  add_number (listing, format, cost.time_us);
  add_number (listing, format, algorithm);
  add_number (listing, format, algorithm * bus_factor (kind, shape->ranks));
  listing_add (listing, g_strdup (network_algorithm_name (cost.algorithm)));
  listing_add (listing, g_strdup (network_protocol_name (cost.protocol)));
}

static void
add_sizes (Listing *listing, const Table *table, CollectiveKind kind, const GroupShape *shape)
{
  const GArray *sizes = table->options->sizes;

  for (guint i = 0; i < sizes->len; i++)
    add_row (listing, table, kind, shape, g_array_index (sizes, gint64, i));
  if (sizes->len == 0)
    for (gint64 bytes = FIRST_BYTES; bytes <= LAST_BYTES; bytes *= 2)
      add_row (listing, table, kind, shape, bytes);
}

static gboolean
add_group (Listing *listing, const Table *table, CollectiveKind kind, guint ranks, GError **error)
{
  GroupShape shape;
  guint nodes;

  if (!find_nodes (table, ranks, &nodes, error))
    return FALSE;
  shape = network_lone_shape (table->network, ranks, nodes);
  add_sizes (listing, table, kind, &shape);
  return TRUE;
}

static gboolean
add_collective (Listing *listing, const Table *table, CollectiveKind kind, GError **error)
{
  const GArray *ranks = table->options->ranks;
  guint all = table->cluster->nodes * table->cluster->gpus_per_node;

  if (ranks->len == 0 && all < 2)
    {
      g_set_error (error, CLI_ERROR, EXIT_BAD_INPUT,
                   "%s is one GPU; a collective takes two ranks or more", table->cluster->name);
      return FALSE;
    }
  if (ranks->len == 0)
    return add_group (listing, table, kind, all, error);
  for (guint i = 0; i < ranks->len; i++)
    if (!add_group (listing, table, kind, g_array_index (ranks, guint, i), error))
      return FALSE;
  return TRUE;
}

static gboolean
fill (Listing *listing, const Table *table, GError **error)
{
  const GArray *named = table->options->collectives;

  for (guint i = 0; i < named->len; i++)
    if (!add_collective (listing, table, g_array_index (named, CollectiveKind, i), error))
      return FALSE;
  for (guint i = 0; named->len == 0 && i < N_COLLECTIVES; i++)
    if (!add_collective (listing, table, (CollectiveKind)i, error))
      return FALSE;
  return TRUE;
}

static char *
cluster_table (const Options *options, GError **error)
{
  g_autoptr (ScenarioFile) file
      = clusters_load (g_ptr_array_index (options->arguments, 0), options, error);
  g_autoptr (Network) network = NULL;
  Table table = { .options = options };
  Listing listing;
  char *text = NULL;

  if (file == NULL)
    return NULL;
  table.cluster = &scenario_file_variant (file, 0)->cluster;
  network = network_new (table.cluster);
  table.network = network;
  table.nodes_are_given = clusters_is_given (options, "nodes");
  listing_init (&listing, "collectives", columns, G_N_ELEMENTS (columns));
  if (fill (&listing, &table, error))
    text = listing_format (&listing, options->format, options->verbose);
  listing_clear (&listing);
  return text;
}

static ExitCode
net (const Options *options, GError **error)
{
  g_autofree char *text = NULL;

  if (options->against != NULL && options->calibrate != NULL)
    g_set_error (error, CLI_ERROR, EXIT_USAGE, "net: --against and --calibrate exclude each other");
  else if (options->against != NULL)
    text = net_errors_table (options, error);
  else if (options->arguments->len == 0)
    g_set_error (error, CLI_ERROR, EXIT_USAGE, "net: no CLUSTER; a shipped name or a cluster file");
  else if (options->calibrate != NULL)
    text = net_calibration (options, error);
  else
    text = cluster_table (options, error);
  if (text != NULL)
    output_write (text, error);
  return EXIT_DONE;
}

const Command net_command = {
  .name = "net",
  .arguments = "[CLUSTER]",
  .summary = "Say what collectives take on a cluster, in a table like nccl-tests'",
  .examples = "  fsdpsim net dgx-h100 --collective all_gather --ranks 16 --bytes 1M-8G\n"
              "  fsdpsim net dgx-a100-80g -s cluster.nodes=4 -f csv\n",
  .min_arguments = 0,
  .max_arguments = 1,
  .options = OPTION_SET | OPTION_FORMAT | OPTION_NETWORK,
  .run = net,
};

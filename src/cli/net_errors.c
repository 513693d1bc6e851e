#include <config.h>

#include "cli/net_tables.h"

#include <string.h>

#include "cli/clusters.h"
#include "cli/listing.h"
#include "cli/output.h"
#include "cli/shipped.h"
#include "study/network_check.h"

static const ListingColumn columns[] = {
  { "fabric", "fabric", FALSE },          { "collectives", "collectives", FALSE },
  { "message_bytes", "message", FALSE },  { "rows", "rows", TRUE },
  { "median_percent", "median %", TRUE }, { "signed_mean_percent", "mean %", TRUE },
  { "p90_percent", "p90 %", TRUE },       { "worst_percent", "worst %", TRUE },
};

/* All clusters by the names that tables of measurements have for them. */
typedef struct
{
  GPtrArray *files; /* ScenarioFile */
  GPtrArray *texts; /* char *, that the clusters borrow */
  GArray *clusters; /* MeasuredCluster */
} Names;

static void
names_init (Names *names)
{
  names->files = g_ptr_array_new_with_free_func ((GDestroyNotify)scenario_file_free);
  names->texts = g_ptr_array_new_with_free_func (g_free);
  names->clusters = g_array_new (FALSE, FALSE, sizeof (MeasuredCluster));
}

static void
names_clear (Names *names)
{
  g_ptr_array_unref (names->files);
  g_ptr_array_unref (names->texts);
  g_array_unref (names->clusters);
}

/* @text: "NAME/GPU" or "NAME". */
static void
add_name (Names *names, const char *text, const ClusterConfig *cluster)
{
  char *name = g_strstrip (g_strdup (text));
  char *slash = strchr (name, '/');
  MeasuredCluster measured = { .name = name, .cluster = cluster };

  if (slash != NULL)
    {
      *slash = '\0';
      measured.gpu = slash + 1;
    }
  g_ptr_array_add (names->texts, name);
  if (*name != '\0')
    g_array_append_val (names->clusters, measured);
}

/* @options: overrides to apply, or NULL. */
static gboolean
add_cluster (Names *names, const char *cluster, const Options *options, GError **error)
{
  g_autofree char *note = shipped_note (DATA_CLUSTER, cluster, "measured_as");
  g_auto (GStrv) parts = g_strsplit (note, ",", -1);
  ScenarioFile *file = clusters_load (cluster, options, error);

  if (file == NULL)
    return FALSE;
  g_ptr_array_add (names->files, file);
  for (guint i = 0; parts[i] != NULL; i++)
    add_name (names, parts[i], &scenario_file_variant (file, 0)->cluster);
  return TRUE;
}

static gboolean
fill_names (Names *names, const Options *options, GError **error)
{
  g_auto (GStrv) shipped = data_list (DATA_CLUSTER);

  if (options->arguments->len == 1)
    return add_cluster (names, g_ptr_array_index (options->arguments, 0), options, error);
  for (guint i = 0; shipped[i] != NULL; i++)
    if (!add_cluster (names, shipped[i], NULL, error))
      return FALSE;
  return TRUE;
}

static void
add_percent (Listing *listing, double fraction)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (buffer, sizeof buffer, "%.1f", 100 * fraction);
  listing_add (listing, g_strdup (buffer));
}

static char *
format_check (const NetworkCheck *check, const Options *options)
{
  Listing listing;
  char *text;

  listing_init (&listing, "errors", columns, G_N_ELEMENTS (columns));
  for (guint i = 0; i < check->groups->len; i++)
    {
      const NetworkErrors *errors = &g_array_index (check->groups, NetworkErrors, i);

      listing_add (&listing, g_strdup (errors->fabric));
      listing_add (&listing, g_strdup (errors->collectives));
      listing_add (&listing, g_strdup (errors->large ? "1 MB and more" : "below 1 MB"));
      listing_add (&listing, g_strdup_printf ("%u", errors->n_rows));
      add_percent (&listing, errors->median);
      add_percent (&listing, errors->signed_mean);
      add_percent (&listing, errors->p90);
      add_percent (&listing, errors->worst);
    }
  text = listing_format (&listing, options->format, options->verbose);
  listing_clear (&listing);
  return text;
}

char *
net_errors_table (const Options *options, GError **error)
{
  g_autoptr (NetworkCheck) check = NULL;
  char *text = NULL;
  Names names;

  names_init (&names);
  if (fill_names (&names, options, error))
    check = network_check (options->against, (const MeasuredCluster *)names.clusters->data,
                           names.clusters->len, error);
  if (check != NULL)
    text = format_check (check, options);
  for (guint i = 0; check != NULL && !options->quiet && i < check->skipped->len; i++)
    output_message ("left out: %s", (const char *)g_ptr_array_index (check->skipped, i));
  names_clear (&names);
  return text;
}

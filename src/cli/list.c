#include <config.h>

#include <string.h>

#include "cli/command.h"
#include "cli/listing.h"
#include "cli/manual.h"
#include "cli/output.h"
#include "cli/shipped.h"
#include "config/keys.h"
#include "config/suggest.h"
#include "cost/params.h"
#include "interop/finding.h"

/* ---- one row a file: these run once for each shipped name ---- */

static void
add_model (Listing *listing, const ScenarioFile *file)
{
  const ModelConfig *model = &scenario_file_variant (file, 0)->model;

  listing_add (listing, g_strdup_printf ("%" G_GINT64_FORMAT, params_count (model).total));
  listing_add (listing, g_strdup_printf ("%u", model->layers));
  listing_add (listing, g_strdup_printf ("%u", model->hidden));
}

static void
add_gpu (Listing *listing, const ScenarioFile *file)
{
  const GpuConfig *gpu = &scenario_file_variant (file, 0)->gpu;

  listing_add (listing, g_strdup_printf ("%.6g", gpu->matmul_flops / 1e12));
  listing_add (listing, g_strdup_printf ("%.6g", (double)gpu->memory_bytes / (1 << 30)));
  listing_add (listing, g_strdup_printf ("%.6g", gpu->memory_bytes_per_s / 1e9));
}

static void
add_cluster (Listing *listing, const ScenarioFile *file)
{
  const Scenario *scenario = scenario_file_variant (file, 0);
  const ClusterConfig *cluster = &scenario->cluster;

  listing_add (listing, g_strdup (scenario->gpu.name));
  listing_add (listing, g_strdup_printf ("%u", cluster->gpus_per_node));
  listing_add (listing, g_strdup_printf ("%.6g", cluster->ring_bytes_per_s / 1e9));
  listing_add (listing, g_strdup_printf ("%u", cluster->nics_per_node));
  listing_add (listing, g_strdup_printf ("%.6g", cluster->nic_bytes_per_s * 8 / 1e9));
}

static void
add_software (Listing *listing, const ScenarioFile *file)
{
  const SoftwareConfig *software = &scenario_file_variant (file, 0)->software;

  listing_add (listing, g_strdup (AttentionKernel_words[software->attention]));
  listing_add (listing, g_strdup (software->compile ? "1" : "0"));
  listing_add (listing, g_strdup (LossKernels_words[software->loss]));
}

static void
add_scenario (Listing *listing, const ScenarioFile *file)
{
  listing_add (listing, g_strdup_printf ("%u", scenario_file_n_variants (file)));
}

/* clang-format off */
static const ListingColumn model_columns[] = {
  { "name", "name", FALSE },     { "total_params", "parameters", TRUE },
  { "layers", "layers", TRUE },  { "hidden", "hidden", TRUE },
  { "title", "title", FALSE },
  { "provenance", NULL, FALSE },
};

static const ListingColumn gpu_columns[] = {
  { "name", "name", FALSE },
  { "dense_tflop_per_s", "bf16 TFLOP/s", TRUE },
  { "memory_gib", "memory GiB", TRUE },
  { "memory_gb_per_s", "GB/s", TRUE },
  { "title", "title", FALSE },
  { "provenance", NULL, FALSE },
};

static const ListingColumn cluster_columns[] = {
  { "name", "name", FALSE },
  { "gpu", "GPU", FALSE },
  { "gpus_per_node", "GPUs/node", TRUE },
  { "ring_gb_per_s", "ring GB/s", TRUE },
  { "nics_per_node", "NICs/node", TRUE },
  { "nic_gbit_per_s", "NIC Gb/s", TRUE },
  { "title", "title", FALSE },
  { "provenance", NULL, FALSE },
};

static const ListingColumn software_columns[] = {
  { "name", "name", FALSE },
  { "attention", "attention", FALSE },
  { "compile", "compiled", TRUE },
  { "loss", "loss", FALSE },
  { "title", "title", FALSE },
  { "provenance", NULL, FALSE },
};

static const ListingColumn scenario_columns[] = {
  { "name", "name", FALSE },
  { "variants", "variants", TRUE },
  { "title", "title", FALSE },
};

/* clang-format on */

typedef struct
{
  const char *subject;
  DataKind kind;
  const ListingColumn *columns;
  guint n_columns;
  void (*add) (Listing *listing, const ScenarioFile *file);
} Shelf;

#define COLUMNS(columns) columns, G_N_ELEMENTS (columns)
static const Shelf shelves[] = {
  { "models", DATA_MODEL, COLUMNS (model_columns), add_model },
  { "gpus", DATA_GPU, COLUMNS (gpu_columns), add_gpu },
  { "clusters", DATA_CLUSTER, COLUMNS (cluster_columns), add_cluster },
  { "software", DATA_SOFTWARE, COLUMNS (software_columns), add_software },
  { "scenarios", DATA_SCENARIO, COLUMNS (scenario_columns), add_scenario },
};

static gboolean
fill_from_files (Listing *listing, const Shelf *shelf, GError **error)
{
  g_auto (GStrv) names = data_list (shelf->kind);

  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autoptr (ScenarioFile) file = shipped_load (shelf->kind, names[i], error);

      if (file == NULL)
        return FALSE;
      listing_add (listing, g_strdup (names[i]));
      shelf->add (listing, file);
      listing_add (listing, shipped_note (shelf->kind, names[i], "title"));
      if (shelf->kind != DATA_SCENARIO)
        listing_add (listing, shipped_note (shelf->kind, names[i], "provenance"));
    }
  return TRUE;
}

static char *
list_shelf (const Shelf *shelf, const Options *options, GError **error)
{
  Listing listing;
  char *text = NULL;

  listing_init (&listing, shelf->subject, shelf->columns, shelf->n_columns);
  if (fill_from_files (&listing, shelf, error))
    text = listing_format (&listing, options->format, options->verbose);
  listing_clear (&listing);
  return text;
}

/* ---- keys ---- */

static const ListingColumn key_columns[] = {
  { "key", "key", FALSE },    { "value", NULL, FALSE },        { "default", "default", FALSE },
  { "required", NULL, TRUE }, { "help", "what it is", FALSE },
};

static char *
list_keys (const Options *options)
{
  guint n;
  const KeyInfo *keys = keys_list (&n);
  Listing listing;
  char *text;

  if (options->format == FORMAT_MAN)
    return manual_of_keys (keys, n);
  listing_init (&listing, "keys", COLUMNS (key_columns));
  for (guint i = 0; i < n; i++)
    {
      listing_add (&listing, g_strconcat (keys[i].section, ".", keys[i].key, NULL));
      listing_add (&listing, g_strdup (keys[i].value));
      listing_add (&listing, g_strdup (keys[i].standard != NULL ? keys[i].standard : ""));
      listing_add (&listing, g_strdup (keys[i].standard == NULL ? "1" : "0"));
      listing_add (&listing, g_strdup (keys[i].help));
    }
  text = listing_format (&listing, options->format, options->verbose);
  listing_clear (&listing);
  return text;
}

/* ---- findings ---- */

static const ListingColumn finding_columns[] = {
  { "code", "code", FALSE },
  { "severity", "severity", FALSE },
  { "explanation", "what it is", FALSE },
};

static char *
list_findings (const Options *options)
{
  Listing listing;
  char *text;

  if (options->format == FORMAT_MAN)
    return manual_of_findings ();
  listing_init (&listing, "findings", COLUMNS (finding_columns));
  for (FindingCode code = 0; code < N_FINDING_CODES; code++)
    {
      const FindingInfo *info = finding_info (code);

      listing_add (&listing, g_strdup (info->code));
      listing_add (&listing, g_strdup (severity_word (info->severity)));
      listing_add (&listing, g_strdup (info->explanation));
    }
  text = listing_format (&listing, options->format, options->verbose);
  listing_clear (&listing);
  return text;
}

/* ---- the command ---- */

static char *
list_subject (const char *subject, const Options *options, GError **error)
{
  static const char *const subjects[]
      = { "models", "gpus", "clusters", "software", "scenarios", "keys", "findings", NULL };
  g_autofree char *clause = NULL;

  if (strcmp (subject, "keys") == 0)
    return list_keys (options);
  if (strcmp (subject, "findings") == 0)
    return list_findings (options);
  if (options->format == FORMAT_MAN)
    {
      g_set_error (error, CLI_ERROR, EXIT_USAGE,
                   "list: only keys and findings have the format man");
      return NULL;
    }
  for (guint i = 0; i < G_N_ELEMENTS (shelves); i++)
    if (strcmp (subject, shelves[i].subject) == 0)
      return list_shelf (&shelves[i], options, error);
  clause = suggest_clause (subject, subjects);
  g_set_error (error, CLI_ERROR, EXIT_USAGE, "list: there are no '%s'%s", subject, clause);
  return NULL;
}

static ExitCode
list (const Options *options, GError **error)
{
  const char *subject = g_ptr_array_index (options->arguments, 0);
  g_autofree char *text = list_subject (subject, options, error);

  if (text != NULL)
    output_write (text, error);
  return EXIT_DONE;
}

const Command list_command = {
  .name = "list",
  .arguments = "models|gpus|clusters|software|scenarios|keys|findings",
  .summary = "List what ships with the program, every key, or what check can find",
  .examples = "  fsdpsim list scenarios\n"
              "  fsdpsim list gpus -f csv\n",
  .min_arguments = 1,
  .max_arguments = 1,
  .options = OPTION_FORMAT | OPTION_MAN_FORMAT,
  .run = list,
};

#include <config.h>

#include "config/resolve.h"
#include "config/value.h"

#include <string.h>

static void
lay_over (Resolved *resolved, const Layer *layer)
{
  for (guint i = 0; i < N_KEYS; i++)
    if (layer->settings[i].key != NULL)
      resolved->settings[i] = &layer->settings[i];
}

static void
lay_under (Resolved *resolved, const SourceFile *file)
{
  for (guint i = 0; i < N_KEYS; i++)
    if (resolved->settings[i] == NULL)
      resolved->settings[i] = file->settings[i];
}

/* Loads what @source names for @section. An empty or missing name is none. */
static const SourceFile *
load (Resolved *resolved, KeyId source, const char *section, Sources *sources, gboolean *is_whole,
      Problems *problems)
{
  const Setting *setting = resolved->settings[source];
  const SourceFile *file;

  *is_whole = TRUE;
  if (setting == NULL || setting->text[0] == '\0')
    return NULL;
  file = setting->good ? sources_load (sources, section, setting, problems) : NULL;
  *is_whole = file != NULL && file->is_whole;
  if (file != NULL)
    lay_under (resolved, file);
  return file;
}

/* [gpu] source, where it is auto, means what the cluster names. */
static KeyId
gpu_source (const Resolved *resolved)
{
  const Setting *setting = resolved->settings[ID_gpu_source];

  return setting == NULL || strcmp (setting->text, "auto") == 0 ? ID_cluster_gpu : ID_gpu_source;
}

void
resolve (const Document *document, const Layer *variant, const Layer *defaults, Sources *sources,
         Resolved *resolved, Problems *problems)
{
  gboolean software_is_whole; /* all of its keys have defaults */

  memset (resolved, 0, sizeof *resolved);
  lay_over (resolved, document_file_layer (document));
  lay_over (resolved, document_option_layer (document));
  if (variant != NULL)
    lay_over (resolved, variant);
  resolved->model
      = load (resolved, ID_model_source, "model", sources, &resolved->model_is_whole, problems);
  resolved->cluster = load (resolved, ID_cluster_source, "cluster", sources,
                            &resolved->cluster_is_whole, problems);
  resolved->gpu
      = load (resolved, gpu_source (resolved), "gpu", sources, &resolved->gpu_is_whole, problems);
  load (resolved, ID_software_source, "software", sources, &software_is_whole, problems);
  /* Where the cluster is not to be had, neither is the GPU that it would name. */
  resolved->gpu_is_whole &= resolved->gpu != NULL || resolved->cluster_is_whole;
  for (guint i = 0; i < N_KEYS; i++)
    if (resolved->settings[i] == NULL && defaults->settings[i].key != NULL)
      resolved->settings[i] = &defaults->settings[i];
}

/* The keys of a section that must be given: how many, and in *missing the names
 * of those that are not. */
static guint
count_required (const Resolved *resolved, const char *section, GString *missing, guint *n_missing)
{
  guint n_keys, n_required = 0;
  const KeyInfo *keys = keys_list (&n_keys);

  *n_missing = 0;
  for (guint i = 0; i < n_keys; i++)
    {
      if (keys[i].standard != NULL || strcmp (keys[i].section, section) != 0)
        continue;
      n_required++;
      if (resolved->settings[i] == NULL)
        g_string_append_printf (missing, "%s%s", (*n_missing)++ > 0 ? ", " : "", keys[i].key);
    }
  return n_required;
}

static void
note_missing_of (const Resolved *resolved, const char *section, const SourceFile *file,
                 const char *where, const Document *document, Problems *problems)
{
  g_autoptr (GString) missing = g_string_new (NULL);
  guint n_missing;
  guint n_required = count_required (resolved, section, missing, &n_missing);
  Place place = file != NULL ? file->place : document_section_place (document, section);

  if (n_missing == 0)
    return;
  if (n_missing == n_required && file == NULL)
    problems_add (problems, &place, section, NULL, "no %s; give %s", section, where);
  else
    problems_add (problems, &place, section, NULL, "missing: %s", missing->str);
}

void
resolve_note_missing (const Resolved *resolved, const Document *document, Problems *problems)
{
  if (resolved->model_is_whole)
    note_missing_of (resolved, "model", resolved->model,
                     "source = a shipped name, a model file or an HF config.json", document,
                     problems);
  if (resolved->cluster_is_whole)
    note_missing_of (resolved, "cluster", resolved->cluster,
                     "source = a shipped name or a cluster file", document, problems);
  /* Without a cluster the missing GPU is no mistake of its own. */
  if (resolved->gpu_is_whole && resolved->settings[ID_cluster_gpus_per_node] != NULL)
    note_missing_of (resolved, "gpu", resolved->gpu,
                     "source, or gpu in [cluster]: a shipped name or a GPU file", document,
                     problems);
}

void
resolve_bind (const Resolved *resolved, Scenario *scenario)
{
  for (guint i = 0; i < N_KEYS; i++)
    {
      const Setting *setting = resolved->settings[i];

      if (setting != NULL && setting->good)
        value_store (setting->key, setting->text, scenario, NULL);
    }
}

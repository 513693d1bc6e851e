#include <config.h>

#include "config/cells.h"
#include "config/checks.h"
#include "config/derive.h"
#include "config/scenario_file.h"
#include "config/show.h"
#include "config/value.h"

#include <string.h>

/* A variant under one choice of sources. Settings point into the layer. */
typedef struct
{
  Layer layer; /* of the variant, with the sources that the cell names */
  Resolved resolved;
  Scenario bound;  /* nothing derived yet */
  char *complaint; /* NULL: good */
} Base;

struct _Cells
{
  ScenarioFile *file;
  const Grid *grid;
  guint n_keys;
  guint n_sources; /* of the keys those that name files; they come first in order */
  guint *order;    /* of keys */
  GMutex mutex;
  GHashTable *bases; /* "variant\nsource\nsource" to Base */
};

static gboolean
names_a_source (const KeyInfo *key)
{
  const KeyId id = keys_id (key);

  return id == ID_model_source || id == ID_cluster_source || id == ID_cluster_gpu
         || id == ID_gpu_source || id == ID_software_source;
}

static void
base_free (gpointer data)
{
  Base *base = data;

  value_clear_scenario (&base->bound);
  g_free (base->complaint);
  g_free (base);
}

Cells *
cells_new (ScenarioFile *file, const Grid *grid)
{
  Cells *cells = g_new0 (Cells, 1);

  cells->file = file;
  cells->grid = grid;
  cells->n_keys = grid_n_keys (grid);
  cells->order = g_new (guint, cells->n_keys + 1);
  for (guint pass = 0, n = 0; pass < 2; pass++)
    for (guint k = 0; k < cells->n_keys; k++)
      if (names_a_source (grid_key (grid, k)) == (pass == 0))
        {
          cells->order[n++] = k;
          cells->n_sources += pass == 0;
        }
  g_mutex_init (&cells->mutex);
  cells->bases = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, base_free);
  return cells;
}

void
cells_free (Cells *cells)
{
  if (cells == NULL)
    return;
  g_hash_table_unref (cells->bases);
  g_mutex_clear (&cells->mutex);
  g_free (cells->order);
  g_free (cells);
}

/* ---- bases ---- */

/* A setting of the cell, which stands above all others. */
static Setting
cell_setting (const KeyInfo *key, const char *text)
{
  return (Setting){
    .key = key, .text = text, .place = { .file = "cell" }, .origin = ORIGIN_CELL, .good = TRUE
  };
}

static void
set_sources (const Cells *cells, gsize cell, Layer *layer)
{
  for (guint i = 0; i < cells->n_sources; i++)
    {
      const KeyInfo *key = grid_key (cells->grid, cells->order[i]);

      layer->settings[keys_id (key)]
          = cell_setting (key, grid_value (cells->grid, cell, cells->order[i]));
    }
}

/* What is missing once the cell has set its keys. */
static void
note_missing (const Cells *cells, const Base *base, Problems *problems)
{
  const Setting given = { .good = TRUE };
  Resolved resolved = base->resolved;

  for (guint i = cells->n_sources; i < cells->n_keys; i++)
    resolved.settings[keys_id (grid_key (cells->grid, cells->order[i]))] = &given;
  resolve_note_missing (&resolved, cells->file->document, problems);
}

static Base *
base_new (const Cells *cells, gsize cell, guint variant)
{
  ScenarioFile *file = cells->file;
  g_autoptr (Problems) problems = problems_new ();
  Base *base = g_new0 (Base, 1);

  if (document_n_variants (file->document) > 0)
    base->layer = *document_variant (file->document, variant)->layer;
  set_sources (cells, cell, &base->layer);
  resolve (file->document, &base->layer, file->defaults, file->sources, &base->resolved, problems);
  resolve_bind (&base->resolved, &base->bound);
  note_missing (cells, base, problems);
  /* A file that could not be read is complained of once only, wherever it is named. */
  if (problems_count (problems) > 0)
    base->complaint = problems_summary (problems);
  else if (!base->resolved.model_is_whole || !base->resolved.cluster_is_whole
           || !base->resolved.gpu_is_whole)
    base->complaint = g_strdup ("a file that it names cannot be read");
  return base;
}

/* The file that the key's @n-th value names; NULL where it names none, or none that can be had. */
static const SourceFile *
nth_source (const Cells *cells, guint key_index, guint n, Problems *problems)
{
  const KeyInfo *key = grid_key (cells->grid, key_index);
  Setting setting = cell_setting (key, grid_nth_value (cells->grid, key_index, n));

  setting.place.file = "--vary";
  if (strcmp (setting.text, "auto") == 0 || setting.text[0] == '\0')
    return NULL;
  return sources_load (cells->file->sources, keys_id (key) == ID_cluster_gpu ? "gpu" : key->section,
                       &setting, problems);
}

gboolean
cells_check_sources (Cells *cells, Problems *problems)
{
  const guint n_before = problems_count (problems);

  for (guint i = 0; i < cells->n_sources; i++)
    for (guint n = 0; n < grid_n_values (cells->grid, cells->order[i]); n++)
      if (grid_is_list (cells->grid, cells->order[i]))
        nth_source (cells, cells->order[i], n, problems);
  return problems_count (problems) == n_before;
}

char *
cells_describe_sources (Cells *cells)
{
  GString *text = g_string_new (NULL);
  g_autoptr (Problems) problems = problems_new ();

  for (guint i = 0; i < cells->n_sources; i++)
    for (guint n = 0; n < grid_n_values (cells->grid, cells->order[i]); n++)
      {
        const SourceFile *source = nth_source (cells, cells->order[i], n, problems);

        g_string_append_printf (text, "source %u\n", n);
        for (guint k = 0; source != NULL && k < N_KEYS; k++)
          if (source->settings[k] != NULL && source->settings[k]->key->type != KEY_TEXT)
            g_string_append_printf (text, "%u %s\n", k, source->settings[k]->text);
      }
  return g_string_free (text, FALSE);
}

static char *
base_name (const Cells *cells, gsize cell, guint variant)
{
  GString *name = g_string_new (NULL);

  g_string_append_printf (name, "%u", variant);
  for (guint i = 0; i < cells->n_sources; i++)
    g_string_append_printf (name, "\n%s", grid_value (cells->grid, cell, cells->order[i]));
  return g_string_free (name, FALSE);
}

static const Base *
find_base (Cells *cells, gsize cell, guint variant)
{
  g_autofree char *name = base_name (cells, cell, variant);
  Base *base;

  g_mutex_lock (&cells->mutex);
  base = g_hash_table_lookup (cells->bases, name);
  if (base == NULL)
    {
      base = base_new (cells, cell, variant);
      g_hash_table_insert (cells->bases, g_steal_pointer (&name), base);
    }
  g_mutex_unlock (&cells->mutex);
  return base;
}

/* ---- cells ---- */

/* Takes @error. */
static gboolean
refuse_value (const KeyInfo *key, GError *error, char **reason)
{
  *reason = g_strdup_printf ("[%s] %s: %s", key->section, key->key, error->message);
  g_error_free (error);
  return FALSE;
}

/* @settings: room for one a key, to which @filled then points. */
static gboolean
fill (Cells *cells, gsize cell, guint variant, Setting *settings, ScenarioVariant *filled,
      char **reason)
{
  const Base *base = find_base (cells, cell, variant);
  Scenario *scenario = &filled->scenario;
  g_autoptr (Problems) problems = NULL;

  filled->resolved = base->resolved;
  value_copy_scenario (&base->bound, scenario);
  g_free (scenario->variant);
  scenario->variant = g_strdup (scenario_file_variant (cells->file, variant)->variant);
  if (base->complaint != NULL)
    {
      *reason = g_strdup (base->complaint);
      return FALSE;
    }
  for (guint i = cells->n_sources; i < cells->n_keys; i++)
    {
      const KeyInfo *key = grid_key (cells->grid, cells->order[i]);
      GError *error = NULL;

      settings[i] = cell_setting (key, grid_value (cells->grid, cell, cells->order[i]));
      filled->resolved.settings[keys_id (key)] = &settings[i];
      if (!value_store (key, settings[i].text, scenario, &error))
        return refuse_value (key, error, reason);
    }
  derive (&filled->resolved, scenario);
  problems = problems_new ();
  check_scenario (&filled->resolved, scenario, problems);
  if (problems_count (problems) == 0)
    return TRUE;
  *reason = problems_summary (problems);
  return FALSE;
}

gboolean
cells_fill (Cells *cells, gsize cell, guint variant, Scenario *scenario, char **reason)
{
  g_autofree Setting *settings = g_new (Setting, cells->n_keys + 1);
  ScenarioVariant filled;
  const gboolean good = fill (cells, cell, variant, settings, &filled, reason);

  *scenario = filled.scenario;
  return good;
}

char *
cells_show (Cells *cells, gsize cell, guint variant)
{
  g_autofree Setting *settings = g_new (Setting, cells->n_keys + 1);
  g_autofree char *reason = NULL;
  ScenarioVariant filled;
  char *text;

  if (!fill (cells, cell, variant, settings, &filled, &reason))
    g_assert_not_reached ();
  text = show_variant (&filled);
  value_clear_scenario (&filled.scenario);
  return text;
}

void
cells_clear_scenario (Scenario *scenario)
{
  value_clear_scenario (scenario);
}

gboolean
cells_override_variants (const ScenarioFile *file, const Grid *grid, guint *variant,
                         const KeyInfo **key)
{
  for (guint v = 0; v < document_n_variants (file->document); v++)
    for (guint k = 0; k < grid_n_keys (grid); k++)
      {
        const Layer *layer = document_variant (file->document, v)->layer;

        *key = grid_key (grid, k);
        *variant = v;
        if (layer->settings[keys_id (*key)].key != NULL)
          return TRUE;
      }
  return FALSE;
}

gboolean
scenario_file_add_sweep (const ScenarioFile *file, Grid *grid, Problems *problems)
{
  guint n_entries;
  const IniEntry *entries = document_sweep (file->document, &n_entries);
  gboolean good = TRUE;

  for (guint i = 0; i < n_entries; i++)
    good &= grid_add_list (grid, keys_find_dotted (entries[i].key), entries[i].value,
                           &entries[i].value_place, problems);
  return good;
}

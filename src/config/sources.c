#include <config.h>

#include "config/sources.h"
#include "config/data.h"
#include "config/keys_unknown.h"
#include "config/suggest.h"
#include "config/text_file.h"

#include <string.h>

#define MOST_ANCESTORS 8

/* A file that is read, with what it owns. */
typedef struct
{
  SourceFile file;
  IniFile *ini;
  Layer layer;
  gboolean loading; /* still looking for its ancestors */
} LoadedFile;

struct _Sources
{
  const char *scenario_path;
  const ScenarioOptions *options;
  GHashTable *files; /* "section path" to LoadedFile, or to NULL: cannot be had */
  guint depth;       /* of the file being loaded below the scenario */
};

typedef struct
{
  const char *section;
  DataKind kind;
  KeyId source;
  KeyId name, title, provenance; /* say what a file is; not inherited */
} SourceKind;

static const SourceKind source_kinds[] = {
  { "model", DATA_MODEL, ID_model_source, ID_model_name, ID_model_title, ID_model_provenance },
  { "gpu", DATA_GPU, ID_gpu_source, ID_gpu_name, ID_gpu_title, ID_gpu_provenance },
  { "cluster", DATA_CLUSTER, ID_cluster_source, ID_cluster_name, ID_cluster_title,
    ID_cluster_provenance },
  { "software", DATA_SOFTWARE, ID_software_source, ID_software_name, ID_software_title,
    ID_software_provenance },
};

static const SourceKind *
find_kind (const char *section)
{
  for (guint i = 0; i < G_N_ELEMENTS (source_kinds); i++)
    if (strcmp (source_kinds[i].section, section) == 0)
      return &source_kinds[i];
  g_assert_not_reached ();
}

static void
loaded_file_free (gpointer data)
{
  LoadedFile *loaded = data;

  if (loaded == NULL)
    return;
  ini_free (loaded->ini);
  g_free (loaded->file.path);
  g_free (loaded);
}

Sources *
sources_new (const char *scenario_path, const ScenarioOptions *options)
{
  Sources *sources = g_new0 (Sources, 1);

  sources->scenario_path = scenario_path;
  sources->options = options;
  sources->files = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, loaded_file_free);
  return sources;
}

void
sources_free (Sources *sources)
{
  if (sources == NULL)
    return;
  g_hash_table_unref (sources->files);
  g_free (sources);
}

char *
source_title (const char *source)
{
  char *title = g_path_get_basename (source);
  char *dot = strrchr (title, '.');

  if (dot != NULL && dot != title && (strcmp (dot, ".ini") == 0 || strcmp (dot, ".json") == 0))
    *dot = '\0';
  return title;
}

static gboolean
is_foreign (const char *text)
{
  return g_str_has_suffix (text, ".json");
}

static gboolean
looks_like_path (const char *text)
{
  return strchr (text, '/') != NULL || g_str_has_suffix (text, ".ini") || is_foreign (text);
}

/* @text beside @file, if something is there. */
static char *
beside (const char *file, const char *text)
{
  g_autofree char *folder = g_path_get_dirname (file);
  g_autofree char *joined = g_path_is_absolute (text) || strcmp (folder, ".") == 0
                                ? g_strdup (text)
                                : g_build_filename (folder, text, NULL);

  return g_file_test (joined, G_FILE_TEST_EXISTS) ? g_steal_pointer (&joined) : NULL;
}

/* Relative to the file that names it, else to the scenario, else to the working folder. */
static char *
find_path (const Sources *sources, const Setting *setting)
{
  char *path = beside (setting->place.file, setting->text);

  if (path == NULL)
    path = beside (sources->scenario_path, setting->text);
  if (path == NULL)
    path = beside (".", setting->text);
  return path;
}

static void
note_unknown_name (const SourceKind *kind, const Setting *setting, Problems *problems)
{
  g_auto (GStrv) names = data_list (kind->kind);
  g_autofree char *clause = suggest_clause (setting->text, (const char *const *)names);

  if (clause[0] == '\0')
    problems_add (problems, &setting->place, setting->key->section, setting->key->key,
                  "no %s of that name; 'fsdpsim list %ss' shows those that there are",
                  kind->section, kind->section);
  else
    problems_add (problems, &setting->place, setting->key->section, setting->key->key,
                  "no %s of that name%s", kind->section, clause);
}

static char *
find_file (const Sources *sources, const SourceKind *kind, const Setting *setting,
           Problems *problems)
{
  char *path = NULL;

  if (!looks_like_path (setting->text))
    path = data_find (kind->kind, setting->text);
  if (path == NULL)
    path = find_path (sources, setting);
  if (path != NULL)
    return path;
  if (looks_like_path (setting->text))
    problems_add_io_at (problems, &setting->place, setting->key->section, setting->key->key,
                        "no such file; 'fsdpsim list %ss' shows the names that need none",
                        kind->section);
  else
    note_unknown_name (kind, setting, problems);
  return NULL;
}

/* Another program's model file, as the text of one of ours. */
static char *
read_foreign (const Sources *sources, const SourceKind *kind, const char *path,
              const Setting *setting, Problems *problems)
{
  const ScenarioOptions *options = sources->options;
  g_autoptr (GError) error = NULL;
  char *text;

  if (kind->kind != DATA_MODEL || options == NULL || options->load_foreign_model == NULL)
    {
      problems_add (problems, &setting->place, setting->key->section, setting->key->key,
                    kind->kind != DATA_MODEL ? "a JSON file; expected a name or an .ini file"
                                             : "JSON files cannot be read here; import it first");
      return NULL;
    }
  text = options->load_foreign_model (path, &error);
  if (text != NULL)
    return text;
  if (error->domain == G_FILE_ERROR)
    problems_add_io_at (problems, &setting->place, setting->key->section, setting->key->key, "%s",
                        error->message);
  else
    problems_add (problems, &setting->place, setting->key->section, setting->key->key, "%s",
                  error->message);
  return NULL;
}

static void
note_unreadable (const char *path, const Setting *setting, const GError *error, Problems *problems)
{
  if (error->domain == TEXT_FILE_ERROR)
    problems_add (problems, &setting->place, setting->key->section, setting->key->key, "'%s' is %s",
                  path, error->message);
  else
    problems_add_io_at (problems, &setting->place, setting->key->section, setting->key->key,
                        "cannot read '%s': %s", path, error->message);
}

static char *
read_text (const Sources *sources, const SourceKind *kind, const char *path, const Setting *setting,
           gsize *length, Problems *problems)
{
  g_autoptr (GError) error = NULL;
  char *text;

  if (is_foreign (path))
    {
      text = read_foreign (sources, kind, path, setting, problems);
      *length = text != NULL ? strlen (text) : 0;
      return text;
    }
  text = text_file_read (path, length, &error);
  if (text == NULL)
    note_unreadable (path, setting, error, problems);
  return text;
}

/* Own settings first, then those of @parent that say nothing of what a file is.
 * A file's source is its own affair. */
static void
merge (LoadedFile *loaded, const SourceKind *kind, const SourceFile *parent)
{
  for (guint i = 0; i < N_KEYS; i++)
    {
      const Setting *own = &loaded->layer.settings[i];
      gboolean inherited = i != kind->name && i != kind->title && i != kind->provenance
                           && i != ID_cluster_measured_as;

      if (i == kind->source)
        continue;
      if (own->key != NULL)
        loaded->file.settings[i] = own;
      else if (parent != NULL && inherited)
        loaded->file.settings[i] = parent->settings[i];
    }
}

static void
read_sections (LoadedFile *loaded, const SourceKind *kind, Problems *problems)
{
  guint n_sections;
  const IniSection *sections = ini_sections (loaded->ini, &n_sections);

  for (guint i = 0; i < n_sections && !problems_are_enough (problems); i++)
    if (strcmp (sections[i].name, kind->section) != 0)
      problems_add (problems, &sections[i].place, sections[i].name, NULL,
                    "unexpected section; a %s file has [%s] alone", kind->section, kind->section);
    else if (loaded->file.place.line != 0)
      problems_add (problems, &sections[i].place, sections[i].name, NULL,
                    "given twice, first in line %u", loaded->file.place.line);
    else
      {
        loaded->file.place = sections[i].place;
        layer_add_section (&loaded->layer, ORIGIN_SOURCE, loaded->ini, &sections[i], problems);
      }
  if (loaded->file.place.line == 0)
    problems_add (problems, &loaded->file.place, NULL, NULL, "no [%s] section", kind->section);
}

/* The source that a file names for itself; NULL where it stands alone. */
static const Setting *
named_source (const LoadedFile *loaded, const SourceKind *kind)
{
  const Setting *source = &loaded->layer.settings[kind->source];

  if (source->key == NULL || !source->good || strcmp (source->text, source->key->standard) == 0)
    return NULL;
  return source;
}

/* What a file is known by: "a.ini" and "./a.ini" are the same. The caller frees it. */
static char *
file_identity (const char *section, const char *path)
{
  g_autofree char *whole = g_canonicalize_filename (path, NULL);

  return g_strdup_printf ("%s %s", section, whole);
}

const SourceFile *
sources_load_text (Sources *sources, const char *section, const char *name, const char *text,
                   gsize length, Problems *problems)
{
  const SourceKind *kind = find_kind (section);
  LoadedFile *loaded = g_new0 (LoadedFile, 1);
  const SourceFile *parent = NULL;
  const Setting *source;

  loaded->ini = ini_parse (name, text, length, problems);
  loaded->file.path = g_strdup (name);
  loaded->file.place.file = loaded->file.path;
  loaded->loading = TRUE;
  g_hash_table_insert (sources->files, file_identity (section, name), loaded);
  read_sections (loaded, kind, problems);
  source = named_source (loaded, kind);
  if (source != NULL)
    {
      sources->depth++;
      parent = sources_load (sources, section, source, problems);
      sources->depth--;
    }
  merge (loaded, kind, parent);
  loaded->file.is_whole = source == NULL || (parent != NULL && parent->is_whole);
  loaded->loading = FALSE;
  return &loaded->file;
}

/* Of a file that was asked for before. */
static const SourceFile *
known_file (LoadedFile *loaded, const Setting *setting, Problems *problems)
{
  if (loaded != NULL && loaded->loading)
    {
      problems_add (problems, &setting->place, setting->key->section, setting->key->key,
                    "inherits from itself");
      return NULL;
    }
  return loaded != NULL ? &loaded->file : NULL;
}

const SourceFile *
sources_load (Sources *sources, const char *section, const Setting *setting, Problems *problems)
{
  const SourceKind *kind = find_kind (section);
  g_autofree char *path = find_file (sources, kind, setting, problems);
  g_autofree char *identity = NULL;
  g_autofree char *text = NULL;
  gpointer known;
  gsize length;

  if (path == NULL)
    return NULL;
  identity = file_identity (section, path);
  if (g_hash_table_lookup_extended (sources->files, identity, NULL, &known))
    return known_file (known, setting, problems);
  if (sources->depth >= MOST_ANCESTORS)
    {
      problems_add (problems, &setting->place, setting->key->section, setting->key->key,
                    "more than %d files inherit from each other", MOST_ANCESTORS);
      return NULL;
    }
  text = read_text (sources, kind, path, setting, &length, problems);
  if (text == NULL)
    {
      g_hash_table_insert (sources->files, g_steal_pointer (&identity), NULL);
      return NULL;
    }
  return sources_load_text (sources, section, path, text, length, problems);
}

#include <config.h>

#include "config/data.h"

#include <string.h>

typedef struct
{
  const char *folder;
  const char *suffix;
} Shelf;

static const Shelf shelves[] = {
  [DATA_MODEL] = { "models/transformers", ".ini" },
  [DATA_GPU] = { "models/gpus", ".ini" },
  [DATA_CLUSTER] = { "models/clusters", ".ini" },
  [DATA_SOFTWARE] = { "models/software", ".ini" },
  [DATA_PUBLISHED] = { "models/published", ".csv" },
  [DATA_SCENARIO] = { "scenarios", ".ini" },
  [DATA_PLOT] = { "plots", ".gp" },
};

/* Where the running program lies; NULL where the system does not tell. */
static char *
program_folder (void)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);

  return program != NULL ? g_path_get_dirname (program) : NULL;
}

static gboolean
holds (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  return g_file_test (path, G_FILE_TEST_EXISTS);
}

static char *
data_root (void)
{
  const char *given = g_getenv ("FSDPSIM_DATA_DIR");
  g_autofree char *folder = NULL;

  if (given != NULL && given[0] != '\0')
    return g_strdup (given);
  folder = program_folder ();
  if (folder != NULL && holds (folder, "models"))
    return g_steal_pointer (&folder);
  /* Built outside the source tree. */
  if (folder != NULL && holds (folder, "config.status"))
    return g_strdup (FSDPSIM_SOURCE_DIR);
  return g_strdup (FSDPSIM_DATA_DIR);
}

static char *
shelf_path (const Shelf *shelf)
{
  g_autofree char *root = data_root ();

  return g_build_filename (root, shelf->folder, NULL);
}

char *
data_find (DataKind kind, const char *name)
{
  const Shelf *shelf = &shelves[kind];
  g_autofree char *folder = shelf_path (shelf);
  g_autofree char *file = g_strconcat (name, shelf->suffix, NULL);
  g_autofree char *path = g_build_filename (folder, file, NULL);

  /* A name is not a path: "../x" finds nothing. */
  if (name[0] == '\0' || name[0] == '.' || strchr (name, '/') != NULL)
    return NULL;
  return g_file_test (path, G_FILE_TEST_IS_REGULAR) ? g_steal_pointer (&path) : NULL;
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *)a, *(char *const *)b);
}

char **
data_list (DataKind kind)
{
  const Shelf *shelf = &shelves[kind];
  g_autofree char *folder = shelf_path (shelf);
  g_autoptr (GDir) directory = g_dir_open (folder, 0, NULL);
  GPtrArray *names = g_ptr_array_new ();
  const char *file;

  while (directory != NULL && (file = g_dir_read_name (directory)) != NULL)
    if (file[0] != '.' && g_str_has_suffix (file, shelf->suffix))
      g_ptr_array_add (names, g_strndup (file, strlen (file) - strlen (shelf->suffix)));
  g_ptr_array_sort (names, compare_names);
  g_ptr_array_add (names, NULL);
  return (char **)g_ptr_array_free (names, FALSE);
}

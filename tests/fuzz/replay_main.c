/* Feeds a fuzz target the files and the files of the folders that are named: what
 * libFuzzer does with the same arguments, without libFuzzer. */
#include <config.h>

#include <stdint.h>
#include <stdio.h>

#include <glib.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 (*(char *const *)a, *(char *const *)b);
}

static gboolean
replay_file (const char *path)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  gsize length;

  if (!g_file_get_contents (path, &text, &length, &error))
    {
      fprintf (stderr, "%s\n", error->message);
      return FALSE;
    }
  /* Should it not come back, this is the last line. */
  printf ("%s\n", path);
  fflush (stdout);
  LLVMFuzzerTestOneInput ((const uint8_t *)text, length);
  return TRUE;
}

static gboolean
replay_folder (const char *folder)
{
  g_autoptr (GDir) directory = g_dir_open (folder, 0, NULL);
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  const char *name;
  gboolean done = directory != NULL;

  while (directory != NULL && (name = g_dir_read_name (directory)) != NULL)
    g_ptr_array_add (paths, g_build_filename (folder, name, NULL));
  g_ptr_array_sort (paths, compare_names);
  for (guint i = 0; i < paths->len; i++)
    done &= replay_file (g_ptr_array_index (paths, i));
  return done;
}

int
main (int argc, char **argv)
{
  gboolean done = TRUE;

  for (int i = 1; i < argc; i++)
    done &= g_file_test (argv[i], G_FILE_TEST_IS_DIR) ? replay_folder (argv[i])
                                                      : replay_file (argv[i]);
  return done ? 0 : 1;
}

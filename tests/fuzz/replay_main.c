/* Runs a fuzz target without libFuzzer: over the files, and the files of the folders, that are
 * named; or, after "-mutate=MEGABYTES", over so much of random mutations of them. The same seed
 * (-seed=N, by default 1) gives the same mutations. The mutation at hand is in ./mutation, which
 * stays where the target does not come back. */
#include <config.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <gio/gio.h>

#define MOST_BYTES   65536
#define MOST_CHANGES 8

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 (*(char *const *)a, *(char *const *)b);
}

/* ---- inputs ---- */

static gboolean
take_file (const char *path, GPtrArray *paths, GPtrArray *inputs)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  gsize length;

  if (!g_file_get_contents (path, &text, &length, &error))
    {
      fprintf (stderr, "%s\n", error->message);
      return FALSE;
    }
  g_ptr_array_add (paths, g_strdup (path));
  g_ptr_array_add (inputs, g_bytes_new_take (g_steal_pointer (&text), length));
  return TRUE;
}

static gboolean
take_folder (const char *folder, GPtrArray *paths, GPtrArray *inputs)
{
  g_autoptr (GDir) directory = g_dir_open (folder, 0, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const char *name;
  gboolean done = directory != NULL;

  while (directory != NULL && (name = g_dir_read_name (directory)) != NULL)
    g_ptr_array_add (names, g_build_filename (folder, name, NULL));
  g_ptr_array_sort (names, compare_names);
  for (guint i = 0; i < names->len; i++)
    done &= take_file (g_ptr_array_index (names, i), paths, inputs);
  return done;
}

static void
run (const void *data, gsize length)
{
  LLVMFuzzerTestOneInput (data, length);
}

static void
replay (const GPtrArray *paths, const GPtrArray *inputs)
{
  for (guint i = 0; i < inputs->len; i++)
    {
      gsize length;
      const void *data = g_bytes_get_data (g_ptr_array_index (inputs, i), &length);

      /* Should it not come back, this is the last line. */
      printf ("%s\n", (const char *)g_ptr_array_index (paths, i));
      fflush (stdout);
      run (data, length);
    }
}

/* ---- mutations ---- */

static gsize
place_in (GRand *random, gsize length)
{
  return length == 0 ? 0 : (gsize)g_rand_int (random) % length;
}

/* From 1 to @most, and no more than there is. */
static gsize
size_within (GRand *random, gsize most, gsize there_is)
{
  const gsize size = 1 + place_in (random, most);

  return MIN (size, there_is);
}

static void
insert (GByteArray *text, gsize at, const guint8 *bytes, gsize n)
{
  const gsize behind = text->len - at;

  if (text->len + n > MOST_BYTES)
    return;
  g_byte_array_set_size (text, text->len + (guint)n);
  memmove (text->data + at + n, text->data + at, behind);
  memcpy (text->data + at, bytes, n);
}

/* What parsers look for. */
static void
insert_word (GRand *random, GByteArray *text)
{
  static const char *const words[] = { "\"",
                                       "{",
                                       "}",
                                       "[",
                                       "]",
                                       ",",
                                       ":",
                                       "\n",
                                       "\r\n",
                                       "\\",
                                       "\\u",
                                       "-",
                                       "1e999",
                                       "0x10",
                                       "#",
                                       "=",
                                       "\t",
                                       "\xFF",
                                       "nan",
                                       "null",
                                       "-1",
                                       "\xEF\xBB\xBF",
                                       "18446744073709551616",
                                       "0",
                                       "%",
                                       "'" };
  const char *word = words[g_rand_int_range (random, 0, G_N_ELEMENTS (words))];

  insert (text, place_in (random, text->len + 1), (const guint8 *)word, strlen (word));
}

/* A stretch of @from, which may be the text itself, put in somewhere. */
static void
insert_stretch (GRand *random, GByteArray *text, const guint8 *from, gsize length)
{
  const gsize begin = place_in (random, length);
  const gsize n = size_within (random, 512, length - begin);
  g_autofree guint8 *copy = g_memdup2 (from + begin, n);

  if (n > 0)
    insert (text, place_in (random, text->len + 1), copy, n);
}

static void
change (GRand *random, GByteArray *text, const GPtrArray *inputs)
{
  const gsize at = place_in (random, text->len);
  const guint other = (guint)g_rand_int_range (random, 0, (gint)inputs->len);
  gsize length;
  const guint8 *donor = g_bytes_get_data (g_ptr_array_index (inputs, other), &length);

  switch (g_rand_int_range (random, 0, text->len == 0 ? 2 : 7))
    {
    case 0:
      insert_word (random, text);
      break;
    case 1:
      insert_stretch (random, text, donor, length);
      break;
    case 2:
      text->data[at] ^= (guint8)(1U << g_rand_int_range (random, 0, 8));
      break;
    case 3:
      text->data[at] = (guint8)g_rand_int_range (random, 0, 256);
      break;
    case 4:
      g_byte_array_remove_range (text, (guint)at, (guint)size_within (random, 64, text->len - at));
      break;
    case 5:
      insert_stretch (random, text, text->data, text->len);
      break;
    default:
      if (g_rand_int_range (random, 0, 8) == 0)
        g_byte_array_set_size (text, (guint)at);
    }
}

static void
keep (FILE *file, const GByteArray *text)
{
  rewind (file);
  if (fwrite (text->data, 1, text->len, file) != text->len || fflush (file) != 0
      || ftruncate (fileno (file), text->len) != 0)
    g_error ("mutation: cannot write");
}

/* In memory that ends where it does, so that a byte too many is noticed. */
static void
run_copy (const GByteArray *text)
{
  g_autofree guint8 *copy = g_malloc (MAX (text->len, 1));

  memcpy (copy, text->data, text->len);
  run (copy, text->len);
}

static void
mutate (const GPtrArray *inputs, guint64 n_megabytes, guint32 seed)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  g_autoptr (GByteArray) text = g_byte_array_new ();
  FILE *file = fopen ("mutation", "wbe");
  guint64 n_bytes = 0, n = 0;

  g_assert (file != NULL && inputs->len > 0);
  for (; n_bytes < n_megabytes * 1000000; n++)
    {
      const guint which = (guint)g_rand_int_range (random, 0, (gint)inputs->len);
      gsize length;
      const guint8 *data = g_bytes_get_data (g_ptr_array_index (inputs, which), &length);

      g_byte_array_set_size (text, 0);
      g_byte_array_append (text, data, (guint)MIN (length, MOST_BYTES));
      for (gint i = g_rand_int_range (random, 1, MOST_CHANGES + 1); i > 0; i--)
        change (random, text, inputs);
      keep (file, text);
      run_copy (text);
      n_bytes += text->len;
    }
  fclose (file);
  unlink ("mutation");
  printf ("%.1f MB in %" G_GUINT64_FORMAT " mutations of %u files, seed %u\n",
          (double)n_bytes / 1e6, n, inputs->len, seed);
}

int
main (int argc, char **argv)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)g_bytes_unref);
  guint64 n_megabytes = 0, seed = 1;
  gboolean done = TRUE;

  for (int i = 1; i < argc; i++)
    if (g_str_has_prefix (argv[i], "-mutate="))
      n_megabytes = g_ascii_strtoull (argv[i] + strlen ("-mutate="), NULL, 10);
    else if (g_str_has_prefix (argv[i], "-seed="))
      seed = g_ascii_strtoull (argv[i] + strlen ("-seed="), NULL, 10);
    else if (g_file_test (argv[i], G_FILE_TEST_IS_DIR))
      done &= take_folder (argv[i], paths, inputs);
    else
      done &= take_file (argv[i], paths, inputs);
  if (n_megabytes > 0)
    mutate (inputs, n_megabytes, (guint32)seed);
  else
    replay (paths, inputs);
  return done ? 0 : 1;
}

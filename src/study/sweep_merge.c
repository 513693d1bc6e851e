/* Shards of one sweep, put together. */
#include <config.h>

#include "study/sweep_folder.h"

#include <string.h>

#include "study/sweep_rows.h"

#define MOST_NAMED 10

typedef struct
{
  const char *path;
  SweepIdentity identity;
  char *text; /* of its summary.csv */
  GArray *rows;
} Shard;

static void
shard_clear (gpointer data)
{
  Shard *shard = data;

  sweep_identity_clear (&shard->identity);
  g_free (shard->text);
  g_clear_pointer (&shard->rows, g_array_unref);
}

static gboolean
read_file (const char *path, const char *name, char **text, gsize *length, GError **error)
{
  g_autofree char *file = g_build_filename (path, name, NULL);
  g_autoptr (GError) why = NULL;

  if (g_file_get_contents (file, text, length, &why))
    return TRUE;
  g_set_error (error, why->domain, why->code,
               "%s: cannot read %s; is it a folder that sweep wrote?", path, name);
  return FALSE;
}

static gboolean
read_identity (Shard *shard, GError **error)
{
  g_autofree char *journal = g_build_filename (shard->path, "sweep.journal", NULL);
  g_autofree char *line = NULL;
  gsize length;

  if (g_file_test (journal, G_FILE_TEST_EXISTS))
    {
      g_set_error (error, SWEEP_ERROR, 0, "%s: this shard is not finished; run it again",
                   shard->path);
      return FALSE;
    }
  if (!read_file (shard->path, "sweep.id", &line, &length, error))
    return FALSE;
  if (sweep_identity_read (g_strchomp (line), &shard->identity))
    return TRUE;
  g_set_error (error, SWEEP_ERROR, 0, "%s/sweep.id: not written by sweep", shard->path);
  return FALSE;
}

static gboolean
read_shard (Shard *shard, GError **error)
{
  gsize length, n_rows;

  if (!read_identity (shard, error)
      || !read_file (shard->path, "summary.csv", &shard->text, &length, error))
    return FALSE;
  n_rows = sweep_identity_shard_cells (&shard->identity) * shard->identity.n_variants;
  shard->rows = sweep_rows_read (shard->text, length);
  if (shard->rows != NULL && shard->rows->len == n_rows)
    return TRUE;
  g_set_error (error, SWEEP_ERROR, 0, "%s/summary.csv: not the %zu rows that sweep wrote",
               shard->path, n_rows);
  return FALSE;
}

static gboolean
goes_with (const Shard *shard, const Shard *first, GError **error)
{
  g_autofree char *difference = sweep_identity_difference (&first->identity, &shard->identity);
  const char *header_end = strchr (first->text, '\n');

  if (difference == NULL && shard->identity.n_shards != first->identity.n_shards)
    difference = g_strdup_printf ("one of %u shards, not %u", shard->identity.n_shards,
                                  first->identity.n_shards);
  if (difference == NULL
      && strncmp (shard->text, first->text, (gsize)(header_end - first->text) + 1) != 0)
    difference = g_strdup ("of other columns");
  if (difference == NULL)
    return TRUE;
  g_set_error (error, SWEEP_ERROR, 0, "%s and %s are of different sweeps: the second is %s",
               first->path, shard->path, difference);
  return FALSE;
}

/* Puts each shard into its place of @placed. */
static gboolean
place_shards (const GArray *shards, const Shard **placed, GError **error)
{
  for (guint i = 0; i < shards->len; i++)
    {
      const Shard *shard = &g_array_index (shards, Shard, i);
      const Shard **place = &placed[shard->identity.shard - 1];

      if (*place != NULL)
        {
          g_set_error (error, SWEEP_ERROR, 0, "shard %u/%u is there twice: %s and %s",
                       shard->identity.shard, shard->identity.n_shards, (*place)->path,
                       shard->path);
          return FALSE;
        }
      *place = shard;
    }
  return TRUE;
}

static gboolean
all_are_there (const Shard *const *placed, guint n_shards, GError **error)
{
  g_autoptr (GString) missing = g_string_new (NULL);
  guint n_missing = 0;

  for (guint i = 0; i < n_shards; i++)
    if (placed[i] == NULL && n_missing++ < MOST_NAMED)
      g_string_append_printf (missing, "%s%u/%u", n_missing > 1 ? ", " : "", i + 1, n_shards);
  if (n_missing == 0)
    return TRUE;
  g_set_error (error, SWEEP_ERROR, 0, "missing: shard%s %s%s", n_missing > 1 ? "s" : "",
               missing->str, n_missing > MOST_NAMED ? ", …" : "");
  return FALSE;
}

static char *
join (const Shard *const *placed, const SweepIdentity *whole)
{
  const Shard *first = placed[0];
  GString *text = g_string_new_len (first->text, strchr (first->text, '\n') + 1 - first->text);

  for (gsize cell = 0; cell < whole->n_cells; cell++)
    for (guint variant = 0; variant < whole->n_variants; variant++)
      {
        const Shard *shard = placed[cell % first->identity.n_shards];
        const gsize index = cell / first->identity.n_shards * whole->n_variants + variant;
        const SweepRow *row = &g_array_index (shard->rows, SweepRow, index);

        g_string_append_len (text, row->text, (gssize)row->length + 1);
      }
  return g_string_free (text, FALSE);
}

char *
sweep_folder_merge (const char *const *paths, SweepIdentity *identity, GError **error)
{
  g_autoptr (GArray) shards = g_array_new (FALSE, TRUE, sizeof (Shard));
  g_autofree const Shard **placed = NULL;
  const Shard *first;
  g_autofree char *line = NULL;

  *identity = (SweepIdentity){ 0 };
  g_array_set_clear_func (shards, shard_clear);
  for (; *paths != NULL; paths++)
    {
      Shard shard = { .path = *paths };
      const gboolean good = read_shard (&shard, error);

      g_array_append_val (shards, shard);
      if (!good || !goes_with (&shard, &g_array_index (shards, Shard, 0), error))
        return NULL;
    }
  first = &g_array_index (shards, Shard, 0);
  placed = g_new0 (const Shard *, first->identity.n_shards);
  if (!place_shards (shards, placed, error)
      || !all_are_there (placed, first->identity.n_shards, error))
    return NULL;
  line = sweep_identity_write (&first->identity);
  sweep_identity_read (line, identity);
  identity->shard = identity->n_shards = 1;
  return join (placed, identity);
}

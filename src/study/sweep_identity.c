#include <config.h>

#include "study/sweep_identity.h"

#include <string.h>

#define LINE_BEGIN "fsdpsim-sweep-1"

void
sweep_identity_clear (SweepIdentity *identity)
{
  g_free (identity->version);
  g_free (identity->scenario_sha256);
  g_free (identity->sweep_sha256);
  *identity = (SweepIdentity){ 0 };
}

char *
sweep_identity_write (const SweepIdentity *identity)
{
  return g_strdup_printf (LINE_BEGIN " %s %s %s %u %u %zu %u", identity->version,
                          identity->scenario_sha256, identity->sweep_sha256, identity->shard,
                          identity->n_shards, identity->n_cells, identity->n_variants);
}

static gboolean
read_number (const char *text, guint64 least, guint64 most, guint64 *number)
{
  return g_ascii_string_to_unsigned (text, 10, least, most, number, NULL);
}

gboolean
sweep_identity_read (const char *line, SweepIdentity *identity)
{
  g_auto (GStrv) words = g_strsplit (line, " ", 9);
  guint64 shard, n_shards, n_cells, n_variants;

  *identity = (SweepIdentity){ 0 };
  if (g_strv_length (words) != 8 || strcmp (words[0], LINE_BEGIN) != 0
      || !read_number (words[5], 1, SWEEP_MOST_SHARDS, &n_shards)
      || !read_number (words[4], 1, n_shards, &shard)
      || !read_number (words[6], 0, G_MAXUINT32, &n_cells)
      || !read_number (words[7], 1, G_MAXUINT16, &n_variants))
    return FALSE;
  *identity = (SweepIdentity){ .version = g_strdup (words[1]),
                               .scenario_sha256 = g_strdup (words[2]),
                               .sweep_sha256 = g_strdup (words[3]),
                               .shard = (guint)shard,
                               .n_shards = (guint)n_shards,
                               .n_cells = (gsize)n_cells,
                               .n_variants = (guint)n_variants };
  return TRUE;
}

char *
sweep_identity_difference (const SweepIdentity *identity, const SweepIdentity *other)
{
  if (strcmp (identity->version, other->version) != 0)
    return g_strdup_printf ("made by version %s, not %s", other->version, identity->version);
  if (strcmp (identity->scenario_sha256, other->scenario_sha256) != 0)
    return g_strdup ("of another scenario");
  if (strcmp (identity->sweep_sha256, other->sweep_sha256) != 0
      || identity->n_cells != other->n_cells || identity->n_variants != other->n_variants)
    return g_strdup ("of other varied keys, values or columns");
  return NULL;
}

gsize
sweep_identity_shard_cells (const SweepIdentity *identity)
{
  const gsize first = identity->shard - 1;

  if (identity->n_cells <= first)
    return 0;
  return (identity->n_cells - first + identity->n_shards - 1) / identity->n_shards;
}

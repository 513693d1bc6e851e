/* What makes two sweeps the same: rows may be taken over from one run to the next, and shards be
 * merged, where it is equal. */
#pragma once

#include <glib.h>

#define SWEEP_MOST_SHARDS 100000

typedef struct
{
  char *version;         /* of the program */
  char *scenario_sha256; /* of the scenario with its variants */
  char *sweep_sha256;    /* of the columns, the grid, and the files that it names */
  guint shard, n_shards; /* shard from 1 */
  gsize n_cells;         /* of all shards */
  guint n_variants;
} SweepIdentity;

void sweep_identity_clear (SweepIdentity *identity);

/* One line without its end. The caller frees it. */
char *sweep_identity_write (const SweepIdentity *identity);
/* FALSE where @line is none; *identity is then empty. */
gboolean sweep_identity_read (const char *line, SweepIdentity *identity);

/* How @other differs, in words, shards apart; NULL where it does not. The caller frees it. */
char *sweep_identity_difference (const SweepIdentity *identity, const SweepIdentity *other);

/* Cells of a shard: cell i belongs to shard i modulo n_shards + 1, so that dear cells spread. */
gsize sweep_identity_shard_cells (const SweepIdentity *identity);

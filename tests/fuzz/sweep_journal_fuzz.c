/* Any bytes as what a killed sweep left behind: as its journal, and as its
 * summary.csv. Every row that is read back is whole and one of the sweep's. */
#include <config.h>

#include <stdint.h>
#include <string.h>

#include "study/sweep_journal.h"
#include "study/sweep_rows.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
take (gsize row, char *text, RunStatus status, gpointer data)
{
  const gsize *n_rows = data;

  g_assert (row < *n_rows && status <= RUN_FAILED);
  g_free (text);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  const char *bytes = (const char *)data;
  g_autoptr (GArray) rows = sweep_rows_read (bytes, size);
  SweepIdentity identity;

  if (sweep_journal_identity (bytes, size, &identity))
    {
      gsize n_rows = sweep_identity_shard_cells (&identity) * identity.n_variants;

      g_assert (sweep_journal_parse (bytes, size, &identity, take, &n_rows) <= size);
    }
  sweep_identity_clear (&identity);
  for (guint i = 0; rows != NULL && i < rows->len; i++)
    {
      const SweepRow *row = &g_array_index (rows, SweepRow, i);

      g_assert (row->text >= bytes && row->text + row->length < bytes + size);
    }
  return 0;
}

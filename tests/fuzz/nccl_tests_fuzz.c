/* Any bytes as output of nccl-tests. What parses has rows that a model can take; what
 * does not must say why, in words that name the file. */
#include <config.h>

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "interop/nccl_tests.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
check_row (const NcclTestsRow *row)
{
  g_assert (row->ranks >= 2 && row->nodes >= 1 && row->nodes <= row->ranks);
  g_assert (row->bytes > 0 && row->line > 0 && row->kind < N_COLLECTIVES);
  g_assert (isnan (row->out_of_place_us) || row->out_of_place_us > 0);
  g_assert (isnan (row->in_place_us) || row->in_place_us > 0);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  for (guint ranks = 0; ranks <= 8; ranks += 8)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (NcclTests) tests
          = nccl_tests_parse ("fuzz.log", (const char *)data, size, ranks, ranks > 0, &error);

      g_assert ((tests == NULL) == (error != NULL));
      if (error != NULL)
        g_assert (g_str_has_prefix (error->message, "fuzz.log:")
                  && g_utf8_validate (error->message, -1, NULL));
      for (guint i = 0; tests != NULL && i < tests->rows->len; i++)
        check_row (&g_array_index (tests->rows, NcclTestsRow, i));
    }
  return 0;
}

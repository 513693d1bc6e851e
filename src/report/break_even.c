#include <config.h>

#include "report/break_even.h"

#include <math.h>

#include "report/csv.h"
#include "report/format.h"

/* "at 310 Gb/s a NIC" or "at 85 GB/s in a ring of a node". */
static char *
describe_bandwidth (const BreakEven *break_even)
{
  char buffer[FORMAT_SIZE];

  if (break_even->of_nics)
    return g_strdup_printf ("at %s Gb/s a NIC",
                            format_real (buffer, "%.3g", break_even->bytes_per_s * 8 / 1e9));
  return g_strdup_printf ("at %s GB/s in a node's ring",
                          format_real (buffer, "%.3g", break_even->bytes_per_s / 1e9));
}

char *
break_even_words (const BreakEven *break_even, const char *variant, const char *baseline)
{
  const char *below = break_even->faster_if_slower ? variant : baseline;
  const char *above = break_even->faster_if_slower ? baseline : variant;
  g_autofree char *bandwidth = NULL;
  char buffer[FORMAT_SIZE];

  switch (break_even->is)
    {
    case BREAK_EVEN_FOUND:
      bandwidth = describe_bandwidth (break_even);
      return g_strdup_printf ("%s and %s break even %s, %s times what there is: below, %s is "
                              "faster, above, %s.",
                              variant, baseline, bandwidth,
                              format_real (buffer, "%.3g", break_even->factor), below, above);
    case BREAK_EVEN_ALIKE:
      return g_strdup_printf ("%s and %s are alike at any network.", variant, baseline);
    case BREAK_EVEN_ALWAYS_FASTER:
    case BREAK_EVEN_ALWAYS_SLOWER:
      return g_strdup_printf ("%s and %s do not break even: from 1/%d to %d times the network, %s "
                              "is faster.",
                              variant, baseline, BREAK_EVEN_REACH, BREAK_EVEN_REACH,
                              break_even->is == BREAK_EVEN_ALWAYS_FASTER ? variant : baseline);
    case BREAK_EVEN_UNKNOWN:
      return g_strdup_printf ("%s and %s: no break-even, since one of them does not run.", variant,
                              baseline);
    }
  g_assert_not_reached ();
}

static void
add_crossing (Csv *csv, const NodesCrossing *crossing, const char *variant, const char *baseline)
{
  const gboolean found = crossing->is == NODES_CROSSING_FOUND;

  csv_add_text (csv, nodes_crossing_case (crossing));
  csv_add_number (csv, found ? crossing->nodes : (double)NAN);
  csv_add_text (csv, !found ? "NaN" : crossing->faster_on_more ? variant : baseline);
}

char *
break_even_csv (const BreakEven *break_evens, const char *const *variants)
{
  static const char *const cases[]
      = { "found", "alike", "always_faster", "always_slower", "unknown" };
  Csv csv;

  csv_begin (&csv, "variant,baseline,case,factor,bandwidth_bytes_per_s,faster_below,"
                   "nodes_case,nodes,faster_from_nodes");
  for (guint i = 1; variants[0] != NULL && variants[i] != NULL; i++)
    {
      const BreakEven *break_even = &break_evens[i];
      const gboolean found = break_even->is == BREAK_EVEN_FOUND;

      csv_add_text (&csv, variants[i]);
      csv_add_text (&csv, variants[0]);
      csv_add_text (&csv, cases[break_even->is]);
      csv_add_number (&csv, found ? break_even->factor : (double)NAN);
      csv_add_number (&csv, found ? break_even->bytes_per_s : (double)NAN);
      csv_add_text (&csv, !found                         ? "NaN"
                          : break_even->faster_if_slower ? variants[i]
                                                         : variants[0]);
      add_crossing (&csv, &break_even->crossing, variants[i], variants[0]);
      csv_end_row (&csv);
    }
  return csv_finish (&csv);
}

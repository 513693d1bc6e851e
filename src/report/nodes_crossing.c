#include <config.h>

#include "report/nodes_crossing.h"

char *
nodes_crossing_words (const NodesCrossing *crossing, const char *variant, const char *baseline)
{
  const char *more = crossing->faster_on_more ? variant : baseline;
  const char *fewer = crossing->faster_on_more ? baseline : variant;

  switch (crossing->is)
    {
    case NODES_CROSSING_FOUND:
      return g_strdup_printf ("%s overtakes %s between %u and %u nodes (now %u).", more, fewer,
                              crossing->below, crossing->nodes, crossing->now);
    case NODES_CROSSING_ALIKE:
      return g_strdup_printf ("%s and %s are alike on 1 to %u nodes.", variant, baseline,
                              crossing->most);
    case NODES_CROSSING_ALWAYS_FASTER:
    case NODES_CROSSING_ALWAYS_SLOWER:
      return g_strdup_printf ("%s is never behind %s on 1 to %u nodes.",
                              crossing->is == NODES_CROSSING_ALWAYS_FASTER ? variant : baseline,
                              crossing->is == NODES_CROSSING_ALWAYS_FASTER ? baseline : variant,
                              crossing->most);
    case NODES_CROSSING_UNKNOWN:
      return NULL;
    }
  g_assert_not_reached ();
}

const char *
nodes_crossing_case (const NodesCrossing *crossing)
{
  static const char *const cases[]
      = { "found", "alike", "always_faster", "always_slower", "unknown" };

  return cases[crossing->is];
}

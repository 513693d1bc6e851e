/* The number of nodes at which a variant overtakes the baseline, or the baseline it. */
#pragma once

#include <glib.h>

/* Folded runs are tried from one node to so many, or to as many as there are. */
#define NODES_CROSSING_REACH 1024

typedef enum
{
  NODES_CROSSING_FOUND,
  NODES_CROSSING_ALIKE,         /* as fast as each other on any number */
  NODES_CROSSING_ALWAYS_FASTER, /* the variant, wherever they differ */
  NODES_CROSSING_ALWAYS_SLOWER,
  NODES_CROSSING_UNKNOWN /* on no number do both run and fit, or theirs differ as they stand, or
                            are beyond 10,000 */
} NodesCrossingCase;

typedef struct
{
  NodesCrossingCase is;
  guint now, most;         /* nodes as they stand, and the most that were tried */
  guint nodes, below;      /* only where found: from so many on it is ahead, to so many it is not */
  gboolean faster_on_more; /* the variant, else the baseline */
} NodesCrossing;

/* "hybrid overtakes full between 45 and 46 nodes (now 64)." NULL where unknown. The caller frees
 * it. */
char *nodes_crossing_words (const NodesCrossing *crossing, const char *variant,
                            const char *baseline);
const char *nodes_crossing_case (const NodesCrossing *crossing); /* as in files: "found" */

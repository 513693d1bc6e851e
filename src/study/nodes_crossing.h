/* On how many nodes one variant overtakes another. */
#pragma once

#include "config/cells.h"
#include "report/nodes_crossing.h"

/* One key, cluster.nodes, from 1 up: what the search lays over a file's variants. */
Grid *nodes_crossing_grid (void);

typedef struct
{
  Cells *cells; /* of its file, over a nodes_crossing_grid() */
  guint variant;
  const Scenario *scenario; /* as it stands, without that grid */
} CrossingSide;

/* Simulates both on 1, 2, 4, ... nodes, and halves where the lead changes; fills *crossing. May be
 * called by several threads at a time. */
void nodes_crossing_find (const CrossingSide *variant, const CrossingSide *baseline,
                          NodesCrossing *crossing);

/* Any bytes as what a sweep varies: "key=list" lines of --vary up to an empty line,
 * then a file of points. A grid that is taken has cells, and every value of a list
 * is one that its key takes. */
#include <config.h>

#include <stdint.h>
#include <string.h>

#include "config/grid.h"
#include "config/value.h"

#define MOST_CELLS 100 /* that are looked at */

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void
check_value (const Grid *grid, gsize cell, guint key)
{
  const char *text = grid_value (grid, cell, key);
  Scenario scratch = { 0 };

  if (grid_is_list (grid, key))
    g_assert (value_store (grid_key (grid, key), text, &scratch, NULL));
  value_clear_scenario (&scratch);
}

static gboolean
add_lines (Grid *grid, const char *text, Problems *problems)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  gboolean good = TRUE;

  for (guint i = 0; lines[i] != NULL; i++)
    good = good && (lines[i][0] == '\0' || grid_add_option (grid, lines[i], problems));
  return good;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup ((const char *)data, size);
  char *points = strstr (text, "\n\n");
  g_autoptr (Problems) problems = problems_new ();
  g_autoptr (Grid) grid = grid_new ();
  gboolean good = TRUE;

  if (points != NULL)
    {
      *points = '\0';
      points += strlen ("\n\n");
      good = grid_add_points (grid, "points", points, size - (gsize)(points - text), problems);
    }
  good = good && add_lines (grid, text, problems);
  g_assert (good == (problems_count (problems) == 0));
  for (gsize cell = 0; good && cell < MIN (grid_n_cells (grid), MOST_CELLS); cell++)
    for (guint key = 0; key < grid_n_keys (grid); key++)
      check_value (grid, cell, key);
  return 0;
}

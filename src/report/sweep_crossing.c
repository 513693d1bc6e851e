#include <config.h>

#include "report/sweep_crossing.h"

#include <math.h>
#include <string.h>

#include "report/format.h"
#include "report/sweep_grid.h"
#include "report/text_table.h"

#define ALIKE 5e-4 /* what differs less counts as a tie */

typedef struct
{
  const SweepGrid *grid;
  const SweepAxis *axis;
  const ResultsVariant **best; /* [variant x n + place] */
} Curves;

/* By how much of the first one's throughput the other is ahead; NaN where one does not fit. */
static double
lead (const Curves *curves, guint variant, guint place)
{
  const ResultsVariant *first = curves->best[place];
  const ResultsVariant *other = curves->best[variant * curves->axis->values->len + place];

  if (first == NULL || other == NULL || !results_fits (first) || !results_fits (other))
    return (double)NAN;
  return other->tokens_per_s_per_gpu / first->tokens_per_s_per_gpu - 1;
}

/* Between two places, whose leads have different signs, by a straight line. */
static void
say_crossing (const Curves *curves, guint variant, guint from, guint to, GString *text)
{
  const SweepAxis *axis = curves->axis;
  const double before = lead (curves, variant, from), after = lead (curves, variant, to);
  const double at
      = axis->numbers[from] + (axis->numbers[to] - axis->numbers[from]) * before / (before - after);
  const char *first = g_ptr_array_index (curves->grid->variants, 0);
  const char *other = g_ptr_array_index (curves->grid->variants, variant);
  g_autofree char *others = sweep_grid_best_of (curves->grid, axis, NULL);
  char buffer[FORMAT_SIZE];
  g_autofree char *line = g_strdup_printf (
      "%s overtakes %s between %s=%s and %s, by a straight line at %s%s.",
      after > 0 ? other : first, after > 0 ? first : other, axis->name,
      (const char *)g_ptr_array_index (axis->values, from),
      (const char *)g_ptr_array_index (axis->values, to), format_real (buffer, "%.3g", at), others);

  text_append_wrapped (text, line, 2);
}

static void
say_crossings (const Curves *curves, guint variant, GString *text)
{
  guint from = G_MAXUINT; /* the last place with a clear lead */

  for (guint place = 0; place < curves->axis->values->len; place++)
    {
      const double here = lead (curves, variant, place);

      if (!(fabs (here) >= ALIKE))
        continue;
      if (from != G_MAXUINT && (here > 0) != (lead (curves, variant, from) > 0))
        say_crossing (curves, variant, from, place, text);
      from = place;
    }
}

void
sweep_append_crossings (const char *summary, GString *text)
{
  g_autoptr (Results) results = results_new ();
  g_autoptr (SweepGrid) grid = NULL;
  g_autofree const ResultsVariant **best = NULL;
  const SweepAxis *axis;

  if (!results_add (results, RESULTS_SUMMARY, "summary.csv", summary, strlen (summary), NULL)
      || !results_is_sweep (results))
    return;
  grid = sweep_grid_new (results);
  if (grid->axes->len == 0 || grid->variants->len < 2)
    return;
  axis = sweep_grid_main_axis (grid);
  if (axis->numbers == NULL)
    return;
  best = sweep_grid_best (grid, axis, NULL);
  for (guint variant = 1; variant < grid->variants->len; variant++)
    say_crossings (&(Curves){ grid, axis, best }, variant, text);
}

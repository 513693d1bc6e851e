#include <config.h>

#include "study/quantile.h"

static int
compare (gconstpointer a, gconstpointer b)
{
  double x = *(const double *)a;
  double y = *(const double *)b;

  return (x > y) - (x < y);
}

double
quantile (GArray *numbers, double part)
{
  double place = part * (numbers->len - 1);
  guint below = (guint)place;
  guint above = MIN (below + 1, numbers->len - 1);
  double low;

  g_assert (numbers->len > 0);
  g_array_sort (numbers, compare);
  low = g_array_index (numbers, double, below);
  return low + (place - below) * (g_array_index (numbers, double, above) - low);
}

#include <config.h>

#include "study/ab_pairs.h"

#include <math.h>
#include <string.h>

static gboolean
is_in_group (const Prediction *prediction)
{
  return prediction->reason == NULL && prediction->run->result.ab_group[0] != '\0'
         && prediction->measured[METRIC_TOKENS_PER_S_PER_GPU] > 0;
}

static void
judge (const Prediction *a, const Prediction *b, AbPairs *pairs)
{
  const Metric metric = METRIC_TOKENS_PER_S_PER_GPU;
  const double measured = b->measured[metric] / a->measured[metric];
  const double predicted = b->predicted[metric] / a->predicted[metric];

  if (fmax (measured, 1 / measured) <= 1 + AB_LEAST_DIFFERENCE)
    return;
  pairs->n_pairs++;
  if ((measured > 1 && predicted > 1) || (measured < 1 && predicted < 1))
    pairs->n_right++;
  else
    g_ptr_array_add (pairs->wrong,
                     g_strdup_printf ("%s and %s", a->run->result.id, b->run->result.id));
}

void
ab_pairs_count (const Validation *validation, AbPairs *pairs)
{
  *pairs = (AbPairs){ .wrong = g_ptr_array_new_with_free_func (g_free) };
  for (guint i = 0; i < validation->n; i++)
    for (guint k = i + 1; is_in_group (&validation->predictions[i]) && k < validation->n; k++)
      {
        const Prediction *a = &validation->predictions[i];
        const Prediction *b = &validation->predictions[k];

        if (is_in_group (b) && strcmp (a->run->result.ab_group, b->run->result.ab_group) == 0)
          judge (a, b, pairs);
      }
}

void
ab_pairs_clear (AbPairs *pairs)
{
  g_clear_pointer (&pairs->wrong, g_ptr_array_unref);
}

#include <config.h>

#include "study/break_even.h"

#include <math.h>

#include "study/study.h"
#include "study/what_if.h"

#define DOUBLINGS 6 /* to BREAK_EVEN_REACH */
#define HALVINGS  12
/* Two that differ by less are alike: what they print is the same. */
#define ALIKE 1e-6

typedef struct
{
  const Scenario *variant, *baseline;
} Pair;

/* Tokens a second and GPU; NaN where it does not run. */
static double
speed (const Scenario *scenario, double factor)
{
  const StudyOptions options = { 0 };
  Scenario scaled = *scenario; /* shallow */
  StudyEffort effort;
  ReportRun run;
  double tokens_per_s;

  what_if_scale_network (&scaled, factor);
  study_run (&scaled, &options, &run, &effort);
  tokens_per_s = run.figures.tokens_per_s_per_gpu;
  study_run_clear (&run);
  return tokens_per_s;
}

/* How much faster the variant is; 0 where they are alike. */
static double
lead (const Pair *pair, double factor)
{
  const double gain = speed (pair->variant, factor) / speed (pair->baseline, factor) - 1;

  return fabs (gain) < ALIKE ? 0 : gain;
}

/* Between two networks at which different ones lead. */
static double
halve (const Pair *pair, double low, double high)
{
  const gboolean leads_low = lead (pair, low) > 0;

  for (guint i = 0; i < HALVINGS; i++)
    {
      const double middle = sqrt (low * high);

      if ((lead (pair, middle) > 0) == leads_low)
        low = middle;
      else
        high = middle;
    }
  return sqrt (low * high);
}

static void
set_found (const Pair *pair, double low, gboolean leads_low, BreakEven *break_even)
{
  const ClusterConfig *cluster = &pair->variant->cluster;

  break_even->is = BREAK_EVEN_FOUND;
  break_even->factor = halve (pair, low, 2 * low);
  break_even->of_nics = cluster->nodes > 1;
  break_even->bytes_per_s
      = break_even->factor
        * (cluster->nodes > 1 ? cluster->nic_bytes_per_s : cluster->ring_bytes_per_s);
  break_even->faster_if_slower = leads_low;
}

static BreakEvenCase
case_of_leads (const double *leads)
{
  double most = 0;

  for (guint i = 0; i <= 2 * DOUBLINGS; i++)
    {
      if (isnan (leads[i]))
        return BREAK_EVEN_UNKNOWN;
      if (fabs (leads[i]) > fabs (most))
        most = leads[i];
    }
  if (most == 0)
    return BREAK_EVEN_ALIKE;
  return most > 0 ? BREAK_EVEN_ALWAYS_FASTER : BREAK_EVEN_ALWAYS_SLOWER;
}

/* Of several changes of the lead the one that is nearest to the network as it is. */
void
break_even_find (const Scenario *variant, const Scenario *baseline, BreakEven *break_even)
{
  const Pair pair = { variant, baseline };
  double leads[2 * DOUBLINGS + 1];
  int nearest = -1;

  for (int i = 0; i <= 2 * DOUBLINGS; i++)
    leads[i] = lead (&pair, exp2 (i - DOUBLINGS));
  *break_even = (BreakEven){ .is = case_of_leads (leads) };
  if (break_even->is == BREAK_EVEN_UNKNOWN)
    return;
  for (int i = 0; i < 2 * DOUBLINGS; i++)
    if (leads[i] * leads[i + 1] < 0
        && (nearest < 0 || ABS (2 * (i - DOUBLINGS) + 1) < ABS (2 * (nearest - DOUBLINGS) + 1)))
      nearest = i;
  if (nearest >= 0)
    set_found (&pair, exp2 (nearest - DOUBLINGS), leads[nearest] > 0, break_even);
}

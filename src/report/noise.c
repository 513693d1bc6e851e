#include <config.h>

#include "report/noise.h"

#include <math.h>

void
noise_add_fields (const Noise *noise, const RunFacts *facts, Csv *csv)
{
  const Noise none = { 0, (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN };

  if (noise == NULL)
    noise = &none;
  csv_add_integer (csv, noise->n);
  csv_add_seconds (csv, noise->mean_s);
  csv_add_seconds (csv, noise->p50_s);
  csv_add_seconds (csv, noise->p99_s);
  csv_add_number (csv, facts->tokens_per_step / noise->mean_s);
  csv_add_number (csv, facts->tokens_per_step / noise->p50_s);
  csv_add_number (csv, facts->tokens_per_step / noise->p99_s);
}

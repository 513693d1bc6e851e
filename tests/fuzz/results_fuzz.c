/* Any bytes as a file of a folder of results, behind a first byte that says which
 * ('0': summary.csv, as in results.h). What is read can be drawn; what is not is
 * refused by file and line. */
#include <config.h>

#include <stdint.h>
#include <string.h>

#include "report/plot_lanes.h"
#include "report/plot_memory.h"
#include "report/step_parts.h"
#include "report/sweep_grid.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static const char summary[]
    = "variant,step_time_s,tokens_per_s,tokens_per_s_per_gpu,mfu_percent,hfu_percent,all_gathers,"
      "reduce_scatters,all_reduces,comm_bytes,compute_s,exposed_comm_s,host_bound_s,"
      "peak_allocated_bytes,peak_reserved_bytes,fits,scenario,scenario_sha256,fsdpsim_version,"
      "status,reason,peak_phase,step_time_low_s,step_time_high_s\n"
      "a,0.5,100,50,40,50,3,2,0,1000,0.4,0.1,0,1000,2000,1,s,0123,0.1.0,ok,,steady_step,NaN,NaN\n";

static void
draw (const ResultsVariant *variant)
{
  const Timeline *timeline = variant->timeline;
  double parts_s[N_STEP_KINDS];

  if (results_did_run (variant))
    results_step_parts (variant, parts_s);
  if (timeline != NULL)
    {
      const SimTime end = timeline_end (timeline);
      g_autofree char *boxes = plot_lanes_csv (timeline, 0, end);
      g_autofree char *kinds = plot_lanes_kinds (timeline);

      g_assert (g_utf8_validate (boxes, -1, NULL) && kinds != NULL);
    }
  if (variant->memory != NULL)
    {
      g_autofree char *levels = plot_memory_csv (variant, 0, PICOSECONDS_PER_SECOND);

      g_assert (g_str_has_prefix (levels, "time_ms,"));
    }
}

static void
draw_sweep (const Results *results)
{
  g_autoptr (SweepGrid) grid = sweep_grid_new (results);

  for (guint i = 0; i < grid->axes->len; i++)
    {
      const SweepAxis *axis = sweep_grid_axis (grid, i);
      g_autofree const ResultsVariant **best = sweep_grid_best (grid, axis, NULL);

      g_assert (axis->values->len > 1 && best != NULL);
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (Results) results = results_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  guint file;

  if (size == 0 || data[0] < '0' || data[0] >= '0' + N_RESULTS_FILES)
    return 0;
  file = data[0] - '0';
  text = g_strndup ((const char *)data + 1, size - 1);
  if (file != RESULTS_SUMMARY)
    g_assert (
        results_add (results, RESULTS_SUMMARY, "summary.csv", summary, strlen (summary), NULL));
  if (!results_add (results, file, "fuzz.csv", text, size - 1, &error))
    {
      g_assert (error->domain == RESULTS_ERROR);
      g_assert (g_str_has_prefix (error->message, "fuzz.csv:"));
      return 0;
    }
  for (guint i = 0; i < results->variants->len; i++)
    draw (results_variant (results, i));
  if (results_is_sweep (results))
    draw_sweep (results);
  return 0;
}

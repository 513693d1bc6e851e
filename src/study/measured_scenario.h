/* A measured step as files: [timing] alone, or a scenario that starts from it. */
#pragma once

#include "config/scenario.h"
#include "study/measured_step.h"

/* The figures as the section [timing], with comments that say what was measured and what
 * the network did. The caller frees it. */
char *measured_step_file (const MeasuredStep *step);
/* A row a key of [timing] that was measured:
 * key,time_us,calls_per_step,bytes,algbw_gb_per_s,busbw_gb_per_s. @n_ranks of a group, for
 * the bus bandwidth; 0: not known. */
char *measured_step_csv (const MeasuredStep *step, guint n_ranks);

typedef struct
{
  const char *scenario;  /* a path or a shipped name */
  const char *variant;   /* that was measured; NULL: the trace's own, else the first */
  gboolean fits_network; /* the cluster's constants, instead of fixed times of collectives */
  const char *const *overrides;
  char *(*load_foreign_model) (const char *path, GError **error);
} MeasuredScenarioOptions;

typedef struct
{
  char *text;    /* of the new scenario */
  char *variant; /* that was measured */
  double measured_s, simulated_s;
  GPtrArray *notes; /* char *: where the trace and the scenario do not go together */
} MeasuredScenario;

/* The scenario with what was measured in it: its own text but for the values that change.
 * Spreads what @step could not place over the scenario's blocks. FALSE where @problems
 * hold mistakes of the scenario, or with an error of TRACE_ERROR or G_FILE_ERROR. */
gboolean measured_scenario_make (MeasuredStep *step, const MeasuredScenarioOptions *options,
                                 MeasuredScenario *scenario, Problems *problems, GError **error);
void measured_scenario_clear (MeasuredScenario *scenario);

#include "config.h"

#include "fsdp/runtime.h"
#include "fsdp/step.h"

G_DEFINE_QUARK (fsdpsim - fsdp - error - quark, fsdp_error)

static gboolean
check (const Scenario *scenario, GError **error)
{
  if (scenario->fsdp.api == API_FSDP1)
    return fsdp1_check (scenario, error);
  g_set_error (error, FSDP_ERROR, FSDP_ERROR_REFUSED,
               "fsdp.api = %s is not simulated by this version; fsdp1 is",
               FsdpApi_words[scenario->fsdp.api]);
  return FALSE;
}

Program *
fsdp_program (const Scenario *scenario, const StepCost *cost, GError **error)
{
  Writer writer = { .scenario = scenario, .cost = cost };

  if (!check (scenario, error))
    return NULL;
  writer.program = program_new ();
  units_init (&writer.units, scenario, cost);
  Runtime *runtime = fsdp1_new (&writer);
  step_write_program (runtime);
  runtime->hooks->free (runtime);
  units_clear (&writer.units);
  return writer.program;
}

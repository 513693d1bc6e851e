#include "config.h"

#include "fsdp/runtime.h"
#include "fsdp/step.h"

G_DEFINE_QUARK (fsdpsim - fsdp - error - quark, fsdp_error)

static gboolean
check (const Scenario *scenario, GError **error)
{
  switch (scenario->fsdp.api)
    {
    case API_FSDP1:
      return fsdp1_check (scenario, error);
    case API_FSDP2:
      return fsdp2_check (scenario, error);
    case API_DDP:
      break;
    }
  g_set_error (error, FSDP_ERROR, FSDP_ERROR_REFUSED,
               "fsdp.api = %s is not simulated by this version; fsdp1 and fsdp2 are",
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
  Runtime *runtime = scenario->fsdp.api == API_FSDP1 ? fsdp1_new (&writer) : fsdp2_new (&writer);
  step_write_program (runtime);
  runtime->hooks->free (runtime);
  units_clear (&writer.units);
  return writer.program;
}

/* From a scenario and what its pieces cost to the host program of one rank. */
#pragma once

#include "cost/step_cost.h"
#include "sim/program.h"

#define FSDP_ERROR (fsdp_error_quark ())
GQuark fsdp_error_quark (void);

typedef enum
{
  FSDP_ERROR_REFUSED /* PyTorch would refuse or break on these settings; the message says why */
} FsdpError;

/* All steps, warm-up first; sealed. NULL and FSDP_ERROR where PyTorch refuses
 * the settings. */
Program *fsdp_program (const Scenario *scenario, const StepCost *cost, GError **error);

/* From a scenario and what its pieces cost to the host program of one rank. */
#pragma once

#include "config/keys.h"
#include "cost/step_cost.h"
#include "sim/program.h"

/* PyTorch would refuse some settings or break on them; the message says why. Its codes are KeyIds:
 * the key that is best changed. */
#define FSDP_ERROR (fsdp_error_quark ())
GQuark fsdp_error_quark (void);

/* FALSE and FSDP_ERROR where fsdp_program() would write none. */
gboolean fsdp_check (const Scenario *scenario, GError **error);

/* All steps, warm-up first; sealed. NULL and FSDP_ERROR where PyTorch refuses
 * the settings. */
Program *fsdp_program (const Scenario *scenario, const StepCost *cost, GError **error);

/* From kernels to what the engine launches, with what [timing] says instead. */
#pragma once

#include "cost/kernels.h"
#include "cost/step_cost.h"

/* The only place where seconds on the device become picoseconds. */
gint64 round_seconds_to_ps (double seconds);

/* @given: [timing]'s time for the whole, or TIMING_NOT_GIVEN. */
KernelRun run_of_kernels (const Scenario *scenario, const GArray *kernels, gint64 given);

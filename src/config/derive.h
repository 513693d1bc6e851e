/* Fills in what "auto" stands for, and what some settings make of others. */
#pragma once

#include "config/resolve.h"

/* Only where what it derives from is there; a scenario that passes all checks is whole. */
void derive (const Resolved *resolved, Scenario *scenario);

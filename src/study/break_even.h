/* At which network two variants are equally fast. */
#pragma once

#include "config/scenario.h"
#include "report/break_even.h"

/* Simulates both again and again; fills *break_even. */
void break_even_find (const Scenario *variant, const Scenario *baseline, BreakEven *break_even);

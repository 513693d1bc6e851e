/* Parts of the table of one run that other tables show too. */
#pragma once

#include "report/figures.h"

/* Collectives a step by unit, the blocks as one line with the least and most of each. */
void run_table_append_collectives (const Figures *figures, GString *text);

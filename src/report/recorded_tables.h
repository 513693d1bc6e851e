/* Parts of the table of a recorded run that have a file of their own. */
#pragma once

#include "report/recorded.h"

/* The steps one by one, the slowest of many alone, and what makes the slowest slow.
 * Nothing for a single step. */
void recorded_append_steps (const Recorded *job, GString *text);
/* The ranks, and whom they wait for. Nothing for a single rank. */
void recorded_append_ranks (const Recorded *job, GString *text);

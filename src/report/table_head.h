/* The lines that begin with "#" over every table: what was run, on what. */
#pragma once

#include "report/report.h"

/* Where variants differ, a line for each, led by their names. */
void table_head_append (const Report *report, const char *const *names, GString *text);

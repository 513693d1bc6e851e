/* The prices of findings: a scenario of the job as it is, with a variant for each other way. */
#pragma once

#include "interop/finding.h"
#include "report/checked.h"

/* @base: a scenario's text, whose own variants are left alone; @now: overrides of the job as it is,
 * on top of it. Fills file->now and the ways of file->findings, which are those of @findings in
 * their order. FALSE where that is no scenario that can be simulated; @problems say why. */
gboolean check_prices (const char *name, const char *base, const GPtrArray *now,
                       const Findings *findings, const ScenarioOptions *how, guint n_threads,
                       CheckedFile *file, Problems *problems);

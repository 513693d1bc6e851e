/* How far to trust a step time: nine of ten published runs like it, held back from
 * the fit, are within this share of their prediction. Like it are runs on the same
 * GPU, of models of its size, with checkpointing or without. The figures stand in
 * the GPU's file; `fsdpsim calibrate` finds them. */
#pragma once

#include "config/keys.h"
#include "config/scenario.h"

/* The key of [gpu] that holds for a scenario. */
KeyId step_error_key (const Scenario *scenario);

/* x: the step takes from 1 / (1 + x) to 1 + x times as long as predicted. NaN where
 * the GPU's file does not say, and where [timing] gives the blocks' times. */
double step_error (const Scenario *scenario);

/* That quantile of n absolute errors, the one more to come among them (split conformal
 * prediction, Lei et al. 2018): the ceil (0.9 (n + 1))-th smallest. Sorts them. NaN for fewer
 * than 9, of which none is large enough. */
double step_error_quantile (double *errors, guint n);

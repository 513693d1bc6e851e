/* Quantiles of a few numbers. */
#pragma once

#include <glib.h>

/* Sorts @numbers (double), which are at least one, and returns the quantile @part of
 * them, 0.5 the median, between the two nearest. */
double quantile (GArray *numbers, double part);

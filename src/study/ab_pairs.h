/* Published runs that differ in one setting only (ab_group): does a prediction say which is faster?
 */
#pragma once

#include "study/validation.h"

/* Smaller published differences are within what repeats of one run differ by. */
#define AB_LEAST_DIFFERENCE 0.02

typedef struct
{
  guint n_pairs;    /* of one group, whose published throughputs differ by more than that */
  guint n_right;    /* of them: predicted with the same sign */
  GPtrArray *wrong; /* "A and B": the ids of the others */
} AbPairs;

/* Runs without a prediction are in no pair. */
void ab_pairs_count (const Validation *validation, AbPairs *pairs);
void ab_pairs_clear (AbPairs *pairs);

/* The network at which a variant is as fast as the baseline. */
#pragma once

#include "report/nodes_crossing.h"

/* Networks are tried from this share of the scenario's to as many times it. */
#define BREAK_EVEN_REACH 64

typedef enum
{
  BREAK_EVEN_FOUND,
  BREAK_EVEN_ALIKE,         /* as fast as each other at any network */
  BREAK_EVEN_ALWAYS_FASTER, /* the variant, at any network */
  BREAK_EVEN_ALWAYS_SLOWER,
  BREAK_EVEN_UNKNOWN /* one of them does not run */
} BreakEvenCase;

typedef struct
{
  BreakEvenCase is;
  double factor;      /* of the variant's own network; only where found */
  double bytes_per_s; /* a NIC's, or on one node the ring's; the variant's own times factor */
  gboolean of_nics;   /* else of the links inside the node */
  gboolean faster_if_slower; /* the variant gains below the break-even, not above */
  NodesCrossing crossing;
} BreakEven;

/* "at 310 Gb/s a NIC, 1.55 times its own: naive below, wrapper above". The caller frees it. */
char *break_even_words (const BreakEven *break_even, const char *variant, const char *baseline);

/* Rows "variant,baseline,case,factor,bandwidth_bytes_per_s,faster_below,nodes_case,nodes,
 * faster_from_nodes" for all @variants but the first, the baseline, with @break_evens in the same
 * order. */
char *break_even_csv (const BreakEven *break_evens, const char *const *variants);

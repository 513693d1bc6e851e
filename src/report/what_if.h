/* What a run would gain from other hardware, and what it could not fall below. */
#pragma once

#include "report/csv.h"

typedef enum
{
  WHAT_IF_NICS,
  WHAT_IF_LINKS,
  WHAT_IF_LATENCY,
  WHAT_IF_MATMULS,
  WHAT_IF_MEMORY,
  WHAT_IF_HOST,
  WHAT_IF_NO_SLOWDOWN,
  N_WHAT_IFS
} WhatIfKind;

const char *what_if_words (WhatIfKind kind); /* "NICs twice as fast" */
const char *what_if_name (WhatIfKind kind);  /* "nics_x2", in files */

typedef struct
{
  double step_time_s[N_WHAT_IFS]; /* NaN: it makes no sense here, as NICs on one node */
  double compute_alone_s; /* kernels of the compute stream, one after another and not slowed */
  double wire_alone_s;    /* the collectives of the busiest communicator, one after another */
} WhatIf;

/* "what_if,step_time_s,change_percent" rows: what ifs, then compute_alone and wire_alone. */
char *what_if_csv (const WhatIf *what_if, double step_time_s);

/* The same for people, and how far the step is from its bounds. */
void what_if_append (const WhatIf *what_if, double step_time_s, GString *text);

/* What the ranks of a run waited for each other, put together by kind of collective. */
#pragma once

#include <json-glib/json-glib.h>

#include "timeline/rank_spread.h"

/* All collectives of one op in one phase. */
typedef struct
{
  TimelineOp op;
  TimelinePhase phase;
  double mean_s;      /* a rank and step */
  double longest_s;   /* of one rank in one of them */
  TimelineLabel most; /* the collective that absorbs most */
  double most_s;      /* of it alone: the mean of a rank */
} KindWait;

/* KindWait, those there are, in the order of ops and phases; g_array_unref() it. */
GArray *rank_waits_by_kind (const RankSpread *spread);

/* Mean of all ranks, a step. */
double rank_waits_mean_s (const RankSpread *spread);

/* A member "ranks"; nothing where @spread is NULL. */
void rank_spread_add_json (JsonBuilder *builder, const RankSpread *spread);

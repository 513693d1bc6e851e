/* Ranks as they move through time, each by its own clock: a host that runs ahead
 * through the program until it must wait for an event, and streams that each stand at
 * the first of their instructions that is not done. Between two collectives a rank
 * needs nobody else, so each goes on alone as far as it is allowed to. */
#pragma once

#include "sim/prepare.h"

typedef struct _RankClocks RankClocks;

/* A rank has come to a collective. */
typedef struct
{
  guint rank;
  guint32 instruction;
  SimTime when;
} Arrival;

/* @n ranks from @first on. */
RankClocks *rank_clocks_new (const Prepared *prepared, guint first, guint n, RunTimes *times);
void rank_clocks_free (RankClocks *clocks);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (RankClocks, rank_clocks_free)

/* Writes down the times of a single rank; the clocks hold no other. */
void rank_clocks_observe (RankClocks *clocks, Observation *observation);

/* When each rank next does something by itself, SIM_TIME_MAX where all it waits for is
 * collectives; by rank, from the first on. */
const SimTime *rank_clocks_next (const RankClocks *clocks);

/* Lets @rank go on by itself up to @limit, that moment included. */
void rank_clocks_advance (RankClocks *clocks, guint rank, SimTime limit);

/* The collective at which @rank has been since its arrival is over. */
void rank_clocks_leave (RankClocks *clocks, guint rank, guint32 instruction, SimTime when);

/* Arrivals since the last call, in no order of time. Borrowed until the clocks move. */
const Arrival *rank_clocks_take_arrivals (RankClocks *clocks, guint *n);

/* TRUE where every rank has come to the end of its program. */
gboolean rank_clocks_are_done (const RankClocks *clocks);

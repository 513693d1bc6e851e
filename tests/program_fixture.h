/* Small host programs for tests of the engine. */
#pragma once

#include "sim/engine.h"

/* A network of @ranks_per_node GPUs a node; tests give collectives fixed times. */
Network *fixture_network (guint nodes, guint ranks_per_node);

/* One kernel, @time long, at @host time of the host. */
void fixture_kernel (Program *program, StreamId stream, SimTime time, SimTime host);

/* A collective of fixed time. */
void fixture_collective (Program *program, CommunicatorId communicator, StreamId stream,
                         SimTime time, SimTime host);

/* Runs on @options and returns the timeline of one rank. */
Timeline *fixture_run (const Program *program, const EngineOptions *options, guint rank);

/* A random program of streams, events, host waits, collectives over all
 * @n_ranks and over groups of two; sealed, one warm-up step and one more. */
Program *fixture_random_program (GRand *random, guint n_ranks);

/* Both have the same records and steps, to the picosecond. */
void fixture_assert_same (const Timeline *a, const Timeline *b);

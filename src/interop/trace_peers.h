/* The same collectives in the traces of several ranks. A collective's kernel runs from
 * when its own rank arrives to when all are done, so the shortest of a collective over
 * the ranks is its transfer, and what is longer than that is waiting for other ranks.
 * No clock is compared. */
#pragma once

#include "timeline/sim_time.h"

typedef struct _TracePeers TracePeers;

TracePeers *trace_peers_new (void);
void trace_peers_free (TracePeers *peers);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TracePeers, trace_peers_free)

/* Begins the collectives of the next rank, or of the first again. */
void trace_peers_begin_rank (TracePeers *peers);

/* The next collective of this rank in a step, process group and kind, all in @key. */
void trace_peers_add (TracePeers *peers, guint64 key, SimTime duration);

/* Once all ranks are added: whether any collective is in the traces of more than one. */
gboolean trace_peers_have_met (const TracePeers *peers);

/* Once all ranks are added: the shortest duration over the ranks of the next collective
 * of @key; SIM_TIME_NONE where only one rank has it. */
SimTime trace_peers_shortest (TracePeers *peers, guint64 key);
